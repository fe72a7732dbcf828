#include "training/epoch/own_jobs.hpp"

#include "assay/error.hpp"
#include "core/json/fields.hpp"
#include "core/machine/clock.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"
#include "training/epoch/loader_queue.hpp"
#include "training/epoch/models.hpp"
#include "training/epoch/spread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

using OfStep = double (*)(const StepTimes&);

std::vector<double> each(const std::vector<StepTimes>& steps, OfStep of) {
  std::vector<double> out;
  for (const StepTimes& step : steps) out.push_back(of(step));
  return out;
}

struct PhaseOf {
  const char* name;
  PhaseKind kind;
  OfStep of;
};
/// The phases of a step in the order in which they happen; they sum to the step.
constexpr PhaseOf phases[] = {
    {"wait", PhaseKind::load, [](const StepTimes& s) { return s.wait; }},
    {"forward", PhaseKind::compute, [](const StepTimes& s) { return s.forward; }},
    {"loss", PhaseKind::compute, [](const StepTimes& s) { return s.loss; }},
    {"backward", PhaseKind::compute, [](const StepTimes& s) { return s.backward; }},
    {"clip", PhaseKind::compute, [](const StepTimes& s) { return s.clip; }},
    {"optimizer", PhaseKind::compute, [](const StepTimes& s) { return s.optimize; }},
    {"other", PhaseKind::other, [](const StepTimes& s) { return s.other(); }}};

Job described(const TrainingJob& job) {
  const TrainingPlan& plan = job.plan;
  Job out{.name = job.name, .source = "this program"};
  out.dataset = {.train = plan.samples,
                 .validation = plan.validation_samples,
                 .batch = plan.batch,
                 .drop_last = plan.drop_last,
                 .checkpoint_every = plan.checkpoint_every};
  out.loader = {
      .workers = plan.workers, .prefetch = plan.prefetch, .prefetch_stated = true, .in_order = plan.in_order};
  // Batches and steps are timed while both run.
  if (plan.workers > 0) out.loader.load_contention = out.loader.compute_contention = 1;
  return out;
}

TimedWindow window_of(PageCache cache, const std::vector<StepTimes>& steps, double seconds) {
  TimedWindow out = timed_window(0, step_seconds(steps));
  out.wall_seconds = seconds;
  out.cache = cache;
  return out;
}

void add_phases(Job& job, const std::vector<StepTimes>& steps) {
  for (const PhaseOf& phase : phases)
    job.phases.push_back(timed_phase(phase.name, phase.kind, each(steps, phase.of)));
  if (job.loader.workers.value_or(0) == 0) return;
  job.phases.push_back(
      timed_phase("load", PhaseKind::load, each(steps, [](const StepTimes& s) { return s.load; }), true));
}

/// Adds the times of batches of validation and of checkpoints, one by one, where there are any.
void add_beside(Job& job, const std::vector<double>& validation, const std::vector<double>& checkpoints) {
  const auto add = [&](Scope scope, PhaseKind kind, const std::vector<double>& seconds) {
    if (!seconds.empty())
      job.phases.push_back(timed_phase(std::string(to_string(scope)), kind, seconds, false, scope));
  };
  add(Scope::validation, PhaseKind::compute, validation);
  add(Scope::checkpoint, PhaseKind::other, checkpoints);
}

/// Returns the seconds of full batches; where the only batch is smaller, the time that a full one would take.
std::vector<double> full_batches(const TrainingPlan& plan, const std::vector<ValidationTimes>& batches) {
  std::vector<double> out;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const Index size = plan.validation_size(static_cast<Index>(i));
    const double seconds = batches[i].end - batches[i].begin;
    if (size == plan.batch) out.push_back(seconds);
    if (size < plan.batch && batches.size() == 1) {
      out.push_back(seconds * static_cast<double>(plan.batch) / static_cast<double>(size));
    }
  }
  return out;
}

/// All but the first, which meets cold caches, unless it is alone.
std::vector<double> warmed_up(std::vector<double> seconds) {
  if (seconds.size() > 1) seconds.erase(seconds.begin());
  return seconds;
}

/// Waits until `seconds` after `start`, or until the user wants to stop. The processor is kept busy,
/// as an epoch keeps it: after sleeping for a quarter of a second steps took 3 % longer in the median, and a
/// tenth longer in one of four cases, for tens of milliseconds, since the clock falls and a host gives the
/// core to others.
void pause_until(Clock::time_point start, double seconds, const Hooks& hooks) {
  while (seconds_since(start) < seconds && !hooks.stopped()) {
  }
}

class CalibrationRuns {
 public:
  CalibrationRuns(Training& training, const TrainingJob& job, const CalibrationPolicy& policy,
                  const Hooks& hooks)
      : training_(training), plan_(job.plan), policy_(policy), hooks_(hooks), out_(described(job)) {}

  Job run() {
    const double apart = policy_.seconds / static_cast<double>(policy_.runs);
    const Index all = policy_.runs + (plan_.cold ? policy_.cold_runs : 0);
    // Warm runs first, whatever the plan says of its epoch: dropped pages stay away until they are read.
    training_.start_cold(false);
    for (Index run = 0; run < all && !hooks_.stopped(); ++run) {
      const bool cold = run >= policy_.runs;
      if (!cold) pause_until(start_, static_cast<double>(run) * apart, hooks_);
      hooks_.say(fmt::format("calibration: {}run {} of {}", cold ? "cold " : "", run + 1, all),
                 static_cast<double>(run) / static_cast<double>(all));
      if (cold) {
        train_cold(range_of(run));
        continue;
      }
      warm_up();
      train(range_of(run), PageCache::warm);
      if (run % std::max<Index>(1, policy_.runs / policy_.beside) == 0) time_beside();
    }
    training_.start_cold(plan_.cold);
    out_.weather = station_.since();
    add_phases(out_, steps_);
    add_beside(out_, validation_, checkpoints_);
    return std::move(out_);
  }

 private:
  /// One, two or three parts of the steps that may be trained. Each run goes on behind the run before it, as
  /// long as there are batches.
  StepRange range_of(Index run) {
    const Index full = std::max<Index>(1, plan_.samples / plan_.batch);
    const auto share = static_cast<Index>(policy_.share * static_cast<double>(plan_.steps()));
    const Index all = std::max(policy_.fewest, share), part = 1 + run % 3;
    const Index count = std::min(std::max<Index>(2, all * part / (2 * policy_.runs)), full);
    if (next_ + count > full) next_ = 0;
    const StepRange out{.first = next_, .steps = count};
    next_ += count;
    return out;
  }

  /// Untimed steps: the first milliseconds after a pause are slower, and a run may not last longer.
  void warm_up() {
    const auto steps = static_cast<Index>(policy_.warm_seconds / std::max(step_, 1e-9));
    const std::vector<StepTimes> times = training_.train_alone(std::clamp(steps, Index{1}, Index{1000}));
    step_ = mean_of(step_seconds(times));
  }

  void train(const StepRange& range, PageCache cache) {
    std::vector<StepTimes> times;
    const double began = seconds_since(start_);
    const double seconds = training_.train(range, times, hooks_.stop);
    if (hooks_.stopped()) return;
    out_.windows.push_back(window_of(cache, times, seconds));
    out_.windows.back().run = runs_++;
    out_.windows.back().began = began;
    steps_.insert(steps_.end(), times.begin(), times.end());
  }

  void train_cold(const StepRange& range) {
    training_.drop_pages();
    const double before = training_.resident();
    train(range, PageCache::cold);
    if (hooks_.stopped()) return;
    out_.windows.back().resident_before = before;
    out_.windows.back().resident_after = training_.resident();
  }

  void time_beside() {
    if (const Index all = plan_.validation_steps(); all > 0 && !hooks_.stopped()) {
      append(validation_, full_batches(plan_, training_.validate_alone(std::min(all, policy_.batches))));
    }
    if (const Index all = plan_.checkpoints(); all > 0 && !hooks_.stopped()) {
      append(checkpoints_, training_.checkpoint_alone(std::min(policy_.checkpoints, all + 1)));
    }
  }

  static void append(std::vector<double>& to, const std::vector<double>& seconds) {
    const std::vector<double> warm = warmed_up(seconds);
    to.insert(to.end(), warm.begin(), warm.end());
  }

  Training& training_;
  const TrainingPlan& plan_;
  const CalibrationPolicy& policy_;
  const Hooks& hooks_;
  Job out_;
  WeatherStation station_;
  Clock::time_point start_ = Clock::now();
  std::vector<StepTimes> steps_;
  std::vector<double> validation_, checkpoints_;
  Index next_ = 0;
  int runs_ = 0;
  double step_ = 1;  ///< seconds of a step alone, as last seen
};

double mean_step(const std::vector<StepTimes>& steps) { return mean_of(warmed_up(step_seconds(steps))); }

Index count_for(double longest, double seconds) {
  return std::clamp(static_cast<Index>(seconds / std::max(longest, 1e-9)), Index{3}, Index{1000});
}

/// The slow-down of batches and of the loop by workers that always work: times beside them over times alone.
struct Contention {
  double load = 1, compute = 1;
};

/// Times batches and steps alone and beside these numbers of workers, round by round.
std::map<Index, Contention> contentions(Training& training, const std::set<Index>& numbers,
                                        const PartsPolicy& policy, const Hooks& hooks) {
  std::map<Index, Contention> out;
  if (*numbers.rbegin() == 0) return out;
  const auto start = std::chrono::steady_clock::now();
  const Index steps = count_for(mean_step(training.train_alone(3)), policy.part_seconds);
  const Index batches = count_for(mean_of(warmed_up(training.load_alone(3))), policy.part_seconds);
  std::map<Index, std::vector<double>> loads, computes;
  for (Index round = 0; round < policy.rounds && !hooks.stopped(); ++round) {
    const double done = static_cast<double>(round) / static_cast<double>(policy.rounds);
    pause_until(start, policy.seconds * done, hooks);
    hooks.say("parts: batches and steps alone and together", done);
    const double load = mean_of(warmed_up(training.load_alone(batches)));
    const double step = mean_step(training.train_alone(steps));
    for (const Index workers : numbers) {
      if (workers == 0) continue;
      const Training::Together both = training.together(workers, steps);
      loads[workers].push_back(mean_of(warmed_up(both.load)) / load);
      computes[workers].push_back(mean_step(both.steps) / step);
    }
  }
  // The pace of the machine may change between one part and the next; not in most rounds.
  for (const auto& [workers, ratios] : loads)
    out[workers] = {std::max(1.0, median(ratios)), std::max(1.0, median(computes[workers]))};
  return out;
}

/// The share of its time that a worker spends making batches, for this time of a step without waiting.
double busy_share(Index workers, double load, double step) {
  if (workers == 0) return 0;
  const double made = load / static_cast<double>(workers);
  return made / std::max({made, step, 1e-12});
}

double slower(double contention, double share) { return 1 + (contention - 1) * share; }

/// Whether the only worker sleeps until its batch is taken, so that the loop wakes it for each batch.
bool wakes_for_each_batch(Index workers, Index prefetch) { return workers * prefetch == 1; }

/// Returns the time of a hand-over in a step of the setting, from the time of a hand-over in the calibration.
/// Waking a worker for each batch is no cost of a loop that finds another batch waiting; the rest of a
/// hand-over takes a few microseconds.
double hand_over_at(const LoaderSetting& setting, const TrainingPlan& plan, const Calibration& c) {
  if (setting.workers == 0) return 0;
  const bool wakes = wakes_for_each_batch(setting.workers, setting.prefetch);
  return wakes_for_each_batch(plan.workers, plan.prefetch) && !wakes ? 0 : hand_over(c);
}

}  // namespace

void describe(Fields& f, TrainingJob& job) {
  constexpr Index most_samples = Index{1} << 32, most_batch = Index{1} << 20, most_workers = 256,
                  most_prefetch = 1024, most_threads = 4096;
  constexpr Fields::Rule optional{.optional = true};
  TrainingPlan& plan = job.plan;
  f.schema("assay.training/1");
  f.only<TrainingJob>();
  f("name", job.name);
  f("network", plan.network, {.optional = true, .about = "classifier or transformer"});
  f("channels", plan.channels, {.optional = true, .low = 1, .high = 3});
  f("side", plan.side, {.optional = true, .low = 4, .high = 256, .about = "of the images, in pixels"});
  f("width", plan.width, {.optional = true, .low = 1, .high = 1024});
  f("pixels", plan.pixels, {.optional = true, .about = "of a record: bytes or floats"});
  f("variant", plan.variant, {.optional = true, .about = "of train_step: composed or naive"});
  f("threads", plan.threads, {.optional = true, .low = 1, .high = most_threads});
  f("samples", plan.samples, {.low = 1, .high = most_samples, .about = "of an epoch"});
  f("batch", plan.batch, {.low = 1, .high = most_batch, .about = "samples of a step"});
  if (f.reads() && plan.samples < plan.batch) {
    f.refuse("samples", fmt::format("is {}, fewer than a batch of {}", plan.samples, plan.batch));
  }
  f("drop_last", plan.drop_last, optional);
  f("workers", plan.workers, {.optional = true, .low = 0, .high = most_workers});
  f("prefetch", plan.prefetch, {.optional = true, .low = 1, .high = most_prefetch});
  f("in_order", plan.in_order, optional);
  f("cold", plan.cold, optional);
  // More than the records of an epoch is a slip: no epoch has as many steps.
  const Index most_steps = f.tells() ? most_samples : plan.samples;
  f("validation_samples", plan.validation_samples, {.optional = true, .low = 0, .high = most_steps});
  f("checkpoint_every", plan.checkpoint_every, {.optional = true, .low = 0, .high = most_steps});
  f("batch_delay", plan.batch_delay, {.optional = true, .least = 0, .most = 10, .about = "seconds"});
  f("seed", plan.seed, optional);
  f("records", plan.records, {.optional = true, .about = "a file; empty for generated records"});
}

TrainingJob training_job_from_json(const std::string& text, const std::filesystem::path& where) {
  auto out = value_from<TrainingJob>(text, where.string(), "see suites/jobs/README.md for the keys");
  if (auto& records = out.plan.records; !records.empty()) {
    records = std::filesystem::absolute(where.parent_path() / records).lexically_normal();
  }
  return out;
}

void require_memory(const TrainingPlan& plan, const std::string& where, double bytes) {
  const auto numbers = static_cast<double>(plan.channels * plan.side * plan.side);
  const auto samples = static_cast<double>(plan.samples + plan.validation_samples);
  const double generated = plan.records.empty() ? samples * numbers * (plan.pixels == "floats" ? 4 : 1) : 0;
  const auto batches = static_cast<double>(std::max<Index>(1, plan.workers * plan.prefetch));
  const double held = batches * static_cast<double>(plan.batch) * numbers * sizeof(float);
  if (generated + held <= bytes) return;
  throw Error(where,
              fmt::format("needs {} for its records and {} for batches of the loader, and {} are free",
                          bytes_text(generated), bytes_text(held), bytes_text(bytes)),
              "take fewer samples, a smaller batch, or fewer workers and batches ahead");
}

std::string in_words(const TrainingPlan& plan) {
  std::string out = fmt::format("{} {}x{}x{}, width {}, {}, {}, batch {}, workers {}, prefetch {}{}{}",
                                plan.network, plan.channels, plan.side, plan.side, plan.width, plan.variant,
                                quantity_text(plan.threads, "thread"), plan.batch, plan.workers,
                                plan.prefetch, plan.in_order ? "" : ", any order", plan.cold ? ", cold" : "");
  if (plan.validation_samples > 0) out += fmt::format(", validation of {}", plan.validation_samples);
  if (plan.checkpoint_every > 0) out += fmt::format(", checkpoint every {}", plan.checkpoint_every);
  if (plan.batch_delay > 0) out += fmt::format(", {} of delay per batch", seconds_text(plan.batch_delay));
  return out;
}

std::vector<double> step_seconds(const std::vector<StepTimes>& steps) {
  return each(steps, [](const StepTimes& step) { return step.end - step.begin; });
}

Job calibration_of(Training& training, const TrainingJob& job, const CalibrationPolicy& policy,
                   const Hooks& hooks) {
  return CalibrationRuns(training, job, policy, hooks).run();
}

EpochRun run_epoch(Training& training, const TrainingPlan& plan,
                   const std::function<void(Index, double)>& after_step, const Hooks& hooks) {
  const WeatherStation station;
  const auto start = Clock::now();
  Index done = 0;
  EpochRun out;
  out.times = training.train_epoch([&] {
    // Asked in validation as well, when all steps are done.
    if (done < plan.steps()) {
      after_step(++done, seconds_since(start));
    }
    return hooks.stopped();
  });
  out.partial = std::ssize(out.times.steps) < plan.steps() ||
                std::ssize(out.times.validation) < plan.validation_steps();
  out.weather = station.since();
  return out;
}

Job measured_job(const TrainingJob& job, const EpochRun& run) {
  Job out = described(job);
  const EpochTimes& times = run.times;
  out.windows.push_back(window_of(job.plan.cold ? PageCache::cold : PageCache::warm, times.steps,
                                  times.seconds - times.checkpoint_seconds() - times.validation_seconds()));
  add_phases(out, times.steps);
  std::vector<double> checkpoints;
  for (const CheckpointTimes& one : times.checkpoints) checkpoints.push_back(one.end - one.begin);
  add_beside(out, full_batches(job.plan, times.validation), checkpoints);
  out.epoch_seconds = times.seconds;
  return out;
}

std::vector<LoaderSetting> usual_settings() {
  std::vector<LoaderSetting> out{{0, 1}};
  for (const Index workers : {1, 2})
    for (const Index prefetch : {1, 2, 4}) out.push_back({workers, prefetch});
  return out;
}

std::vector<Elsewhere> elsewhere(Training& training, const TrainingPlan& plan, const Calibration& c,
                                 const std::vector<LoaderSetting>& settings, double beside,
                                 const PartsPolicy& policy, const Hooks& hooks) {
  if (c.load.empty() || c.rest.empty()) return {};
  std::set<Index> workers{plan.workers};
  for (const LoaderSetting& setting : settings) workers.insert(setting.workers);
  training.start_cold(false);
  auto slowed = contentions(training, workers, policy, hooks);
  training.start_cold(plan.cold);
  if (hooks.stopped()) return {};

  const Contention here = slowed[plan.workers];
  const double step_here = mean_of(c.rest), load_here = mean_of(c.load);
  const double step_alone = 1 / slower(here.compute, busy_share(plan.workers, load_here, step_here));
  const double load_alone = 1 / here.load;
  std::vector<Elsewhere> out;
  const StepCount count = count_steps(plan.samples, plan.batch, plan.drop_last);
  const double partial = static_cast<double>(count.partial_samples) / static_cast<double>(plan.batch);
  for (const LoaderSetting& setting : settings) {
    const Contention there = slowed[setting.workers];
    const std::vector<double> load = scaled(c.load, load_alone * there.load);
    const double share = busy_share(setting.workers, mean_of(load), step_alone * step_here);
    const std::vector<double> rest = scaled(c.rest, step_alone * slower(there.compute, share));
    const LoaderQueue queue{
        .workers = setting.workers, .prefetch = setting.prefetch, .in_order = plan.in_order};
    const double played = play_drawn(queue, count.full, load, rest).seconds;
    const double steps = static_cast<double>(count.full);
    const double handed = hand_over_at(setting, plan, c) * steps;
    out.push_back({setting, (played + handed) * (1 + partial / steps) + beside});
  }
  return out;
}

}  // namespace assay
