/// Jobs that the program trains itself, for `assay epoch` and `assay tune`: their files, and how a job is
/// measured: its parts, a short calibration, a whole epoch, and epochs with settings of the loader that were
/// never run. All times are seconds.
#pragma once

#include "assay/hooks.hpp"
#include "assay/machine.hpp"
#include "assay/training.hpp"
#include "training/epoch/calibration.hpp"
#include "training/job/job.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace assay {

struct TrainingJob {
  std::string name;
  TrainingPlan plan;
};

/// {"schema": "assay.training/1", "name": …} and the members of TrainingPlan, of which samples and batch are
/// required; a relative path of `records` starts from the folder of `where`, and is written as an absolute
/// one. Throws Error naming file and key: an unknown one, a wrong type, fewer samples than a batch, numbers
/// beyond any use, more of validation than of training, checkpoints that no epoch reaches.
TrainingJob training_job_from_json(const std::string& text, const std::filesystem::path& where);
class Fields;
void describe(Fields& f, TrainingJob& job);

/// Throws Error naming `where` when the records that are generated for the plan and the batches that its
/// loader holds need more than `bytes`, the free memory: the rest of a training is small beside them.
void require_memory(const TrainingPlan& plan, const std::string& where, double bytes);

/// "classifier 3x16x16, width 16, batch 64, workers 1, prefetch 2": for one line of a table.
std::string in_words(const TrainingPlan& plan);

std::vector<double> step_seconds(const std::vector<StepTimes>& steps);

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

struct LoaderSetting {
  Index workers = 0, prefetch = 2;
  bool operator==(const LoaderSetting&) const = default;
};

struct Elsewhere {
  LoaderSetting setting;
  double seconds = 0;  ///< of an epoch
};

/// The way in which batches and steps are timed alone, and beside as many workers as the settings have, which
/// make batches without ever waiting.
struct PartsPolicy {
  Index rounds = 12;  ///< each times every part once, so that the parts share the pace of the machine
  double part_seconds = 0.025;  ///< of each in a round
  double seconds = 4;           ///< the rounds are spread over this time
};

/// Carries the times of batches and steps that the calibration knows over to other settings: a step with
/// workers takes longer by the share of its time in which they work, at the rate at which it does beside
/// workers that always work. The queue is played as M4 plays it. `beside` is the time that an epoch takes
/// beside its steps, whatever the loader. No epoch is trained.
std::vector<Elsewhere> elsewhere(Training& training, const TrainingPlan& plan, const Calibration& calibration,
                                 const std::vector<LoaderSetting>& settings, double beside,
                                 const PartsPolicy& policy, const Hooks& hooks);

/// No workers; one and two of them with 1, 2 and 4 batches ahead.
std::vector<LoaderSetting> usual_settings();

}  // namespace assay
