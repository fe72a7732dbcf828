// Plays the same epoch under other circumstances: bounds by one resource alone, and one thing changed at a
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

/// An epoch by the queue. A without the fill of the queue as it was, with that of this one.
class QueueEpoch {
 public:
  QueueEpoch(const Calibration& c, const LoaderQueue& as_it_was, const Target& target)
      : c_(c), target_(target), beside_(seconds_of(segments_of(c, target))), extra_(c.one_off) {
    extra_ = std::max(0.0, extra_ - play_for(as_it_was, c.load, c.rest).fill);
  }
  double seconds(const LoaderQueue& queue, const std::vector<double>& load,
                 const std::vector<double>& rest) const {
    return seconds(queue, load, rest, target_, beside_);
  }
  double seconds(const LoaderQueue& queue, const std::vector<double>& load, const std::vector<double>& rest,
                 const Target& target) const {
    return seconds(queue, load, rest, target, seconds_of(segments_of(c_, target)));
  }

 private:
  double seconds(const LoaderQueue& queue, const std::vector<double>& load, const std::vector<double>& rest,
                 const Target& target, double beside) const {
    const Played run = play_for(queue, load, rest);
    return extra_ + run.fill + (target.steps + target.partial) * run.period + beside;
  }

  const Calibration& c_;
  const Target& target_;
  double beside_;  ///< seconds beside steps, for that target
  double extra_;
};

std::vector<double> without(const std::vector<double>& rest, const StepPart& part) {
  std::vector<double> out = rest;
  const bool single = part.seconds.size() == rest.size();
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = std::max(0.0, out[i] - (single ? part.seconds[i] : part.mean));
  }
  return out;
}

std::string contention_given(const Calibration& c, const LoaderQueue& queue) {
  if (!c.contention_assumed) return "";
  if (c.queue.workers == 0) return "workers slow nothing down";
  return queue.load_contention > 1 ? fmt::format("contention {:.2f} as fitted", queue.load_contention) : "";
}

/// `saved` is filled in when all rows are there.
WhatIf row(std::string change, double seconds, std::string given = "") {
  return {std::move(change), seconds, 0, seconds, seconds, std::move(given)};
}

std::vector<WhatIf> compared_with(double as_it_is, std::vector<WhatIf> rows) {
  for (WhatIf& one : rows) one.saved = as_it_is - one.seconds;
  return rows;
}

/// Subtracts the part from the step where there is no queue model.
std::vector<WhatIf> by_subtraction(const Calibration& c, const Target& target) {
  const auto predictions = predict_with_all(c, target);
  const ModelPrediction* best = most_elaborate(predictions);
  std::vector<WhatIf> out;
  if (best == nullptr) return out;
  for (const StepPart& part : c.parts) {
    out.push_back(row("no " + part.name, best->seconds.middle - (target.steps + target.partial) * part.mean));
  }
  return compared_with(best->seconds.middle, std::move(out));
}

void add_batches(const Job& job, const Calibration& c, const LoaderQueue& queue, const QueueEpoch& epoch,
                 std::vector<WhatIf>& out) {
  for (const double factor : {0.5, 2.0}) {
    const auto batch = static_cast<Index>(static_cast<double>(job.dataset.batch) * factor);
    if (batch < 1 || batch > job.dataset.train) continue;
    Dataset changed = job.dataset;
    changed.batch = batch;
    const Target target = *epoch_target(changed);
    const double share = static_cast<double>(batch) / static_cast<double>(job.dataset.batch);
    const std::vector<double> load = scaled(c.load, share);
    Target other = target;
    other.validation_steps *= share;  // validation has as many samples as before
    const double proportional = epoch.seconds(queue, load, scaled(c.rest, share), other);
    const double constant = epoch.seconds(queue, load, c.rest, other);
    out.push_back({fmt::format("batch {}", count_text(batch)), proportional, 0,
                   std::min(proportional, constant), std::max(proportional, constant),
                   "load and rest grow with the batch; the range has a rest that does not"});
  }
}

}  // namespace

std::vector<EpochBound> bounds_of(const Calibration& c, const LoaderQueue& queue, const Target& target) {
  std::vector<EpochBound> out;
  const double steps = target.steps + target.partial, more = c.one_off + seconds_of(segments_of(c, target));
  const auto add = [&](std::string resource, double period, std::string text) {
    out.push_back({std::move(resource), more + steps * period, std::move(text)});
  };
  if (!c.rest.empty()) {
    const double rest = mean_of(c.rest);
    add("steps without loading", rest, fmt::format("{} each", seconds_text(rest)));
  }
  if (!c.load.empty()) {
    const double load = mean_of(c.load);
    const auto workers = static_cast<double>(std::max<Index>(1, queue.workers));
    add("loading without steps", load / workers,
        queue.workers > 0 ? fmt::format("{} / {} workers", seconds_text(load), queue.workers)
                          : fmt::format("{} each", seconds_text(load)));
  }
  for (const BesideStep& beside : c.beside) {
    add(beside.name, beside.mean, fmt::format("{} in each step", seconds_text(beside.mean)));
  }
  return out;
}

std::vector<WhatIf> what_if(const Job& job, const Calibration& c, const LoaderQueue& queue,
                            const Target& target) {
  if (c.load.empty() || c.rest.empty()) return by_subtraction(c, target);
  std::vector<WhatIf> out;
  const QueueEpoch epoch(c, queue, target);
  const std::vector<double> no_load{0.0};
  out.push_back(row("no loading", epoch.seconds(queue, no_load, c.rest)));
  for (const StepPart& part : c.parts) {
    if (part.kind == PhaseKind::load) continue;
    out.push_back(row("no " + part.name, epoch.seconds(queue, c.load, without(c.rest, part))));
  }
  const std::string given = contention_given(c, queue);
  for (const Index workers : {0, 1, 2, 4, 8}) {
    if (workers == queue.workers) continue;
    LoaderQueue other = queue;
    other.workers = workers;
    out.push_back(
        row(workers == 0 ? "no workers" : fmt::format("{} worker{}", workers, workers > 1 ? "s" : ""),
            epoch.seconds(other, c.load, c.rest), workers == 0 ? "" : given));
  }
  for (const Index prefetch : {1, 2, 4, 8}) {
    if (queue.workers == 0 || prefetch == queue.prefetch) continue;
    LoaderQueue other = queue;
    other.prefetch = prefetch;
    out.push_back(row(fmt::format("prefetch {}", prefetch), epoch.seconds(other, c.load, c.rest), given));
  }
  if (queue.workers > 1) {
    LoaderQueue other = queue;
    other.in_order = !queue.in_order;
    out.push_back(row(queue.in_order ? "delivery out of order" : "delivery in order",
                      epoch.seconds(other, c.load, c.rest), given));
  }
  add_batches(job, c, queue, epoch, out);
  return compared_with(epoch.seconds(queue, c.load, c.rest), std::move(out));
}

std::string limited_by(const Calibration& c, const LoaderQueue& queue) {
  if (c.load.empty() || c.rest.empty()) {
    const auto largest = std::ranges::max_element(c.parts, {}, &StepPart::mean);
    if (largest == c.parts.end() || largest->mean <= 0) return "unknown: there are no phases";
    return fmt::format("{}, the largest part of a step with {}; what would overlap is not known",
                       largest->name, seconds_text(largest->mean));
  }
  const double load = mean_of(c.load), rest = mean_of(c.rest);
  if (queue.workers == 0) {
    return fmt::format("{}: nothing overlaps without workers, and a step is {} of loading and {} of the rest",
                       load >= rest ? "loading" : "the step itself", seconds_text(load), seconds_text(rest));
  }
  const double supply = queue.load_contention * load / static_cast<double>(queue.workers);
  const double demand = queue.compute_contention * rest;
  const std::string waits =
      fmt::format("steps wait {} of the time", percent_text(play_for(queue, c.load, c.rest).wait_share));
  if (supply > demand) {
    return fmt::format("the loader: a batch every {}, used in {}; {}", seconds_text(supply),
                       seconds_text(demand), waits);
  }
  if (play_for(queue, c.load, c.rest).wait_share > 0.05) {
    return fmt::format("uneven loading: a batch every {} is enough on average for steps of {}, but {}",
                       seconds_text(supply), seconds_text(demand), waits);
  }
  return fmt::format("the step itself: {}, and a batch every {}; {}", seconds_text(demand),
                     seconds_text(supply), waits);
}

}  // namespace assay
