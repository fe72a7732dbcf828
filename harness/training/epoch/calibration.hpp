/// The steady state of a job as its windows and phases show it, and where they cannot be trusted.
#pragma once

#include "training/epoch/loader_queue.hpp"
#include "training/epoch/spread.hpp"
#include "training/job/job.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Why a prediction made of this calibration deserves less trust than its interval says.
enum class Doubt {
  drift,    ///< the mean moved while it was measured
  warm_up,  ///< the first steps were slower, and were taken out of the period
  cache,    ///< some windows met a cold page cache, others a warm one
  parts,    ///< the parts do not explain the whole
  weather   ///< others used the processors meanwhile
};
std::string_view to_string(Doubt doubt);

struct Flag {
  Doubt doubt = Doubt::drift;
  std::string text;
};

/// The price that an epoch pays for beginning with its records on the disk. Batches that miss pages take
/// longer. Each batch that is read leaves fewer pages missing: its own, and those that the kernel read around
/// them. After a batch exp(-rate) of the pages are missing that were missing before it.
struct ColdPages {
  Interval extra;   ///< seconds that making a batch takes longer while no page is in memory
  double rate = 0;  ///< 0: nothing read is of use later
};

struct Calibration {
  PageCache cache = PageCache::unknown;  ///< the state of the windows that were used
  std::vector<Group> all;                ///< of these windows, start-up and warm-up included
  std::vector<Group> steady;             ///< without them; empty when no window shows steps without start-up
  std::vector<Index> runs;               ///< steps of `steady` in each run, where runs are groups: are_runs()
  double persistence = 0;                ///< of these runs: persistence_of()
  double span = 0;                       ///< seconds over which these runs are spread; 0: not known
  Spread period;                         ///< of `steady`
  /// Later steps differ from those that were seen by this much in nine of ten epochs, as a logarithm: by
  /// drift, by others on the machine, and by what the scatter from step to step tells of these.
  double pace = 0;
  Index seen = 0;  ///< the first steps of the epoch that is predicted; 0: of another
  LineFit line;    ///< of the same windows
  /// The share of processor time that other processes and the host took meanwhile, 0.9 at most.
  double taken_share = 0;
  double processor = 0;   ///< seconds of processors that a step takes, with its workers; 0: not known
  double worker = 0;      ///< of these, a worker for a batch; 0: not known
  double cores_left = 0;  ///< by others, but as many as the job used; 0: not known
  Index cores = 0;        ///< 0: not known

  double one_off = 0;  ///< A, first fill included
  bool one_off_known = false;
  std::string one_off_from;  ///< where it comes from, or why it is not known

  LoaderQueue queue;         ///< as the job ran
  std::string no_load;       ///< why nothing is known about making a batch; `load` is empty then
  std::vector<double> load;  ///< seconds of making single batches, or their mean alone
  std::string no_rest;       ///< why nothing is known about a step without its load; `rest` is empty then
  std::vector<double> rest;  ///< seconds of single steps without load, or their mean alone
  double waited = 0;         ///< mean time of the loop on loading
  /// Training phases that add to a step, load included, and those that overlap, load excluded. Means are of
  /// the steps that were used, and so are the times of single steps, where they are known: as those of
  /// `rest`.
  std::vector<StepPhase> parts, beside;
  bool contention_assumed = false;  ///< not measured: factors are 1 or fitted

  std::optional<ColdPages> cold;  ///< of a job whose epochs start cold; the windows used are warm then
  Spread validation, checkpoint;  ///< of a batch of validation, of a checkpoint; no steps when no phase says
  std::vector<Flag> flags;

  bool flagged(Doubt doubt) const;
};

/// Uses the warm windows where there are warm and cold ones. Throws Error when the job holds nothing to
/// predict from: neither a timed window nor phases.
Calibration calibrate(const Job& job);

}  // namespace assay
