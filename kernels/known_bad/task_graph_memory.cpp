// Plans of a graph's memory that are right for one order of its tasks, and wrong for others that it allows.

#include "assay/ops/task_graph_memory.hpp"
#include "assay/registry.hpp"

namespace assay {
namespace {

using Op = TaskGraphMemory;

void place(const task_graph_memory::Lives& lives, const Op::Input& in, Op::Output& out) {
  const auto overlap = [&](TaskId a, TaskId b) { return lives.overlap(a, b); };
  task_graph_memory::FirstFit(in.graph.tasks()).place(in.bytes, overlap, out);
}

// The repair that suggests itself: count time in stages, each as far from the start as its longest path, and
// share bytes between buffers whose stages do not meet. It is right while all threads meet between stages. A
// scheduler without barriers lets one branch run ahead: a task of a late stage writes bytes that a task of an
// early stage, on another branch, still reads.
void stage_intervals(const Op::Problem&, const Op::Input& in, Op::Output& out) {
  place(task_graph_memory::lives_at(in.graph, levels_of(in.graph)), in, out);
}

// Published: run the independent stages of a layer graph in parallel, over the memory plan that was made for
// their sequence. The plan knows one order, in which a buffer is free once its last reader is over. Two
// threads take another order: the last reader still reads when the bytes are written anew.
void stage_parallel_over_sequential_plan(const Op::Problem&, const Op::Input& in, Op::Output& out) {
  place(task_graph_memory::lives_in_order(in.graph), in, out);
}

const Register registered{[](Registry& r) {
  r.add<Op>({.name = "stage_intervals",
             .summary = "lives as intervals of stages",
             .known_bad = "follows from barriers between stages: wrong for a scheduler without them",
             .run = stage_intervals});
  r.add<Op>({.name = "stage_parallel_over_sequential_plan",
             .summary = "lives as intervals of one topological order",
             .known_bad =
                 "NNTrainer performance audit: stages in parallel over a pool that was planned for one order",
             .run = stage_parallel_over_sequential_plan});
}};

}  // namespace
}  // namespace assay
