#include "core/machine/team.hpp"

#include <sched.h>

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

std::vector<int> allowed_processors() {
  std::vector<int> out;
  cpu_set_t set;
  CPU_ZERO(&set);
  // Fails where there are more than 1,024 processors: nothing is pinned then.
  if (sched_getaffinity(0, sizeof set, &set) != 0) return out;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) out.push_back(cpu);
  }
  return out;
}

void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  sched_setaffinity(0, sizeof set,
                    &set);  // A refusal leaves the thread where it is, which is as good as can be.
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
  const auto cpus = threads > 1 ? allowed_processors() : std::vector<int>();
  std::vector<std::jthread> team;
  for (int index = 0; index < threads; ++index) {
    team.emplace_back([&, index] {
      try {
        if (!cpus.empty()) pin_to(cpus[static_cast<std::size_t>(index) % cpus.size()]);
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
