/// The contract `task_graph_memory`: where in one pool the buffers of a task graph lie, safe for every
/// schedule.
#pragma once

#include "assay/ops/task_dag.hpp"
#include "assay/registry.hpp"

#include <algorithm>
#include <numeric>

namespace assay {

/// offset[i] of every buffer i, end[i] = offset[i] + bytes[i], height[0] = max end[i], such that two buffers
/// whose [offset, end) overlap cannot be in use at once in any schedule of the graph:
///   every reader of the one is an ancestor of the writer of the other.
/// Task i writes buffer i of bytes[i] bytes; its successors are the readers of buffer i, and where it has
/// none it counts as its own reader. An ancestor of a task is another one from which a path leads to it. A
/// reader of a buffer is no ancestor of itself, and so its own buffer may not overlap what it reads.
///
/// offset[tasks], end[tasks], height[1], bytes[tasks] are i64; bytes are at least 1, offsets multiples of 64
/// and not negative. There are many safe plans, and every one of them agrees; how high one is, figures()
/// says.
///
/// A plan made for one order of the tasks is not safe for another. In 0 -> 1 -> 2 beside 3 -> 4 the order 0,
/// 1, 2, 3, 4 lets 3 take the place of 0; two threads run 0 and 3 at once.
///
/// Bound: all pairs of buffers that overlap in space are judged by the transitive closure, exactly.
/// Source: Touati, Register saturation in instruction level parallelism, International Journal of Parallel
/// Programming 33(4), 2005, which asks the same of values in registers: whose lives are disjoint in every
/// schedule.
struct TaskGraphMemory : FromParts<TaskGraphMemory> {
  static constexpr std::string_view name = "task_graph_memory";
  static constexpr std::string_view about =
      "offsets of the buffers of a task graph; shared bytes are safe whatever the schedule";

  static constexpr Index alignment = 64;
  /// The closure of more tasks would take more than 32 MiB.
  static constexpr Index most_tasks = 16384;
  static constexpr std::array<std::string_view, 2> size_words{"mixed", "equal"};
  static constexpr std::array<std::string_view, 2> id_words{"ordered", "shuffled"};

  struct Problem {
    Index tasks = 1;
    Index shape = 0;  ///< a DagShape
    Index sizes = 0;  ///< position in `size_words`: 1 byte to 64 KiB, their logarithms uniform; or 4 KiB each
    Index ids = 0;    ///< position in `id_words`
    static constexpr auto fields() {
      return std::tuple{Field<Problem>{{"tasks", 1, most_tasks, std::nullopt, {}}, &Problem::tasks},
                        choice("shape", &Problem::shape, dag_shape_words),
                        choice("sizes", &Problem::sizes, size_words), choice("ids", &Problem::ids, id_words)};
    }
  };
  struct Input {
    Dag graph;
    Buffer<Index> bytes;
    static constexpr auto parts() { return std::tuple{redrawn("bytes", &Input::bytes, &Problem::tasks)}; }
  };
  struct Output {
    Buffer<Index> offset, end, height;
    static constexpr auto parts() {
      return std::tuple{part("offset", &Output::offset, &Problem::tasks),
                        part("end", &Output::end, &Problem::tasks), part("height", &Output::height, 1)};
    }
  };
  /// A bit per pair of tasks.
  struct Relation {
    std::size_t words = 0;  ///< per row
    std::vector<std::uint64_t> bits;
    bool operator()(TaskId row, TaskId column) const {
      const auto c = static_cast<std::size_t>(column);
      return (bits[static_cast<std::size_t>(row) * words + c / 64] >> (c % 64) & 1) != 0;
    }
  };
  struct Expected {
    Relation before;  ///< row is an ancestor of column
    Relation frees;   ///< all readers of row are ancestors of column
  };
  static constexpr std::array fills{Fill::exact};

  static std::vector<Problem> corner_cases();
  static double footprint(const Problem&);
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  /// Names the two buffers, and the readers that no path orders.
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&);
  static void salt(const Problem&, const Input&, std::string_view part, Index at, Index& element, Setting&);

  /// A graph in a CSV file, see read_dag(), with the column `bytes`: 1 to 2^40 each.
  static Problem problem_of(const std::filesystem::path&);
  /// The height, that of the plan for one order, and below which none can be.
  static std::vector<Figure> figures(const Problem&, const Input&, const Expected&, const Output&);
};

namespace task_graph_memory {

/// First and last time at which each buffer is in use, when the tasks run at these times.
struct Lives {
  std::vector<TaskId> begin, end;
  bool overlap(TaskId a, TaskId b) const {
    const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
    return begin[i] <= end[j] && begin[j] <= end[i];
  }
};
Lives lives_at(const Dag& graph, std::span<const TaskId> time);
/// The lives of buffers when tasks run one after the other, in the topological order of the graph.
Lives lives_in_order(const Dag& graph);

/// Places the largest buffer first, each at the lowest offset where it overlaps nothing that it conflicts
/// with. All variants place like this, so that they differ only in how they find out what conflicts.
class FirstFit {
 public:
  explicit FirstFit(Index tasks) : largest_first_(static_cast<std::size_t>(tasks)) {
    by_offset_.reserve(static_cast<std::size_t>(tasks));
  }

  template <class Conflict>
  void place(const Buffer<Index>& bytes, const Conflict& conflict, TaskGraphMemory::Output& out) {
    std::iota(largest_first_.begin(), largest_first_.end(), 0);
    std::ranges::sort(largest_first_,
                      [&](TaskId a, TaskId b) { return bytes[a] != bytes[b] ? bytes[a] > bytes[b] : a < b; });
    by_offset_.clear();
    out.height[0] = 0;
    for (const TaskId task : largest_first_) {
      Index offset = 0;
      for (const TaskId other : by_offset_) {
        if (out.end[other] <= offset || !conflict(task, other)) continue;
        if (out.offset[other] >= offset + bytes[task]) break;
        offset = (out.end[other] + TaskGraphMemory::alignment - 1) / TaskGraphMemory::alignment *
                 TaskGraphMemory::alignment;
      }
      out.offset[task] = offset;
      out.end[task] = offset + bytes[task];
      out.height[0] = std::max(out.height[0], out.end[task]);
      const auto later = [&](Index at, TaskId other) { return at < out.offset[other]; };
      by_offset_.insert(std::upper_bound(by_offset_.begin(), by_offset_.end(), offset, later), task);
    }
  }

 private:
  std::vector<TaskId> largest_first_, by_offset_;
};

}  // namespace task_graph_memory

extern template class detail::TypedOperation<TaskGraphMemory>;

}  // namespace assay
