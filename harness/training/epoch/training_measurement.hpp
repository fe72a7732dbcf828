/// Measures a training that the program runs itself: its parts, a short calibration, a whole epoch. All times
/// are seconds.
#pragma once

#include "assay/hooks.hpp"
#include "assay/machine.hpp"
#include "training/epoch/training_plan.hpp"
#include "training/job/job.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace assay {

std::vector<double> step_seconds(const std::vector<StepTimes>& steps);

/// All but the first, which meets cold caches, unless it is alone.
std::vector<double> warmed_up(std::vector<double> seconds);

/// Waits until `seconds` after `start`, or until the user wants to stop. The processor is kept busy,
/// as an epoch keeps it: after sleeping for a quarter of a second steps took 3 % longer in the median, and a
/// tenth longer in one of four cases, for tens of milliseconds, since the clock falls and a host gives the
/// core to others.
void pause_until(std::chrono::steady_clock::time_point start, double seconds, const Hooks& hooks);

/// Runs of a few steps each, spread over some seconds: a shared machine changes its pace within tenths of a
/// second and keeps it for seconds, so that a single run is timed at one pace. Every run trains
/// batches of its own, as an epoch does: batches that were just read lie in the caches.
struct CalibrationPolicy {
  double share = 0.02;  ///< of the epoch's steps, that all runs together may train
  Index fewest = 96;    ///< steps of all runs together, however few that share is
  Index runs = 24;
  double seconds = 6;          ///< from the beginning of the first run to that of a run after the last
  double warm_seconds = 0.01;  ///< of steps before each run
  Index cold_runs = 4;  ///< of a job that starts cold: more runs, before each of which pages are dropped
  /// Batches of validation and checkpoints are timed alone after so many of the runs. The first batch and the
  /// first checkpoint are not counted: they meet cold caches.
  Index beside = 4;
  Index batches = 4;
  Index checkpoints = 2;
};

/// Returns the windows and phases that an epoch is predicted from. Runs have one, two or three parts of the
/// steps that may be trained, each from the start of a pipeline, so that start-up can be told from steps.
/// Where the job starts cold, some more runs do. Validation and checkpoints are phases of their own scopes.
/// After an interrupt there are fewer windows and phases.
Job calibration_of(Training& training, const TrainingJob& job, const CalibrationPolicy& policy,
                   const Hooks& hooks);

/// A whole epoch.
struct EpochRun {
  EpochTimes times;
  bool partial = false;  ///< stopped by the user
  Weather weather;
};
/// `after_step` is called with the number of steps done and the seconds that passed.
EpochRun run_epoch(Training& training, const TrainingPlan& plan,
                   const std::function<void(Index, double)>& after_step, const Hooks& hooks);
/// The epoch as a job, with which predictions are compared. Its window is the steps, without validation and
/// checkpoints.
Job measured_job(const TrainingJob& job, const EpochRun& run);

}  // namespace assay
