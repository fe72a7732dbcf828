/// Turn-taking between processes without spinning: whoever is not at its turn sleeps.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace assay {

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

/// One side's view of the turns. Every side walks through the same sequence of steps, and does those that are
/// its own.
class Baton {
 public:
  /// `longest`: that another side may take for its step; a kernel that never returns would hold up all
  /// others.
  Baton(Board& board, int side, std::chrono::seconds longest = std::chrono::minutes(20))
      : board_(board), side_(side), longest_(longest) {}

  /// The next step belongs to `whose`: when that is this side, waits for the turn, calls `work`, and passes
  /// the turn on to `next`, the side that the step after belongs to. Throws Error when the turn does not
  /// come.
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

}  // namespace assay
