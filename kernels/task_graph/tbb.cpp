// The peer: oneTBB. A task_group holds the ready tasks. A thread that finishes a task counts down its
// successors, goes on with one that became ready and gives the others to the group. Built if TBB is found.

#include "task_graph/executor.hpp"

#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <vector>

namespace assay::task_graph {
namespace {

class TbbTasks {
 public:
  TbbTasks(const Dag& graph, std::span<const double>, int threads)
      : graph_(graph), arrivals_(graph.order.size()), arena_(threads) {
    arena_.initialize();
  }

  void run(TaskBody body) {
    for (TaskId task = 0; task < graph_.tasks(); ++task) {
      arrivals_[at(task)].store(static_cast<TaskId>(graph_.predecessors[task].size()),
                                std::memory_order_relaxed);
    }
    arena_.execute([&] {
      tbb::task_group group;
      for (TaskId task = 0; task < graph_.tasks(); ++task) {
        if (graph_.predecessors[task].empty())
          group.run([this, &group, body, task] { follow(group, body, task); });
      }
      group.wait();
    });
  }

 private:
  /// An exception ends the group: TBB then begins no more of its tasks and throws it from wait().
  void follow(tbb::task_group& group, TaskBody body, TaskId task) {
    while (task != none) {
      body(task);
      TaskId next = none;
      for (const TaskId after : graph_.successors[task]) {
        if (arrivals_[at(after)].fetch_sub(1, std::memory_order_acq_rel) > 1) continue;
        if (next != none) group.run([this, &group, body, next] { follow(group, body, next); });
        next = after;
      }
      task = next;
    }
  }

  const Dag& graph_;
  std::vector<std::atomic<TaskId>> arrivals_;  ///< still missing
  tbb::task_arena arena_;
};

const Register registered{[](Registry& r) {
  add_executor(
      r, {.name = "tbb", .summary = "the peer: a task_group of oneTBB and counters", .libraries = {"tbb"}},
      tbb_tasks);
}};

}  // namespace

Maker* const tbb_tasks = executor_of<TbbTasks>;

}  // namespace assay::task_graph
