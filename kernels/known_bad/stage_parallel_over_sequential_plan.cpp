// Published: run the independent stages of a layer graph in parallel, over the memory plan that was made for
// their sequence. That plan knows one order: a buffer is free once its last reader in that order is over. Two
// threads take another order, and the task that was last then is still reading when the bytes are written
// anew.

#include "assay/ops/task_graph_memory.hpp"
#include "assay/registry.hpp"

namespace assay {
namespace {

void run(const TaskGraphMemory::Problem&, const TaskGraphMemory::Input& in, TaskGraphMemory::Output& out) {
  const task_graph_memory::Lives lives = task_graph_memory::lives_in_order(in.graph);
  task_graph_memory::FirstFit(in.graph.tasks())
      .place(
          in.bytes, [&](TaskId a, TaskId b) { return lives.overlap(a, b); }, out);
}

const Register registered{[](Registry& r) {
  r.add<TaskGraphMemory>(
      {.name = "stage_parallel_over_sequential_plan",
       .summary = "lives as intervals of one topological order",
       .known_bad =
           "NNTrainer performance audit: stages in parallel over a pool that was planned for one order",
       .run = run});
}};

}  // namespace
}  // namespace assay
