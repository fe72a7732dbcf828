/// The contracts `task_graph`, every task of a directed acyclic graph once and after all its predecessors,
/// and `task_graph_memory`, where in one pool its buffers lie, safe for every schedule.
#pragma once

#include "assay/ops/task_dag.hpp"
#include "assay/registry.hpp"

#include <algorithm>
#include <numeric>

namespace assay {

/// value[t] += work(t, mix(seed[t], value[p] for p in predecessors of t in ascending order))
/// for every task t once, after all of its predecessors, modulo 2^64, with
///   mix(x, v...)  for each v in turn: x = (x xor v) c, then x = x xor (x >> 32)
///   work(t, x)    rounds[t] times: x = (x xor (x >> 29)) c       c = 0x9e3779b97f4a7c15
/// The graph is known when a variant is prepared, as a training step's is: orders, priorities and threads may
/// be made then. What is timed is one execution of all tasks.
///
/// A task reads the values of its predecessors when it begins and adds to its own when it ends. So one value
/// per task tells everything, and costs no counter that all threads share: a task that never ran still has
/// its first value, which is random; one that ran twice has added twice; one that ran before a predecessor
/// was done has mixed the wrong value, and so have all after it.
///
/// Durations. A round is a chain of a shift, an exclusive or and a multiplication, 5 cycles on x86-64 since
/// 2008. `grain` is the duration of a task of weight 1 in nanoseconds of a processor at 4 GHz: 4 rounds to 5
/// ns. No clock is read, neither when the work is made nor when it is done, so that it is the same
/// everywhere; at another frequency its nanoseconds are longer or shorter. 0 makes all tasks empty. Weights
/// are those of the shape, see DagShape; `skewed` makes one task in ten 11 times as long as the other nine.
///
/// Bound: the same bits. Defined for every graph that make_dag() accepts.
///
/// No schedule on p threads takes less than max(critical path, work / p, heaviest task), and one by a list
/// takes at most work / p + critical path. Source: Graham, Bounds on multiprocessing timing anomalies, SIAM
/// J. Appl. Math. 17(2), 1969.
struct TaskGraph : FromParts<TaskGraph> {
  static constexpr std::string_view name = "task_graph";
  static constexpr std::string_view about =
      "every task of a directed acyclic graph once, after all its predecessors";

  static constexpr std::array<std::string_view, 2> duration_words{"even", "skewed"};
  static constexpr std::array<std::string_view, 2> id_words{"ordered", "shuffled"};

  struct Problem {
    Index tasks = 1;
    Index shape = 0;      ///< a DagShape
    Index grain = 1000;   ///< nanoseconds of a task of weight 1; unused by DagShape::file
    Index durations = 0;  ///< position in `duration_words`
    Index ids = 0;        ///< position in `id_words`
    static constexpr Listed fields{field("tasks", &Problem::tasks),
                                   choice("shape", &Problem::shape, dag_shape_words),
                                   option("grain", &Problem::grain, 1000, 0, 1000000),
                                   of_content(choice("durations", &Problem::durations, duration_words)),
                                   of_content(choice("ids", &Problem::ids, id_words))};
  };
  struct Input {
    Dag graph;
    Buffer<std::uint64_t> seed;
    Buffer<std::uint64_t> start;  ///< what Output::value holds before the first call
    Buffer<std::uint32_t> rounds;
    /// Schedules are planned by the times that tasks take, and a graph is run many times.
    static constexpr auto parts() {
      return std::tuple{part("seed", &Input::seed, &Problem::tasks),
                        assay::start("start", &Input::start, &Output::value, &Problem::tasks),
                        constant("rounds", &Input::rounds, &Problem::tasks)};
    }
  };
  struct Output {
    Buffer<std::uint64_t> value;
    static constexpr Listed parts{part("value", &Output::value, &Problem::tasks)};
  };
  struct Expected {
    std::vector<std::uint64_t> value;
  };
  static constexpr std::array fills{Fill::exact};

  static std::vector<Problem> corner_cases();
  /// Input, output and expectation, five arrays for the graph, and up to four edges per task, held twice.
  static double footprint(const Problem& p) {
    return static_cast<double>(p.tasks) * (8 + 8 + 4 + 8 + 8 + 3 * 8 + 4 * 2 * 4);
  }
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  /// Names the first task in a topological order that is wrong and what happened to it.
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&);
  /// The work is integer arithmetic; a chain of rounds is no traffic. Rounds may be part of a schedule that
  /// was prepared.
  static Cost cost(const Problem& p) {
    Cost out = FromParts::cost(p);
    out.avoidable_bytes = 4 * static_cast<double>(p.tasks);
    return out;
  }

  /// A graph in a CSV file, see read_dag(), with the column `nanoseconds`: 0 to 1e9 each, at most 1e10 in
  /// all.
  static Problem problem_of(const std::filesystem::path&);
  /// The work of the graph, and the time that no schedule on so many threads can beat.
  static std::vector<Figure> figures(const Problem&, const Input&, const Expected&, const Output&);

  /// Does the work of task `task`. All variants call this one function, so that none has better code for it.
  static void run_task(const Input& input, Output& output, TaskId task);
  /// work(t, x) of so many rounds.
  static std::uint64_t work(std::uint64_t x, std::uint32_t rounds);
  /// Rounds of work that last `nanoseconds` at 4 GHz.
  static std::uint32_t rounds_of(double nanoseconds);
};

extern template class detail::TypedOperation<TaskGraph>;

/// offset[i] of every buffer i, end[i] = offset[i] + bytes[i], height[0] = max end[i], such that two buffers
/// whose [offset, end) overlap cannot be in use at once in any schedule of the graph:
///   every reader of the one is an ancestor of the writer of the other.
/// Task i writes buffer i of bytes[i] bytes; its successors are the readers of buffer i, and where it has
/// none it counts as its own reader. An ancestor of a task is another one from which a path leads to it. A
/// reader of a buffer is no ancestor of itself, and so its own buffer may not overlap what it reads.
///
/// Bytes are at least 1, offsets multiples of 64 and not negative. There are many safe plans, and every one
/// of them agrees; how high one is, figures() says.
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
    static constexpr Listed fields{
        Field<Problem>{{"tasks", 1, most_tasks, std::nullopt, {}}, &Problem::tasks},
        of_content(choice("shape", &Problem::shape, dag_shape_words)),
        of_content(choice("sizes", &Problem::sizes, size_words)),
        of_content(choice("ids", &Problem::ids, id_words))};
  };
  struct Input {
    Dag graph;
    Buffer<Index> bytes;
    static constexpr Listed parts{redrawn("bytes", &Input::bytes, &Problem::tasks)};
  };
  struct Output {
    Buffer<Index> offset, end, height;
    static constexpr Listed parts{part("offset", &Output::offset, &Problem::tasks),
                                  part("end", &Output::end, &Problem::tasks),
                                  part("height", &Output::height, 1)};
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
  static double footprint(const Problem& p) {
    const auto tasks = static_cast<double>(p.tasks);
    return tasks * (8 * 4 + 3 * 8 + 4 * 2 * 4) + 2 * tasks * (tasks / 8 + 8);
  }
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
