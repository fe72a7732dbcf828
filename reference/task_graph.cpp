#include "assay/ops/task_graph.hpp"

#include "assay/error.hpp"
#include "assay/ops/memory_pool.hpp"

#include <cmath>

namespace assay {
namespace {

constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;
constexpr double rounds_per_nanosecond = 0.8;

std::uint64_t mix(std::uint64_t x, std::uint64_t value) {
  x = (x ^ value) * odd;
  return x ^ (x >> 32);
}

/// Returns the number that `task` adds to its value when its predecessors have the values of `value_of`.
template <class ValueOf>
std::uint64_t contribution(const TaskGraph::Input& in, TaskId task, const ValueOf& value_of) {
  std::uint64_t x = in.seed[task];
  for (const TaskId before : in.graph.predecessors[task]) x = mix(x, value_of(before));
  return TaskGraph::work(x, in.rounds[task]);
}

void naive(const TaskGraph::Problem&, const TaskGraph::Input& in, TaskGraph::Output& out) {
  for (const TaskId task : in.graph.order) TaskGraph::run_task(in, out, task);
}

WeightedDag read_file(const std::filesystem::path& file) {
  WeightedDag read = read_dag(file, "nanoseconds", 0, 1000000000);
  const double work = bounds_of(read.dag, read.weight).work;
  if (work > 1e10) {
    throw Error(file.string(), "its tasks take " + std::to_string(std::llround(work / 1e9)) + " s together",
                "scale them down to 10 s: only their proportions matter here");
  }
  return read;
}

WeightedDag make_graph(const TaskGraph::Problem& p, Setting& setting) {
  const auto shape = static_cast<DagShape>(p.shape);
  if (shape == DagShape::file && !setting.file.empty()) return read_file(setting.file);
  WeightedDag made = make_shape(shape, p.tasks, p.ids != 0, setting.rng);
  for (double& w : made.weight) {
    // Skewed, one task in ten takes 5.5 times its share and the others half of it, so that the mean stays.
    if (p.durations != 0) w *= setting.rng.integer(0, 9) == 0 ? 5.5 : 0.5;
    w *= static_cast<double>(p.grain);
  }
  return made;
}

std::string what_happened(const TaskGraph::Input& in, const TaskGraph::Expected& want,
                          const TaskGraph::Output& out, TaskId task) {
  const auto expected = [&](TaskId id) { return want.value[static_cast<std::size_t>(id)]; };
  const std::uint64_t added = out.value[task] - in.start[task];
  if (added == 0) return "never ran";
  const std::uint64_t once = contribution(in, task, expected);
  for (std::uint64_t times = 2; times < 9; ++times) {
    if (added == times * once) return "ran " + std::to_string(times) + " times";
  }
  for (const TaskId early : in.graph.predecessors[task]) {
    const auto too_early = [&](TaskId id) { return id == early ? in.start[id] : expected(id); };
    if (added == contribution(in, task, too_early)) {
      return "ran before its predecessor " + std::to_string(early) + " was done";
    }
  }
  return "has a value that neither one execution gives nor one without a predecessor";
}

}  // namespace

std::uint64_t TaskGraph::work(std::uint64_t x, std::uint32_t rounds) {
  for (std::uint32_t r = 0; r < rounds; ++r) x = (x ^ (x >> 29)) * odd;
  return x;
}

std::uint32_t TaskGraph::rounds_of(double nanoseconds) {
  return static_cast<std::uint32_t>(std::llround(nanoseconds * rounds_per_nanosecond));
}

// Out of line on purpose, and called by the naive variant as by all others.
__attribute__((noinline)) void TaskGraph::run_task(const Input& in, Output& out, TaskId task) {
  out.value[task] += contribution(in, task, [&](TaskId id) { return out.value[id]; });
}

auto TaskGraph::corner_cases() -> std::vector<Problem> {
  const std::string shape = ",shape=layered_random|chain|wavefront|inception|residual";
  return problems<Problem>({"tasks=1|2|3|10|101,grain=0" + shape, "tasks=500,grain=0,ids=shuffled" + shape,
                            // Long enough for threads to meet in the middle of tasks.
                            "tasks=60,grain=2000,durations=skewed,ids=shuffled" + shape,
                            "tasks=5000,grain=0"});
}

auto TaskGraph::make_input(const Problem& p, Setting& setting) -> Input {
  WeightedDag made = make_graph(p, setting);
  const Index tasks = made.dag.tasks();
  Input in{std::move(made.dag), setting.buffer<std::uint64_t>(tasks), setting.buffer<std::uint64_t>(tasks),
           setting.buffer<std::uint32_t>(tasks)};
  for (Index i = 0; i < tasks; ++i) {
    in.seed[i] = setting.rng.next();
    in.start[i] = setting.rng.next();
    in.rounds[i] = rounds_of(made.weight[static_cast<std::size_t>(i)]);
  }
  return in;
}

auto TaskGraph::expect(const Problem&, const Input& in, Setting&) -> Expected {
  Expected want{{in.start.begin(), in.start.end()}};
  const auto value_of = [&](TaskId id) { return want.value[static_cast<std::size_t>(id)]; };
  for (const TaskId task : in.graph.order) {
    want.value[static_cast<std::size_t>(task)] += contribution(in, task, value_of);
  }
  return want;
}

Agreement TaskGraph::judge(const Problem&, const Input& in, const Expected& want, const Output& out) {
  Agreement outcome{.compared = in.graph.tasks(), .total = in.graph.tasks()};
  Index wrong = 0;
  for (const TaskId task : in.graph.order) {
    if (out.value[task] == want.value[static_cast<std::size_t>(task)] || wrong++ > 0) continue;
    outcome.reject("task " + std::to_string(task) + " " + what_happened(in, want, out, task));
  }
  if (wrong > 0) {
    outcome.detail += "; " + std::to_string(wrong) + " of " + std::to_string(outcome.total) +
                      " tasks have a wrong value, those after it among them";
  }
  return outcome;
}

auto TaskGraph::problem_of(const std::filesystem::path& file) -> Problem {
  return {.tasks = read_file(file).dag.tasks(), .shape = static_cast<Index>(DagShape::file)};
}

std::vector<Figure> TaskGraph::figures(const Problem&, const Input& in, const Expected&, const Output&) {
  std::vector<double> duration;
  for (const std::uint32_t rounds : in.rounds) {
    duration.push_back(static_cast<double>(rounds) / rounds_per_nanosecond);
  }
  const DagBounds bounds = bounds_of(in.graph, duration);
  std::vector<Figure> out{{.name = "tasks", .value = static_cast<double>(in.graph.tasks())},
                          {.name = "edges", .value = static_cast<double>(in.graph.edges())},
                          {.name = "parallelism", .value = bounds.parallelism()}};
  const auto add = [&](const std::string& name, double nanoseconds) {
    out.push_back({.name = name, .value = 1e-9 * nanoseconds, .unit = "s"});
  };
  add("work", bounds.work);
  add("critical path", bounds.critical_path);
  add("heaviest task", bounds.heaviest);
  for (const int threads : {2, 4, 8}) {
    add("least on " + std::to_string(threads) + " threads", bounds.makespan(threads));
  }
  return out;
}

template class detail::TypedOperation<TaskGraph>;

namespace {

using task_graph_memory::FirstFit;
using task_graph_memory::Lives;
using Relation = TaskGraphMemory::Relation;

std::size_t at(TaskId task) { return static_cast<std::size_t>(task); }

/// Returns the readers of the buffer that `task` writes.
std::vector<TaskId> readers_of(const Dag& graph, TaskId task) {
  const auto row = graph.successors[task];
  return row.empty() ? std::vector<TaskId>{task} : std::vector<TaskId>(row.begin(), row.end());
}

/// Walks back from `task` for every question that is asked.
class Walk {
 public:
  explicit Walk(const Dag& graph) : graph_(graph), met_(graph.order.size()) { stack_.reserve(met_.size()); }

  /// Whether all readers of buffer `a` are ancestors of task `b`.
  bool frees(TaskId a, TaskId b) {
    met_.assign(met_.size(), false);
    stack_.assign(1, b);
    while (!stack_.empty()) {
      const TaskId task = stack_.back();
      stack_.pop_back();
      for (const TaskId before : graph_.predecessors[task]) {
        if (met_[at(before)]) continue;
        met_[at(before)] = true;
        stack_.push_back(before);
      }
    }
    const auto readers = graph_.successors[a];
    if (readers.empty()) return met_[at(a)];
    return std::ranges::all_of(readers, [&](TaskId reader) { return met_[at(reader)]; });
  }

 private:
  const Dag& graph_;
  std::vector<bool> met_;
  std::vector<TaskId> stack_;
};

Variant<TaskGraphMemory>::Kernel prepare_naive(const TaskGraphMemory::Problem&,
                                               const TaskGraphMemory::Input& in, const Context&) {
  return [walk = Walk(in.graph), fit = FirstFit(in.graph.tasks())](const TaskGraphMemory::Input& now,
                                                                   TaskGraphMemory::Output& out) mutable {
    const auto conflict = [&](TaskId a, TaskId b) { return !walk.frees(a, b) && !walk.frees(b, a); };
    fit.place(now.bytes, conflict, out);
  };
}

/// Returns what is wrong with a buffer by itself; empty where nothing is.
std::string fault_of_buffer(const TaskGraphMemory::Input& in, const TaskGraphMemory::Output& out,
                            TaskId task) {
  const Index offset = out.offset[task], end = out.end[task];
  constexpr Index far = Index{1} << 61;
  if (offset < 0 || offset > far || offset % TaskGraphMemory::alignment != 0) {
    return "offset[" + std::to_string(task) + "] is " + std::to_string(offset) +
           ", expected a multiple of 64, not negative and at most 2^61";
  }
  if (end != offset + in.bytes[task]) {
    return "end[" + std::to_string(task) + "] is " + std::to_string(end) +
           ", expected offset + bytes = " + std::to_string(offset + in.bytes[task]);
  }
  return {};
}

std::string place_text(const TaskGraphMemory::Output& out, TaskId task) {
  return std::to_string(task) + " at [" + std::to_string(out.offset[task]) + ", " +
         std::to_string(out.end[task]) + ")";
}

/// Says why `b` may be written before all is read from `a`.
std::string unordered_text(const TaskGraphMemory::Input& in, const TaskGraphMemory::Expected& want, TaskId a,
                           TaskId b) {
  for (const TaskId reader : readers_of(in.graph, a)) {
    if (want.before(reader, b)) continue;
    return "task " + std::to_string(reader) + ", which uses " + std::to_string(a) +
           ", need not be over before task " + std::to_string(b);
  }
  return {};
}

/// Counts the pairs of buffers that overlap in space and are not safe; `why` says what is wrong with the
/// first.
Index unsafe_pairs(const TaskGraphMemory::Input& in, const TaskGraphMemory::Expected& want,
                   const TaskGraphMemory::Output& out, std::string& why) {
  std::vector<TaskId> by_offset(static_cast<std::size_t>(in.graph.tasks()));
  std::iota(by_offset.begin(), by_offset.end(), 0);
  std::ranges::stable_sort(by_offset, {}, [&](TaskId task) { return out.offset[task]; });
  Index unsafe = 0;
  std::vector<TaskId> open;  // those that begin before this one and end after its begin
  for (const TaskId task : by_offset) {
    std::erase_if(open, [&](TaskId other) { return out.end[other] <= out.offset[task]; });
    for (const TaskId other : open) {
      if (want.frees(task, other) || want.frees(other, task)) continue;
      if (unsafe++ > 0) continue;
      const auto [a, b] = std::minmax(task, other);
      why = "buffers " + place_text(out, a) + " and " + place_text(out, b) +
            " overlap: " + unordered_text(in, want, a, b) + ", and " + unordered_text(in, want, b, a);
    }
    open.push_back(task);
  }
  return unsafe;
}

/// The height below which there is no plan for buffers with these lives.
double least_height(const TaskGraphMemory::Input& in, const Lives& lives) {
  std::vector<memory_pool::Request> requests;
  for (std::size_t i = 0; i < lives.begin.size(); ++i)
    requests.push_back({in.bytes[static_cast<Index>(i)], lives.begin[i], lives.end[i] + 1});
  return static_cast<double>(memory_pool::least_height(requests));
}

WeightedDag read_buffers(const std::filesystem::path& file) {
  WeightedDag read = read_dag(file, "bytes", 1, Index{1} << 40);
  if (read.dag.tasks() > TaskGraphMemory::most_tasks) {
    throw Error(file.string(), "holds " + std::to_string(read.dag.tasks()) + " tasks",
                "at most " + std::to_string(TaskGraphMemory::most_tasks) + " are judged: cut it into parts");
  }
  return read;
}

const Register registered{[](Registry& r) {
  r.add<TaskGraph>({.name = "naive", .summary = "a topological order on one thread", .run = naive});
  r.add<TaskGraphMemory>({.name = "naive",
                          .summary = "walks back through the graph for every pair of buffers",
                          .prepare = prepare_naive});
}};

}  // namespace

namespace task_graph_memory {

Lives lives_at(const Dag& graph, std::span<const TaskId> time) {
  Lives out{{time.begin(), time.end()}, {time.begin(), time.end()}};
  for (TaskId task = 0; task < graph.tasks(); ++task) {
    for (const TaskId reader : graph.successors[task]) {
      out.end[at(task)] = std::max(out.end[at(task)], time[at(reader)]);
    }
  }
  return out;
}

Lives lives_in_order(const Dag& graph) {
  std::vector<TaskId> time(graph.order.size());
  for (std::size_t i = 0; i < time.size(); ++i) time[at(graph.order[i])] = static_cast<TaskId>(i);
  return lives_at(graph, time);
}

}  // namespace task_graph_memory

auto TaskGraphMemory::corner_cases() -> std::vector<Problem> {
  const std::string shape = ",shape=layered_random|chain|wavefront|inception|residual";
  return problems<Problem>({"tasks=1|2|3|9|31" + shape,
                            // Past one word of 64 tasks.
                            "tasks=101,sizes=equal,ids=shuffled" + shape, "tasks=130,ids=shuffled" + shape});
}

auto TaskGraphMemory::make_input(const Problem& p, Setting& setting) -> Input {
  const auto shape = static_cast<DagShape>(p.shape);
  const bool from_file = shape == DagShape::file && !setting.file.empty();
  WeightedDag made =
      from_file ? read_buffers(setting.file) : make_shape(shape, p.tasks, p.ids != 0, setting.rng);
  const Index tasks = made.dag.tasks();
  Input in{std::move(made.dag), setting.buffer<Index>(tasks)};
  for (Index i = 0; i < tasks; ++i) {
    if (from_file) {
      in.bytes[i] = static_cast<Index>(made.weight[static_cast<std::size_t>(i)]);
    } else if (p.sizes == 1) {
      in.bytes[i] = 4096;
    } else {
      in.bytes[i] = static_cast<Index>(std::exp2(setting.rng.uniform(0, 16)));
    }
  }
  return in;
}

auto TaskGraphMemory::expect(const Problem&, const Input& in, Setting&) -> Expected {
  const std::size_t tasks = in.graph.order.size(), words = (tasks + 63) / 64;
  const Relation empty{words, std::vector<std::uint64_t>(tasks * words)};
  Expected want{empty, empty};
  const auto row = [](Relation& relation, TaskId task) {
    return std::span(relation.bits).subspan(at(task) * relation.words, relation.words);
  };
  for (std::size_t i = tasks; i-- > 0;) {
    const TaskId task = in.graph.order[i];
    for (const TaskId next : in.graph.successors[task]) {
      const auto to = row(want.before, task), from = row(want.before, next);
      to[at(next) / 64] |= std::uint64_t{1} << (at(next) % 64);
      std::ranges::transform(to, from, to.begin(), std::bit_or{});
    }
  }
  for (TaskId task = 0; at(task) < tasks; ++task) {
    const auto to = row(want.frees, task);
    std::ranges::fill(to, ~std::uint64_t{0});
    for (const TaskId reader : readers_of(in.graph, task)) {
      std::ranges::transform(to, row(want.before, reader), to.begin(), std::bit_and{});
    }
  }
  return want;
}

Agreement TaskGraphMemory::judge(const Problem&, const Input& in, const Expected& want, const Output& out) {
  const Index tasks = in.graph.tasks();
  Agreement outcome{.compared = 2 * tasks + 1, .total = 2 * tasks + 1};
  const auto refuse = [&](std::string why) {
    outcome.reject(std::move(why));
    return outcome;
  };
  std::string why;
  Index height = 0;
  for (TaskId task = 0; task < tasks; ++task) {
    why = fault_of_buffer(in, out, task);
    if (!why.empty()) return refuse(why);
    height = std::max(height, out.end[task]);
  }
  if (out.height[0] != height) {
    return refuse("height is " + std::to_string(out.height[0]) + ", expected the largest end, " +
                  std::to_string(height));
  }
  if (const Index unsafe = unsafe_pairs(in, want, out, why); unsafe > 0) {
    return refuse(why + "; " + std::to_string(unsafe) + " pairs are unsafe");
  }
  return outcome;
}

auto TaskGraphMemory::problem_of(const std::filesystem::path& file) -> Problem {
  return {.tasks = read_buffers(file).dag.tasks(), .shape = static_cast<Index>(DagShape::file)};
}

std::vector<Figure> TaskGraphMemory::figures(const Problem& p, const Input& in, const Expected&,
                                             const Output& out) {
  const Lives in_order = task_graph_memory::lives_in_order(in.graph);
  const Lives by_level = task_graph_memory::lives_at(in.graph, levels_of(in.graph));
  Output sequential = make_output(p, in, {});
  FirstFit(in.graph.tasks())
      .place(
          in.bytes, [&](TaskId a, TaskId b) { return in_order.overlap(a, b); }, sequential);

  // Buffers in use at one moment of one schedule must lie apart in a plan for all.
  const double least = std::max(least_height(in, in_order), least_height(in, by_level));
  const auto height = static_cast<double>(out.height[0]);
  const auto one_order = static_cast<double>(sequential.height[0]);
  return {
      {.name = "height", .value = height, .unit = "bytes", .better = Figure::Better::lower, .bound = least},
      {.name = "height of a plan that is safe in one order alone", .value = one_order, .unit = "bytes"},
      {.name = "inflation", .value = height / one_order}};
}

void TaskGraphMemory::salt(const Problem& p, const Input&, std::string_view, Index, Index& element,
                           Setting& setting) {
  if (p.sizes == 0) {
    element = static_cast<Index>(std::exp2(setting.rng.uniform(0, 16)));
  } else {
    element += setting.rng.integer(0, element);
  }
}

template class detail::TypedOperation<TaskGraphMemory>;

}  // namespace assay
