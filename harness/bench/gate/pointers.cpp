#include "bench/gate/gates.hpp"

#include "assay/error.hpp"
#include "assay/pick.hpp"
#include "bench/compare/words.hpp"
#include "core/code/differing_functions.hpp"
#include "core/files/child_process.hpp"
#include "core/files/scratch.hpp"
#include "core/files/this_program.hpp"
#include "core/plugin/library.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace assay {
namespace {

constexpr std::size_t most_functions = 3;
constexpr std::size_t most_symbols = 3;
/// A function with more than this share of the samples deserves a look.
constexpr double hot_share = 0.05;

/// Long enough for a thousand samples, few of which are of filling inputs.
constexpr MeasurePolicy profiled{.slices = 500, .slice_seconds = 1e-3, .trial_seconds = 0.5};

/// Names of instantiated functions run over several lines of a terminal.
std::string shortened(const std::string& name) {
  constexpr std::size_t most = 60;
  return name.size() <= most ? name : name.substr(0, most - 3) + "...";
}

/// The file that registers the code of a trial: that of the variant that is picked, where one is.
std::string source_of(const Registry& registry, const TrialRequest& trial) {
  for (const Operation* operation : registry.operations()) {
    if (operation->name() != trial.operation) continue;
    auto variant = operation->variant_named(trial.variant);
    if (!variant) return "";
    const auto other = picked(*operation, *variant, trial.problem, {.threads = trial.threads});
    if (other) variant = operation->variant_named(other->variant);
    return operation->variants().at(variant.value()).source;
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

/// Lines on where to look, and what they are about.
struct Place {
  std::vector<std::string> lines;
  std::string cause;
};

Place place_of(const std::filesystem::path& base, const std::filesystem::path& head,
               const std::string& source, const std::vector<std::string>& sources) {
  FunctionDifferences found;
  if (!source.empty()) found = differing_functions(base, head, source, sources);
  const bool by_reach = found.reached;
  if (found.functions.empty() && found.unknown.empty() && !by_reach) {
    found = differing_functions(base, head, "", sources);
  }
  if (!found.unknown.empty()) return {{"which functions differ is not known: " + found.unknown}, ""};
  if (found.functions.empty()) {
    return {{by_reach ? fmt::format("no function that {} reaches differs: data or placement do", source)
                      : "no function differs between the programs: constants or placement do"},
            ""};
  }
  // The file of the largest change: what it calls elsewhere differs, too, where that was inlined.
  const std::string file = found.functions.front().source;
  const auto in_file =
      static_cast<std::size_t>(std::ranges::count(found.functions, file, &DifferingFunction::source));
  const std::size_t count = file.empty() ? found.functions.size() : in_file;
  Place out{.cause = file.empty() ? shortened(found.functions.front().name) : file};
  out.lines.push_back(fmt::format("{} function{} of {} differ{}", count, count == 1 ? "" : "s",
                                  file.empty() ? "the whole program" : file, count == 1 ? "s" : ""));
  for (const DifferingFunction& function : found.functions) {
    if (out.lines.size() > most_functions) break;
    if (function.source == file) out.lines.push_back("  " + text_of(function));
  }
  return out;
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
    const auto was = std::ranges::find(*before, symbol.name, &HotSymbol::name);
    out.push_back(fmt::format("  {:.0f} % of the samples (base {:.0f} %) in {}", 100 * symbol.share,
                              was == before->end() ? 0 : 100 * was->share, shortened(symbol.name)));
  }
  if (!out.empty()) out.insert(out.begin(), "by perf");
  return out;
}

}  // namespace

std::vector<HotSymbol> hot_symbols_from(const std::string& report) {
  std::vector<HotSymbol> out;
  for (const std::string_view line : parts_of(report, '\n')) {
    const std::size_t first = line.find_first_not_of(' '), percent = line.find('%'),
                      mode = line.find("[.] ");  // of user code; [k] is the kernel's
    if (first == std::string::npos || percent == std::string::npos || mode == std::string::npos) continue;
    const auto share = number_from<double>(line.substr(first, percent - first));
    if (!share) continue;
    std::string name(line.substr(mode + 4));
    name.erase(std::min(name.size(), name.find("  ")));  // padding, and columns that some versions add
    name.erase(name.find_last_not_of(' ') + 1);
    if (!name.empty()) out.push_back({std::move(name), *share / 100});
  }
  return out;
}

std::optional<std::vector<HotSymbol>> hot_symbols(const std::filesystem::path& program,
                                                  const TrialRequest& trial, std::uint64_t seed,
                                                  const Hooks& hooks) {
  const ScratchFolder scratch;
  const auto file = [&](const char* name) { return (scratch.path() / name).string(); };
  LaunchRequest request{.policy = profiled, .trials = {trial}};
  request.policy.seed = seed;
  write_file(file("request"), to_json(request));
  const auto answers = [&](std::vector<std::string> words) -> std::optional<std::string> {
    try {
      Answer answer = ask_child({.words = std::move(words), .folder = scratch.path()}, hooks);
      if (answer.exit_code == 0) return std::move(answer.output);
    } catch (const Error&) {
    } catch (const Stopped&) {
    }
    return std::nullopt;
  };
  // cpu-clock works on virtual machines without counters as well, and in user code without privileges.
  if (!answers({"perf", "record", "-q", "-e", "cpu-clock:u", "-F", "3000", "-o", file("samples"), "--",
                std::filesystem::absolute(program).string(), "launch", file("request"), file("answer")})) {
    return std::nullopt;
  }
  const auto report = answers(
      {"perf", "report", "-q", "--stdio", "--no-children", "--sort", "symbol", "-i", file("samples")});
  if (!report) return std::nullopt;
  std::vector<HotSymbol> out = hot_symbols_from(*report);
  if (out.empty()) return std::nullopt;
  return out;
}

void note_pointers(TwoBuilds& run, const std::filesystem::path& base, const std::filesystem::path& head,
                   const Registry& registry, const Hooks& hooks) {
  if (is_embedded_side(base)) return;  // there is no code to look at
  const GateFindings findings = findings_of(run);
  std::vector<std::string> sources;
  for (const Operation* operation : registry.operations()) {
    for (const VariantInfo& variant : operation->variants()) sources.push_back(variant.source);
  }
  std::erase(sources, "");
  std::map<std::string, Place> known;  // trials of one source have one place to look
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    if (listed_as(findings.comparison.rows[i]) != Standing::slower || hooks.stopped()) continue;
    PairedTrial& trial = run.trials[i];
    hooks.say("look for the cause in " + trial.trial.key);
    const std::string source = source_of(registry, trial.trial);
    auto place = known.find(source);
    if (place == known.end()) place = known.emplace(source, place_of(base, head, source, sources)).first;
    trial.pointers = place->second.lines;
    trial.cause = place->second.cause;
    if (is_shared_library(base)) continue;  // perf would have to load it
    const auto hot = symbols(run, trial.trial, base, head, hooks);
    trial.pointers.insert(trial.pointers.end(), hot.begin(), hot.end());
  }
}

}  // namespace assay
