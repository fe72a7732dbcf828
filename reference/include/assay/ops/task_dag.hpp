/// Directed acyclic graphs of tasks: how they are made from edges and validated, and bounds of every
/// schedule.
#pragma once

#include "assay/problem.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

class Rng;

/// Position of a task in its graph. 32 bits, since schedulers are bound by how many of these fit in a cache.
using TaskId = std::int32_t;

struct Edge {
  TaskId from, to;
  bool operator==(const Edge&) const = default;
};

/// A row of task ids per task, all in one array.
struct Adjacency {
  std::vector<Index> first;  ///< tasks + 1 positions in `ids`
  std::vector<TaskId> ids;
  std::span<const TaskId> operator[](TaskId task) const {
    const auto row = static_cast<std::size_t>(task);
    return {ids.data() + first[row], static_cast<std::size_t>(first[row + 1] - first[row])};
  }
};

struct Dag {
  Adjacency predecessors, successors;  ///< rows ascend
  /// A topological order: the order of ids where that is one, else breadth first from the tasks without
  /// predecessors.
  std::vector<TaskId> order;
  Index tasks() const { return static_cast<Index>(order.size()); }
  Index edges() const { return static_cast<Index>(predecessors.ids.size()); }
};

/// The names by which messages speak of a graph: an edge by its place in the input, a task by its id.
struct DagNames {
  std::function<std::string(Index edge)> place = [](Index id) { return "edge " + std::to_string(id); };
  std::function<std::string(TaskId task)> task = [](TaskId id) { return std::to_string(id); };
};

/// The graph of `tasks` tasks, 1 to 2^31 - 1, with these edges. Linear in both, without recursion. Throws
/// Error naming the edge for a task that does not exist, an edge from a task to itself, a repeated edge, and
/// a cycle.
Dag make_dag(Index tasks, std::span<const Edge> edges, const DagNames& names = {});

/// The bounds of every schedule of tasks that cannot be interrupted.
struct DagBounds {
  double work = 0;           ///< sum of all durations
  double critical_path = 0;  ///< largest sum along a path
  double heaviest = 0;       ///< largest duration
  double parallelism() const { return critical_path > 0 ? work / critical_path : 1; }
  /// Least possible time with `threads` threads.
  double makespan(int threads) const { return std::max({critical_path, heaviest, work / threads}); }
};
DagBounds bounds_of(const Dag& dag, std::span<const double> duration);

/// Per task the largest sum of durations along a path that starts with it, itself included.
std::vector<double> longest_to_end(const Dag& dag, std::span<const double> duration);

/// Per task the number of edges on the longest path that leads to it.
std::vector<TaskId> levels_of(const Dag& dag);

/// Graphs of networks and of scheduling papers.
///   layered_random  layers of sqrt(tasks) tasks; each has one to three predecessors in the layer before, and
///                   one task in eight another one in any earlier layer
///   chain           each task follows the one before
///   wavefront       a grid of sqrt(tasks) columns; each task follows its upper and its left neighbour
///   inception       modules of nine tasks: four branches of one to three operations, and their concatenation
///                   (Szegedy et al., CVPR 2016, figure 5). Operations are equal, a concatenation is a
///                   quarter. Parallelism 2.54. By multiply-adds alone the first such module of Inception-v3
///                   has 1.69.
///   residual        blocks of two convolutions and an addition, in every other stage entry with a 1 x 1
///                   projection beside them, in proportion to the multiply-adds of ResNet-18 (He et al., CVPR
///                   2016, table 1). Parallelism 1.01.
///   file            read from a file
enum class DagShape { layered_random, chain, wavefront, inception, residual, file };
inline constexpr std::array<std::string_view, 6> dag_shape_words{"layered_random", "chain",    "wavefront",
                                                                 "inception",      "residual", "file"};

/// A graph with a number per task: a relative duration, or the number in a file.
struct WeightedDag {
  Dag dag;
  std::vector<double> weight;
};
/// `shape` with `tasks` tasks, 1 or more: the first that many of a graph that goes on. Ids are in a
/// topological order, or `shuffled`. Throws Error for DagShape::file.
WeightedDag make_shape(DagShape shape, Index tasks, bool shuffled, Rng& rng);

/// Reads a graph from a CSV file:
///   task,<column>,predecessors
///   conv1,1200,
///   conv2,900,conv1
///   add,80,conv1 conv2
/// The first line is the header. A task is named by any text without comma and space. <column> holds a whole
/// number in [least, most]. Predecessors are separated by spaces and may stand further down. Empty lines and
/// lines that start with # are skipped. Throws Error naming file and line.
WeightedDag read_dag(const std::filesystem::path& file, std::string_view column, Index least, Index most);

}  // namespace assay
