// Measuring, launch by launch: process starts that sample, and the JSON they are asked and answer with; and
// sampling of one launch: calibration, allocations, and the mixed slices of each case.
#include "bench/measure/measure.hpp"

#include "assay/error.hpp"
#include "assay/suite.hpp"
#include "bench/measure/allocations.hpp"
#include "bench/measure/planted.hpp"
#include "bench/measure/results_fields.hpp"
#include "bench/measure/sampler.hpp"
#include "core/code/differing_functions.hpp"
#include "core/files/answers.hpp"
#include "core/files/child_process.hpp"
#include "core/files/scratch.hpp"
#include "core/files/this_program.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <memory_resource>
#include <new>
#include <span>
#include <utility>

namespace assay {
namespace {

std::string remark_of(const TrialResult& trial) {
  std::size_t slices = 0;
  double longest = 0;
  for (const Launch& launch : trial.launches) {
    slices += launch.size();
    for (const Slice& slice : launch) longest = std::max(longest, slice.seconds);
  }
  if (slices > 0 && slices <= 3 && longest > long_call_seconds) {
    return fmt::format("one call takes over {} s: timed {} times and no more", long_call_seconds, slices);
  }
  return "";
}

void store(TrialResult& trial, TrialSample sample) {
  if (sample.failure) {
    trial.agreement = {.agrees = false, .detail = sample.failure->reason};
    trial.failure = std::move(sample.failure);
    trial.launches.clear();
  }
  if (sample.audit.fault.empty())
    sample.audit.fault = other_figures(trial.agreement.figures, sample.audit.figures);
  trial.audit.add(sample.audit);
  if (!sample.audit.fault.empty()) {
    trial.agreement.agrees = false;
    trial.agreement.detail = "in a slice that was timed: " + sample.audit.fault;
    trial.launches.clear();
    return;
  }
  if (sample.slices.empty()) return;
  join(trial.figures, sample.figures, trial.launches.size());
  trial.launches.push_back(std::move(sample.slices));
}

/// Fewer say nothing about spread.
constexpr int fewest_slices = 3;

/// Below this a plan holds the handle of the kernel and its problem: no workspace worth the name.
constexpr double handle_bytes = 1024;

struct Ready {
  std::unique_ptr<Timed> timed;
  std::unique_ptr<AuditedSlices> slices;
  TrialSample* sample = nullptr;
  double call_seconds = 0;
};

/// Long calls take three slices in all: one in each of three launches, or all in the only one.
int slices_of_long_call(const MeasurePolicy& policy, int launch) {
  if (policy.launches >= fewest_slices) return launch < fewest_slices ? 1 : 0;
  const int rest = fewest_slices % policy.launches;
  return fewest_slices / policy.launches + (launch < rest ? 1 : 0);
}

int slices_of(double call_seconds, double slice_seconds, const MeasurePolicy& policy) {
  const double affordable = policy.trial_seconds / std::max(call_seconds, slice_seconds);
  return std::clamp(static_cast<int>(std::min(affordable, 1e6)), std::min(fewest_slices, policy.slices),
                    policy.slices);
}

/// A sum of many terms may be computed with fewer digits and be within its bound. Only calls of this size
/// tell: smaller ones, which are checked in whole, may take another way. Naive comes first in a case.
void compare_precision(const Operation& operation, std::span<const TrialRequest> trials,
                       std::span<TrialSample> samples, std::size_t at) {
  const auto naive = std::ranges::find(trials, "naive", &TrialRequest::variant);
  const auto variant = std::ranges::find(operation.variants(), trials[at].variant, &VariantInfo::name);
  if (naive == trials.end() || operation.fills().back() != Fill::uniform || !variant->precision.empty())
    return;
  const Audit& measure = samples[static_cast<std::size_t>(naive - trials.begin())].audit;
  Audit& audit = samples[at].audit;
  if (!audit.fault.empty()) return;
  audit.fault =
      fewer_digits(std::min(audit.rounded, measure.rounded), audit.rms_error(), measure.rms_error(), "naive");
}

/// Memory for the buffers of one case after the other: it takes virtual machines longer to give fresh pages
/// than it takes to measure.
std::span<std::byte> memory_of_buffers() {
  constexpr std::size_t bytes = std::size_t{1} << 28;
  static const std::unique_ptr<std::byte[]> all(new (std::nothrow) std::byte[bytes]);
  return {all.get(), all ? bytes : 0};
}

using Taken = std::function<void(std::span<const TrialSample>)>;

/// `first`: the position of the first of these trials among all. Samples are handed over before their kernels
/// are destroyed: what kernels do then is no call, and nobody looks at it.
void sample_case(const Registry& registry, const LaunchRequest& request, std::span<const TrialRequest> trials,
                 std::size_t first, std::span<TrialSample> samples, const StepReporter& reporter,
                 const Hooks& hooks, const Taken& taken) {
  const MeasurePolicy& policy = request.policy;
  const Operation& operation = registry.at(trials.front().operation);
  const std::string fields = fields_of(operation, trials.front().problem, trials.front().file);
  const std::span<std::byte> place = memory_of_buffers();
  std::pmr::monotonic_buffer_resource memory(place.data(), place.size());
  const auto workload = operation.open(fields, {.fill = operation.fills().back(),
                                                .rng = Rng(policy.seed),
                                                .placement = {.memory = &memory},
                                                .file = trials.front().file});
  std::vector<Ready> ready;
  std::vector<Burst> bursts;
  ready.reserve(trials.size());
  const Cost cost = operation.cost(fields);
  std::optional<double> naive_seconds;
  static_cast<void>(workload->timed(0, {}));  // makes the output that all share: no variant's workspace
  const auto hand_over = [&](const Ready& trial) {
    trial.sample->audit = trial.slices->audit();
    if (const auto seconds = trial.slices->seconds_beside_own_clock())
      trial.sample->figures[std::string(tag_of_other_clock)] = *seconds;
    compare_precision(operation, trials, samples, static_cast<std::size_t>(trial.sample - samples.data()));
    taken({trial.sample, 1});
  };
  for (std::size_t i = 0; i < trials.size() && !hooks.stopped(); ++i) {
    const TrialRequest& trial = trials[i];
    hooks.say("measure " + trial.key);
    const std::size_t variant = operation.variant_named(trial.variant).value();
    ready.push_back({.timed = nullptr, .slices = nullptr, .sample = &samples[i]});
    Ready& next = ready.back();
    const double limit = step_limit(policy.time_limit, naive_seconds, cost);
    Slice first_call;
    reporter.call(first + i, limit, [&] {
      const Surroundings before = Surroundings::now();
      const double kept =
          bytes_kept_by([&] { next.timed = workload->timed(variant, {.threads = trial.threads}); });
      next.sample->figures["prepare_seconds"] = next.timed->prepare_seconds();
      next.timed = planted(std::move(next.timed), slowdown_of_build(trial.operation, trial.variant));
      next.sample->figures["workspace_bytes"] = kept < handle_bytes ? 0 : kept;
      using enum AuditedSlices::Judging;
      // The first launch looks closely, and whoever makes naive fast gains nothing.
      const bool closely = request.index == 0 && trial.variant != "naive";
      const auto judging = policy.judge_every ? every : closely ? some : few;
      next.slices = std::make_unique<AuditedSlices>(*next.timed, trial.threads, before, judging);
      first_call = slice_of(next.slices->take(1, false));
    });
    if (trial.variant == "naive") naive_seconds = first_call.seconds;
    const bool found_out = !next.slices->audit().fault.empty();
    if (found_out || first_call.seconds > long_call_seconds) {
      const int slices = found_out ? 0 : slices_of_long_call(policy, request.index);
      if (slices > 0) samples[i].slices.push_back(first_call);
      for (int s = 1; s < slices && !hooks.stopped(); ++s) {
        reporter.call(first + i, limit,
                      [&] { samples[i].slices.push_back(slice_of(next.slices->take(1, false))); });
      }
      hand_over(next);
      next.slices.reset();
      next.timed.reset();
      continue;
    }
    double renewal = 0;
    reporter.call(first + i, limit, [&] {
      const Allocations found = allocations_of_one_call(*next.timed);
      next.sample->figures["allocations_per_call"] = found.count;
      next.sample->figures["allocated_bytes_per_call"] = found.bytes;
      next.call_seconds = calibrated(*next.timed, first_call.seconds, policy.slice_seconds);
      renewal = renewal_seconds(*next.timed);
    });
    const Index calls = policy.calls_per_slice > 0
                            ? policy.calls_per_slice
                            : calls_per_slice(next.call_seconds + renewal, policy.slice_seconds);
    bursts.push_back({.trial = next.slices.get(),
                      .calls = calls,
                      .slices = slices_of(next.call_seconds,
                                          (next.call_seconds + renewal) * static_cast<double>(calls), policy),
                      .warm_up = next.call_seconds < 1e-3,
                      .step = first + i,
                      .limit_seconds = limit,
                      .figures = &samples[i].figures});
  }
  // Workers that the problem asks for may be started at any time.
  const auto helped = [](const Ready& trial) { return trial.timed && trial.timed->helpers() > 0; };
  if (policy.strict && request.record >= 0 && std::ranges::none_of(ready, helped)) freeze(reporter.record());
  const std::vector<Launch> launches = sample_mixed(bursts, hooks, reporter);
  std::size_t burst = 0;
  for (Ready& trial : ready) {
    if (trial.timed == nullptr) continue;
    trial.sample->slices = launches[burst++];
    hand_over(trial);
  }
}

}  // namespace

double joined(Figure::Join join, double all, double more, double launches) {
  switch (join) {
    case Figure::Join::most: return std::max(all, more);
    case Figure::Join::least: return std::min(all, more);
    case Figure::Join::mean: return (all * launches + more) / (launches + 1);
    case Figure::Join::sum: return all + more;
  }
  return all;
}

const std::vector<Figure>& measured_figures() {
  static const std::vector<Figure> figures{
      {.name = "allocations", .tag = "allocations_per_call", .about = "Allocations of the heap by one call."},
      {.name = "allocated",
       .unit = "B",
       .tag = "allocated_bytes_per_call",
       .about = "Bytes of the heap that one call allocates."},
      {.name = "workspace",
       .unit = "B",
       .tag = "workspace_bytes",
       .about = "Memory of the heap that a variant keeps between calls: plans, panels, columns."},
      {.name = "preparation",
       .unit = "s",
       .tag = "prepare_seconds",
       .join = Figure::Join::least,
       .about = "Time before the first call, for a plan or packed constants; not timed with the calls."},
      {.name = "switches",
       .unit = "ratio",
       .better = Figure::Better::lower,
       .tag = "involuntary_switches_per_call",
       .join = Figure::Join::mean,
       .about = "Times per call that the system took the processor from the calling thread, while slices "
                "were timed and judged."},
      {.name = "by our clock",
       .unit = "s",
       .tag = std::string(tag_of_other_clock),
       .join = Figure::Join::mean,
       .about = "Mean time of a call by the clock of the harness, where its times are those of a clock of "
                "its own."},
  };
  return figures;
}

void join(FigureValues& all, const FigureValues& more, std::size_t launches) {
  for (const auto& [tag, value] : more) {
    const auto [own, is_first] = all.try_emplace(tag, value);
    const auto figure = std::ranges::find(measured_figures(), tag, &Figure::tag);
    if (is_first || figure == measured_figures().end()) continue;
    own->second = joined(figure->join, own->second, value, static_cast<double>(launches));
  }
}

ASSAY_FIELDS_OF(MeasurePolicy, launches, slices, slice_seconds, calls_per_slice, trial_seconds, seed,
                time_limit, strict, judge_every)
ASSAY_FIELDS_OF(LaunchRequest, policy, index, trials, record, answers)
ASSAY_FIELDS_OF(TrialSample, key, slices, figures, audit)

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

/// Says which trial a launch is at; `all` has the trials of the whole launch in their order.
void say_place(const StepRecord& record, const LaunchRequest& part, const LaunchRequest& all,
               const Hooks& hooks) {
  const std::uint64_t step = record.step.load(std::memory_order_acquire);
  if (step == 0 || step > part.trials.size()) return;
  const TrialRequest& trial = part.trials[step - 1];
  // Trials of one case take turns, so that the case as a whole tells how far the launch is.
  const auto place =
      std::ranges::find_if(all.trials, [&](const TrialRequest& one) { return one.same_case(trial); }) -
      all.trials.begin();
  const double launches_done =
      all.index + static_cast<double>(place) / static_cast<double>(all.trials.size());
  hooks.say(fmt::format("process start {} of {}: {}", all.index + 1, all.policy.launches, trial.key),
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
  const pid_t child = start_this_program({"launch", request_file}, {.environment = quiet_thread_pools(),
                                                                    .printed = &printed,
                                                                    .answers = &answers,
                                                                    .record = record.descriptor()});
  watch.follow(child);
  std::string changed;
  answers.when_sealed([&] { changed = changed_code(child); });
  const auto overdue = [&] {
    say_place(*record, request, all, hooks);
    return watch.is_overdue();
  };
  const ChildEnd end = wait_for_children(
      {child}, {.stopped = hooks.stop, .overdue = overdue, .printed = {&printed}, .answers = {&answers}});
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

/// The failure of the only trial of a process.
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
    const TrialRequest& first = rest.trials.front();
    LaunchRequest next = rest;
    std::erase_if(next.trials, [&](const TrialRequest& trial) {
      return alone || suspected ? trial.key != first.key : rest.policy.strict && !trial.same_case(first);
    });
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
    if (suspected) {
      shared = next.trials;
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

void measure(Results& results, const MeasurePolicy& policy, const Sample& sample, const Hooks& hooks) {
  LaunchRequest request{.policy = policy};
  std::vector<TrialResult*> wanted;
  for (TrialResult& trial : results.trials) {
    if (!trial.skipped.empty() || !trial.agreement.agrees) continue;
    trial.launches.clear();
    trial.figures.clear();
    trial.impossible.clear();
    wanted.push_back(&trial);
    request.trials.push_back(
        {trial.key, trial.operation, trial.variant, trial.problem, trial.threads, trial.file});
  }
  results.figures = measured_figures();
  if (wanted.empty()) return;
  const WeatherStation station;
  for (request.index = 0; request.index < policy.launches && !hooks.stopped(); ++request.index) {
    std::vector<TrialSample> samples = sample(request, hooks);
    for (std::size_t i = 0; i < wanted.size() && i < samples.size(); ++i)
      store(*wanted[i], std::move(samples[i]));
    std::erase_if(wanted, [](const TrialResult* trial) { return !trial->agreement.agrees; });
    std::erase_if(request.trials, [&](const TrialRequest& trial) {
      return std::ranges::find(wanted, trial.key, &TrialResult::key) == wanted.end();
    });
    if (wanted.empty()) break;
  }
  results.weather = station.since();
  results.partial = hooks.stopped();
  for (TrialResult* trial : wanted) {
    std::string remark = remark_of(*trial);
    if (trial->remark.starts_with(works_elsewhere) || trial->remark.starts_with(clock_not_taken)) {
      std::string stands = trial->remark.substr(0, trial->remark.find("; "));
      const auto other = trial->figures.find(std::string(tag_of_other_clock));
      if (other != trial->figures.end())
        stands = fmt::format("{}, timed by its own clock: a call takes {} by ours", works_elsewhere,
                             seconds_text(other->second));
      remark = stands + (remark.empty() ? "" : "; ") + remark;
    }
    trial->remark = std::move(remark);
  }
}

std::vector<TrialSample> sample_here(const Registry& registry, const LaunchRequest& request,
                                     const Hooks& hooks,
                                     const std::function<void(std::span<const TrialSample>)>& taken) {
  const auto& trials = request.trials;
  std::optional<SharedRecord> record;
  if (request.record >= 0) record.emplace(request.record);
  const StepReporter reporter(record ? record->get() : nullptr);
  std::vector<TrialSample> out;
  for (const TrialRequest& trial : trials) out.push_back({.key = trial.key});
  for (std::size_t begin = 0; begin < trials.size() && !hooks.stopped();) {
    std::size_t end = begin + 1;
    while (end < trials.size() && trials[end].same_case(trials[begin])) ++end;
    const std::span<const TrialRequest> all(trials);
    const auto samples = std::span<TrialSample>(out).subspan(begin, end - begin);
    sample_case(
        registry, request, all.subspan(begin, end - begin), begin, samples, reporter, hooks,
        taken ? taken : [](std::span<const TrialSample>) {});
    begin = end;
  }
  return out;
}

}  // namespace assay
