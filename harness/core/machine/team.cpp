#include "core/machine/team.hpp"

#include "core/files/processor_set.hpp"
#include "core/machine/topology.hpp"

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace assay {
namespace {

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

}  // namespace

void Barrier::arrive_and_wait() {
  const unsigned generation = generation_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == parties_) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.store(generation + 1, std::memory_order_release);
    generation_.notify_all();
    return;
  }
  // About a millisecond, longer than the threads of a slice differ on an idle machine.
  for (int spin = 0; spin < 20'000; ++spin) {
    if (generation_.load(std::memory_order_acquire) != generation) return;
    relax();
  }
  while (generation_.load(std::memory_order_acquire) == generation) generation_.wait(generation);
}

void run_team(int threads, const std::function<void(int)>& work) {
  std::exception_ptr fault;
  std::mutex guard;
  const auto order =
      threads > 1 ? placing_order(this_topology(), ProcessorSet::of_thread().numbers()) : std::vector<int>();
  std::vector<std::jthread> team;
  for (int index = 0; index < threads; ++index) {
    team.emplace_back([&, index] {
      try {
        // A refusal leaves the thread where it is, which is as good as can be.
        if (!order.empty()) ProcessorSet({order[static_cast<std::size_t>(index) % order.size()]}).give_to(0);
        work(index);
      } catch (...) {
        const std::scoped_lock lock(guard);
        if (fault == nullptr) fault = std::current_exception();
      }
    });
  }
  team.clear();
  if (fault != nullptr) std::rethrow_exception(fault);
}

}  // namespace assay
