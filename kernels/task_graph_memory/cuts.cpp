// The idea: a task that is ordered with every other task, such as the concatenation at the end of an
// inception module, cuts the graph in two parts that no schedule mixes. Between cuts nothing is shared;
// across cuts lives are intervals. Linear except for the placing. The plan is safe, and higher than one that
// knows every path: a graph without cuts shares nothing.

#include "assay/ops/task_graph.hpp"

namespace assay {
namespace {

class Cuts {
 public:
  explicit Cuts(Index tasks)
      : waits_for_(static_cast<std::size_t>(tasks)), after_(waits_for_.size()), fit_(tasks) {
    ready_.reserve(waits_for_.size());
    lives_.begin.resize(waits_for_.size());
    lives_.end.resize(waits_for_.size());
  }

  void operator()(const TaskGraphMemory::Input& in, TaskGraphMemory::Output& out) {
    find(in.graph);
    fit_.place(
        in.bytes, [&](TaskId a, TaskId b) { return lives_.overlap(a, b); }, out);
  }

 private:
  static std::size_t at(TaskId task) { return static_cast<std::size_t>(task); }

  /// Calls alone(task, passed) for each task that is the only ready one after `passed` tasks: all remaining
  /// tasks come after it.
  template <class Alone>
  void sweep(const Adjacency& from, const Adjacency& to, const Alone& alone) {
    ready_.clear();
    for (TaskId task = 0; at(task) < waits_for_.size(); ++task) {
      waits_for_[at(task)] = static_cast<TaskId>(from[task].size());
      if (waits_for_[at(task)] == 0) ready_.push_back(task);
    }
    for (std::size_t passed = 0; passed < ready_.size(); ++passed) {
      const TaskId task = ready_[passed];
      if (ready_.size() == passed + 1) alone(task, static_cast<TaskId>(passed));
      for (const TaskId next : to[task]) {
        if (--waits_for_[at(next)] == 0) ready_.push_back(next);
      }
    }
  }

  /// Numbers the times: 2 k at the k-th cut, odd between cuts. A cut has a time of its own, since it is
  /// ordered with all other tasks.
  void find(const Dag& graph) {
    const auto tasks = static_cast<TaskId>(graph.tasks());
    std::ranges::fill(after_, TaskId{-1});
    sweep(graph.predecessors, graph.successors,
          [&](TaskId task, TaskId passed) { after_[at(task)] = tasks - 1 - passed; });
    // Backwards, the tasks that remain when a task is alone come before it. A cut is ordered with all: the
    // tasks before it and after it are all but itself.
    sweep(graph.successors, graph.predecessors, [&](TaskId task, TaskId passed) {
      if (after_[at(task)] != passed) after_[at(task)] = -1;
      if (after_[at(task)] >= 0) after_[at(task)] = -2;
    });
    // In a topological order the tasks between two cuts lie between them.
    TaskId time = 1;
    for (const TaskId task : graph.order) {
      const bool cut = after_[at(task)] == -2;
      if (cut) ++time;
      lives_.begin[at(task)] = lives_.end[at(task)] = time;
      if (cut) ++time;
    }
    for (TaskId task = 0; task < tasks; ++task) {
      for (const TaskId reader : graph.successors[task]) {
        lives_.end[at(task)] = std::max(lives_.end[at(task)], lives_.begin[at(reader)]);
      }
    }
  }

  std::vector<TaskId> waits_for_, ready_;
  std::vector<TaskId> after_;  ///< number of tasks after each; -1 if some are unordered with it, -2 for a cut
  task_graph_memory::Lives lives_;
  task_graph_memory::FirstFit fit_;
};

const Register registered{[](Registry& r) {
  r.add<TaskGraphMemory>(
      {.name = "cuts",
       .summary = "intervals between tasks that are ordered with all others",
       .prepare = [](const auto&, const auto& in, const Context&) { return Cuts(in.graph.tasks()); }});
}};

}  // namespace
}  // namespace assay
