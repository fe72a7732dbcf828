/// Epochs of the same job with settings of the loader that were never run, predicted from its parts.
#pragma once

#include "training/epoch/calibration.hpp"
#include "training/epoch/own_jobs.hpp"

#include <vector>

namespace assay {

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
