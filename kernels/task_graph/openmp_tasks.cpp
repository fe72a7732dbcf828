// The peer of every compiler: a task of OpenMP for each task, its order stated as dependences on addresses.
// One thread states them all, in a topological order, while the others begin to run; the run-time library
// looks up every address in a table.

#include "assay/registry.hpp"
#include "task_graph/executor.hpp"
#include "team.hpp"

#include <vector>

namespace assay::task_graph {
namespace {

class OpenMpTasks {
 public:
  OpenMpTasks(const Dag& graph, int threads) : graph_(graph), threads_(threads), token_(graph.order.size()) {}

  void run(TaskBody body) {
#pragma omp parallel num_threads(threads_)
#pragma omp single
    for (const TaskId task : graph_.order) state(task, body);
    failure_.rethrow();
  }

 private:
  // The run-time library reuses the memory in which it keeps tasks and their arguments, and ThreadSanitizer
  // does not see how that passes from thread to thread.
  ASSAY_UNSEEN_BY_THREAD_SANITIZER void state(TaskId task, TaskBody body) {
    const auto predecessors = graph_.predecessors[task];
    const TaskId* before = predecessors.data();
    const auto count = static_cast<int>(predecessors.size());
    // GCC 12 does not count what only an iterator of a dependence uses.
    [[maybe_unused]] char* token = token_.data();
#pragma omp task firstprivate(task, body) depend(iterator(int i = 0             \
                                                          : count),             \
                                                 in                             \
                                                 : token[before[i]]) depend(out \
                                                                            : token[task])
    call(body, task);
  }

  // No exception may leave an OpenMP task.
  void call(TaskBody body, TaskId task) {
    if (failure_.happened()) return;
    try {
      body(task);
    } catch (...) {
      failure_.keep();
    }
  }

  const Dag& graph_;
  int threads_;
  std::vector<char> token_;  ///< never written: its addresses stand for the tasks
  Failure failure_;
};

const Register registered{[](Registry& r) {
  r.add<TaskGraph>(
      {.name = "openmp_tasks",
       .summary = "the peer: OpenMP tasks with dependences",
       .threaded = true,
       .prepare = [](const TaskGraph::Problem&, const TaskGraph::Input& in, const Context& context) {
         return kernel_of(openmp_tasks(in.graph, context.threads));
       }});
}};

}  // namespace

Executor openmp_tasks(const Dag& graph, int threads) {
  return [plan = std::make_shared<OpenMpTasks>(graph, threads)](TaskBody body) { plan->run(body); };
}

}  // namespace assay::task_graph
