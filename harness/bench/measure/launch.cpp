// Launches: process starts that sample, and the JSON they are asked and answer with.

#include "bench/measure/launch.hpp"

#include "assay/error.hpp"
#include "assay/measure.hpp"
#include "bench/measure/results_fields.hpp"
#include "core/check/contained.hpp"
#include "core/code/differing_functions.hpp"
#include "core/files/answers.hpp"
#include "core/files/child_process.hpp"
#include "core/files/scratch.hpp"
#include "core/files/this_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>

namespace assay {

// Beside the types, where argument-dependent lookup finds them.
void describe(Fields& f, MeasurePolicy& policy) {
  f("launches", policy.launches);
  f("slices", policy.slices);
  f("slice_seconds", policy.slice_seconds);
  f("calls_per_slice", policy.calls_per_slice);
  f("trial_seconds", policy.trial_seconds);
  f("seed", policy.seed);
  f("time_limit", policy.time_limit);
  f("strict", policy.strict);
  f("judge_every", policy.judge_every);
}

void describe(Fields& f, LaunchRequest& request) {
  f("policy", request.policy);
  f("index", request.index);
  f("trials", request.trials);
  f("record", request.record);
  f("answers", request.answers);
}

void describe(Fields& f, TrialSample& sample) {
  f("key", sample.key);
  f("slices", sample.slices);
  f("figures", sample.figures);
  f("audit", sample.audit);
}

namespace {

/// OpenBLAS's worker spins for 2^26 cycles after a call by default, on the core that the next trial's second
/// thread needs. 2^18 cycles still cover back-to-back calls.
Variables quiet_thread_pools() {
  if (std::getenv("OPENBLAS_THREAD_TIMEOUT") != nullptr) return {};
  return {{"OPENBLAS_THREAD_TIMEOUT", "18"}};
}

/// Reads answers, each of some trials: a launch that comes to no end has answered for those before. One trial
/// is answered for once, and was asked for.
LaunchPart part_from(const Answers& answers, const ChildEnd& end, const LaunchRequest& request) {
  LaunchPart out{.unsound = why_unsound(answers, end)};
  if (!out.unsound.empty()) return out;
  for (const std::string& answer : answers.all()) {
    std::vector<TrialSample> samples;
    try {
      samples = value_from<std::vector<TrialSample>>(answer, "answer", "");
    } catch (const Error&) {
      return {.unsound = answered_nonsense};
    }
    for (TrialSample& sample : samples) {
      const bool asked =
          std::ranges::find(request.trials, sample.key, &TrialRequest::key) != request.trials.end();
      const std::string key = sample.key;
      if (!asked || !out.samples.emplace(key, std::move(sample)).second) return {.unsound = answered_twice};
    }
  }
  return out;
}

/// The trials that the next process is to sample.
std::vector<TrialRequest> next_trials(const LaunchRequest& rest, bool alone) {
  if (alone) return {rest.trials.front()};
  std::vector<TrialRequest> out = rest.trials;
  if (!rest.policy.strict) return out;
  std::erase_if(out, [&](const TrialRequest& trial) { return !trial.same_case(rest.trials.front()); });
  return out;
}

/// Says which trial a launch is at; `all` has the trials of the whole launch in their order.
void say_place(const StepRecord& record, const LaunchRequest& part, const LaunchRequest& all,
               const Hooks& hooks) {
  const std::uint64_t step = record.step.load(std::memory_order_acquire);
  if (step == 0 || step > part.trials.size()) return;
  const TrialRequest& trial = part.trials[step - 1];
  const std::string& key = trial.key;
  // Trials of one case take turns, so that the case as a whole tells how far the launch is.
  const auto place =
      std::ranges::find_if(all.trials, [&](const TrialRequest& one) { return one.same_case(trial); }) -
      all.trials.begin();
  const double launches_done =
      all.index + static_cast<double>(place) / static_cast<double>(all.trials.size());
  hooks.say(fmt::format("process start {} of {}: {}", all.index + 1, all.policy.launches, key),
            launches_done / all.policy.launches);
}

LaunchPart part_in_new_process(LaunchRequest request, const LaunchRequest& all, const Hooks& hooks) {
  const ScratchFolder scratch;
  const auto request_file = (scratch.path() / "request.json").string();
  const Inheritance inheritance;
  const SharedRecord record;
  Printed printed;
  Answers answers;
  StepWatch watch(*record, &printed);
  request.record = record.descriptor();
  request.answers = answers.descriptor();
  write_file(request_file, to_json(request));
  const pid_t child =
      start_this_program({"launch", request_file},
                         {.environment = quiet_thread_pools(), .printed = &printed, .answers = &answers});
  watch.follow(child);
  std::string changed;
  answers.when_sealed([&] { changed = changed_code(child); });
  const ChildEnd end = wait_for_children({child}, {.stopped = hooks.stop,
                                                   .overdue =
                                                       [&] {
                                                         say_place(*record, request, all, hooks);
                                                         return watch.is_overdue();
                                                       },
                                                   .printed = {&printed},
                                                   .answers = {&answers}});
  if (!changed.empty()) return {.unsound = changed_in_memory(changed)};
  LaunchPart out = part_from(answers, end, request);
  if (hooks.stopped() || !out.unsound.empty()) return out;
  out.failed = watch.failed_step(end);
  if (!out.failed && !end.passed()) {
    throw std::runtime_error(
        fmt::format("process start {} outside of any kernel{}", end.text(), printed.in_words("; ")));
  }
  return out;
}

/// Of the only trial of a process.
Failure failure_without_answer(const LaunchPart& part) {
  return {.reason =
              part.unsound.empty() ? "ended the process without an answer" : "its process " + part.unsound};
}

bool is_at_fault(const TrialSample& sample) { return sample.failure || !sample.audit.fault.empty(); }

/// Samples trials alone, each in a process of its own: only what one does there is its fault.
class Alone {
 public:
  Alone(const LaunchRequest& request, const SamplePart& part, const Hooks& hooks)
      : request_(request), part_(part), hooks_(hooks) {}

  /// At fault if it is so in one of `tries`; else the last of them. Nothing after a stop.
  std::optional<TrialSample> sample(const TrialRequest& trial, int tries) const {
    std::optional<TrialSample> out;
    for (int i = 0; i < tries && !(out && is_at_fault(*out)); ++i) {
      LaunchRequest one = request_;
      one.trials = {trial};
      LaunchPart part = part_(one);
      if (hooks_.stopped()) return std::nullopt;
      const auto found = part.samples.find(trial.key);
      out = found != part.samples.end()
                ? std::move(found->second)
                : TrialSample{.key = trial.key, .failure = failure_without_answer(part)};
      if (part.failed) *out = {.key = trial.key, .failure = std::move(part.failed->failure)};
    }
    return out;
  }

  /// Looks for who did to `victim` what it does not do alone, among those that shared its process: its case,
  /// and what came before. Returns the samples of one that is at fault alone.
  std::optional<TrialSample> culprit(const std::vector<TrialRequest>& shared,
                                     const TrialRequest& victim) const {
    const auto last = std::ranges::find_if(shared.rbegin(), shared.rend(),
                                           [&](const TrialRequest& one) { return one.same_case(victim); });
    std::size_t tried = 0;
    for (auto one = last; one != shared.rend() && tried < most_tried_alone; ++one, ++tried) {
      if (one->key == victim.key) continue;
      std::optional<TrialSample> found = sample(*one, 1);
      if (!found || is_at_fault(*found)) return found;
    }
    return std::nullopt;
  }

 private:
  const LaunchRequest& request_;
  const SamplePart& part_;
  const Hooks& hooks_;
};

void keep(std::map<std::string, TrialSample>& found, TrialSample sample) {
  std::string key = sample.key;
  found.insert_or_assign(std::move(key), std::move(sample));
}

/// Samples those alone that are accused in a process with others. They are accused again, or their samples
/// there are kept, and who is at fault is named.
void take_accused_again(std::map<std::string, TrialSample>& found, const std::vector<TrialRequest>& shared,
                        const Alone& alone) {
  std::optional<TrialRequest> victim;
  bool named = false;
  for (const TrialRequest& trial : shared) {
    const auto accused = found.find(trial.key);
    if (accused == found.end() || !is_at_fault(accused->second)) continue;
    std::optional<TrialSample> again = alone.sample(trial, tries_alone);
    if (!again) return;
    accused->second = std::move(*again);
    named = named || is_at_fault(accused->second);
    if (!is_at_fault(accused->second)) victim = trial;
  }
  if (named || !victim) return;
  if (std::optional<TrialSample> other = alone.culprit(shared, *victim)) keep(found, std::move(*other));
}

}  // namespace

std::string to_json(const LaunchRequest& request) { return to_value(request).dump(); }

std::vector<TrialSample> sample_in_new_process(const LaunchRequest& request, const Hooks& hooks) {
  hooks.say(fmt::format("process start {} of {}", request.index + 1, request.policy.launches),
            static_cast<double>(request.index) / request.policy.launches);
  const auto in_new_process = [&](const LaunchRequest& part) {
    return part_in_new_process(part, request, hooks);
  };
  return sample_in_parts(request, in_new_process, hooks);
}

std::vector<TrialSample> sample_in_parts(const LaunchRequest& request, const SamplePart& sample,
                                         const Hooks& hooks) {
  std::map<std::string, TrialSample> found;
  LaunchRequest rest = request;
  bool alone = false, suspected = false;
  const Alone one_by_one(request, sample, hooks);
  std::vector<TrialRequest> shared;  // the process that a suspect ended
  while (!rest.trials.empty() && !hooks.stopped()) {
    LaunchRequest next = rest;
    next.trials = next_trials(rest, alone || suspected);
    LaunchPart part = sample(next);
    if (next.trials.size() > 1 && !hooks.stopped()) take_accused_again(part.samples, next.trials, one_by_one);
    for (auto& [key, one] : part.samples) keep(found, std::move(one));
    const bool crashed = part.failed && part.failed->failure.kind == Failure::Kind::crashed;
    // A trial that passes alone was hit by something that another trial left behind: by one that comes later
    // in the rest, or by one that has passed.
    if (suspected && !part.failed) {
      alone = true;
      std::erase_if(shared, [&](const TrialRequest& trial) {
        return trial.key != next.trials.front().key && !found.contains(trial.key);
      });
      if (std::optional<TrialSample> other = one_by_one.culprit(shared, next.trials.front()))
        keep(found, std::move(*other));
    }
    // Any of them may have spoilt the answers of all.
    if (!part.unsound.empty()) alone = true;
    suspected = crashed && next.trials.size() > 1;
    if (suspected) shared = next.trials;
    if (suspected) {
      const auto suspect =
          std::ranges::find(rest.trials, next.trials.at(part.failed->step).key, &TrialRequest::key);
      std::rotate(rest.trials.begin(), suspect, suspect + 1);
    } else if (part.failed) {
      keep(found, {.key = next.trials.at(part.failed->step).key, .failure = std::move(part.failed->failure)});
    } else if (next.trials.size() == 1) {
      const std::string& key = next.trials.front().key;
      if (!hooks.stopped() && !found.contains(key))
        keep(found, {.key = key, .failure = failure_without_answer(part)});
    } else if (std::ranges::any_of(next.trials,
                                   [&](const TrialRequest& trial) { return !found.contains(trial.key); })) {
      // A trial ended the process without an answer. Alone in a process, it shows which one.
      alone = true;
    }
    std::erase_if(rest.trials, [&](const TrialRequest& trial) { return found.contains(trial.key); });
  }
  std::vector<TrialSample> out;
  for (const TrialRequest& trial : request.trials) {
    const auto own = found.find(trial.key);
    out.push_back(own == found.end() ? TrialSample{.key = trial.key} : std::move(own->second));
  }
  return out;
}

void serve_launch(const Registry& registry, const std::filesystem::path& request,
                  const std::filesystem::path& answer, const Hooks& hooks) {
  const auto wanted = value_from<LaunchRequest>(read_file(request), request.string(),
                                                "`launch` is for the program itself; use `assay run`");
  leave_crashes_to_parent();
  look_like_all_others();
  std::optional<Answers> to_parent;
  if (wanted.answers >= 0) {
    to_parent.emplace(wanted.answers);
    guard_descriptor(wanted.answers);
  }
  sample_here(registry, wanted, hooks, [&](std::span<const TrialSample> samples) {
    const std::string text = to_value(std::vector(samples.begin(), samples.end())).dump();
    if (to_parent) return to_parent->send(text);
    // Not open while kernels run, which may close or write what they did not open.
    std::ofstream lines(answer, std::ios::app);
    lines << text << std::endl;
    if (!lines) throw Error(answer.string(), "cannot be written", "free space on that disk");
  });
  if (to_parent) leave_sealed(*to_parent);
}

}  // namespace assay
