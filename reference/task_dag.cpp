#include "assay/ops/task_dag.hpp"

#include "assay/csv.hpp"
#include "assay/error.hpp"
#include "assay/random.hpp"

#include <charconv>
#include <cmath>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <unordered_map>

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
    const Edge edge{*twice, task};
    const auto first = std::ranges::find(edges, edge);
    const auto second = std::find(first + 1, edges.end(), edge);
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
  const auto where = std::ranges::find(edges, closing);
  throw Error(names.place(where - edges.begin()), arrow(closing, names) + " closes the cycle " + text,
              "take out an edge of the cycle: no order runs these tasks");
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

  dag.order.resize(static_cast<std::size_t>(tasks));
  std::iota(dag.order.begin(), dag.order.end(), 0);
  const auto follows_all = [&](TaskId task) {
    const auto row = dag.predecessors[task];
    return row.empty() || row.back() < task;
  };
  if (std::ranges::all_of(dag.order, follows_all)) return dag;
  dag.order.clear();
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
  std::vector<TaskId> ids(graph.weight.size());
  std::iota(ids.begin(), ids.end(), 0);
  const std::vector<TaskId> renamed = shuffled(std::move(ids), rng);
  std::vector<double> weight(graph.weight.size());
  for (std::size_t i = 0; i < weight.size(); ++i) weight[at(renamed[i])] = graph.weight[i];
  graph.weight = std::move(weight);
  for (Edge& edge : graph.edges) edge = {renamed[at(edge.from)], renamed[at(edge.to)]};
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

namespace {

struct Line {
  Index number = 0;
  std::string_view task, predecessors;
};

class Reader {
 public:
  Reader(const std::filesystem::path& file, std::string_view column)
      : file_(file.string()), header_("task," + std::string(column) + ",predecessors") {
    std::ifstream in(file_, std::ios::binary);
    if (in) text_.assign(std::istreambuf_iterator<char>(in), {});
    if (!in || in.bad()) throw Error(file_, "cannot be read", "check the path and its permissions");
  }

  WeightedDag read(Index least, Index most) {
    parse(least, most);
    connect();
    const DagNames names{
        .place = [&](Index edge) { return place(edge_line_[static_cast<std::size_t>(edge)]); },
        .task = [&](TaskId task) { return std::string(lines_[at(task)].task); }};
    return {make_dag(static_cast<Index>(lines_.size()), edges_, names), std::move(weight_)};
  }

 private:
  std::string place(Index line) const { return file_ + ":" + std::to_string(line); }

  void parse(Index least, Index most) {
    bool headed = false;
    csv::each_cell(text_, '\n', [&](Index before, std::string_view line) {
      const Index number = before + 1;
      if (line.empty() || line.starts_with('#')) return;
      if (!headed) {
        if (line != header_) {
          throw Error(place(number), "is not the header " + header_, "begin the file with that line");
        }
        headed = true;
        return;
      }
      std::array<std::string_view, 3> cells;
      const Index count = csv::each_cell(line, ',', [&](Index position, std::string_view cell) {
        if (position < 3) cells[static_cast<std::size_t>(position)] = cell;
      });
      if (count != 3) {
        throw Error(place(number), "has not three columns", "write " + header_ + ", two commas to a line");
      }
      const auto& [task, weight, predecessors] = cells;
      if (task.empty() || task.find(' ') != std::string_view::npos) {
        throw Error(place(number), "'" + std::string(task) + "' is no name of a task",
                    "use a name that is not empty and has no spaces");
      }
      weight_.push_back(number_of(number, weight, least, most));
      if (weight_.size() > static_cast<std::size_t>(std::numeric_limits<TaskId>::max())) {
        throw Error(place(number), "is one task too many", "a graph has at most 2^31 - 1 tasks");
      }
      const auto [known, is_new] = ids_.emplace(task, static_cast<TaskId>(lines_.size()));
      if (!is_new) {
        const Index first = lines_[at(known->second)].number;
        throw Error(place(number), "task " + std::string(task) + " is there twice",
                    "rename it, or take it out: the other is in line " + std::to_string(first));
      }
      lines_.push_back({number, task, predecessors});
    });
    if (lines_.empty()) {
      throw Error(file_, "holds no tasks", "write " + header_ + " and then a line per task");
    }
  }

  double number_of(Index line, std::string_view text, Index least, Index most) const {
    Index value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
      throw Error(place(line),
                  "'" + std::string(text) + "' is no whole number in [" + std::to_string(least) + ", " +
                      std::to_string(most) + "]",
                  "correct the second column, which is that of " + header_);
    }
    return static_cast<double>(value);
  }

  void connect() {
    for (std::size_t task = 0; task < lines_.size(); ++task) {
      csv::each_cell(lines_[task].predecessors, ' ', [&](Index, std::string_view word) {
        if (word.empty()) return;
        const auto known = ids_.find(word);
        if (known == ids_.end()) {
          throw Error(place(lines_[task].number),
                      "task " + std::string(lines_[task].task) + " waits for " + std::string(word) +
                          ", which no line names",
                      "add a line for it, or take it out of the predecessors");
        }
        edges_.push_back({known->second, static_cast<TaskId>(task)});
        edge_line_.push_back(lines_[task].number);
      });
    }
  }

  std::string file_, header_, text_;
  std::vector<Line> lines_;
  std::vector<double> weight_;
  std::unordered_map<std::string_view, TaskId> ids_;
  std::vector<Edge> edges_;
  std::vector<Index> edge_line_;
};

}  // namespace

WeightedDag read_dag(const std::filesystem::path& file, std::string_view column, Index least, Index most) {
  return Reader(file, column).read(least, most);
}

}  // namespace assay
