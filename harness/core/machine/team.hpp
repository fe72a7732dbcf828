// Threads that start a piece of work at the same moment.
#pragma once

#include <atomic>
#include <functional>

namespace assay {

// Waits by spinning, for a bounded time, then asleep. Never yields: a yielding wait collapses as soon as
// something else runs on the machine, and a sleeping one starts its threads tens of microseconds apart.
class Barrier {
 public:
  explicit Barrier(int parties) : parties_(parties) {}
  void arrive_and_wait();

 private:
  const int parties_;
  std::atomic<int> arrived_{0};
  std::atomic<unsigned> generation_{0};
};

// Runs `work(index)` on `threads` threads and returns when all are done; the first exception is thrown again.
// The scheduler places a single thread, and moves it away from a busy processor. Several threads are pinned
// to a processor each, on different cores as far as there are enough: two threads spinning on the same core
// would measure half of the machine.
void run_team(int threads, const std::function<void(int index)>& work);

}  // namespace assay
