#include "assay/ops/task_dag.hpp"

#include "assay/error.hpp"

#include <algorithm>
#include <numeric>

namespace assay {
namespace {

std::size_t at(TaskId task) { return static_cast<std::size_t>(task); }

std::string arrow(const Edge& edge, const DagNames& names) {
  return names.task(edge.from) + " -> " + names.task(edge.to);
}

void require_sound_edges(Index tasks, std::span<const Edge> edges, const DagNames& names) {
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const Edge& edge = edges[e];
    for (const TaskId end : {edge.from, edge.to}) {
      if (end >= 0 && end < tasks) continue;
      throw Error(names.place(static_cast<Index>(e)),
                  "names task " + std::to_string(end) + " of a graph of " + std::to_string(tasks) + " tasks",
                  "ids count from 0: correct the edge, or raise the number of tasks");
    }
    if (edge.from == edge.to) {
      throw Error(names.place(static_cast<Index>(e)), arrow(edge, names) + ": a task waits for itself",
                  "take the task out of its own predecessors");
    }
  }
}

/// Rows by the key of each pair, their values in the order of the pairs.
template <class ForEachPair>
Adjacency rows(Index tasks, std::size_t pairs, const ForEachPair& for_each_pair) {
  Adjacency out;
  out.first.assign(static_cast<std::size_t>(tasks) + 1, 0);
  out.ids.resize(pairs);
  for_each_pair([&](TaskId key, TaskId) { ++out.first[at(key) + 1]; });
  std::partial_sum(out.first.begin(), out.first.end(), out.first.begin());
  std::vector<Index> next(out.first.begin(), out.first.end() - 1);
  for_each_pair(
      [&](TaskId key, TaskId value) { out.ids[static_cast<std::size_t>(next[at(key)]++)] = value; });
  return out;
}

/// Pairs (value, key) of `by_key`, ascending in the key: turning rows around twice sorts them.
Adjacency turned(Index tasks, const Adjacency& by_key) {
  return rows(tasks, by_key.ids.size(), [&](const auto& visit) {
    for (TaskId key = 0; key < tasks; ++key) {
      for (const TaskId value : by_key[key]) visit(value, key);
    }
  });
}

void require_distinct(const Dag& dag, Index tasks, std::span<const Edge> edges, const DagNames& names) {
  for (TaskId task = 0; task < tasks; ++task) {
    const auto row = dag.predecessors[task];
    const auto twice = std::ranges::adjacent_find(row);
    if (twice == row.end()) continue;
    const auto same = [&](const Edge& edge) { return edge.from == *twice && edge.to == task; };
    const auto first = std::ranges::find_if(edges, same);
    const auto second = std::find_if(first + 1, edges.end(), same);
    throw Error(names.place(second - edges.begin()), arrow(*second, names) + " is there twice",
                "take one of the two out: the other is " + names.place(first - edges.begin()));
  }
}

/// Throws the Error that names a cycle. The tasks left over wait for each other: walks from a task to an
/// earlier task until it comes round.
[[noreturn]] void throw_cycle(const Dag& dag, const std::vector<TaskId>& waits_for,
                              std::span<const Edge> edges, const DagNames& names) {
  const auto left_over = [&](TaskId task) { return waits_for[at(task)] > 0; };
  const auto start = std::ranges::find_if(waits_for, [](TaskId count) { return count > 0; });
  auto task = static_cast<TaskId>(start - waits_for.begin());
  std::vector<bool> met(waits_for.size());
  std::vector<TaskId> path;
  while (!met[at(task)]) {
    met[at(task)] = true;
    path.push_back(task);
    task = *std::ranges::find_if(dag.predecessors[task], left_over);
  }
  const std::vector<TaskId> cycle(std::ranges::find(path, task), path.end());  // each after the next
  std::string text = names.task(cycle.front());
  constexpr std::size_t shown = 8;
  for (std::size_t i = cycle.size(); i-- > 0;) {
    if (cycle.size() - i <= shown) text += " -> " + names.task(cycle[i]);
  }
  if (cycle.size() > shown) text += " -> ... (" + std::to_string(cycle.size()) + " tasks)";
  const Edge closing{cycle.size() > 1 ? cycle[1] : cycle[0], cycle[0]};
  const auto where = std::ranges::find_if(
      edges, [&](const Edge& edge) { return edge.from == closing.from && edge.to == closing.to; });
  throw Error(names.place(where - edges.begin()), arrow(closing, names) + " closes the cycle " + text,
              "take out an edge of the cycle: no order runs these tasks");
}

bool ids_are_an_order(const Dag& dag, Index tasks) {
  for (TaskId task = 0; task < tasks; ++task) {
    const auto row = dag.predecessors[task];
    if (!row.empty() && row.back() > task) return false;
  }
  return true;
}

}  // namespace

Dag make_dag(Index tasks, std::span<const Edge> edges, const DagNames& names) {
  require_sound_edges(tasks, edges, names);
  Dag dag;
  const Adjacency unsorted = rows(tasks, edges.size(), [&](const auto& visit) {
    for (const Edge& edge : edges) visit(edge.from, edge.to);
  });
  dag.predecessors = turned(tasks, unsorted);
  dag.successors = turned(tasks, dag.predecessors);
  require_distinct(dag, tasks, edges, names);

  dag.order.reserve(static_cast<std::size_t>(tasks));
  if (ids_are_an_order(dag, tasks)) {
    dag.order.resize(static_cast<std::size_t>(tasks));
    std::iota(dag.order.begin(), dag.order.end(), 0);
    return dag;
  }
  // Kahn, Topological sorting of large networks, CACM 5(11), 1962.
  std::vector<TaskId> waits_for(static_cast<std::size_t>(tasks));
  for (TaskId task = 0; task < tasks; ++task) {
    waits_for[at(task)] = static_cast<TaskId>(dag.predecessors[task].size());
    if (waits_for[at(task)] == 0) dag.order.push_back(task);
  }
  for (std::size_t done = 0; done < dag.order.size(); ++done) {
    for (const TaskId next : dag.successors[dag.order[done]]) {
      if (--waits_for[at(next)] == 0) dag.order.push_back(next);
    }
  }
  if (dag.tasks() != tasks) throw_cycle(dag, waits_for, edges, names);
  return dag;
}

double DagBounds::makespan(int threads) const {
  return std::max({critical_path, heaviest, work / static_cast<double>(threads)});
}

std::vector<double> longest_to_end(const Dag& dag, std::span<const double> duration) {
  std::vector<double> out(dag.order.size());
  for (std::size_t i = dag.order.size(); i-- > 0;) {
    const TaskId task = dag.order[i];
    double after = 0;
    for (const TaskId next : dag.successors[task]) after = std::max(after, out[at(next)]);
    out[at(task)] = duration[at(task)] + after;
  }
  return out;
}

DagBounds bounds_of(const Dag& dag, std::span<const double> duration) {
  DagBounds out;
  for (const double d : duration) {
    out.work += d;
    out.heaviest = std::max(out.heaviest, d);
  }
  for (const double path : longest_to_end(dag, duration)) {
    out.critical_path = std::max(out.critical_path, path);
  }
  return out;
}

std::vector<TaskId> levels_of(const Dag& dag) {
  std::vector<TaskId> out(dag.order.size());
  for (const TaskId task : dag.order) {
    for (const TaskId before : dag.predecessors[task]) {
      out[at(task)] = std::max(out[at(task)], out[at(before)] + 1);
    }
  }
  return out;
}

}  // namespace assay
