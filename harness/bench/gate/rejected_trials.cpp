#include "bench/gate/rejected_trials.hpp"

#include "assay/check.hpp"
#include "assay/plan.hpp"
#include "assay/suite.hpp"
#include "bench/compare/roofs.hpp"
#include "core/machine/roofline.hpp"
#include "core/plan/trial_key.hpp"

#include <fmt/format.h>

#include <map>
#include <span>
#include <utility>

namespace assay {
namespace {

/// The trials that are too fast for these roofs, by their position.
std::map<std::size_t, Finding> too_fast(TwoBuilds& run, const std::vector<Roof>& roofs,
                                        const Registry& registry) {
  const Results base = base_results(run), head = head_results(run);
  std::map<std::size_t, Finding> out;
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    const PairedTrial& trial = run.trials[i];
    if (!trial.tested() || trial.launches.empty()) continue;
    const Operation& operation = registry.at(trial.trial.operation);
    const auto variant = operation.variant_named(trial.trial.variant);
    const std::string fields = fields_of(operation, trial.trial.problem, trial.trial.file);
    // If a plug-in alone has the variant, this program knows its operation and nothing else.
    const Cost cost = variant ? operation.cost_of(*variant, fields) : operation.cost(fields);
    const auto why = [&](const Results& side) {
      return why_impossible(time_of(side.trials[i]), cost, trial.trial.threads, roofs);
    };
    if (const std::string of_head = why(head); !of_head.empty()) {
      out[i] = {Standing::impossible, of_head};
    } else if (const std::string of_base = why(base); !of_base.empty()) {
      out[i] = {Standing::not_comparable, "the base " + of_base};
    }
  }
  return out;
}

constexpr std::size_t naive = 0;

std::vector<TrialRequest> both(const TimedCase& timed) {
  const std::string operation(timed.operation.name());
  std::vector<TrialRequest> out;
  for (const std::size_t v : {naive, timed.variant}) {
    const VariantInfo& variant = timed.operation.variants()[v];
    const int threads = variant.threaded ? 2 : 1;
    out.push_back({.key = TrialKey{operation, variant.name, timed.problem, threads}.text(),
                   .operation = operation,
                   .variant = variant.name,
                   .problem = timed.problem,
                   .threads = threads});
  }
  return out;
}

std::vector<Trial> trials_of(const TimedCase& timed) {
  std::vector<Trial> trials;
  for (const TrialRequest& one : both(timed)) {
    trials.push_back({.operation = &timed.operation,
                      .variant = trials.empty() ? naive : timed.variant,
                      .row = {.operation = one.operation, .problem = one.problem},
                      .context = {.threads = one.threads},
                      .key = one.key});
  }
  return trials;
}

/// Adds how it fails a corner case, where nothing else was found: `run` and gates ask for those first, but a
/// cheat shall show whether its times reject it. No file says who passed before.
TimedFinding with_corners(TimedFinding found, const TimedCase& timed, const Hooks& hooks) {
  if (!found.reason.empty() || !found.astray.empty() || hooks.stopped()) return found;
  try {
    const std::vector<Trial> trials = trials_of(timed);
    const std::vector<Checked> corners =
        check_corners(std::span(trials).last(1), this_machine(), timed.seed, {}, hooks,
                      {.own_process = true, .time_limit = timed.time_limit});
    if (!corners.back().agrees) found.reason = corners.back().detail;
  } catch (const std::exception& failure) {
    found.astray = fmt::format("nobody is named: {}", failure.what());
  }
  return found;
}

std::string fault_of(const TrialSample& sample) {
  if (sample.failure) return "it " + sample.failure->reason;
  return sample.audit.fault.empty() ? "" : "in a slice that was timed: " + sample.audit.fault;
}

}  // namespace

MeasureRoof roof_of_one_thread(const Machine& machine) {
  constexpr double seconds = 0.3;
  return [machine] { return measure_roof(machine, 1, seconds); };
}

void leave_out_impossible(TwoBuilds& run, std::vector<Roof>& roofs, const Registry& registry,
                          const MeasureRoof& measure) {
  if (roofs.empty()) {
    // Slower trials need no measured roof. Every x86-64 processor reaches this one in one thread: four lanes
    // of a product and of a sum, and one load of 16 bytes, at 1 GHz.
    const std::vector<Roof> least{{.threads = 1, .flops_per_second = 8e9, .bandwidth = {{"L1", 0, 16e9}}}};
    if (too_fast(run, least, registry).empty()) return;
    roofs.push_back(measure());
  }
  std::map<std::size_t, Finding> found = too_fast(run, roofs, registry);
  while (!found.empty() && roofs.front().measurements < most_roof_measurements) {
    raise(roofs.front(), measure());
    found = too_fast(run, roofs, registry);
  }
  for (auto& [i, finding] : found) run.trials[i].left_out = std::move(finding);
}

TimedFinding rejected_by_run(const TimedCase& timed, const Sample& sample, const Hooks& hooks) {
  const LaunchRequest request{.policy = {.seed = timed.seed, .time_limit = timed.time_limit},
                              .trials = both(timed)};
  TimedFinding out;
  try {
    // As `run` checks it, in a process of its own.
    const Agreement before =
        check(trials_of(timed), timed.seed, hooks, {.own_process = true, .time_limit = timed.time_limit})
            .back();
    if (!before.agrees) return {.reason = before.detail, .astray = {}};
    const std::vector<TrialSample> samples = sample(request, hooks);
    if (hooks.stopped()) return out;
    const TrialSample &of_naive = samples.at(0), &of_variant = samples.at(1);
    out.reason = fault_of(of_variant);
    if (!fault_of(of_naive).empty()) {
      out.astray = "naive is blamed: " + fault_of(of_naive);
    } else if (out.reason.empty() && of_variant.slices.empty()) {
      out.astray = "it has no times, and nothing says why";
    }
  } catch (const std::exception& failure) {
    out.astray = fmt::format("nobody is named: {}", failure.what());
  }
  return with_corners(std::move(out), timed, hooks);
}

TimedFinding rejected_by_gate(const TimedCase& timed, const std::filesystem::path& program,
                              const SampleSides& sample, const Hooks& hooks) {
  PairRequest request{.trials = both(timed),
                      .policy = {.seed = timed.seed, .time_limit = timed.time_limit},
                      .draw = draw_of(timed.seed, 0),
                      .check = true,
                      .shared_bytes = std::size_t(memory_for(timed.operation.footprint(timed.problem)))};
  for (const char* side : {"base", "head", "control"})
    request.sides.push_back({.name = side, .program = program, .known_as = program});
  TimedFinding out;
  try {
    for (const std::vector<TurnSample>& side : sample(request, hooks)) {
      const TurnSample &of_naive = side.at(0), &of_variant = side.at(1);
      if (!of_naive.agrees && out.astray.empty()) out.astray = "naive is blamed: " + of_naive.disagreement;
      if (!of_variant.agrees && out.reason.empty()) out.reason = of_variant.disagreement;
    }
  } catch (const SideFailure& failure) {
    const bool named = failure.key == request.trials.at(1).key;
    (named ? out.reason : out.astray) =
        fmt::format("{} {}", named ? "it" : "naive is blamed: it", failure.failure.reason);
  } catch (const ChildCrash& crash) {
    // As in a gate: it was who ends a side alone, too.
    const auto ends_alone = [&](std::size_t trial) {
      try {
        static_cast<void>(sample(with_one_trial(request, trial), hooks));
        return false;
      } catch (const ChildCrash&) {
        return true;
      }
    };
    const bool named = !ends_alone(0) && ends_alone(1);
    (named ? out.reason : out.astray) =
        fmt::format("{}: {}", named ? "it ended its process while no kernel was called" : "nobody is named",
                    crash.what());
  } catch (const std::exception& failure) {
    out.astray = fmt::format("nobody is named: {}", failure.what());
  }
  return with_corners(std::move(out), timed, hooks);
}

}  // namespace assay
