#include "assay/check.hpp"

#include "assay/error.hpp"
#include "core/plan/filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace assay {
namespace {

/// Above this a second fill and a second call cost minutes for a naive variant and add little: the corner
/// cases already ran with all fills, and the exact fill is the one that no dropped term escapes.
constexpr double large_case_flops = 0x1p30;

bool same_case(const Trial& a, const Trial& b) {
  return a.operation == b.operation && a.row.problem == b.row.problem;
}

std::set<int> thread_counts(const VariantInfo& variant, int cores) {
  return variant.threaded ? std::set<int>{1, 2, std::max(cores, 1)} : std::set<int>{1};
}

struct Selected {
  const Operation* operation;
  std::vector<std::size_t> variants;
};

/// Throws Error when it would be empty.
std::vector<Selected> select(const Registry& registry, const std::string& filter, Kin kin) {
  const Filter wanted(filter, registry);
  std::vector<Selected> out;
  for (const Operation* operation : registry.operations()) {
    Selected next{operation, {}};
    for (std::size_t v = 0; v < operation->variants().size(); ++v) {
      const VariantInfo& variant = operation->variants()[v];
      const bool of_kin = variant.known_bad.empty() == (kin == Kin::sound);
      const std::string name = fmt::format("{}/{}", operation->name(), variant.name);
      if (of_kin && wanted.selects(name)) next.variants.push_back(v);
    }
    if (!next.variants.empty()) out.push_back(std::move(next));
  }
  if (out.empty()) {
    throw Error("filter '" + filter + "'",
                kin == Kin::sound ? "selects no variant" : "selects no known-bad variant",
                "`assay list` shows what there is");
  }
  return out;
}

}  // namespace

std::vector<Agreement> check(std::span<const Trial> trials, std::uint64_t seed, const Hooks& hooks) {
  std::vector<Agreement> out(trials.size());
  for (std::size_t begin = 0; begin < trials.size();) {
    std::size_t end = begin + 1;
    while (end < trials.size() && same_case(trials[begin], trials[end])) ++end;
    const Trial& first = trials[begin];
    const bool large = first.operation->cost(first.row.problem).flops > large_case_flops;
    std::vector<Fill> fills = first.operation->fills();
    if (large) fills.resize(1);
    for (const Fill fill : fills) {
      if (hooks.stopped()) return out;
      const auto workload = first.operation->open(first.row.problem, {.fill = fill, .rng = Rng(seed)});
      for (std::size_t i = begin; i < end && !hooks.stopped(); ++i) {
        if (!trials[i].skipped.empty() || !out[i].agrees) continue;
        hooks.say("check " + trials[i].key);
        Agreement found = workload->check(trials[i].variant, trials[i].context, large);
        if (!found.agrees) found.detail = fmt::format("{} fill: {}", to_string(fill), found.detail);
        found.worst_error = std::max(found.worst_error, out[i].worst_error);
        out[i] = std::move(found);
      }
    }
    begin = end;
  }
  return out;
}

std::vector<CornerCheck> check_corners(const Registry& registry, const std::string& filter, int cores,
                                       std::uint64_t seed, const Hooks& hooks, Kin kin) {
  std::vector<CornerCheck> out;
  for (const auto& [operation, selected] : select(registry, filter, kin)) {
    const auto& variants = operation->variants();
    hooks.say(fmt::format("check {}", operation->name()));
    for (const std::string& problem : operation->corner_cases()) {
      for (const Fill fill : operation->fills()) {
        for (const Index skew : {0, 1}) {
          if (hooks.stopped()) return out;
          const auto workload =
              operation->open(problem, {.fill = fill, .rng = Rng(seed), .placement = {.skew = skew}});
          for (const std::size_t v : selected) {
            for (const int threads : thread_counts(variants[v], cores)) {
              CornerCheck next{
                  std::string(operation->name()), variants[v].name, problem, fill, skew, threads};
              const Context context{.threads = threads};
              next.skipped = operation->unfit(v, problem, context).value_or("");
              if (next.skipped.empty()) next.agreement = workload->check(v, context);
              out.push_back(std::move(next));
            }
          }
        }
      }
    }
  }
  return out;
}

std::vector<CornerCheck> check_file(const Registry& registry, const std::string& filter,
                                    const std::filesystem::path& file, std::uint64_t seed,
                                    const Hooks& hooks) {
  std::vector<CornerCheck> out;
  for (const auto& [operation, selected] : select(registry, filter, Kin::sound)) {
    const std::string problem = operation->problem_of(file);
    const Fill fill = operation->fills().front();
    const auto workload = operation->open(problem, {.fill = fill, .rng = Rng(seed), .file = file});
    for (const std::size_t v : selected) {
      if (hooks.stopped()) return out;
      CornerCheck next{std::string(operation->name()), operation->variants()[v].name, problem, fill};
      hooks.say(fmt::format("check {}/{}", next.operation, next.variant));
      next.skipped = operation->unfit(v, problem, {}).value_or("");
      if (next.skipped.empty()) {
        next.agreement = workload->check(v, {}, true);
        if (next.agreement.agrees) next.remark = workload->remark(v, {});
      }
      out.push_back(std::move(next));
    }
  }
  return out;
}

}  // namespace assay
