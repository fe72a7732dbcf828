#include "training/epoch/calibration.hpp"

#include "assay/error.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

namespace assay {
namespace {

/// Steps of one window that were kept: all, or those after its warm-up.
struct Kept {
  std::size_t first = 0;    ///< of the window among all steps of the job
  std::size_t steps = 0;    ///< of the window
  std::size_t skipped = 0;  ///< of these, steps of warm-up
  std::vector<Group> groups = {};
};

/// Adds up phases: one by one where all are known so, else their means. Empty where there is none.
template <class Which>
std::vector<double> summed(const std::vector<StepPhase>& phases, const Which& which) {
  std::vector<double> out;
  double sum = 0;
  bool any = false, single = true;
  for (const StepPhase& phase : phases) {
    if (!which(phase)) continue;
    sum += phase.mean_seconds;
    single = single && !phase.seconds.empty() && (!any || out.size() == phase.seconds.size());
    if (single && !any) out.assign(phase.seconds.size(), 0);
    for (std::size_t i = 0; single && i < out.size(); ++i) out[i] += phase.seconds[i];
    any = true;
  }
  if (!any) return {};
  return single ? out : std::vector<double>{sum};
}

bool is_load(const StepPhase& phase) { return phase.kind == PhaseKind::load; }

std::string chance_text(const Change& change) {
  if (change.chance <= 0) return "no spread is known to judge it by";
  if (change.chance < 0.001) return "by chance in less than one of 1,000 cases";
  return fmt::format("by chance in {} of cases", percent_text(change.chance));
}

/// Fewer pages than this share may be missing and not be seen: a file has its header, which is always read.
constexpr double unseen = 1e-3;

/// Seconds of making the batch of each step, windows one after the other: the time of a worker, or of
/// the loop where it loads itself. Empty where that is not known step by step.
std::vector<double> load_seconds(const Job& job) {
  const bool workers = job.loader.workers.value_or(0) > 0;
  std::vector<double> out;
  for (const StepPhase& phase : job.phases) {
    if (phase.scope != Scope::training || !is_load(phase) || phase.overlaps != workers) continue;
    if (!out.empty()) return {};  // several phases, which would have to be added
    out = phase.seconds;
  }
  return out;
}

double rate_of(const TimedWindow& window) {
  const double before = std::max(unseen, 1 - *window.resident_before);
  const double after = std::max(unseen, 1 - *window.resident_after);
  return std::max(0.0, std::log(before / after) / static_cast<double>(window.steps));
}

/// The missing pages that the batches of a window met, in batches that met none in memory.
double met(const TimedWindow& window, double rate) {
  double out = 0;
  for (Index i = 0; i < window.steps; ++i) out += std::exp(-rate * static_cast<double>(i));
  return out * (1 - *window.resident_before);
}

/// Estimates cold pages from runs that began cold and runs with their pages in memory: windows of both kinds,
/// where the cold ones say how many pages were in memory before and after, and times of making their batches.
/// Nothing without these.
std::optional<ColdPages> cold_pages_of(const Job& job) {
  const std::vector<double> all = load_seconds(job);
  std::span<const double> left(all);
  std::vector<std::pair<const TimedWindow*, double>> cold;  // and the seconds of loading in it
  double cold_steps = 0, warm_steps = 0, rates = 0, warm = 0;
  for (const TimedWindow& window : job.windows) {
    if (window.steps > std::ssize(left)) return std::nullopt;
    const auto own = left.first(static_cast<std::size_t>(window.steps));
    left = left.subspan(own.size());
    const double seconds = std::accumulate(own.begin(), own.end(), 0.0);
    const auto steps = static_cast<double>(window.steps);
    if (window.cache == PageCache::cold && window.resident_before && window.resident_after) {
      cold.emplace_back(&window, seconds);
      rates += steps * rate_of(window);
      cold_steps += steps;
    } else if (window.cache == PageCache::warm) {
      warm += seconds;
      warm_steps += steps;
    }
  }
  if (cold.empty() || warm_steps == 0 || !left.empty()) return std::nullopt;
  ColdPages out{.extra = {}, .rate = rates / cold_steps};
  std::vector<Group> runs;
  for (const auto& [window, seconds] : cold) {
    const double batches = met(*window, out.rate);
    const double more = seconds - static_cast<double>(window->steps) * warm / warm_steps;
    if (batches > 0) runs.push_back({1, std::max(0.0, more / batches)});
  }
  if (runs.empty()) return std::nullopt;
  // The interval of the mean of all runs, not of another run.
  out.extra = sum_of_steps(spread_of(runs), 1);
  const double half = (out.extra.high - out.extra.middle) / std::sqrt(1 + static_cast<double>(runs.size()));
  out.extra.low = std::max(0.0, out.extra.middle - half);
  out.extra.high = out.extra.middle + half;
  return out;
}

class Calibrator {
 public:
  explicit Calibrator(const Job& job) : job_(job) {}

  Calibration run() {
    out_.cold = cold_pages_of(job_);
    choose_windows();
    if (windows_.empty() && job_.phases.empty()) {
      throw Error(job_.source, "holds neither a timed window nor a phase",
                  "give \"windows\" with wall_seconds, or \"phases\" with mean_seconds");
    }
    if (are_runs(windows_)) {
      find_runs();
    } else {
      out_.all = groups_of(windows_);
      find_warm_up();
      find_drift();
    }
    out_.period = spread_of(out_.steady);
    find_one_off();
    find_parts();
    find_load();
    find_rest();
    find_weather();
    find_pace();
    out_.validation = spread_in(Scope::validation);
    out_.checkpoint = spread_in(Scope::checkpoint);
    return std::move(out_);
  }

 private:
  void flag(Doubt doubt, std::string text) { out_.flags.push_back({doubt, std::move(text)}); }

  void choose_windows() {
    const auto has = [&](PageCache cache) {
      return std::ranges::count(job_.windows, cache, &TimedWindow::cache) > 0;
    };
    const bool mixed = has(PageCache::cold) && has(PageCache::warm);
    out_.cache = has(PageCache::warm)   ? PageCache::warm
                 : has(PageCache::cold) ? PageCache::cold
                                        : PageCache::unknown;
    std::vector<TimedWindow> cold;
    for (const TimedWindow& window : job_.windows) {
      const auto steps = static_cast<std::size_t>(window.steps);
      if (mixed && window.cache == PageCache::cold) {
        cold.push_back(window);
      } else {
        windows_.push_back(window);
        kept_.push_back({.first = all_steps_, .steps = steps});
      }
      all_steps_ += steps;
    }
    if (!mixed || out_.cold) return;
    const double before = spread_of(groups_of(cold)).mean, after = spread_of(groups_of(windows_)).mean;
    flag(Doubt::cache,
         fmt::format(
             "a step takes {} with a cold page cache and {} with a warm one; cold windows are left out, "
             "so this is the time of an epoch after the first",
             seconds_text(before), seconds_text(after)));
  }

  /// Each run is a group, less its first steps, which start-up is in.
  void find_runs() {
    for (std::size_t i = 0; i < windows_.size(); ++i) {
      const std::span<const double> all(windows_[i].step_seconds);
      kept_[i].skipped = all.size() > 1 ? std::max<std::size_t>(1, all.size() / 4) : 0;
      const auto steady = all.subspan(kept_[i].skipped);
      out_.all.push_back({std::ssize(all), mean_of(all)});
      out_.steady.push_back({std::ssize(steady), mean_of(steady)});
      out_.runs.push_back(std::ssize(steady));
    }
    out_.persistence = persistence_of(out_.steady);
    const double last = windows_.back().began - windows_.front().began;
    const auto runs = static_cast<double>(windows_.size());
    out_.span = last * runs / (runs - 1);
    if (const auto change = change_in(out_.steady)) {
      note_drift(*change, fmt::format("from run {} on, steps are", change->group + 1));
    }
  }

  /// Groups of each window without its warm-up, and which steps these are.
  void find_warm_up() {
    for (std::size_t i = 0; i < windows_.size(); ++i) {
      const TimedWindow& window = windows_[i];
      std::vector<Group>& groups = kept_[i].groups = groups_of({window});
      if (window.step_seconds.empty()) {
        // A window from the start has start-up in its mean, and only the line through several windows tells
        // them apart.
        if (window.first_step == 0) groups.clear();
      } else if (const auto change = change_in(groups);
                 change && 4 * change->group <= groups.size() && change->before > change->after) {
        kept_[i].skipped = static_cast<std::size_t>(change->step);
        warm_up_excess_ += static_cast<double>(change->step) * (change->before - change->after);
        flag(Doubt::warm_up,
             fmt::format(
                 "the first {} of {} steps take {} each, those after them {}; they are no part of the period",
                 change->step, window.steps, seconds_text(change->before), seconds_text(change->after)));
        groups.erase(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(change->group));
      }
      out_.steady.insert(out_.steady.end(), groups.begin(), groups.end());
    }
  }

  void find_drift() {
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const auto change = change_in(kept_[i].groups);
      if (!change) continue;
      const Index first = windows_[i].first_step + static_cast<Index>(kept_[i].skipped);
      note_drift(*change, fmt::format("from step {} on, steps are", first + change->step));
    }
    for (std::size_t i = 1; i < kept_.size(); ++i) {
      const auto change = change_between(kept_[i - 1].groups, kept_[i].groups, kept_.size() - 1);
      if (!change) continue;
      note_drift(*change, fmt::format("the window from step {} on is", windows_[i].first_step),
                 " than the one before it");
    }
  }

  void note_drift(const Change& change, const std::string& place, const char* than = "") {
    const double more = change.after / change.before - 1;
    flag(Doubt::drift, fmt::format("{} {} {}{}: {} then {}, {}", place, percent_text(std::abs(more)),
                                   more >= 0 ? "slower" : "faster", than, seconds_text(change.before),
                                   seconds_text(change.after), chance_text(change)));
    out_.pace = std::max(out_.pace, std::abs(std::log1p(more)));
  }

  /// Fitted on whole epochs in PyTorch, quiet and with others on 56 to 90 % of the processors, so that nine
  /// of ten lie inside from 30, 60 and 150 steps (reports/torch_jobs/forecasts.md). Beside others
  /// neighbouring steps differ by 10 % and more, and those half a minute later by up to 60 %.
  void find_pace() {
    if (out_.processor > 0 && out_.cores > 0 && out_.period.mean > 0) {
      out_.cores_left = std::max(out_.processor / out_.period.mean,
                                 (1 - out_.taken_share) * static_cast<double>(out_.cores));
    }
    constexpr double least = 0.03, by_scatter = 3.5, quiet = 0.12, by_others = 0.4, unknown_others = 0.6,
                     fitted_from = 30;
    constexpr std::size_t enough = 8;
    if (!out_.runs.empty()) {
      // Runs are spread over seconds and have their own measure of the pace. Others may leave, or take as
      // much again of the rest.
      out_.pace = std::max(out_.pace, -std::log1p(-out_.taken_share));
      return;
    }
    const auto from_start = std::ranges::count(windows_, 0, &TimedWindow::first_step);
    if (from_start == 1 && !windows_.front().step_seconds.empty()) out_.seen = windows_.front().steps;
    const bool single = out_.rest.size() > 1 && out_.rest.size() == steps_.size();
    const std::vector<double>& times = single ? out_.rest : steps_;
    std::vector<double> jumps;
    for (std::size_t i = 1; i < times.size(); ++i)
      if (times[i - 1] > 0 && times[i] > 0) jumps.push_back(std::abs(std::log(times[i] / times[i - 1])));
    // The more steps, the more of the weather they have seen.
    const double seen = std::max(1.0, static_cast<double>(times.size()) / fitted_from);
    const double taken = is_weather_known() ? out_.taken_share : unknown_others;
    const double most = (quiet + by_others * taken) * std::pow(seen, -1.0 / 8);
    const double told = jumps.size() < enough ? most : std::clamp(by_scatter * median(jumps), least, most);
    out_.pace = std::max(out_.pace, told);
  }

  // Systems count processor time in hundredths of a second: below a second the share means nothing.
  bool is_weather_known() const { return job_.weather.seconds >= 1; }

  void find_weather() {
    out_.processor = job_.processor_seconds;
    out_.worker = job_.worker_processor_seconds;
    // The loop takes one processor while it does not wait.
    if (out_.worker <= 0 && out_.queue.workers > 0 && !out_.rest.empty())
      out_.worker = std::max(0.0, out_.processor - mean_of(out_.rest));
    out_.cores = job_.cores;
    constexpr double most = 0.9, worth_telling = 0.01;
    const Weather& weather = job_.weather;
    if (!is_weather_known()) return;
    out_.taken_share = std::clamp(weather.other_busy_share + weather.steal_share, 0.0, most);
    if (out_.taken_share < worth_telling) return;
    flag(Doubt::weather,
         fmt::format(
             "others took {} of the processors meanwhile; they may leave, or take as much again of the "
             "rest: intervals are wider by that",
             percent_text(out_.taken_share)));
  }

  void find_one_off() {
    out_.line = fit_line(stretches_of(windows_));
    const bool from_start = std::ranges::count(windows_, 0, &TimedWindow::first_step) > 0;
    out_.one_off_known = true;
    if (job_.one_off_seconds) {
      out_.one_off = *job_.one_off_seconds;
      out_.one_off_from = "stated";
    } else if (warm_up_excess_ > 0 && from_start) {
      out_.one_off = warm_up_excess_;
      out_.one_off_from = "what the first steps took more than the others";
    } else if (out_.line.impossible.empty()) {
      out_.one_off = std::max(0.0, out_.line.one_off);
      out_.one_off_from = "line through the windows";
    } else {
      out_.one_off_known = false;
      out_.one_off_from = out_.line.impossible;
    }
  }

  /// Times of the kept steps out of those of all steps; nothing where they do not belong to steps one by one.
  std::vector<double> of_kept(const std::vector<double>& seconds) const {
    std::vector<double> out;
    if (seconds.empty() || seconds.size() != all_steps_) return out;
    for (const Kept& kept : kept_) {
      const auto own = std::span(seconds).subspan(kept.first, kept.steps).subspan(kept.skipped);
      out.insert(out.end(), own.begin(), own.end());
    }
    return out;
  }

  void find_parts() {
    for (const StepPhase& phase : job_.phases) {
      if (phase.scope != Scope::training) continue;
      if (phase.overlaps && is_load(phase)) continue;  // a worker's time
      StepPhase part = phase;
      part.seconds = of_kept(phase.seconds);
      if (!part.seconds.empty()) part.mean_seconds = mean_of(part.seconds);
      if (!part.overlaps && is_load(part)) out_.waited += part.mean_seconds;
      (part.overlaps ? out_.beside : out_.parts).push_back(std::move(part));
    }
  }

  /// Adds up all phases of a scope beside training.
  Spread spread_in(Scope scope) const {
    const auto in_scope = [&](const StepPhase& phase) { return phase.scope == scope && !phase.overlaps; };
    return spread_of(grouped(summed(job_.phases, in_scope)));
  }

  void find_load() {
    const LoaderSetup& loader = job_.loader;
    out_.queue = {
        .workers = loader.workers.value_or(0), .prefetch = loader.prefetch, .in_order = loader.in_order};
    out_.queue.load_contention = loader.load_contention.value_or(1);
    out_.queue.compute_contention = loader.compute_contention.value_or(1);
    out_.contention_assumed = !loader.load_contention && !loader.compute_contention;
    if (!loader.workers) {
      out_.no_load = "the number of workers is not stated";
      return;
    }
    const auto worker_time = std::ranges::find_if(job_.phases, [](const StepPhase& p) {
      return p.scope == Scope::training && is_load(p) && p.overlaps;
    });
    if (worker_time != job_.phases.end()) {
      out_.load = out_.runs.empty() ? worker_time->seconds : of_kept(worker_time->seconds);
      if (out_.load.empty()) out_.load = {worker_time->mean_seconds};
    } else if (*loader.workers > 0) {
      out_.no_load =
          "what a worker takes for a batch is not known, only what the loop waits: it needs a load phase "
          "that overlaps";
    } else {
      out_.load = summed(out_.parts, is_load);
      if (out_.load.empty()) out_.no_load = "there is no phase of kind load";
    }
  }

  void find_rest() {
    const bool load_seen = std::ranges::any_of(out_.parts, is_load);
    for (const TimedWindow& window : job_.windows)
      steps_.insert(steps_.end(), window.step_seconds.begin(), window.step_seconds.end());
    steps_ = of_kept(steps_);
    const std::vector<double> load = summed(out_.parts, is_load);
    if (load_seen && steps_.size() > 1 && load.size() == steps_.size()) {
      for (std::size_t i = 0; i < steps_.size(); ++i) out_.rest.push_back(std::max(0.0, steps_[i] - load[i]));
    } else if (load_seen && out_.period.steps > 0) {
      out_.rest = {std::max(0.0, out_.period.mean - out_.waited)};
    } else if (load_seen && out_.line.impossible.empty()) {
      out_.rest = {std::max(0.0, out_.line.period - out_.waited)};
    } else {
      out_.rest = summed(out_.parts, [](const StepPhase& phase) { return !is_load(phase); });
    }
    if (out_.rest.empty()) out_.no_rest = "no phase says what a step takes without loading";
  }

  const Job& job_;
  Calibration out_;
  std::vector<TimedWindow> windows_;
  std::size_t all_steps_ = 0;
  std::vector<Kept> kept_;     ///< as windows_
  std::vector<double> steps_;  ///< of the kept steps, one by one; empty where they are not known so
  double warm_up_excess_ = 0;
};

}  // namespace

std::string_view to_string(Doubt doubt) {
  constexpr std::array<std::string_view, 5> words{"drift", "warm-up", "cache", "parts", "weather"};
  return words[static_cast<std::size_t>(doubt)];
}

bool Calibration::flagged(Doubt doubt) const { return std::ranges::count(flags, doubt, &Flag::doubt) > 0; }

Calibration calibrate(const Job& job) { return Calibrator(job).run(); }

}  // namespace assay
