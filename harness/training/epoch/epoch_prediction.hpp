/// Epochs of jobs that the program trains itself: predicted, then run, then compared with their predictions;
/// and the log of these, one per line of a file, and how good they were taken together.
#pragma once

#include "training/epoch/forecast.hpp"
#include "training/epoch/own_jobs.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay {

/// One epoch that was predicted, then run.
struct LoggedModel {
  std::string model;  ///< `M4`
  Interval seconds;   ///< coverage 0 where there is none
};
/// Validation or all checkpoints of an epoch.
struct LoggedSegment {
  std::string name;    ///< `validation`, `checkpoint`
  Interval predicted;  ///< coverage 0 where there is none
  double seconds = 0;  ///< measured
};
struct LoggedEpoch {
  TrainingJob job;
  std::string date, commit, machine;
  std::string frozen;             ///< hash of the prediction as it was written down
  double seconds = 0;             ///< measured
  double prediction_seconds = 0;  ///< the time of predicting
  /// Mean seconds of a step without loading, in the calibration and in the epoch; 0: not known.
  double predicted_step = 0, measured_step = 0;
  double other_busy_share = 0, steal_share = 0;
  double taken_in_calibration = 0;  ///< the share of both then; 0: not known
  std::vector<LoggedModel> models;
  Experience experience;                ///< of the epochs before it; none without a log
  std::vector<LoggedSegment> segments;  ///< of the job: validation, checkpoints
  std::vector<Elsewhere> elsewhere;
};

void describe(Fields& f, LoggedEpoch& epoch);
std::string to_line(const LoggedEpoch& epoch);
/// Throws Error naming file, line and key.
std::vector<LoggedEpoch> epoch_log_from(const std::string& text, const std::string& where);

/// Returns how far the epochs of this machine lay beyond the calibrated intervals of this model.
std::vector<double> earlier_errors(const std::vector<LoggedEpoch>& log, const std::string& machine,
                                   std::string_view model);

/// Absolute relative errors of many predictions.
struct ErrorSummary {
  std::string predicted;  ///< `the same setting, M4`
  std::size_t epochs = 0;
  double median = 0, p95 = 0, largest = 0;
  std::size_t with_interval = 0, inside = 0;
};
inline constexpr std::string_view with_experience = "the same setting, M4 with the epochs before it",
                                  unrun_setting = "a setting that had not been run, M4";

/// Sums up, where the log has such predictions:
///  - those of each model for the setting that was run;
///  - M4 in the interval that was made with the epochs before;
///  - M4 at the pace of the epoch, which the table explains, so that the model's own error is left;
///  - each kind of segment, `validation alone`;
///  - M4 for other settings of the same job, against the median of the epochs that were run with them, and at
///    the pace of each of these.
std::vector<ErrorSummary> errors_of(const std::vector<LoggedEpoch>& log);

/// How much longer the setting takes that was predicted to be fastest than the setting that was, as a share:
/// for each job and batch of which several settings were run.
std::vector<double> regrets(const std::vector<LoggedEpoch>& log);
/// Tells regret at one pace: epochs' times are divided by the time of a step without loading in them. Only
/// the plain regret tells of a setting that slows steps down, and does not only make them wait.
std::vector<double> regrets_at_pace(const std::vector<LoggedEpoch>& log);

/// Tables of all of these, every epoch, and the hash of the file.
std::string epoch_log_markdown(const std::vector<LoggedEpoch>& log, const std::string& hash);

struct PredictionSettings {
  CalibrationPolicy calibration;
  std::optional<PartsPolicy> elsewhere;  ///< predict the usual settings of the loader, too
};

struct EpochPrediction {
  TrainingJob job;
  Job measured;       ///< the calibration
  Forecast forecast;  ///< of the epoch, with the experience of earlier ones
  std::string made;   ///< when
  std::vector<Elsewhere> elsewhere;
  double seconds = 0;  ///< that predicting took
};

/// Returns nothing after an interrupt of the calibration. `earlier` may hold epochs of other machines, which
/// do not count.
std::optional<EpochPrediction> predict_epoch(Training& training, const TrainingJob& job,
                                             const std::vector<LoggedEpoch>& earlier,
                                             const PredictionSettings& settings, const Hooks& hooks);

/// The forecast of an epoch that runs, renewed by the steps that it has done. Neighbouring steps are alike,
/// and the interval allows for it.
class RenewedForecast {
 public:
  /// Forecasts an epoch of so many steps, with `beside` seconds of validation behind them. `predicted` is the
  /// prediction of the whole, where there is one, and holds until there are enough steps.
  RenewedForecast(Index steps, double beside, std::optional<Interval> predicted);

  /// `done` steps, more than before, took `seconds` in all, checkpoints included.
  void note(Index done, double seconds);

  /// Seconds of the whole epoch; coverage 0 while too few steps are done. `done` was noted once.
  Interval seconds() const;

 private:
  Index steps_, done_ = 0;
  double beside_, seconds_ = 0;
  std::optional<Interval> predicted_;
  std::vector<Group> groups_;  ///< of consecutive steps
};

/// Trains the epoch, and says how far it is and how long it will take by now.
EpochRun run_epoch(Training& training, const EpochPrediction& prediction, const Hooks& hooks);

/// The epoch as a trace that Perfetto and chrome://tracing show: JSON in the Trace Event Format: the training
/// loop as thread 0 with a slice per step and per phase, one per checkpoint, one for validation and for each
/// phase of its batches; each worker with a slice per batch; and a counter of batches that are ready. Times
/// are microseconds since the run began.
std::string timeline_json(const std::string& name, const EpochTimes& epoch);

/// Returns the forecast with two scores: of the whole epoch, and of its steps. `epoch` was not interrupted.
Forecast scored(const EpochPrediction& prediction, const EpochRun& epoch);

/// Returns the line for a log; `frozen` is the hash of the prediction as it was written down.
LoggedEpoch logged_epoch(const EpochPrediction& prediction, const EpochRun& epoch, const Forecast& scored,
                         const std::string& frozen);

}  // namespace assay
