#include "task_graph/crew.hpp"

#include <pthread.h>
#include <sched.h>

namespace assay::task_graph {

Crew::Crew(int threads) {
  threads_.reserve(static_cast<std::size_t>(threads > 1 ? threads - 1 : 0));
  for (int member = 1; member < threads; ++member) threads_.emplace_back([this, member] { serve(member); });
}

Crew::~Crew() {
  stopping_.store(true, std::memory_order_seq_cst);
  called_.raise();
  for (std::thread& thread : threads_) thread.join();
}

/// Keeps the threads off the processor of the caller. If all processors are busy, Linux puts a woken thread
/// on the processor of the thread that woke it, behind the work that it should share: on a loaded machine
/// with two cores, most calls of 1.4 ms ended before the second thread ran at all.
void Crew::step_aside() {
  const int here = sched_getcpu();
  cpu_set_t others;
  // The caller's mask, which the threads inherited.
  if (here < 0 || here == kept_off_ || sched_getaffinity(0, sizeof others, &others) != 0) return;
  CPU_CLR(static_cast<std::size_t>(here), &others);
  if (CPU_COUNT(&others) == 0) return;
  kept_off_ = here;
  for (std::thread& thread : threads_) pthread_setaffinity_np(thread.native_handle(), sizeof others, &others);
}

void Crew::open() {
  step_aside();
  door_.store(opened, std::memory_order_seq_cst);
  called_.raise();
}

void Crew::close() {
  std::uint32_t inside = door_.fetch_and(~opened, std::memory_order_seq_cst) & ~opened;
  while (inside > 0) {
    const std::uint32_t seen = left_.load();
    inside = door_.load(std::memory_order_seq_cst);
    if (inside > 0) left_.wait(seen, [&] { return door_.load(std::memory_order_seq_cst) == 0; });
  }
}

void Crew::serve(int member) {
  std::uint32_t served = 0;
  for (;;) {
    called_.wait(served, [] { return false; });
    served = called_.load();
    if (stopping_.load(std::memory_order_seq_cst)) return;
    std::uint32_t door = door_.load(std::memory_order_seq_cst);
    while ((door & opened) != 0 && !door_.compare_exchange_weak(door, door + 1, std::memory_order_seq_cst)) {
    }
    if ((door & opened) == 0) continue;
    work_(context_, member);
    // The last thread out of a closed run wakes the caller.
    if (door_.fetch_sub(1, std::memory_order_seq_cst) == 1) left_.raise();
  }
}

}  // namespace assay::task_graph
