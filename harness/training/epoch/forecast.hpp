/// The whole forecast of an epoch of a job: the models side by side, its limit, the effect of changes, and
/// the error where the truth is known. All times are seconds.
#pragma once

#include "assay/interval.hpp"
#include "core/json/lint.hpp"
#include "training/epoch/models.hpp"
#include "training/job/job.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay {

/// Largest share of a step that may be called "other" without a remark.
inline constexpr double largest_other = 0.1;

/// Checks the arithmetic that every report about a job must satisfy. Lists findings in the order of the file:
/// dataset, windows, phases, claims. Figures that agree within their rounding agree.
std::vector<LintFinding> lint(const Job& job);

/// Fewer epochs than nine have no ninth of ten.
inline constexpr std::size_t enough_epochs = 9;

/// Returns how far the logarithm of a measured time lies beyond the nearer end of the prediction; below 0
/// inside.
double beyond(const Interval& predicted, double measured);

/// The interval of the next prediction, from epochs that were predicted and run before, on the same machine.
/// The interval of a calibration holds the luck of its runs. Only epochs tell how the machine changes
/// afterwards. Conformalized quantile regression (Romano, Patterson and Candes 2019): both ends are moved by
/// as much as would have held nine of ten of the epochs before.
struct Experience {
  std::size_t epochs = 0;  ///< before this one
  Interval seconds;        ///< of the next epoch; coverage 0 where they are too few
};

/// `predicted` as calibrated, a range that claims no coverage included; `earlier` as beyond() tells. The
/// interval holds nine of ten epochs where this one's machine and jobs are as alike the earlier ones as those
/// are each other.
Experience experience(const Interval& predicted, std::vector<double> earlier);

/// The same epoch with one thing changed, or by one resource alone: its bound.
struct WhatIf {
  std::string change;
  std::optional<double> seconds;  ///< nothing where the range alone is known
  double saved = 0;               ///< by the same model; below 0 when it takes longer
  double least = 0, most = 0;     ///< the range, where it depends on a figure that was not measured
  std::string given;              ///< its assumptions
};

/// A prediction against its measurement, in seconds.
struct Scored {
  std::string name;  ///< of a model, or of a phase with its whole: `load, per step`
  double predicted = 0, measured = 0;
  double error = 0;            ///< predicted by measured, less 1: above 0 when the prediction was too long
  std::optional<bool> inside;  ///< whether the interval held it; nothing without an interval
};

/// `12.5 % too short`.
std::string error_text(double error);

struct Score {
  std::string measured;  ///< an epoch, or the steps of a window
  double seconds = 0;
  std::vector<Scored> models;
  std::vector<Scored> phases;  ///< the phases of both measurements, in order
  /// Mean seconds of a step without loading, predicted and measured; 0 where its phases are not known.
  double predicted_step = 0, measured_step = 0;
  std::string drift;  ///< how the steps differ from the calibration's, if they do
};

/// An epoch that was predicted, and then run.
struct KnownEpoch {
  double seconds = 0;  ///< that it took
  Interval predicted;  ///< as predicted_epoch() told before it
  Weather weather;

  /// Nothing where the prediction had no interval.
  std::optional<bool> inside() const { return holds(predicted, seconds); }
  bool missed() const { return inside() == false; }
};

struct Forecast {
  Job job;
  std::vector<LintFinding> findings;
  Calibration calibration;
  StepCount steps;       ///< of an epoch; zero when the size of the data set or the batch is not known
  std::string no_epoch;  ///< why, then
  std::vector<Segment> segments;        ///< of an epoch; empty without its steps
  std::vector<ModelPrediction> models;  ///< the same
  Experience experience;  ///< of epochs before, with the most elaborate model; none unless a log is kept
  LoaderQueue queue;      ///< with contention as fitted
  Index enough = 0;       ///< steps after which the interval would decide something; 0: not known
  std::string limited_by;
  std::vector<WhatIf> what_if;
  std::vector<Score> scores;
  std::optional<KnownEpoch> known;    ///< once it was run
  std::vector<std::string> left_out;  ///< parts of an epoch that the predicted seconds do not contain
};

/// `against`, where given, is a later measurement of the same job: its windows are predicted and compared.
/// Throws Error when there is nothing to predict from, or `against` holds nothing to compare with.
Forecast forecast(const Job& job, const Job* against = nullptr);

/// Returns the time of an epoch by the most elaborate model, in the interval of earlier epochs where there
/// are enough of them. Nothing without a model.
std::optional<Interval> predicted_epoch(const Forecast& forecast);

}  // namespace assay
