#include "bench/gate/pointers.hpp"

#include "bench/gate/hot_symbols.hpp"
#include "core/code/differing_functions.hpp"
#include "core/files/this_program.hpp"
#include "core/plugin/library.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

constexpr std::size_t most_functions = 3;
constexpr std::size_t most_symbols = 3;
/// A function with more than this share of the samples deserves a look.
constexpr double hot_share = 0.05;

/// Names of instantiated functions run over several lines of a terminal.
std::string shortened(const std::string& name) {
  constexpr std::size_t most = 60;
  return name.size() <= most ? name : name.substr(0, most - 3) + "...";
}

std::string source_of(const Registry& registry, const TrialRequest& trial) {
  for (const Operation* operation : registry.operations()) {
    if (operation->name() != trial.operation) continue;
    for (const VariantInfo& variant : operation->variants())
      if (variant.name == trial.variant) return variant.source;
  }
  return "";
}

std::string text_of(const DifferingFunction& function) {
  const std::string name = shortened(function.name);
  if (function.size_before == 0) return fmt::format("{}: new, {} bytes", name, function.size_after);
  if (function.size_after == 0) return fmt::format("{}: gone, {} bytes", name, function.size_before);
  if (function.size_before != function.size_after) {
    return fmt::format("{}: {} bytes became {}", name, function.size_before, function.size_after);
  }
  return fmt::format("{}: {} of {} bytes differ", name, function.changed, function.size_after);
}

std::vector<std::string> functions(const std::filesystem::path& base, const std::filesystem::path& head,
                                   const std::string& source) {
  std::string where = source;
  FunctionDifferences found;
  if (!source.empty()) found = differing_functions(base, head, source);
  if (found.unknown.empty() && found.functions.empty()) {
    // A function that the variant calls may stand in another file.
    found = differing_functions(base, head);
    where = "the whole program";
  }
  if (!found.unknown.empty()) return {"which functions differ is not known: " + found.unknown};
  if (found.functions.empty()) return {"no function differs between the programs: constants or placement do"};
  std::vector<std::string> out{fmt::format("{} function{} of {} differ{}", found.functions.size(),
                                           found.functions.size() == 1 ? "" : "s", where,
                                           found.functions.size() == 1 ? "s" : "")};
  for (std::size_t i = 0; i < std::min(most_functions, found.functions.size()); ++i)
    out.push_back("  " + text_of(found.functions[i]));
  return out;
}

double share_of(const std::vector<HotSymbol>& symbols, const std::string& name) {
  const auto found = std::ranges::find(symbols, name, &HotSymbol::name);
  return found == symbols.end() ? 0 : found->share;
}

std::vector<std::string> symbols(const TwoBuilds& run, const TrialRequest& trial,
                                 const std::filesystem::path& base, const std::filesystem::path& head,
                                 const Hooks& hooks) {
  const auto before = hot_symbols(base, trial, run.seed, hooks);
  if (!before) return {};
  const auto after = hot_symbols(head, trial, run.seed, hooks);
  if (!after) return {};
  std::vector<std::string> out;
  for (const HotSymbol& symbol : *after) {
    if (symbol.share < hot_share || out.size() == most_symbols) break;
    out.push_back(fmt::format("  {:.0f} % of the samples (base {:.0f} %) in {}", 100 * symbol.share,
                              100 * share_of(*before, symbol.name), shortened(symbol.name)));
  }
  if (!out.empty()) out.insert(out.begin(), "by perf");
  return out;
}

}  // namespace

void note_pointers(TwoBuilds& run, const std::filesystem::path& base, const std::filesystem::path& head,
                   const Registry& registry, const Hooks& hooks) {
  if (is_embedded_side(base)) return;  // there is no code to look at
  const GateRuling ruling = ruling_of(run);
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    if (ruling.comparison.verdicts[i].standing != Standing::slower || hooks.stopped()) continue;
    PairedTrial& trial = run.trials[i];
    hooks.say("look for the cause in " + trial.trial.key);
    trial.pointers = functions(base, head, source_of(registry, trial.trial));
    if (is_shared_library(base)) continue;  // perf would have to load it
    const auto hot = symbols(run, trial.trial, base, head, hooks);
    trial.pointers.insert(trial.pointers.end(), hot.begin(), hot.end());
  }
}

}  // namespace assay
