// The repair that suggests itself: count time in stages, each as far from the start as its longest path, and
// share bytes between buffers whose stages do not meet. That is right while all threads meet between stages.
// A scheduler without barriers lets one branch run ahead, and a task of a late stage writes what one of an
// early stage, on another branch, still reads.

#include "assay/ops/task_graph_memory.hpp"
#include "assay/registry.hpp"

namespace assay {
namespace {

void run(const TaskGraphMemory::Problem&, const TaskGraphMemory::Input& in, TaskGraphMemory::Output& out) {
  const task_graph_memory::Lives lives = task_graph_memory::lives_at(in.graph, levels_of(in.graph));
  task_graph_memory::FirstFit(in.graph.tasks())
      .place(
          in.bytes, [&](TaskId a, TaskId b) { return lives.overlap(a, b); }, out);
}

const Register registered{[](Registry& r) {
  r.add<TaskGraphMemory>(
      {.name = "stage_intervals",
       .summary = "lives as intervals of stages",
       .known_bad = "follows from barriers between stages: wrong for a scheduler without them",
       .run = run});
}};

}  // namespace
}  // namespace assay
