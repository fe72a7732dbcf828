/// What is measured of a training that the program runs itself: its parts, a short calibration, a whole
/// epoch. All times are seconds.
#pragma once

#include "assay/check.hpp"
#include "assay/results.hpp"
#include "epoch/training_plan.hpp"
#include "exchange/job.hpp"

#include <functional>
#include <string>
#include <vector>

namespace assay {

/// Of an epoch's steps: what the calibration may train at most, though never less than `fewest`. Of its
/// validation the same share, though never fewer batches than `fewest_batches`; and so many checkpoints. The
/// first of either meets what no later one does, and is not counted.
struct CalibrationPolicy {
  double share = 0.02;
  Index fewest = 14;
  Index fewest_batches = 9;
  Index checkpoints = 4;
  double part_seconds = 0.5;  ///< for each part that is timed alone
};

/// Means of a batch and a step alone, and while as many workers as the job has make batches without ever
/// waiting; 0 where it has none.
struct PartTimes {
  double load_alone = 0, step_alone = 0, load_together = 0, step_together = 0;
};
PartTimes time_parts(Training& training, const TrainingPlan& plan, double seconds, const Hooks& hooks);

/// Trains the first steps of the epoch three times, each run twice as long as the one before, so that
/// start-up can be told from steps: windows and phases that an epoch is predicted from. Where the plan has
/// validation and checkpoints, they are timed after that, alone, as phases of their own scopes. Fewer windows
/// and phases after an interrupt.
Job calibration_of(Training& training, const TrainingJob& job, const CalibrationPolicy& policy,
                   const Hooks& hooks);
/// Steps that calibration_of() trains in all.
Index calibration_steps(const TrainingPlan& plan, const CalibrationPolicy& policy);

/// A whole epoch.
struct EpochRun {
  EpochTimes times;
  bool partial = false;  ///< stopped by the user
  Weather weather;
};
/// `after_step` is called with the number of steps done and the seconds that passed.
EpochRun run_epoch(Training& training, const TrainingPlan& plan,
                   const std::function<void(Index, double)>& after_step, const Hooks& hooks);
/// The epoch as a job: what predictions are compared with. Its window is the steps, without what is beside
/// them.
Job measured_job(const TrainingJob& job, const EpochRun& run);

}  // namespace assay
