// A list of tasks. Its owner uses it as a stack; other threads take from the other end.
//
// Chase and Lev, Dynamic circular work-stealing deque, SPAA 2005, without the circle: the number of tasks
// bounds the pushes between two resets, so positions only grow and no slot is used twice at once. In place of
// fences, the stores and loads are sequentially consistent, which ThreadSanitizer understands and which costs
// the same on x86.
#pragma once

#include "task_graph/crew.hpp"

#include "assay/ops/task_dag.hpp"

#include <atomic>
#include <memory>

namespace assay::task_graph {

/// The threads that may call. `alone` promises that only the owner calls, and saves the locked instructions.
enum class Sharing { shared, alone };

class Deque {
 public:
  static constexpr TaskId none = -1;

  /// Has room for `tasks` pushes after each reset().
  explicit Deque(Index tasks)
      : slots_(std::make_unique_for_overwrite<std::atomic<TaskId>[]>(static_cast<std::size_t>(tasks))) {}

  /// Empties it. No other thread may use it meanwhile.
  void reset() {
    top_.store(0, std::memory_order_relaxed);
    bottom_.store(0, std::memory_order_relaxed);
  }

  /// For the owner.
  template <Sharing sharing>
  void push(TaskId task) {
    const Index bottom = bottom_.load(std::memory_order_relaxed);
    slots_[static_cast<std::size_t>(bottom)].store(task, std::memory_order_relaxed);
    bottom_.store(bottom + 1,
                  sharing == Sharing::alone ? std::memory_order_relaxed : std::memory_order_seq_cst);
  }

  /// Takes the task that was pushed last, or none. For the owner.
  template <Sharing sharing>
  TaskId pop() {
    const Index last = bottom_.load(std::memory_order_relaxed) - 1;
    // The top only grows, so an old value past the last task is proof enough.
    if (top_.load(std::memory_order_relaxed) > last) return none;
    if constexpr (sharing == Sharing::alone) {
      bottom_.store(last, std::memory_order_relaxed);
      return slots_[static_cast<std::size_t>(last)].load(std::memory_order_relaxed);
    }
    bottom_.store(last, std::memory_order_seq_cst);
    Index top = top_.load(std::memory_order_seq_cst);
    TaskId task = none;
    if (top <= last) task = slots_[static_cast<std::size_t>(last)].load(std::memory_order_relaxed);
    if (top < last) return task;
    // The last task belongs to the thread that moves the top.
    if (top == last && !top_.compare_exchange_strong(top, last + 1, std::memory_order_seq_cst)) task = none;
    bottom_.store(last + 1, std::memory_order_release);
    return task;
  }

  /// Takes the task that was pushed first; none also if another thread was faster. For any thread.
  TaskId steal() {
    Index top = top_.load(std::memory_order_seq_cst);
    if (top >= bottom_.load(std::memory_order_seq_cst)) return none;
    const TaskId task = slots_[static_cast<std::size_t>(top)].load(std::memory_order_relaxed);
    return top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst) ? task : none;
  }

  bool looks_empty() const {
    return top_.load(std::memory_order_seq_cst) >= bottom_.load(std::memory_order_seq_cst);
  }

 private:
  std::unique_ptr<std::atomic<TaskId>[]> slots_;
  alignas(apart) std::atomic<Index> bottom_{0};
  alignas(apart) std::atomic<Index> top_{0};
};

}  // namespace assay::task_graph
