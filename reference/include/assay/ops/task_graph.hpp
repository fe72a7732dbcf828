/// The contract `task_graph`: every task of a directed acyclic graph once, after all its predecessors.
#pragma once

#include "assay/ops/task_dag.hpp"
#include "assay/registry.hpp"

namespace assay {

/// value[t] += work(t, mix(seed[t], value[p] for p in predecessors of t in ascending order))
/// for every task t once, after all of its predecessors, modulo 2^64, with
///   mix(x, v...)  for each v in turn: x = (x xor v) c, then x = x xor (x >> 32)
///   work(t, x)    rounds[t] times: x = (x xor (x >> 29)) c       c = 0x9e3779b97f4a7c15
/// where value[tasks], seed[tasks] are u64 and rounds[tasks] u32. The graph is known when a variant is
/// prepared, as a training step's is: orders, priorities and threads may be made then. What is timed is one
/// execution of all tasks.
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
    static constexpr auto fields() {
      return std::tuple{field("tasks", &Problem::tasks), choice("shape", &Problem::shape, dag_shape_words),
                        option("grain", &Problem::grain, 1000, 0, 1000000),
                        choice("durations", &Problem::durations, duration_words),
                        choice("ids", &Problem::ids, id_words)};
    }
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
    static constexpr auto parts() { return std::tuple{part("value", &Output::value, &Problem::tasks)}; }
  };
  struct Expected {
    std::vector<std::uint64_t> value;
  };
  static constexpr std::array fills{Fill::exact};

  static std::vector<Problem> corner_cases();
  static double footprint(const Problem&);
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  /// Names the first task in a topological order that is wrong and what happened to it.
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&);
  static Cost cost(const Problem&);

  /// A graph in a CSV file, see read_dag(), with the column `nanoseconds`: 0 to 1e9 each, at most 1e10 in
  /// all.
  static Problem problem_of(const std::filesystem::path&);
  /// The work of the graph, and the time that no schedule on so many threads can beat.
  static std::vector<Figure> figures(const Problem&, const Input&, const Expected&, const Output&);

  /// Does the work of task `task`. All variants call this one function, so that none has better code for it.
  static void run_task(const Input& input, Output& output, TaskId task);
  /// Rounds of work that last `nanoseconds` at 4 GHz.
  static std::uint32_t rounds_of(double nanoseconds);
};

extern template class detail::TypedOperation<TaskGraph>;

}  // namespace assay
