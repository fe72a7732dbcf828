/// Settings of a training to try against each other: the list, their timing, and the consequences of the
/// choice.
#pragma once

#include "core/tune/turns.hpp"
#include "training/epoch/own_jobs.hpp"

#include <string>
#include <vector>

namespace assay {

/// The settings to try: every combination of these, where an empty list stands for the job's own value.
/// Prefetch and order mean nothing without workers, so that there is one setting then.
struct TuneGrid {
  std::vector<Index> workers, prefetch, batch;
  std::vector<int> threads;
  bool any_order = false;  ///< out of order, too
};

inline constexpr TuneWords setting_words{
    .setting = "setting",
    .settings = "settings",
    .present = "the job as it is",
    .preferred = "with the fewest workers and batches ahead",
    .control = "steps of the job as it is, without loading, were {} meanwhile, which no setting can reach"};

/// The job as it is first, then the others, each once. Throws Error naming the option of a value that cannot
/// be.
std::vector<TrainingPlan> plans_of(const TrainingPlan& job, const TuneGrid& grid);

/// Fewer workers are cheaper, then fewer batches ahead: they take less memory and leave cores to others.
std::vector<Candidate> candidates_of(const std::vector<TrainingPlan>& plans);

struct TunePolicy {
  int rounds = 8;
  std::uint64_t seed = 42;
  double run_seconds = 0.5;  ///< of each setting in each round, about
};

/// Trains the first steps of an epoch in every turn, right after the same steps without loading: its bound.
/// The control is the latter of the job as it is. Times are seconds per sample, since batches may differ in
/// size. A setting is wrong if it trains other batches than the job. Memory is the peak of the process.
void measure_settings(const std::vector<TrainingPlan>& plans, std::vector<Candidate>& candidates,
                      const TunePolicy& policy, const Hooks& hooks);

/// The time and memory of an epoch, and how much the loader leaves to be gained.
std::vector<std::string> consequences_of(const std::vector<TrainingPlan>& plans, const TuneRuling& ruling);

}  // namespace assay
