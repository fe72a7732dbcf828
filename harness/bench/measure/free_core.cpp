#include "bench/measure/free_core.hpp"

#include <sched.h>

#include <chrono>
#include <cstddef>

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto probe = std::chrono::milliseconds(2);
/// A large machine need not be searched whole.
constexpr int most_cores = 16;
/// Between two looks at the clock passes much less, unless something else ran.
constexpr auto gap = std::chrono::microseconds(1);

/// Time that passed elsewhere while this thread looked at the clock on that core.
Clock::duration taken_on(std::size_t core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) return Clock::duration::max();
  Clock::duration taken{};
  const auto start = Clock::now();
  for (auto last = start; last - start < probe;) {
    const auto now = Clock::now();
    if (now - last > gap) taken += now - last;
    last = now;
  }
  return taken;
}

}  // namespace

int freest_core() {
  cpu_set_t all;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return 0;
  int freest = 0;
  Clock::duration least = Clock::duration::max();
  int probed = 0;
  for (std::size_t core = 0; core < CPU_SETSIZE && probed < most_cores; ++core) {
    if (!CPU_ISSET(core, &all)) continue;
    ++probed;
    const Clock::duration taken = taken_on(core);
    if (taken < least) {
      least = taken;
      freest = static_cast<int>(core);
    }
  }
  sched_setaffinity(0, sizeof all, &all);
  return freest;
}

}  // namespace assay
