/// One side of a launch of two builds: a process that takes turns with the others, slice by slice, on the
/// same data.
///
/// Everything random must be equal on all sides: independent randomness adds noise, common randomness removes
/// it. All sides map one region at one address, fill the same inputs into the same pages, and run on the same
/// core.
#pragma once

#include "assay/measure.hpp"
#include "assay/registry.hpp"
#include "bench/measure/allocations.hpp"
#include "bench/measure/shared_region.hpp"
#include "core/check/contained.hpp"

#include <functional>
#include <string>
#include <vector>

namespace assay {

struct TurnPolicy {
  double slice_seconds = 2e-4;  ///< at least; a longer call is a slice by itself
  double side_seconds = 0.01;   ///< of each side, per trial and launch: fewer slices of longer calls
  std::uint64_t seed = 42;      ///< of the inputs
  double time_limit = 0;        ///< seconds that a kernel may take; 0: by what the first side takes
  /// Each call has new content, and outputs of slices are judged. Off where a side is of a build from
  /// before there was that, since all sides have to do the same.
  bool audited = true;
};

/// For trials with so many threads: threads that hand work to each other need longer to show their usual
/// pace.
TurnPolicy for_threads(int threads, TurnPolicy policy);

struct TurnTrial {
  TrialRequest trial;
  double slowdown = 0;  ///< share by which this side is to be slowed down: 0, except in self-tests
  double patience = 1;  ///< times the usual number of slices
};

struct TurnsRequest {
  int side = 0, sides = 1;
  int descriptor = -1;      ///< of the shared region
  int answers = -1;         ///< descriptor that takes the samples, trial by trial; -1: a file does
  int record = -1;          ///< descriptor of this side's StepRecord; -1: it lies in the shared region
  int core = 0;             ///< where trials with one thread run
  std::uint64_t order = 0;  ///< seed of the order of turns: equal on all sides, another in each launch
  bool check = false;  ///< judge each variant first; one that disagrees is reported, and timed all the same
  TurnPolicy policy;
  std::vector<TurnTrial> trials;  ///< case by case
};

/// The samples of one side for one trial.
struct TurnSample {
  std::string key;
  std::vector<double>
      seconds;      ///< per call, of each slice in the order they ran; slice i of all sides ran together
  Index calls = 1;  ///< per slice
  Allocations allocations;  ///< of one call
  bool agrees = true;
  std::string disagreement;
  double rms_error =
      0;  ///< of `rounded` numbers in slices that were judged; 0 where fewer digits are declared
  Index rounded = 0;
  std::vector<Figure> figures;  ///< of a right output, where it was checked
};

/// Returns where that side says which trial it is at, as a position in its request. It is nothing for sides
/// that are too many, and stays zero in builds from before there were records and in those that are given one
/// of their own: all sides can write to this one.
StepRecord* record_of_side(const SharedRegion& region, std::size_t side);

/// Walks through all trials in step with the other sides. The region holds a Board in its first page. `taken`
/// is given each sample before its kernel is destroyed.
std::vector<TurnSample> take_turns(const Registry& registry, const TurnsRequest& request, const Hooks& hooks,
                                   const std::function<void(const TurnSample&)>& taken = {});

/// The verb `turns`: reads a request, takes turns, and sends the samples, after which the process ends at
/// once; or writes them to the file `answer` where the request names no descriptor for them, as older
/// programs do.
void serve_turns(const Registry& registry, const std::filesystem::path& request,
                 const std::filesystem::path& answer, const Hooks& hooks);

/// Write and read the files of the verb `turns`. Throws Error naming `where`.
std::string to_json(const TurnsRequest& request);
std::vector<TurnSample> turn_samples_from_json(const std::string& text, const std::string& where);
/// The same of a single one, as a side sends it.
TurnSample turn_sample_from_json(const std::string& text, const std::string& where);

}  // namespace assay
