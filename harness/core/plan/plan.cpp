#include "assay/plan.hpp"

#include "assay/error.hpp"
#include "assay/files.hpp"
#include "assay/random.hpp"
#include "core/plan/trial_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace assay {
namespace {

std::vector<int> thread_counts(const Selection& selection, const Machine& machine) {
  if (!selection.threads.empty()) return selection.threads;
  return machine.cores > 1 ? std::vector<int>{1, machine.cores} : std::vector<int>{1};
}

void require_memory(const Case& row, const Operation& operation, const Machine& machine) {
  const double bytes = memory_for(operation.footprint(fields_of(operation, row.problem, row.file)));
  if (machine.memory_bytes <= 0 || bytes <= machine.memory_bytes) return;
  throw Error(fmt::format("{}/{}", row.operation, row.problem),
              fmt::format("needs {:.3g} GiB, and {:.3g} GiB of {} are available", bytes / 0x1p30,
                          machine.memory_bytes / 0x1p30, fact_value(machine.facts, "memory", "memory")),
              "give smaller extents, or lift the limit on memory where there is one");
}

std::vector<Trial> trials_of(const Case& row, const Operation& operation, const std::vector<int>& threads,
                             std::uint64_t seed) {
  std::vector<Trial> out;
  const auto& variants = operation.variants();
  const std::string fields = fields_of(operation, row.problem, row.file),
                    workload = workload_hash(operation, row.problem, seed, row.file);
  for (std::size_t v = 0; v < variants.size(); ++v) {
    if (variants[v].kin() != Kin::sound) continue;
    for (const int count : variants[v].threaded ? threads : std::vector<int>{1}) {
      Trial trial{.operation = &operation, .variant = v, .row = row, .context = {.threads = count}};
      trial.key = TrialKey{row.operation, variants[v].name, row.problem, count}.text();
      trial.workload = workload;
      trial.skipped = operation.unfit(v, fields, trial.context).value_or("");
      out.push_back(std::move(trial));
    }
  }
  return out;
}

/// The trials of a case that are selected: `naive`, at least.
using SelectedCase = std::vector<Trial>;

/// Returns the cases of all shards. Throws Error when there are none.
std::vector<SelectedCase> selected_cases(const Registry& registry, const Suite& suite,
                                         const Selection& selection, const Machine& machine) {
  const Filter filter(selection.filter, registry);
  const std::vector<int> threads = thread_counts(selection, machine);
  std::vector<SelectedCase> out;
  for (const Case& row : suite.cases) {
    std::vector<Trial> trials = trials_of(row, registry.at(row.operation), threads, selection.seed);
    if (std::ranges::none_of(trials, [&](const Trial& t) { return filter.selects(t.key); })) continue;
    std::erase_if(trials, [&](const Trial& t) { return t.variant != 0 && !filter.selects(t.key); });
    out.push_back(std::move(trials));
  }
  if (out.empty()) filter.throw_selects_nothing("suite '" + suite.name + "'");
  return out;
}

/// The shard of a selection that has one, with the places of these cases.
Shard placed_shard(const Selection& selection, const std::vector<SelectedCase>& cases) {
  std::vector<std::string> names;
  for (const SelectedCase& trials : cases)
    names.push_back(trials.front().row.operation + "/" + trials.front().row.problem);
  return balanced(*selection.shard, names, selection.durations);
}

std::string selection_text(const Selection& selection) {
  std::string out;
  if (!selection.filter.empty()) out = fmt::format("-k '{}'", selection.filter);
  if (selection.threads.empty()) return out;
  return fmt::format("{}{}--threads {}", out, out.empty() ? "" : " ", fmt::join(selection.threads, ","));
}

}  // namespace

std::string workload_hash(const Operation& operation, std::string_view problem, std::uint64_t seed,
                          const std::filesystem::path& file) {
  std::string all = fmt::format("{}/{}/{}/{}", operation.name(), operation.version(), problem, seed);
  if (!file.empty()) all += fmt::format("/{:016x}", fnv1a(read_file(file)));
  return fmt::format("{:016x}", fnv1a(all));
}

std::vector<Trial> make_plan(const Registry& registry, const Suite& suite, const Selection& selection,
                             const Machine& machine) {
  std::vector<SelectedCase> cases = selected_cases(registry, suite, selection, machine);
  std::optional<Shard> shard;
  if (selection.shard) shard = placed_shard(selection, cases);
  std::vector<Trial> plan;
  for (SelectedCase& trials : cases) {
    const Case& row = trials.front().row;
    if (shard && !contains(*shard, row.operation, row.problem)) continue;
    require_memory(row, *trials.front().operation, machine);
    std::ranges::move(trials, std::back_inserter(plan));
  }
  return plan;
}

std::optional<ShardRecord> shard_record(const Registry& registry, const Suite& suite,
                                        const Selection& selection, const Machine& machine) {
  if (!selection.shard) return std::nullopt;
  const auto cases = selected_cases(registry, suite, selection, machine);
  ShardRecord out{.shard = placed_shard(selection, cases), .selection = selection_text(selection)};
  std::string all = fmt::format("{}/{}", suite.name, suite.steps_per_epoch);
  for (const SelectedCase& trials : cases) {
    const Case& row = trials.front().row;
    all += fmt::format("\n{}/{}", trials.front().workload, row.per_step);
    if (contains(out.shard, row.operation, row.problem)) out.positions.push_back(out.cases);
    ++out.cases;
  }
  for (const auto& [name, place] : out.shard.places) all += fmt::format("\n{}@{}", name, place);
  out.fingerprint = fmt::format("{:016x}", fnv1a(all));
  return out;
}

}  // namespace assay
