// The idea: no shared list. A thread that finishes a task counts down its successors, goes on with one that
// became ready, and keeps the others on a stack of its own; a thread without work takes the oldest task from
// another stack. Threads touch each other's memory only to steal, and where tasks of different threads depend
// on each other.
//
// State that is not shared is not atomic: a task with one predecessor has no counter, and the last thread to
// arrive at a counter sees that it is 1 and need not count. Each thread counts its finished tasks and reports
// them when it runs out of work.

#include "task_graph/crew.hpp"
#include "task_graph/deque.hpp"
#include "task_graph/executor.hpp"

#include <algorithm>
#include <deque>

namespace assay::task_graph {
namespace {

class WorkStealing {
 public:
  WorkStealing(const Dag& graph, std::span<const double> duration, int threads)
      : links_(graph.successors),
        waits_for_(graph.order.size()),
        arrivals_(graph.order.size()),
        crew_(threads) {
    const std::vector<double> urgency = longest_to_end(graph, duration);
    const auto more_urgent = [&](TaskId a, TaskId b) { return urgency[at(a)] > urgency[at(b)]; };
    for (TaskId task = 0; task < graph.tasks(); ++task) {
      waits_for_[at(task)] = static_cast<TaskId>(graph.predecessors[task].size());
      if (waits_for_[at(task)] == 0) sources_.push_back(task);
      const auto first = links_.ids.begin() + links_.first[at(task)];
      const auto last = links_.ids.begin() + links_.first[at(task) + 1];
      std::stable_sort(first, last, more_urgent);
      for (auto link = first; link != last; ++link) {
        if (graph.predecessors[*link].size() == 1) *link = ~*link;
      }
    }
    std::ranges::stable_sort(sources_, more_urgent);
    for (int member = 0; member < crew_.members(); ++member) stacks_.emplace_back(graph.tasks());
  }

  void run(TaskBody body) {
    for (Deque& stack : stacks_) stack.reset();
    for (std::size_t i = 0; i < waits_for_.size(); ++i) {
      arrivals_[i].store(waits_for_[i], std::memory_order_relaxed);
    }
    left_.store(static_cast<Index>(waits_for_.size()), std::memory_order_relaxed);
    over_.store(false, std::memory_order_relaxed);
    for (const TaskId source : sources_) stacks_.front().push<Sharing::alone>(source);
    if (crew_.members() == 1) {
      work<Sharing::alone>(0, body);
    } else {
      crew_.run([&](int member) { work<Sharing::shared>(member, body); });
    }
    failure_.rethrow();
  }

 private:
  template <Sharing sharing>
  void work(int member, TaskBody body) {
    Deque& stack = stacks_[static_cast<std::size_t>(member)];
    Index finished = 0;
    TaskId task = none;
    try {
      while (!over_.load(std::memory_order_relaxed)) {
        if (task == none) task = stack.pop<sharing>();
        if (task == none) {
          if (finished > 0 && left_.fetch_sub(finished, std::memory_order_acq_rel) == finished) end();
          finished = 0;
          if constexpr (sharing == Sharing::shared) task = steal_or_wait(member);
          if (task == none) continue;
        }
        body(task);
        ++finished;
        task = successor<sharing>(task, stack);
      }
    } catch (...) {
      failure_.keep();
      end();
    }
  }

  /// The most urgent task that became ready with `done`, or none. The others go to the stack, the least
  /// urgent at the bottom, where other threads take.
  template <Sharing sharing>
  TaskId successor(TaskId done, Deque& stack) {
    TaskId next = none;
    bool pushed = false;
    for (const TaskId link : links_[done]) {
      const TaskId after = link < 0 ? ~link : link;
      if (link >= 0 && !arrives_last<sharing>(after)) continue;
      if (next == none) {
        next = after;
      } else {
        stack.push<sharing>(after);
        pushed = true;
      }
    }
    if (sharing == Sharing::shared && pushed && news_.has_sleepers()) news_.raise();
    return next;
  }

  template <Sharing sharing>
  bool arrives_last(TaskId after) {
    std::atomic<TaskId>& arrivals = arrivals_[at(after)];
    const TaskId missing = arrivals.load(std::memory_order_acquire);
    if (missing == 1) return true;
    if constexpr (sharing == Sharing::alone) {
      arrivals.store(missing - 1, std::memory_order_relaxed);
      return false;
    }
    return arrivals.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  /// Takes a task of another thread; returns none if the state may have changed.
  TaskId steal_or_wait(int member) {
    const std::uint32_t seen = news_.load();
    const int members = crew_.members();
    const auto victim = [&](int distance) -> Deque& {
      return stacks_[static_cast<std::size_t>((member + distance) % members)];
    };
    for (int distance = 1; distance < members; ++distance) {
      if (const TaskId task = victim(distance).steal(); task != none) return task;
    }
    news_.wait(seen, [&] {
      if (over_.load(std::memory_order_seq_cst)) return true;
      for (int distance = 1; distance < members; ++distance) {
        if (!victim(distance).looks_empty()) return true;
      }
      return false;
    });
    return none;
  }

  void end() {
    over_.store(true, std::memory_order_seq_cst);
    news_.raise();
  }

  Adjacency links_;  ///< successors, the most urgent first; complemented if the task is the only predecessor
  std::vector<TaskId> waits_for_;
  std::vector<TaskId> sources_;
  std::vector<std::atomic<TaskId>> arrivals_;  ///< still missing
  std::deque<Deque> stacks_;                   ///< one per thread
  alignas(apart) std::atomic<Index> left_{0};
  alignas(apart) std::atomic<bool> over_{false};
  alignas(apart) Signal news_;
  Failure failure_;
  Crew crew_;
};

const Register registered{[](Registry& r) {
  add_executor(r,
               {.name = "work_stealing",
                .summary = "a successor at once, the others on a stack that idle threads steal from"},
               work_stealing);
}};

}  // namespace

Maker* const work_stealing = executor_of<WorkStealing>;

}  // namespace assay::task_graph
