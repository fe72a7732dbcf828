/// Known cheats as a verb tries them.
#pragma once

#include "app/verb_functions.hpp"
#include "assay/outcome.hpp"
#include "bench/gate/rejected_trials.hpp"

namespace assay {

/// How trials are sampled: in processes of this program, but for tests.
struct CheatSampling {
  Sample run = sample_in_new_process;
  SampleSides sides = sample_sides;
};

Outcome try_known_cheats(const KnownCheatsOptions& options, const Registry& registry,
                         const CheatSampling& sampling);

}  // namespace assay
