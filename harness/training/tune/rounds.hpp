/// Measuring settings of a training against each other.
#pragma once

#include "assay/files.hpp"
#include "assay/hooks.hpp"
#include "training/tune/attempt.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace assay {

/// The settings to try: every combination of these, where an empty list stands for the job's own value.
/// Prefetch and order mean nothing without workers, so that there is one setting then.
struct TuneGrid {
  std::vector<Index> workers, prefetch, batch;
  std::vector<int> threads;
  bool any_order = false;  ///< out of order, too
};

/// The job as it is first, then the others, each once. Throws Error naming the option of a value that cannot
/// be.
std::vector<Attempt> attempts_of(const TrainingPlan& job, const TuneGrid& grid);

struct TunePolicy {
  int rounds = 8;
  double run_seconds = 0.5;  ///< of each setting in each round, about
};

/// Trains with all settings in every round, the first steps of an epoch and in another order each time, and
/// before each of them the same steps are taken without loading. Memory is what the process holds, peak,
/// during the runs of a setting. Rounds are whole: an interrupt leaves out the one that it fell in.
void measure_rounds(std::vector<Attempt>& attempts, const TunePolicy& policy, std::uint64_t seed,
                    const Hooks& hooks);

}  // namespace assay
