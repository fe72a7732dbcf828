#include "assay/ops/task_graph.hpp"

#include "assay/error.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace assay::task_graph_memory_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A graph with buffers of `bytes`, to be judged at given offsets.
struct Plan {
  Plan(Index tasks, const std::vector<Edge>& edges, Index bytes) : problem{.tasks = tasks} {
    in.graph = make_dag(tasks, edges);
    in.bytes = Buffer<Index>(tasks);
    std::ranges::fill(in.bytes, bytes);
    Setting setting;
    want = TaskGraphMemory::expect(problem, in, setting);
    out = TaskGraphMemory::make_output(problem, in, setting);
  }
  std::string complaint(const std::vector<Index>& offsets) {
    Index height = 0;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const auto at = static_cast<Index>(i);
      out.offset[at] = offsets[i];
      out.end[at] = offsets[i] + in.bytes[at];
      height = std::max(height, out.end[at]);
    }
    out.height[0] = height;
    return complaint();
  }
  std::string complaint() const { return TaskGraphMemory::judge(problem, in, want, out).detail; }

  TaskGraphMemory::Problem problem;
  TaskGraphMemory::Input in;
  TaskGraphMemory::Expected want;
  TaskGraphMemory::Output out;
};

const std::vector<Edge> path{{0, 1}, {1, 2}, {2, 3}};
// 0 -> 1 -> 2 beside 3 -> 4
const std::vector<Edge> two_branches{{0, 1}, {1, 2}, {3, 4}};

TEST(TaskGraphMemory, LetsAPathTakeTurns) {
  // 0 is read by 1, over before 2 writes.
  EXPECT_EQ(Plan(4, path, 64).complaint({0, 64, 0, 64}), "");
}

TEST(TaskGraphMemory, KeepsWhatIsReadApartFromWhatTheReaderWrites) {
  EXPECT_THAT(Plan(4, path, 64).complaint({0, 0, 64, 128}),
              AllOf(HasSubstr("buffers 0 at [0, 64) and 1 at [0, 64) overlap"),
                    HasSubstr("task 1, which uses 0, need not be over before task 1")));
}

TEST(TaskGraphMemory, RefusesThePlanOfOneOrderForTwoBranches) {
  // In the order 0, 1, 2, 3, 4 buffer 0 is free when 3 begins.
  EXPECT_THAT(Plan(5, two_branches, 64).complaint({0, 64, 128, 0, 192}),
              AllOf(HasSubstr("buffers 0 at [0, 64) and 3 at [0, 64) overlap"),
                    HasSubstr("task 1, which uses 0, need not be over before task 3"),
                    HasSubstr("task 4, which uses 3, need not be over before task 0"), HasSubstr("1 pairs")));
  EXPECT_EQ(Plan(5, two_branches, 64).complaint({0, 64, 0, 128, 192}), "");
}

TEST(TaskGraphMemory, CountsTheWriterAsReaderOfWhatNobodyReads) {
  // 1 is read by nobody; 2 follows 0 alone, so that 1 and 2 may run at once.
  EXPECT_THAT(Plan(3, {{0, 1}, {0, 2}}, 64).complaint({0, 64, 64}), HasSubstr("task 1, which uses 1"));
  // 2 follows 1, which has another reader, 3: that one may be late.
  EXPECT_THAT(Plan(4, {{0, 1}, {1, 2}, {1, 3}}, 64).complaint({0, 64, 128, 128}), HasSubstr("buffers 2"));
}

TEST(TaskGraphMemory, WaitsForEveryReader) {
  // 0 is read by 1 and by 3. 2 follows 1 only.
  EXPECT_THAT(Plan(4, {{0, 1}, {0, 3}, {1, 2}}, 64).complaint({0, 64, 0, 128}),
              HasSubstr("task 3, which uses 0, need not be over before task 2"));
}

TEST(TaskGraphMemory, SeesAnOverlapOfOneByteAndOneThatIsInside) {
  EXPECT_THAT(Plan(2, {}, 65).complaint({0, 64}), HasSubstr("overlap"));
  EXPECT_EQ(Plan(2, {}, 64).complaint({0, 64}), "");
  Plan inside(3, {}, 640);
  inside.in.bytes[1] = 1;
  inside.in.bytes[2] = 1;
  EXPECT_EQ(inside.complaint({0, 640, 704}), "");
  // 1 lies beside 2 and both lie inside 0.
  EXPECT_THAT(inside.complaint({0, 64, 128}), HasSubstr("2 pairs are unsafe"));
}

TEST(TaskGraphMemory, AsksForAlignmentAndForEndsAndHeightThatFit) {
  EXPECT_THAT(Plan(2, {}, 64).complaint({0, 96}), HasSubstr("offset[1] is 96"));
  EXPECT_THAT(Plan(2, {}, 64).complaint({0, -64}), HasSubstr("offset[1] is -64"));
  Plan plan(2, {}, 64);
  plan.complaint({0, 64});
  plan.out.end[0] = 63;
  EXPECT_THAT(plan.complaint(), HasSubstr("end[0] is 63, expected offset + bytes = 64"));
  plan.out.end[0] = 64;
  plan.out.height[0] = 192;
  EXPECT_THAT(plan.complaint(), HasSubstr("height is 192, expected the largest end, 128"));
}

TEST(FirstFit, PutsTheLargestFirstAndTheNextInTheLowestGap) {
  Plan plan(4, {}, 64);
  for (const auto& [task, bytes] : {std::pair{0, 10}, {1, 300}, {2, 64}, {3, 65}})
    plan.in.bytes[task] = bytes;
  // 1 conflicts with all, the others with it alone.
  const auto conflict = [](TaskId a, TaskId b) { return a == 1 || b == 1; };
  task_graph_memory::FirstFit(4).place(plan.in.bytes, conflict, plan.out);
  EXPECT_EQ(plan.out.offset[1], 0);
  for (const Index task : {0, 2, 3}) EXPECT_EQ(plan.out.offset[task], 320) << task;
  EXPECT_EQ(plan.out.height[0], 385);
}

// A chain of four of 4 KiB: two in turn, in any order there is. A sequence of independent tasks needs room
// for one; all may run at once.
TEST(TaskGraphMemory, TellsHeightBoundAndInflation) {
  const Registry registry = Registry::linked();
  const Operation& operation = registry.at("task_graph_memory");
  const auto chain = operation.open("tasks=4,shape=chain,sizes=equal", {});
  const auto words = [](const std::unique_ptr<Workload>& one) { return in_words(one->check(0, {}).figures); };
  EXPECT_EQ(words(chain),
            "height 8,192 bytes, lower bound 8,192 bytes, gap 0.00 %; "
            "height of a plan that is safe in one order alone 8,192 bytes; inflation 1");
  const auto apart = operation.open("tasks=1", {});
  EXPECT_THAT(words(apart), ::testing::EndsWith("inflation 1"));
  // Two modules of four branches: a sequence keeps four results and the task it runs.
  const auto inception = operation.open("tasks=18,shape=inception,sizes=equal", {});
  EXPECT_THAT(words(inception), ::testing::ContainsRegex("inflation 1\\.[2-9]"));
}

// Tiny buffers are apart by multiples of 64 all the same: a bound of their bytes alone would call the best
// plan poor.
TEST(TaskGraphMemory, BoundsHeightsByTheAlignment) {
  Plan plan(2, {{0, 1}}, 64);
  plan.in.bytes[0] = 4;
  plan.in.bytes[1] = 1;
  plan.complaint({0, 64});
  const std::vector<Figure> figures = TaskGraphMemory::figures(plan.problem, plan.in, plan.want, plan.out);
  EXPECT_EQ(figures.front().value, 65);
  EXPECT_EQ(figures.front().bound, 65);
}

TEST(TaskGraphMemory, PlansTheGraphOfAFile) {
  const auto file = std::filesystem::path(::testing::TempDir()) / "assay_task_graph_memory.csv";
  std::ofstream(file) << "task,bytes,predecessors\nlast,100,first\nfirst,200,\n";
  const Registry registry = Registry::linked();
  const Operation& operation = registry.at("task_graph_memory");
  EXPECT_EQ(operation.problem_of(file), "tasks=2,shape=file");
  const auto workload = operation.open("tasks=2,shape=file", {.file = file});
  const Agreement found = workload->check(0, {});
  EXPECT_TRUE(found.agrees);
  // first at 0, last at the next multiple of 64
  EXPECT_THAT(in_words(found.figures), HasSubstr("height 356 bytes"));
  std::ofstream(file) << "task,bytes,predecessors\nlast,0,\n";
  EXPECT_THROW(operation.problem_of(file), Error);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace assay::task_graph_memory_test
