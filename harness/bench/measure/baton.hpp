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
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

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
