/// Loops that roofs and noise are measured with, in the widest vectors of this processor, and their memory.
#pragma once

#include "assay/problem.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>

namespace assay::roof {

/// Counts given to streaming loops are multiples of this: four of the longest vectors there are, 2,048 bits.
inline constexpr std::size_t stream_step = 256;

/// The streaming loops take three arrays of ones, which they leave as they are. A store to a line that was
/// not read costs the reading of it, unless it goes past the caches.
using StreamingLoop = void (*)(float* a, float* b, float* out, std::size_t count);

enum class Walk {
  add_up,                ///< a + b + out: three reads for each element
  multiply,              ///< out = a * b: two reads and one write
  multiply_past_caches,  ///< the same
  multiply_in_place,     ///< out = out * a: the same traffic, and every line that is written was read
  scale_in_place,        ///< each of the three times a number: three reads and three writes
  scale_past_caches,     ///< out = a times a number: one read and one write
  fill,                  ///< each of the three becomes a number: three writes
  fill_past_caches       ///< the same
};
StreamingLoop loop(Walk walk);

/// Fused multiply-adds on registers alone. Returns the floating-point operations done, two per element;
/// `sink` receives a value that depends on all of them.
double multiply_add(std::size_t rounds, float& sink);

}  // namespace assay::roof

namespace assay {

// Walks round three arrays larger than the cache in short slices, so that no slice hits cached data.
class Stream {
 public:
  // Three arrays of `bytes` bytes in all, made and first touched by this thread so that they are near it.
  explicit Stream(double bytes);

  // Has `loop` walk the next `steps` steps of roof::stream_step elements; returns how many elements that are.
  double advance(Index steps, roof::StreamingLoop loop = roof::loop(roof::Walk::multiply));

 private:
  struct Freed {
    void operator()(float* memory) const { std::free(memory); }
  };
  std::size_t count_, stride_;
  std::unique_ptr<float, Freed> memory_;
  std::size_t at_ = 0;
};

// The limit for gathering small records in random order: cache lines per second.
struct RandomLines {
  double working_set_bytes = 0;
  double per_second = 0;  // of 64 bytes, by one thread that asks for them ahead; 0: not measured
};

// Returns the best of slices, as for all roofs; takes about `seconds`. Measures nothing where the memory is
// less than eight times the working set.
RandomLines measure_random_lines(double memory_bytes, double seconds);

// Threads that start a piece of work at the same moment.

// Waits by spinning, for a bounded time, then asleep. Never yields: a yielding wait collapses as soon as
// something else runs on the machine, and a sleeping one starts its threads tens of microseconds apart.
class Barrier {
 public:
  explicit Barrier(int parties);
  void arrive_and_wait();

 private:
  const int parties_, spins_;
  std::atomic<int> arrived_{0};
  std::atomic<unsigned> generation_{0};
};

// Runs `work(index)` on `threads` threads and returns when all are done; the first exception is thrown again.
// The scheduler places a single thread, and moves it away from a busy processor. Several threads are pinned
// to a processor each, on different cores as far as there are enough: two threads spinning on the same core
// would measure half of the machine.
void run_team(int threads, const std::function<void(int index)>& work);

}  // namespace assay
