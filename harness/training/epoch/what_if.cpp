// Plays the same epoch under other circumstances: by one resource alone, and with one thing changed at a
// time.
#include "core/text/figures.hpp"
#include "training/epoch/forecast.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

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
  if (!c.contention_assumed) return "";
  if (c.queue.workers == 0) return "workers slow nothing down";
  return queue.load_contention > 1 ? fmt::format("contention {:.2f} as fitted", queue.load_contention) : "";
}

/// Processors that are full give no more batches, however many workers there are. Handing batches over took
/// 25 % more processor time where images were decoded, and 80 % more where records were copied.
void bound_by_processors(WhatIf& row, const Calibration& c, double besides, double steps, double as_it_is) {
  constexpr double usual = 1.25, most = 1.8;
  const bool first = c.queue.workers == 0;  // who has workers has paid for them
  if (c.cores_left <= 0) {
    if (first) row.most = std::max(row.seconds, most * as_it_is);
    row.given += fmt::format("{}their cores have nothing else to do; the range has full ones",
                             row.given.empty() ? "" : ", and ");
    return;
  }
  const double seconds = steps * c.processor, bound = besides + seconds / c.cores_left;
  const auto at_least = [&](double factor) {
    return std::max(row.seconds, besides + (first ? factor : 1) * seconds / c.cores_left);
  };
  row.least = at_least(1);
  row.most = at_least(most);
  const double before = row.seconds;
  row.seconds = at_least(usual);
  row.saved += before - row.seconds;
  row.given =
      fmt::format("at least {}: {} of processors on {:.1f} cores, and up to 80 % more for handing over",
                  seconds_text(bound), seconds_text(seconds), c.cores_left);
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

}  // namespace

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
  for (const Index workers : {0, 1, 2, 4, 8}) {
    if (workers == queue.workers || (c.cores > 0 && workers > c.cores)) continue;
    LoaderQueue other = queue;
    other.workers = workers;
    add(workers == 0 ? "no workers" : quantity_text(workers, "worker"), other, c.load, c.rest,
        workers == 0 ? "" : given);
    if (workers > 0)
      bound_by_processors(out.back(), c, once + beside, target.steps + target.partial, as_it_is);
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
    out.push_back({fmt::format("batch {}", count_text(changed.batch)), proportional, as_it_is - proportional,
                   std::min(proportional, constant), std::max(proportional, constant),
                   "load and rest grow with the batch; the range has a rest that does not, and none that "
                   "grows faster, as where caches no longer hold a batch"});
  }
  return out;
}

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

}  // namespace assay
