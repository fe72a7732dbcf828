#include "assay/pipeline.hpp"
#include "assay/check.hpp"
#include "assay/pick.hpp"

#include "bench/compare/roofs.hpp"
#include "core/machine/build_info.hpp"
#include "core/machine/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace assay {
namespace {

/// measure() finds out whose clock was taken.
std::string remark_on(Site site) {
  switch (site) {
    case Site::here: break;
    case Site::elsewhere: return std::string(works_elsewhere);
    case Site::elsewhere_by_own_clock:
      return fmt::format("{}, {}: it holds no accelerator", works_elsewhere, clock_not_taken);
    case Site::here_with_own_clock: return fmt::format("{}: it waits for no other device", clock_not_taken);
  }
  return "";
}

/// The choice of a variant that picks, where it runs here.
std::optional<Picked> picked_by(const Trial& trial) {
  if (!trial.skipped.empty()) return std::nullopt;
  const auto choice = picked(*trial.operation, trial.variant, trial.row.problem, trial.context);
  if (!choice) return std::nullopt;
  return Picked{choice->variant, std::string(choice->reason)};
}

TrialResult result_of(const Trial& trial, Checked checked) {
  return {.key = trial.key,
          .operation = std::string(trial.operation->name()),
          .variant = trial.operation->variants()[trial.variant].name,
          .problem = trial.row.problem,
          .threads = trial.context.threads,
          .per_step = trial.row.per_step,
          .note = trial.row.note,
          .workload = trial.workload,
          .file = trial.row.file,
          .cost = trial.operation->cost_of(trial.variant,
                                           fields_of(*trial.operation, trial.row.problem, trial.row.file)),
          .skipped = trial.skipped,
          .agreement = checked,
          .failure = std::move(checked.failure),
          .picked = picked_by(trial),
          .remark = remark_on(trial.operation->variants()[trial.variant].site)};
}

/// Notes what is known of each variant in the plan, once: what it calls, and which variant it takes further.
void note_variants(const std::vector<Trial>& plan, Results& results) {
  std::set<std::string> noted;
  for (const Trial& trial : plan) {
    const VariantInfo& variant = trial.operation->variants()[trial.variant];
    const std::string name = fmt::format("{}/{}", trial.operation->name(), variant.name);
    if (!noted.insert(name).second) continue;
    if (variant.calls) results.calls.push_back({name, *variant.calls});
    if (!variant.after.empty()) results.steps.push_back({name, variant.after});
  }
}

std::vector<Roof> roofs_for(const Results& results, double seconds, const Hooks& hooks) {
  std::set<int> counts;
  for (const TrialResult& trial : results.trials) {
    if (trial.skipped.empty()) counts.insert(trial.threads);
  }
  std::vector<Roof> out;
  for (const int threads : counts) {
    if (seconds <= 0 || hooks.stopped()) break;
    hooks.say("measure the roof");
    out.push_back(measure_roof(results.machine, threads, seconds));
  }
  return out;
}

/// Measures beaten roofs again, then alone trials still above one, and finds those that no roof explains.
void doubt_times(Results& results, const RunRequest& request, const Sample& sample, const Hooks& hooks) {
  measure_beaten_roofs_again(results, [&](int threads) {
    hooks.say("measure the roof again");
    return hooks.stopped() ? Roof{.threads = threads}
                           : measure_roof(results.machine, threads, request.roof_seconds);
  });
  find_impossible(results);
  measure_suspects_alone(results, request.measuring, sample, hooks);
  find_impossible(results);
}

}  // namespace

Results run(const Registry& registry, const RunRequest& request, const Sample& sample, const Hooks& hooks) {
  Results results{.suite = request.suite.name,
                  .about = request.suite.about,
                  .steps_per_epoch = request.suite.steps_per_epoch,
                  .machine = this_machine(),
                  .commit = build_info().commit,
                  .date = utc_now(),
                  .seed = request.selection.seed,
                  .command = request.command};
  const auto plan = make_plan(registry, request.suite, request.selection, results.machine);
  results.shard = shard_record(registry, request.suite, request.selection, results.machine);
  std::set<std::string> planned;
  for (const Trial& trial : plan) planned.insert(trial.row.operation + "/" + trial.row.problem);
  // Cases of other shards were selected all the same.
  const Index selected = results.shard ? results.shard->cases : static_cast<Index>(planned.size());
  results.cases_left_out = static_cast<Index>(request.suite.cases.size()) - selected;
  note_variants(plan, results);
  // Checks took about as long as one launch in the suites of this project.
  const double checked = 1.0 / (1 + request.measuring.launches);
  std::vector<Checked> corners = check_corners(plan, results.machine, request.selection.seed,
                                               request.passed_corners, hooks.part(0, 0), request.checking);
  std::vector<Checked> agreements = check(plan, request.selection.seed, hooks.part(0, checked),
                                          request.checking, Sizes::own, std::move(corners));
  for (std::size_t i = 0; i < plan.size(); ++i) {
    results.trials.push_back(result_of(plan[i], std::move(agreements[i])));
  }
  if (hooks.stopped()) {
    results.partial = true;
    return results;
  }
  results.roofs = roofs_for(results, request.roof_seconds, hooks);
  measure(results, request.measuring, sample, hooks.part(checked, 1));
  doubt_times(results, request, sample, hooks);
  return results;
}

Results measure_afresh(const Results& results, const std::vector<std::string>& keys,
                       const RunRequest& request, const Sample& sample, const Hooks& hooks) {
  std::set<std::string> cases;
  for (const TrialResult& trial : results.trials) {
    if (std::ranges::find(keys, trial.key) != keys.end()) cases.insert(case_of(trial));
  }
  Results again = results;
  std::erase_if(again.trials, [&](const TrialResult& trial) { return !cases.contains(case_of(trial)); });
  measure(again, request.measuring, sample, hooks);
  doubt_times(again, request, sample, hooks);
  return again;
}

}  // namespace assay
