/// One side of a launch of two builds: a process that takes turns with the others, slice by slice, on the
/// same data. bench/README.md tells what is equal on all sides, and why; whoever is not at its turn sleeps.
#pragma once

#include "assay/measure.hpp"
#include "assay/registry.hpp"
#include "bench/measure/allocations.hpp"
#include "core/check/contained.hpp"
#include "core/files/descriptor.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace assay {

/// Pages that exist once they are written to. Whoever is given descriptor() maps the same ones.
class SharedRegion {
 public:
  /// Makes one of at most `bytes`. Throws Error.
  static SharedRegion made(std::size_t bytes);
  /// Maps one that another process made, at the same address. Throws Error when the address is taken.
  static SharedRegion mapped(int descriptor);

  ~SharedRegion();

  /// Inherited by child processes.
  int descriptor() const { return descriptor_.value(); }
  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// Maps so many pages together, where the system can: one by one, as they are touched, they take virtual
  /// machines twice as long.
  void map_pages(std::size_t bytes);

 private:
  SharedRegion(Descriptor file, std::size_t bytes);
  Descriptor descriptor_;
  std::byte* data_ = nullptr;
  std::size_t bytes_, mapped_bytes_ = 0;
};

/// Each side has a bit by which it is woken.
inline constexpr int most_sides = 32;

/// The state that the sides share. Lives in shared memory, all zero at the start.
struct Board {
  std::atomic<std::uint32_t> step;  ///< the step that may run
  std::int64_t calls;               ///< per slice, as the first side calibrated it
  std::int64_t rounds;              ///< each side has two slices per round
  double call_seconds;
  double first_seconds;  ///< that the first side took for the first calls; 0: it does not say
  std::int64_t slice;    ///< that was drawn for last, counted from 1 through all trials
  std::uint64_t seed;    ///< of that slice on all sides
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// The seed of slice number `slice`, from 1: drawn by the side that comes to it first, and the same for all
/// others. The board does not hold it while a side is at its slice: its kernel would know what changes, and
/// which call is the last. Sides of builds from before there was this change nothing for the others.
class SliceSeed {
 public:
  SliceSeed(Board& board, std::int64_t slice);
  ~SliceSeed() { board_.seed = value_; }
  SliceSeed(const SliceSeed&) = delete;
  SliceSeed& operator=(const SliceSeed&) = delete;
  std::uint64_t value() const { return value_; }

 private:
  Board& board_;
  std::uint64_t value_;
};

/// One side's view of the turns. Every side walks through the same sequence of steps, and does its own.
class Baton {
 public:
  /// `longest`: that another side may take for its step; a kernel that never returns would hold up all.
  Baton(Board& board, int side, std::chrono::seconds longest = std::chrono::minutes(20))
      : board_(board), side_(side), longest_(longest) {}

  /// The next step belongs to `whose`: when that is this side, waits for the turn, calls `work`, and passes
  /// the turn on to `next`, the side of the step after. Throws Error when the turn does not come.
  template <class Work>
  void step(int whose, int next, const Work& work) {
    if (whose == side_) {
      wait();
      work();
      pass_to(next);
    }
    ++step_;
  }

 private:
  void wait();
  void pass_to(int next);

  Board& board_;
  int side_;
  std::chrono::seconds longest_;
  std::uint32_t step_ = 0;
};

struct TurnPolicy {
  double slice_seconds = 2e-4;  ///< at least; a longer call is a slice by itself
  double side_seconds = 0.01;   ///< of each side, per trial and launch: fewer slices of longer calls
  std::uint64_t seed = 42;      ///< of the inputs
  double time_limit = 0;        ///< seconds that a kernel may take; 0: by what the first side takes
  /// Each call has new content, and outputs of slices are judged. Off where a side is of a build from
  /// before there was that, since all sides have to do the same.
  bool audited = true;
};

/// For trials with so many threads: those that hand work to each other need longer to show their usual pace.
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

/// The verb `turns`: reads a request, takes turns, sends the samples and ends the process at once; or writes
/// them to the file `answer` where the request names no descriptor for them, as older programs do.
void serve_turns(const Registry& registry, const std::filesystem::path& request,
                 const std::filesystem::path& answer, const Hooks& hooks);

class Fields;
/// Requests and answers of the verb `turns`: samples in a file, or each as a side sends it.
void describe(Fields& f, TurnsRequest& request);
void describe(Fields& f, TurnSample& sample);

}  // namespace assay
