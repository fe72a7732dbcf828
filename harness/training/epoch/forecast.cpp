#include "training/epoch/forecast.hpp"

#include "core/text/figures.hpp"
#include "training/epoch/spread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {
namespace {

/// Loading and steps that slow each other down by a fifth are possible. Beyond that something else is
/// missing.
void doubt_parts(Calibration& c) {
  constexpr double most = 1.2, least = 0.95;
  const double ratio = measured_by_played(c);
  if (ratio >= least && ratio <= most) return;
  c.flags.push_back({Doubt::parts, fmt::format("a step took {} times what loader and parts make of it by M4",
                                               figure(ratio))});
}

std::vector<std::string> left_out(const Job& job, const Calibration& c) {
  std::vector<std::string> out;
  if (!c.one_off_known) out.push_back("start-up: " + c.one_off_from);
  const Dataset& d = job.dataset;
  if (d.validation > 0 && c.validation.steps == 0) {
    out.push_back(
        fmt::format("validation of {} samples: no phase has the scope validation", count_text(d.validation)));
  }
  if (d.checkpoint_every > 0 && c.checkpoint.steps == 0) {
    out.push_back(fmt::format("a checkpoint every {} steps: no phase has the scope checkpoint",
                              count_text(d.checkpoint_every)));
  }
  const auto target = epoch_target(d);
  if (d.checkpoint_every > 0 && target && target->checkpoints == 0) {
    out.push_back(
        fmt::format("a checkpoint every {} steps: an epoch has fewer", count_text(d.checkpoint_every)));
  }
  if (d.validation == 0)
    out.push_back(
        "validation and evaluation: --validation-size, and a phase of the scope validation, add them");
  if (d.checkpoint_every == 0)
    out.push_back("checkpoints: \"checkpoint_every\", and a phase of the scope checkpoint, add them");
  out.push_back("logging and whatever else comes every so many steps, unless a window contained it");
  return out;
}

}  // namespace

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

std::optional<Interval> predicted_epoch(const Forecast& f) {
  if (f.experience.seconds.coverage > 0) return f.experience.seconds;
  const ModelPrediction* best = most_elaborate(f.models);
  return best == nullptr ? std::nullopt : std::optional(best->seconds);
}

Forecast forecast(const Job& job, const Job* against) {
  Forecast out{.job = job, .findings = lint(job), .calibration = calibrate(job)};
  const Calibration& c = out.calibration;
  doubt_parts(out.calibration);
  out.queue = fitted_queue(c);
  out.limited_by = limited_by(c, out.queue);
  out.scores = scores(job, c, against);
  out.left_out = left_out(job, c);
  const auto target = epoch_target(job.dataset);
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
  out.enough = enough_steps(c, *target);
  out.segments = segments_of(c, *target);
  out.models = predict_with_all(c, *target);
  out.what_if = what_if(job, c, out.queue, *target);
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

}  // namespace assay
