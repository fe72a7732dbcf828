// Plans of memory that are wrong, and validators that do not see it.

#include "assay/ops/memory_pool.hpp"
#include "assay/ops/task_graph.hpp"

#include <algorithm>
#include <numeric>

namespace assay {
namespace {

// Validators of pools that were published and are wrong: both end the search for a clash too early.

using Validate = MemoryPoolValidate;
using Order = std::span<std::size_t>;
using memory_pool::Plan;

// Published: sort the blocks by where they start in the pool and compare each with the next one only, "O(n
// log n) instead of O(n^2)". Take A = [0, 100) in steps [0, 10), B = [10, 20) in [20, 30) and C = [30, 40) in
// [0, 10): A and C clash, and B, which lives at another time, stands between them: the answer is "valid". The
// loop of the original runs to size() - 1, which wraps around for an empty list; this one does not, so that
// nothing but the answer is wrong.
bool neighbours_only(const Plan& plan, Order order) {
  for (std::size_t k = 1; k < order.size(); ++k) {
    const std::size_t a = order[k - 1], b = order[k];
    if (overlap_in_time(plan.requests[a], plan.requests[b]) && overlap_in_space(plan, a, b)) return false;
  }
  return true;
}

// Published: a permutation is sorted by offset, and then the list is walked by plain indices with a break at
// the first block that uses other bytes, which is right only in sorted order. Where the first and the third
// of three requests are the same and the second lies elsewhere, the walk ends at the second: the answer is
// "valid".
bool unsorted_walk(const Plan& plan, Order order) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    // order[i] and order[j] were meant.
    for (std::size_t j = i + 1; j < order.size() && overlap_in_space(plan, i, j); ++j) {
      if (overlap_in_time(plan.requests[i], plan.requests[j])) return false;
    }
  }
  return true;
}

template <bool (*no_clash)(const Plan&, Order)>
auto prepare(const Validate::Problem&, const Validate::Input& in, const Context&) {
  return [order = std::vector<std::size_t>(static_cast<std::size_t>(in.most_blocks()))](
             const Validate::Input& input, Validate::Output& out) mutable {
    for (Index i = 0; i < input.plans.size(); ++i) {
      const Plan plan = input.plan(i);
      const Order sorted = std::span(order).first(plan.requests.size());
      std::iota(sorted.begin(), sorted.end(), std::size_t{0});
      std::ranges::sort(sorted, {}, [&](std::size_t b) { return std::pair(plan.offsets[b], b); });
      out.valid[i] = !fault_of_any_block(plan) && no_clash(plan, sorted) ? 1 : 0;
    }
  };
}

// Plans of a graph's memory that are right for one order of its tasks, and wrong for others that it allows.

void place(const task_graph_memory::Lives& lives, const TaskGraphMemory::Input& in,
           TaskGraphMemory::Output& out) {
  const auto overlap = [&](TaskId a, TaskId b) { return lives.overlap(a, b); };
  task_graph_memory::FirstFit(in.graph.tasks()).place(in.bytes, overlap, out);
}

// The repair that suggests itself: count time in stages, each as far from the start as its longest path, and
// share bytes between buffers whose stages do not meet. It is right while all threads meet between stages. A
// scheduler without barriers lets one branch run ahead: a task of a late stage writes bytes that a task of an
// early stage, on another branch, still reads.
void stage_intervals(const TaskGraphMemory::Problem&, const TaskGraphMemory::Input& in,
                     TaskGraphMemory::Output& out) {
  place(task_graph_memory::lives_at(in.graph, levels_of(in.graph)), in, out);
}

// Published: run the independent stages of a layer graph in parallel, over the memory plan that was made for
// their sequence. The plan knows one order, in which a buffer is free once its last reader is over. Two
// threads take another order: the last reader still reads when the bytes are written anew.
void stage_parallel_over_sequential_plan(const TaskGraphMemory::Problem&, const TaskGraphMemory::Input& in,
                                         TaskGraphMemory::Output& out) {
  place(task_graph_memory::lives_in_order(in.graph), in, out);
}

const Register registered{[](Registry& r) {
  r.add<Validate>(
      {.name = "neighbours_only",
       .summary = "sorted by offset; each block compared with the next one",
       .known_bad =
           "an NNTrainer performance audit: a block of another time between two that clash hides them",
       .prepare = prepare<neighbours_only>});
  r.add<Validate>({.name = "unsorted_walk",
                   .summary = "sorts a permutation by offset, then walks the list as it was",
                   .known_bad = "the overlap validator of NNTrainer: it stops at the first block "
                                "elsewhere, in whatever order the list is",
                   .prepare = prepare<unsorted_walk>});
  r.add<TaskGraphMemory>(
      {.name = "stage_intervals",
       .summary = "lives as intervals of stages",
       .known_bad = "follows from barriers between stages: wrong for a scheduler without them",
       .run = stage_intervals});
  r.add<TaskGraphMemory>(
      {.name = "stage_parallel_over_sequential_plan",
       .summary = "lives as intervals of one topological order",
       .known_bad =
           "NNTrainer performance audit: stages in parallel over a pool that was planned for one order",
       .run = stage_parallel_over_sequential_plan});
}};

}  // namespace
}  // namespace assay
