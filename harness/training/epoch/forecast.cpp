#include "training/epoch/forecast.hpp"

#include "assay/error.hpp"
#include "core/text/figures.hpp"
#include "training/epoch/spread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace assay {
namespace {

/// An epoch of this data set. Nothing without its size or the batch.
std::optional<Target> epoch_target(const Dataset& dataset) {
  if (dataset.train <= 0 || dataset.batch <= 0) return std::nullopt;
  const StepCount count = count_steps(dataset.train, dataset.batch, dataset.drop_last);
  const StepCount validation = count_steps(dataset.validation, dataset.batch, false);
  return Target{.steps = static_cast<double>(count.full),
                .partial = static_cast<double>(count.partial_samples) / static_cast<double>(dataset.batch),
                .validation_steps =
                    static_cast<double>(validation.full) +
                    static_cast<double>(validation.partial_samples) / static_cast<double>(dataset.batch),
                .checkpoints = dataset.checkpoint_every > 0
                                   ? static_cast<double>(count.steps() / dataset.checkpoint_every)
                                   : 0};
}

std::vector<std::string> left_out(const Dataset& d, const Calibration& c,
                                  const std::optional<Target>& epoch) {
  std::vector<std::string> out;
  if (!c.one_off_known) out.push_back("start-up: " + c.one_off_from);
  if (d.validation > 0 && c.validation.steps == 0)
    out.push_back(
        fmt::format("validation of {} samples: no phase has the scope validation", count_text(d.validation)));
  const std::string every = fmt::format("a checkpoint every {} steps: ", count_text(d.checkpoint_every));
  if (d.checkpoint_every > 0 && c.checkpoint.steps == 0)
    out.push_back(every + "no phase has the scope checkpoint");
  if (d.checkpoint_every > 0 && epoch && epoch->checkpoints == 0) out.push_back(every + "an epoch has fewer");
  if (d.validation == 0)
    out.push_back(
        "validation and evaluation: --validation-size, and a phase of the scope validation, add them");
  if (d.checkpoint_every == 0)
    out.push_back("checkpoints: \"checkpoint_every\", and a phase of the scope checkpoint, add them");
  out.push_back("logging and whatever else comes every so many steps, unless a window contained it");
  return out;
}

/// Steps that a changed queue is played for; the rest of an epoch goes on like these.
constexpr double played = 20000;

struct Played {
  double period = 0, fill = 0, wait_share = 0;
};

Played play_for(const LoaderQueue& queue, const std::vector<double>& load, const std::vector<double>& rest) {
  const QueueRun run = play_drawn(queue, static_cast<Index>(played), load, rest);
  const double fill = queue.workers > 0 ? run.first_fill : 0;
  return {(run.seconds - fill) / played, fill, run.seconds > 0 ? (run.waited - fill) / run.seconds : 0};
}

std::vector<double> without(const std::vector<double>& rest, const StepPhase& part) {
  std::vector<double> out = rest;
  const bool single = part.seconds.size() == rest.size();
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = std::max(0.0, out[i] - (single ? part.seconds[i] : part.mean_seconds));
  }
  return out;
}

std::string contention_given(const Calibration& c, const LoaderQueue& queue) {
  std::string out;
  if (!c.no_load.empty())
    out = fmt::format("a batch takes its worker {} of a processor", seconds_text(mean_of(c.load)));
  if (queue.load_contention <= 1) return out;
  return out + fmt::format("{}contention {:.2f} as {}", out.empty() ? "" : ", and ", queue.load_contention,
                           c.contention_assumed ? "fitted" : "stated");
}

/// Factors of the processor time of a batch that workers make: 1.25 where they decoded images, and 1.8 where
/// they copied records.
constexpr Interval growth{.low = 1, .middle = 1.25, .high = 1.8};

/// Contention among another number of workers than `queue` was fitted with. Full processors, memory and disks
/// give as many batches as before, until each worker alone gives fewer: contention for them follows the
/// number of workers. Nobody knows how much of it was for them.
Interval contention_of(Index workers, const Calibration& c, const LoaderQueue& queue) {
  if (queue.workers == 0) return {1, 1, 1};
  const bool by_processor = !c.no_load.empty();
  const double load = mean_of(c.load), before = static_cast<double>(queue.workers),
               fitted = std::max(1.0, queue.load_contention), alone = by_processor ? 1 / growth.high : 1,
               shared = fitted > 1 ? std::max(1.0, fitted * static_cast<double>(workers) / before) : 1;
  if (workers == 0) return {alone, 1, 1};
  if (workers > queue.workers) return {fitted, fitted, shared};
  // A worker takes no more of full processors than all processes together.
  constexpr double full = 0.9;
  if (c.cores_left > 0 && c.processor > full * c.cores_left * c.period.mean)
    return {alone, shared, std::max(shared, std::min(fitted, c.processor / load))};
  if (!by_processor) return {alone, shared, fitted};
  // It may have waited for a disk, too, whenever the loop did not wait for it.
  return {alone, fitted, std::max(fitted, before * c.period.mean / load)};
}

/// Processors that are full give no more batches, however many workers there are. Who has workers has paid
/// for handing batches over.
void bound_by_processors(WhatIf& row, const Calibration& c, bool adds, double besides, double steps,
                         double as_it_is) {
  if (c.cores_left <= 0 && !adds) return;
  const Interval more = c.queue.workers == 0 ? growth : Interval{1, 1, 1};
  if (!row.given.empty()) row.given += "; ";
  if (c.cores_left <= 0) {
    row.most = std::max(row.most, more.high * as_it_is);
    row.seconds.reset();
    row.given +=
        "\"cores\" and \"processor_seconds\", which assay.timed() writes, say whether cores are left "
        "for more workers: the range has cores with nothing else to do, and full ones";
    return;
  }
  const double full = steps * c.processor / c.cores_left;
  row.least = std::max(row.least, besides + more.low * full);
  row.most = std::max(row.most, besides + more.high * full);
  row.seconds = std::max(*row.seconds, besides + more.middle * full);
  row.saved = as_it_is - *row.seconds;
  row.given +=
      fmt::format("at least {}: {} of processors on {:.1f} cores{}", seconds_text(besides + full),
                  seconds_text(steps * c.processor), c.cores_left,
                  more.high > 1 && row.most > row.least ? ", and up to 80 % more for handing over" : "");
}

/// Subtracts the part from the step where there is no queue model.
std::vector<WhatIf> by_subtraction(const Calibration& c, const Target& target) {
  const auto predictions = predict_with_all(c, target);
  const ModelPrediction* best = most_elaborate(predictions);
  std::vector<WhatIf> out;
  for (const StepPhase& part : c.parts) {
    if (best == nullptr) break;
    const double saved = (target.steps + target.partial) * part.mean_seconds;
    const double seconds = best->seconds.middle - saved;
    out.push_back({"no " + part.name, seconds, saved, seconds, seconds, ""});
  }
  return out;
}

Scored scored(std::string name, const Interval& predicted, double measured) {
  return {std::move(name), predicted.middle, measured, predicted.middle / measured - 1,
          holds(predicted, measured)};
}

std::vector<Scored> by_models(const Calibration& c, const Target& target, double measured) {
  std::vector<Scored> out;
  for (const ModelPrediction& one : predict_with_all(c, target)) {
    if (one.impossible.empty()) out.push_back(scored(in_words(one.model), one.seconds, measured));
  }
  return out;
}

/// The calibration against the later measurement as a whole: phases, steps without loading, and drift.
Score compared(const Calibration& c, const Calibration& truth) {
  Score out;
  const auto add = [&](const std::string& name, double predicted, double measured) {
    if (measured > 0) out.phases.push_back(scored(name, {.middle = predicted}, measured));
  };
  double most = 0;
  std::string moved_most;
  for (const StepPhase& part : c.parts) {
    const auto same = std::ranges::find(truth.parts, part.name, &StepPhase::name);
    if (same == truth.parts.end()) continue;
    const double before = part.mean_seconds, after = same->mean_seconds;
    add(part.name + ", per step", before, after);
    if (part.kind != PhaseKind::load) {
      out.predicted_step += before;
      out.measured_step += after;
    }
    if (std::abs(after - before) <= most) continue;
    most = std::abs(after - before);
    moved_most =
        fmt::format(", most of all {}, from {} to {}", part.name, seconds_text(before), seconds_text(after));
  }
  if (c.validation.steps > 0) add("validation, per batch", c.validation.mean, truth.validation.mean);
  if (c.checkpoint.steps > 0) add("checkpoint, per write", c.checkpoint.mean, truth.checkpoint.mean);
  if (const auto change = change_between(c.steady, truth.steady)) {
    out.drift = fmt::format("steps moved from {} to {}{}", seconds_text(change->before),
                            seconds_text(change->after), moved_most);
  }
  return out;
}

/// Epochs with one thing changed. Empty where the steps are not known.
std::vector<WhatIf> what_if(const Job& job, const Calibration& c, const LoaderQueue& queue,
                            const Target& target) {
  if (c.load.empty() || c.rest.empty()) return by_subtraction(c, target);
  // The fill is in A as it was measured, and each changed queue has its own.
  const double once = std::max(0.0, c.one_off - play_for(queue, c.load, c.rest).fill);
  const auto epoch = [&](const LoaderQueue& changed, const std::vector<double>& load,
                         const std::vector<double>& rest, const Target& whole, double beside) {
    const Played run = play_for(changed, load, rest);
    return once + run.fill + (whole.steps + whole.partial) * run.period + beside;
  };
  const double beside = seconds_of(segments_of(c, target));
  const double as_it_is = epoch(queue, c.load, c.rest, target, beside);
  std::vector<WhatIf> out;
  const auto add = [&](std::string change, const LoaderQueue& changed, const std::vector<double>& load,
                       const std::vector<double>& rest, std::string given = "") {
    const double seconds = epoch(changed, load, rest, target, beside);
    out.push_back({std::move(change), seconds, as_it_is - seconds, seconds, seconds, std::move(given)});
  };
  LoaderQueue alone = queue;  // a resource alone contends with nothing
  alone.load_contention = alone.compute_contention = 1;
  add("no loading", alone, {0.0}, c.rest);
  add("loading alone", alone, c.load, {0.0});
  for (const StepPhase& busy : c.beside) add(busy.name + " alone", alone, {0.0}, {busy.mean_seconds});
  for (const StepPhase& part : c.parts) {
    if (part.kind != PhaseKind::load) add("no " + part.name, queue, c.load, without(c.rest, part));
  }
  const std::string given = contention_given(c, queue);
  const char* const follows =
      "; contention may follow the number of workers or not: the range has both, and none for fewer";
  for (const Index workers : {0, 1, 2, 4, 8}) {
    if (workers == queue.workers || (c.cores > 0 && workers > c.cores)) continue;
    const Interval factor = contention_of(workers, c, queue);
    LoaderQueue other = queue;
    other.workers = workers;
    other.load_contention = 1;
    add(workers == 0 ? "no workers" : quantity_text(workers, "worker"), other, scaled(c.load, factor.middle),
        c.rest, given.empty() ? "" : given + follows);
    WhatIf& row = out.back();
    const double slowed = workers == 0 ? std::max(1.0, queue.load_contention) : 1;
    row.least = epoch(other, scaled(c.load, factor.low), scaled(c.rest, 1 / slowed), target, beside);
    row.most = epoch(other, scaled(c.load, factor.high), c.rest, target, beside);
    if (workers > 0) {
      bound_by_processors(row, c, workers > queue.workers, once + beside, target.steps + target.partial,
                          as_it_is);
    }
  }
  for (const Index prefetch : {1, 2, 4, 8}) {
    if (queue.workers == 0 || prefetch == queue.prefetch) continue;
    LoaderQueue other = queue;
    other.prefetch = prefetch;
    add(fmt::format("prefetch {}", prefetch), other, c.load, c.rest, given);
  }
  if (queue.workers > 1) {
    LoaderQueue other = queue;
    other.in_order = !queue.in_order;
    add(queue.in_order ? "delivery out of order" : "delivery in order", other, c.load, c.rest, given);
  }
  for (const double factor : {0.5, 2.0}) {
    Dataset changed = job.dataset;
    changed.batch = static_cast<Index>(static_cast<double>(job.dataset.batch) * factor);
    if (changed.batch < 1 || changed.batch > job.dataset.train) continue;
    const double share = static_cast<double>(changed.batch) / static_cast<double>(job.dataset.batch);
    Target other = *epoch_target(changed);
    other.validation_steps *= share;  // validation has as many samples as before
    const std::vector<double> load = scaled(c.load, share);
    const double around = seconds_of(segments_of(c, other));
    const double proportional = epoch(queue, load, scaled(c.rest, share), other, around);
    const double constant = epoch(queue, load, c.rest, other, around);
    const double square = epoch(queue, load, scaled(c.rest, share * share), other, around);
    out.push_back(
        {fmt::format("batch {}", count_text(changed.batch)), proportional, as_it_is - proportional,
         std::min(square, constant), std::max(square, constant),
         "load and rest grow with the batch; the range has a rest that does not, and one that grows "
         "with its square, as where caches no longer hold a batch"});
  }
  return out;
}

/// Says in a sentence where the time of a step goes.
std::string limited_by(const Calibration& c, const LoaderQueue& queue) {
  if (c.load.empty() || c.rest.empty()) {
    const auto largest = std::ranges::max_element(c.parts, {}, &StepPhase::mean_seconds);
    if (largest == c.parts.end() || largest->mean_seconds <= 0) return "unknown: there are no phases";
    double unnamed = c.period.mean;
    for (const StepPhase& part : c.parts) unnamed -= part.mean_seconds;
    if (unnamed > largest->mean_seconds) {
      return fmt::format("the step itself: {} of {} that no phase names; {} is the largest that one does",
                         seconds_text(unnamed), seconds_text(c.period.mean), largest->name);
    }
    return fmt::format("{}, the largest part of a step with {}; what would overlap is not known",
                       largest->name, seconds_text(largest->mean_seconds));
  }
  const double load = mean_of(c.load), rest = mean_of(c.rest);
  if (queue.workers == 0) {
    return fmt::format("{}: nothing overlaps without workers, and a step is {} of loading and {} of the rest",
                       load >= rest ? "loading" : "the step itself", seconds_text(load), seconds_text(rest));
  }
  const double supply = queue.load_contention * load / static_cast<double>(queue.workers);
  const double demand = queue.compute_contention * rest;
  const double wait_share = play_for(queue, c.load, c.rest).wait_share;
  constexpr double full = 0.95;
  if (c.cores_left > 0 && c.processor > full * c.cores_left * c.period.mean && c.processor > demand) {
    return fmt::format("the processors: a step and its batch take {} of them, and {:.1f} are left",
                       seconds_text(c.processor), c.cores_left);
  }
  const std::string waits = fmt::format("steps wait {} of the time", percent_text(wait_share));
  if (supply > demand) {
    return fmt::format("the loader: a batch every {}, used in {}; {}", seconds_text(supply),
                       seconds_text(demand), waits);
  }
  if (wait_share > 0.05) {
    return fmt::format("uneven loading: a batch every {} is enough on average for steps of {}, but {}",
                       seconds_text(supply), seconds_text(demand), waits);
  }
  return fmt::format("the step itself: {}, and a batch every {}; {}", seconds_text(demand),
                     seconds_text(supply), waits);
}

/// Scores predictions against the measured epoch of `job`, and against the measured epoch and each window of
/// `against`.
std::vector<Score> scores(const Job& job, const Calibration& c, const std::optional<Target>& epoch,
                          const Job* against) {
  std::vector<Score> out;
  const auto add_epoch = [&](const Job& measured) {
    if (!measured.epoch_seconds || !epoch) return;
    const double seconds = *measured.epoch_seconds;
    out.push_back({.measured = "the epoch", .seconds = seconds, .models = by_models(c, *epoch, seconds)});
  };
  add_epoch(job);
  if (against == nullptr) return out;
  const std::size_t before = out.size();
  add_epoch(*against);
  if (!against->windows.empty()) {
    const Score whole = compared(c, calibrate(*against));
    for (const TimedWindow& window : against->windows) {
      const Target steps{.steps = static_cast<double>(window.steps), .from_start = window.first_step == 0};
      Score& one = out.emplace_back(whole);
      one.measured = fmt::format("{} from step {} on of {}", quantity_text(window.steps, "step"),
                                 window.first_step, against->source);
      one.seconds = window.wall_seconds;
      one.models = by_models(c, steps, window.wall_seconds);
      // Cold starts are predicted by calibrations that timed cold pages.
      const bool predicted = c.cold && window.first_step == 0;
      if (!predicted && c.cache != PageCache::unknown && window.cache != PageCache::unknown &&
          c.cache != window.cache) {
        one.drift += fmt::format("{}the page cache was {}, and predicted from was a {} one",
                                 one.drift.empty() ? "" : "; ", to_string(window.cache), to_string(c.cache));
      }
    }
  }
  if (out.size() == before) {
    throw Error(against->source, "holds nothing to compare with",
                "it needs a timed window, or measured_epoch_seconds where data set and batch are known");
  }
  return out;
}

}  // namespace

std::optional<Interval> predicted_epoch(const Forecast& f) {
  if (f.experience.seconds.coverage > 0) return f.experience.seconds;
  const ModelPrediction* best = most_elaborate(f.models);
  return best == nullptr ? std::nullopt : std::optional(best->seconds);
}

Forecast forecast(const Job& job, const Job* against) {
  Forecast out{.job = job, .findings = lint(job), .calibration = calibrate(job)};
  const Calibration& c = out.calibration;
  // Loading and steps that slow each other down by a fifth are possible. Beyond that something is missing.
  constexpr double most = 1.2, least = 0.95;
  if (const double ratio = measured_by_played(c); ratio < least || ratio > most) {
    out.calibration.flags.push_back(
        {Doubt::parts,
         fmt::format("a step took {} times what loader and parts make of it by M4", figure(ratio))});
  }
  out.queue = fitted_queue(c);
  out.limited_by = limited_by(c, out.queue);
  const auto target = epoch_target(job.dataset);
  out.scores = scores(job, c, target, against);
  out.left_out = left_out(job.dataset, c, target);
  if (!target) {
    out.no_epoch =
        job.dataset.batch <= 0 ? "the batch is not known" : "the size of the data set is not known";
    return out;
  }
  out.steps = count_steps(job.dataset.train, job.dataset.batch, job.dataset.drop_last);
  if (out.steps.steps() == 0) {
    out.no_epoch = fmt::format("a batch of {} is dropped, since an epoch has {} samples", job.dataset.batch,
                               job.dataset.train);
    return out;
  }
  out.segments = segments_of(c, *target);
  out.models = predict_with_all(c, *target);
  if (const ModelPrediction* best = most_elaborate(out.models))
    out.enough = enough_steps(c, *target, best->seconds);
  Calibration parts = c;  // processor time stands in for the time of a batch that nobody measured
  if (c.load.empty() && c.worker > 0) parts.load = {c.worker};
  out.what_if = what_if(job, parts, fitted_queue(parts), *target);
  return out;
}

double beyond(const Interval& predicted, double measured) {
  // An end at 0 or below is one that nothing lies beyond.
  const double below =
      predicted.low > 0 ? std::log(predicted.low / measured) : -std::numeric_limits<double>::infinity();
  return std::max(below, std::log(measured / predicted.high));
}

Experience experience(const Interval& predicted, std::vector<double> earlier) {
  Experience out{.epochs = earlier.size(), .seconds = {predicted.middle, predicted.middle, predicted.middle}};
  const auto rank =
      static_cast<std::size_t>(std::ceil(predicted_coverage * static_cast<double>(earlier.size() + 1)));
  if (rank > earlier.size()) return out;
  const auto last = earlier.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::ranges::nth_element(earlier, last);
  const double factor = std::exp(*last);
  out.seconds.low = predicted.low > 0 ? std::min(predicted.low / factor, predicted.middle) : predicted.low;
  out.seconds.high = std::max(predicted.high * factor, predicted.middle);
  out.seconds.coverage = predicted_coverage;
  return out;
}

std::string error_text(double error) {
  if (std::abs(error) < 0.0005) return "exact to 0.05 %";
  return fmt::format("{:.1f} % too {}", 100 * std::abs(error), error > 0 ? "long" : "short");
}

}  // namespace assay
