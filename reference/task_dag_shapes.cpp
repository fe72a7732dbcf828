// Graphs of named shapes, each with the relative durations of its tasks.

#include "assay/error.hpp"
#include "assay/ops/task_dag.hpp"
#include "assay/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <numeric>

namespace assay {
namespace {

/// Collects tasks in a topological order until there are enough.
class Growing {
 public:
  explicit Growing(Index tasks) : tasks_(tasks) {}

  bool full() const { return next() >= tasks_; }
  TaskId next() const { return static_cast<TaskId>(weight.size()); }

  /// One more task, with those of its predecessors that are there.
  TaskId add(double duration, std::initializer_list<TaskId> predecessors) {
    const TaskId task = next();
    if (full()) return task;
    weight.push_back(duration);
    for (const TaskId before : predecessors) {
      if (before >= 0) edges.push_back({before, task});
    }
    return task;
  }

  std::vector<Edge> edges;
  std::vector<double> weight;

 private:
  Index tasks_;
};

constexpr TaskId none = -1;

TaskId side_of(Index tasks) {
  return std::max(TaskId{1}, static_cast<TaskId>(std::sqrt(static_cast<double>(tasks))));
}

void grow_layered_random(Growing& graph, Index tasks, Rng& rng) {
  const TaskId width = side_of(tasks);
  while (!graph.full()) {
    const TaskId task = graph.add(1, {});
    const TaskId layer = task / width;
    if (layer == 0) continue;
    const TaskId before = (layer - 1) * width;
    std::array<TaskId, 4> drawn{};
    std::size_t count = 0;
    const auto draw = [&](TaskId low, TaskId high) {
      const auto from = static_cast<TaskId>(rng.integer(low, high));
      const auto end = drawn.begin() + static_cast<std::ptrdiff_t>(count);
      if (std::find(drawn.begin(), end, from) == end) drawn[count++] = from;
    };
    const Index wanted = rng.integer(1, 3);
    for (Index i = 0; i < wanted; ++i) draw(before, before + width - 1);
    if (layer > 1 && rng.integer(0, 7) == 0) draw(0, before - 1);
    for (std::size_t i = 0; i < count; ++i) graph.edges.push_back({drawn[i], task});
  }
}

void grow_chain(Growing& graph) {
  while (!graph.full()) graph.add(1, {graph.next() - 1});
}

void grow_wavefront(Growing& graph, Index tasks) {
  const TaskId columns = side_of(tasks);
  while (!graph.full()) {
    const TaskId task = graph.next();
    graph.add(1, {task % columns > 0 ? task - 1 : none, task >= columns ? task - columns : none});
  }
}

void grow_inception(Growing& graph) {
  TaskId before = none;
  while (!graph.full()) {
    const TaskId one = graph.add(1, {before});
    const TaskId five_reduced = graph.add(1, {before});
    const TaskId three_reduced = graph.add(1, {before});
    const TaskId pooled = graph.add(1, {before});
    const TaskId five = graph.add(1, {five_reduced});
    const TaskId three = graph.add(1, {three_reduced});
    const TaskId projected = graph.add(1, {pooled});
    const TaskId three_twice = graph.add(1, {three});
    before = graph.add(0.25, {one, five, three_twice, projected});
  }
}

/// Weights are relative to c x c filters of 3 x 3. The entry of a stage has half as many input channels and a
/// projection of 1 x 1. An addition is put at 1/32: it waits for memory, not for arithmetic.
void grow_residual(Growing& graph) {
  TaskId before = none;
  for (Index block = 0; !graph.full(); ++block) {
    const bool enters_stage = block % 8 == 2 || block % 8 == 4 || block % 8 == 6;
    const TaskId first = graph.add(enters_stage ? 0.5 : 1, {before});
    const TaskId shortcut = enters_stage ? graph.add(1.0 / 18, {before}) : before;
    const TaskId second = graph.add(1, {first});
    before = graph.add(1.0 / 32, {second, shortcut});
  }
}

/// New ids for the same graph.
void shuffle(Growing& graph, Rng& rng) {
  std::vector<TaskId> renamed(graph.weight.size());
  std::iota(renamed.begin(), renamed.end(), 0);
  for (std::size_t i = renamed.size(); i-- > 1;) {
    std::swap(renamed[i], renamed[static_cast<std::size_t>(rng.integer(0, static_cast<Index>(i)))]);
  }
  std::vector<double> weight(graph.weight.size());
  for (std::size_t i = 0; i < weight.size(); ++i) {
    weight[static_cast<std::size_t>(renamed[i])] = graph.weight[i];
  }
  graph.weight = std::move(weight);
  for (Edge& edge : graph.edges) {
    edge = {renamed[static_cast<std::size_t>(edge.from)], renamed[static_cast<std::size_t>(edge.to)]};
  }
}

}  // namespace

WeightedDag make_shape(DagShape shape, Index tasks, bool shuffled, Rng& rng) {
  Growing graph(tasks);
  switch (shape) {
    case DagShape::layered_random: grow_layered_random(graph, tasks, rng); break;
    case DagShape::chain: grow_chain(graph); break;
    case DagShape::wavefront: grow_wavefront(graph, tasks); break;
    case DagShape::inception: grow_inception(graph); break;
    case DagShape::residual: grow_residual(graph); break;
    case DagShape::file:
      throw Error("shape=file", "no file was given", "name another shape, or check a file: --trace FILE");
  }
  if (shuffled) shuffle(graph, rng);
  return {make_dag(tasks, graph.edges), std::move(graph.weight)};
}

}  // namespace assay
