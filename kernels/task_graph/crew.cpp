#include "task_graph/crew.hpp"

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

void Crew::open() {
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
    // The last one out of a closed run tells who waits for that.
    if (door_.fetch_sub(1, std::memory_order_seq_cst) == 1) left_.raise();
  }
}

}  // namespace assay::task_graph
