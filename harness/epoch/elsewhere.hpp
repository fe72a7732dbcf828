/// Epochs of the same job with settings of the loader that were never run, predicted from its parts.
#pragma once

#include "epoch/training_measurement.hpp"

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

/// Batches and steps are timed beside as many workers as each setting has, which make batches without ever
/// waiting; the queue between them is played. `seconds` is for the parts of each number of workers, `beside`
/// what an epoch takes beside its steps, whatever the loader. Nothing of an epoch is trained.
std::vector<Elsewhere> elsewhere(Training& training, const TrainingPlan& plan,
                                 const std::vector<LoaderSetting>& settings, double seconds, double beside,
                                 const Hooks& hooks);

/// No workers; one and two of them with 1, 2 and 4 batches ahead.
std::vector<LoaderSetting> usual_settings();

}  // namespace assay
