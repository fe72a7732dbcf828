/// Settings of a training tried against each other, in rounds: what was measured, and what follows.
#pragma once

#include "assay/interval.hpp"
#include "core/statistics/decision.hpp"
#include "training/epoch/training_plan.hpp"

#include <string>
#include <vector>

namespace assay {

/// One setting in one round. Times are seconds per sample, since settings may have batches of different
/// sizes.
struct RoundTimes {
  double seconds = 0;  ///< of steps after the first batches of the queue, waiting included
  double alone = 0;    ///< of steps without any loading, right before: no loader is faster
  double control = 0;  ///< the same of the job as it is, whatever this setting is: what no setting can change
};

struct Attempt {
  TrainingPlan plan;
  std::string hypothesis;  ///< what is expected of it, against the job as it is
  std::vector<RoundTimes> rounds;
  std::string wrong;      ///< why its training is not that of the job; empty when it is
  double peak_bytes = 0;  ///< of memory resident during its runs, the largest
};

struct AttemptRuling {
  Decision decision = Decision::no_change;
  Interval ratio;      ///< seconds per sample by those of the job as it is, round by round
  Interval control;    ///< the same of the control
  double seconds = 0;  ///< per sample, median
  std::string why;
  bool tied_with_best = false;
};

struct TuneRuling {
  std::vector<AttemptRuling> attempts;  ///< in order; the first is the job as it is
  std::size_t chosen = 0;
  std::size_t best = 0;  ///< lowest median of those that may be chosen
  std::string ties;      ///< which settings cannot be told from the best, and why the chosen one was taken
  double bound_seconds = 0;  ///< per sample: a step alone, of the job as it is
};

/// Rules on what was measured, as a pure function. The first attempt is the job as it is; all have as many
/// rounds, at least 6, below which no interval of 95 % exists. Of settings that cannot be told from the best,
/// the one with the fewest workers, then batches ahead, is chosen: it costs the least memory and leaves cores
/// to others.
TuneRuling ruled(const std::vector<Attempt>& attempts);

}  // namespace assay
