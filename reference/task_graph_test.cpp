#include "assay/ops/task_graph.hpp"

#include "assay/error.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace assay::task_graph_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// One workload with a right output.
struct Execution {
  explicit Execution(const TaskGraph::Problem& p, const std::vector<TaskId>& order = {}) : problem(p) {
    Setting setting{.rng = Rng(42)};
    in = TaskGraph::make_input(p, setting);
    want = TaskGraph::expect(p, in, setting);
    out = TaskGraph::make_output(p, in, setting);
    for (const TaskId task : order) TaskGraph::run_task(in, out, task);
  }
  std::string complaint() const { return TaskGraph::judge(problem, in, want, out).detail; }

  TaskGraph::Problem problem;
  TaskGraph::Input in;
  TaskGraph::Expected want;
  TaskGraph::Output out;
};

const TaskGraph::Problem chain{.tasks = 4, .shape = static_cast<Index>(DagShape::chain), .grain = 10};
// 0 before 1 and 2, which are before 3
const TaskGraph::Problem grid{.tasks = 4, .shape = static_cast<Index>(DagShape::wavefront), .grain = 10};

TEST(TaskGraph, AcceptsEveryTopologicalOrder) {
  EXPECT_EQ(Execution(grid, {0, 1, 2, 3}).complaint(), "");
  EXPECT_EQ(Execution(grid, {0, 2, 1, 3}).complaint(), "");
}

TEST(TaskGraph, NamesATaskThatNeverRan) {
  EXPECT_THAT(Execution(chain, {0, 1, 2}).complaint(), StartsWith("task 3 never ran; 1 of 4 tasks"));
}

TEST(TaskGraph, NamesATaskThatRanTwice) {
  EXPECT_THAT(Execution(chain, {0, 1, 1, 2, 3}).complaint(), StartsWith("task 1 ran 2 times; 3 of 4 tasks"));
  EXPECT_THAT(Execution(chain, {0, 1, 2, 3, 3}).complaint(), StartsWith("task 3 ran 2 times; 1 of 4 tasks"));
}

TEST(TaskGraph, NamesATaskThatRanTooEarlyAndItsPredecessor) {
  EXPECT_THAT(Execution(grid, {0, 1, 3, 2}).complaint(),
              StartsWith("task 3 ran before its predecessor 2 was done"));
}

TEST(TaskGraph, SeesATaskThatRanWhileItsPredecessorsWereOld) {
  EXPECT_THAT(Execution(grid, {3, 0, 1, 2}).complaint(), StartsWith("task 3 has a value that neither"));
}

// One round by hand: x = 1 ^ (1 >> 29) = 1, times c.
TEST(TaskGraph, MixesAsItsDocstringSays) {
  Execution run({.tasks = 1, .grain = 0});
  run.in.seed[0] = 1;
  run.in.rounds[0] = 1;
  run.out.value[0] = 5;
  TaskGraph::run_task(run.in, run.out, 0);
  EXPECT_EQ(run.out.value[0], 0x9e3779b97f4a7c15U + 5);
}

TEST(TaskGraph, MakesFourRoundsOfFiveNanoseconds) {
  EXPECT_EQ(TaskGraph::rounds_of(0), 0U);
  EXPECT_EQ(TaskGraph::rounds_of(5), 4U);
  EXPECT_EQ(TaskGraph::rounds_of(1000), 800U);
}

TEST(TaskGraph, KeepsTheMeanOfSkewedDurations) {
  Setting setting{.rng = Rng(3)};
  const auto in = TaskGraph::make_input({.tasks = 20000, .grain = 1000, .durations = 1}, setting);
  double sum = 0;
  for (const std::uint32_t rounds : in.rounds) sum += rounds;
  // The standard deviation of the mean is 800 * 1.5 / sqrt(20000) = 8.5.
  EXPECT_NEAR(sum / 20000, 800, 40);
}

TEST(TaskGraph, TellsTheBound) {
  const Execution run({.tasks = 81, .shape = static_cast<Index>(DagShape::inception), .grain = 16000});
  // Nine modules of 8.25 x 16 us, with 3.25 x 16 us on the path.
  EXPECT_THAT(
      in_words(TaskGraph::figures(run.problem, run.in, run.want, run.out)),
      AllOf(HasSubstr("tasks 81; "), HasSubstr("work 1.19 ms; critical path 468 µs; "),
            HasSubstr("heaviest task 16.0 µs; "), HasSubstr("parallelism 2.54; "),
            HasSubstr("least on 2 threads 594 µs; least on 4 threads 468 µs; least on 8 threads 468")));
}

TEST(TaskGraph, RunsTheGraphOfAFile) {
  const auto file = std::filesystem::path(::testing::TempDir()) / "assay_task_graph_file.csv";
  std::ofstream(file) << "task,nanoseconds,predecessors\nlast,100,first\nfirst,200,\n";
  const Registry registry = Registry::linked();
  const Operation& operation = registry.at("task_graph");
  const std::string problem = operation.problem_of(file);
  EXPECT_EQ(problem, "tasks=2,shape=file");
  const auto workload = operation.open(problem, {.file = file});
  const Agreement found = workload->check(0, {});
  EXPECT_TRUE(found.agrees);
  EXPECT_THAT(in_words(found.figures), HasSubstr("work 300 ns; critical path 300 ns"));
  std::filesystem::remove(file);
}

TEST(TaskGraph, RefusesAFileWhoseTasksWouldTakeLong) {
  const auto file = std::filesystem::path(::testing::TempDir()) / "assay_task_graph_long.csv";
  {
    std::ofstream out(file);
    out << "task,nanoseconds,predecessors\n";
    for (int i = 0; i < 11; ++i) out << "t" << i << ",1000000000,\n";
  }
  EXPECT_THROW(TaskGraph::problem_of(file), Error);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace assay::task_graph_test
