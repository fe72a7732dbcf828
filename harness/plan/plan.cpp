#include "assay/plan.hpp"

#include "assay/error.hpp"
#include "plan/filter.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

std::vector<int> thread_counts(const Selection& selection, const Machine& machine) {
  if (!selection.threads.empty()) return selection.threads;
  return machine.cores > 1 ? std::vector<int>{1, machine.cores} : std::vector<int>{1};
}

void require_memory(const Case& row, const Operation& operation, const Machine& machine) {
  const double bytes = operation.footprint(row.problem);
  if (machine.memory_bytes <= 0 || bytes <= machine.memory_bytes) return;
  throw Error(fmt::format("{}/{}", row.operation, row.problem),
              fmt::format("needs {:.3g} GiB, and {:.3g} GiB are available", bytes / 0x1p30,
                          machine.memory_bytes / 0x1p30),
              "give smaller extents");
}

std::vector<Trial> trials_of(const Case& row, const Operation& operation, const std::vector<int>& threads,
                             std::uint64_t seed) {
  std::vector<Trial> out;
  const auto& variants = operation.variants();
  for (std::size_t v = 0; v < variants.size(); ++v) {
    if (!variants[v].known_bad.empty()) continue;
    for (const int count : variants[v].threaded ? threads : std::vector<int>{1}) {
      Trial trial{.operation = &operation, .variant = v, .row = row, .context = {.threads = count}};
      trial.key = fmt::format("{}/{}/{}#{}", row.operation, variants[v].name, row.problem, count);
      trial.workload = workload_hash(operation, row.problem, seed);
      trial.skipped = operation.unfit(v, row.problem, trial.context).value_or("");
      out.push_back(std::move(trial));
    }
  }
  return out;
}

}  // namespace

std::string workload_hash(const Operation& operation, std::string_view problem, std::uint64_t seed) {
  return fmt::format("{:016x}",
                     fnv1a(fmt::format("{}/{}/{}/{}", operation.name(), operation.version(), problem, seed)));
}

std::vector<Trial> make_plan(const Registry& registry, const Suite& suite, const Selection& selection,
                             const Machine& machine) {
  const Filter filter(selection.filter, registry);
  const std::vector<int> threads = thread_counts(selection, machine);
  std::vector<Trial> plan;
  for (const Case& row : suite.cases) {
    const Operation& operation = registry.at(row.operation);
    std::vector<Trial> trials = trials_of(row, operation, threads, selection.seed);
    if (std::ranges::none_of(trials, [&](const Trial& t) { return filter.selects(t.key); })) continue;
    require_memory(row, operation, machine);
    for (Trial& trial : trials) {
      if (trial.variant == 0 || filter.selects(trial.key)) plan.push_back(std::move(trial));
    }
  }
  if (plan.empty()) {
    throw Error("filter '" + selection.filter + "'", "selects nothing in suite '" + suite.name + "'",
                "`assay list` shows operations and variants; keys look like gemm/packed/m=64,n=64,k=64#1");
  }
  return plan;
}

}  // namespace assay
