#include "bench/measure/free_core.hpp"

#include "core/files/processor_set.hpp"
#include "core/machine/topology.hpp"

#include <chrono>
#include <cstddef>
#include <vector>

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto probe = std::chrono::milliseconds(2);
/// A large machine need not be searched whole.
constexpr std::size_t most_cores = 16;
/// Between two looks at the clock passes much less, unless something else ran.
constexpr auto gap = std::chrono::microseconds(1);

/// Time that passed elsewhere while this thread looked at the clock on that processor.
Clock::duration taken_on(int processor) {
  if (!ProcessorSet({processor}).give_to(0)) return Clock::duration::max();
  Clock::duration taken{};
  const auto start = Clock::now();
  for (auto last = start; last - start < probe;) {
    const auto now = Clock::now();
    if (now - last > gap) taken += now - last;
    last = now;
  }
  return taken;
}

/// At most so many of them, from all parts of the machine: neighbours often belong to one job.
std::vector<int> spread_over(const std::vector<int>& processors, std::size_t most) {
  if (processors.size() <= most) return processors;
  std::vector<int> out;
  for (std::size_t i = 0; i < most; ++i) out.push_back(processors[i * processors.size() / most]);
  return out;
}

}  // namespace

int freest_core() {
  const ProcessorSet all = ProcessorSet::of_thread();
  int freest = 0;
  Clock::duration least = Clock::duration::max();
  for (const int processor : spread_over(fast_cores(this_topology(), all.numbers()), most_cores)) {
    const Clock::duration taken = taken_on(processor);
    if (taken < least) {
      least = taken;
      freest = processor;
    }
  }
  all.give_to(0);
  return freest;
}

}  // namespace assay
