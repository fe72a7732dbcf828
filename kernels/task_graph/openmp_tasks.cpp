// The peer in every compiler: OpenMP tasks. A thread that finishes a task counts down its successors, goes on
// with one that became ready and makes an OpenMP task of each other one. A `depend` clause on addresses would
// say the same, but libgomp 12 leaks memory for it with several threads.

#include "task_graph/executor.hpp"
#include "team.hpp"

#include <vector>

namespace assay::task_graph {
namespace {

class OpenMpTasks {
 public:
  OpenMpTasks(const Dag& graph, std::span<const double>, int threads)
      : graph_(graph), threads_(threads), arrivals_(graph.order.size()) {}

  void run(TaskBody body) {
    for (TaskId task = 0; task < graph_.tasks(); ++task) {
      arrivals_[at(task)].store(static_cast<TaskId>(graph_.predecessors[task].size()),
                                std::memory_order_release);
    }
#pragma omp parallel num_threads(threads_)
#pragma omp single
    for (TaskId task = 0; task < graph_.tasks(); ++task) {
      if (graph_.predecessors[task].empty()) begin(task, body);
    }
    failure_.rethrow();
  }

 private:
  // The run-time library reuses the memory of tasks and their arguments, and ThreadSanitizer does not see how
  // that memory passes between threads.
  ASSAY_UNSEEN_BY_THREAD_SANITIZER void begin(TaskId task, TaskBody body) {
#pragma omp task firstprivate(task, body)
    follow(task, body);
  }

  void follow(TaskId task, TaskBody body) {
    // Tells ThreadSanitizer what the library ensures: everything before begin() is visible here.
    arrivals_[at(task)].load(std::memory_order_acquire);
    while (task != none && !failure_.happened()) {
      // No exception may leave an OpenMP task.
      try {
        body(task);
      } catch (...) {
        failure_.keep();
        return;
      }
      TaskId next = none;
      for (const TaskId after : graph_.successors[task]) {
        if (arrivals_[at(after)].fetch_sub(1, std::memory_order_acq_rel) > 1) continue;
        if (next != none) begin(next, body);
        next = after;
      }
      task = next;
    }
  }

  const Dag& graph_;
  int threads_;
  std::vector<std::atomic<TaskId>> arrivals_;  ///< still missing
  Failure failure_;
};

const Register registered{[](Registry& r) {
  add_executor(r, {.name = "openmp_tasks", .summary = "the peer: OpenMP tasks and counters"}, openmp_tasks);
}};

}  // namespace

Maker* const openmp_tasks = executor_of<OpenMpTasks>;

}  // namespace assay::task_graph
