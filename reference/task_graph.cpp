#include "assay/ops/task_graph.hpp"

#include "assay/error.hpp"

#include <cmath>
#include <limits>

namespace assay {
namespace {

constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;
constexpr double rounds_per_nanosecond = 0.8;

std::uint64_t mix(std::uint64_t x, std::uint64_t value) {
  x = (x ^ value) * odd;
  return x ^ (x >> 32);
}

std::uint64_t work(std::uint64_t x, std::uint32_t rounds) {
  for (std::uint32_t r = 0; r < rounds; ++r) x = (x ^ (x >> 29)) * odd;
  return x;
}

/// Returns the number that `task` adds to its value when its predecessors have the values of `value_of`.
template <class ValueOf>
std::uint64_t contribution(const TaskGraph::Input& in, TaskId task, const ValueOf& value_of) {
  std::uint64_t x = in.seed[task];
  for (const TaskId before : in.graph.predecessors[task]) x = mix(x, value_of(before));
  return work(x, in.rounds[task]);
}

void naive(const TaskGraph::Problem&, const TaskGraph::Input& in, TaskGraph::Output& out) {
  for (const TaskId task : in.graph.order) TaskGraph::run_task(in, out, task);
}

/// One task in ten takes 5.5 times its share and the others half of it, so that the mean stays.
void skew(std::vector<double>& weight, Rng& rng) {
  for (double& w : weight) w *= rng.integer(0, 9) == 0 ? 5.5 : 0.5;
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
  if (p.durations != 0) skew(made.weight, setting.rng);
  for (double& w : made.weight) w *= static_cast<double>(p.grain);
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

const Register registered{[](Registry& r) {
  r.add<TaskGraph>({.name = "naive", .summary = "a topological order on one thread", .run = naive});
}};

}  // namespace

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

double TaskGraph::footprint(const Problem& p) {
  // Input, output and expectation, five arrays for the graph, and up to four edges per task, held twice.
  return static_cast<double>(p.tasks) * (8 + 8 + 4 + 8 + 8 + 3 * 8 + 4 * 2 * 4);
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
    if (out.value[task] == want.value[static_cast<std::size_t>(task)]) continue;
    if (wrong++ == 0)
      outcome.detail = "task " + std::to_string(task) + " " + what_happened(in, want, out, task);
  }
  if (wrong > 0) {
    outcome.agrees = false;
    outcome.worst_error = std::numeric_limits<double>::infinity();
    outcome.detail += "; " + std::to_string(wrong) + " of " + std::to_string(outcome.total) +
                      " tasks have a wrong value, those after it among them";
  }
  return outcome;
}

// The work is integer arithmetic; a chain of rounds is no traffic. Rounds may be part of a schedule that was
// prepared.
Cost TaskGraph::cost(const Problem& p) {
  Cost out = FromParts::cost(p);
  out.avoidable_bytes = 4 * static_cast<double>(p.tasks);
  return out;
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

}  // namespace assay
