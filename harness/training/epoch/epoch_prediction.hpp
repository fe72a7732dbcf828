/// One epoch of a job that the program trains itself: predicted, then run, then compared with its
/// prediction.
#pragma once

#include "training/epoch/epoch_log.hpp"
#include "training/epoch/own_jobs.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay {

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
