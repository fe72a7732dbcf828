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
// One thread is left to the scheduler, which moves it away from a busy processor. Several are pinned to one
// processor each, on cores of their own as far as there are any: two that spin on the same one would measure
// half of the machine for as long as the scheduler lets them.
void run_team(int threads, const std::function<void(int index)>& work);

}  // namespace assay
