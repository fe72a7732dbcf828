#include "assay/ops/task_dag.hpp"

#include "assay/error.hpp"
#include "assay/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace assay::task_dag_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<TaskId> row(const Adjacency& rows, TaskId task) {
  const auto ids = rows[task];
  return {ids.begin(), ids.end()};
}

/// Returns the complaint of making this graph; empty when there is none.
std::string complaint(Index tasks, const std::vector<Edge>& edges) {
  try {
    make_dag(tasks, edges);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

// a diamond, 0 before 1 and 2, both before 3, and 4 alone
const std::vector<Edge> diamond{{2, 3}, {0, 2}, {0, 1}, {1, 3}};

TEST(MakeDag, HoldsEveryEdgeInBothDirectionsAscending) {
  const Dag dag = make_dag(5, diamond);
  EXPECT_THAT(row(dag.successors, 0), ElementsAre(1, 2));
  EXPECT_THAT(row(dag.predecessors, 3), ElementsAre(1, 2));
  EXPECT_THAT(row(dag.predecessors, 0), ElementsAre());
  EXPECT_THAT(row(dag.successors, 4), ElementsAre());
  EXPECT_EQ(dag.edges(), 4);
}

TEST(MakeDag, KeepsTheOrderOfIdsWhereItIsTopological) {
  EXPECT_THAT(make_dag(5, diamond).order, ElementsAre(0, 1, 2, 3, 4));
}

TEST(MakeDag, OrdersBreadthFirstOtherwise) {
  EXPECT_THAT(make_dag(4, std::vector<Edge>{{3, 1}, {3, 0}, {1, 2}, {0, 2}}).order, ElementsAre(3, 0, 1, 2));
}

TEST(MakeDag, NamesAnEdgeToATaskThatDoesNotExist) {
  EXPECT_THAT(complaint(3, {{0, 1}, {1, 3}}),
              AllOf(HasSubstr("edge 1"), HasSubstr("task 3"), HasSubstr("3 tasks")));
  EXPECT_THAT(complaint(3, {{-1, 1}}), AllOf(HasSubstr("edge 0"), HasSubstr("task -1")));
}

TEST(MakeDag, NamesAnEdgeFromATaskToItself) {
  EXPECT_THAT(complaint(3, {{0, 1}, {2, 2}}),
              AllOf(HasSubstr("edge 1"), HasSubstr("2 -> 2: a task waits for itself")));
}

TEST(MakeDag, NamesARepeatedEdgeAndTheFirstOne) {
  EXPECT_THAT(
      complaint(4, {{0, 1}, {2, 3}, {1, 2}, {2, 3}}),
      AllOf(HasSubstr("edge 3"), HasSubstr("2 -> 3 is there twice"), HasSubstr("the other is edge 1")));
}

TEST(MakeDag, NamesACycleAndTheEdgeThatClosesIt) {
  // 4 only follows the cycle 1 -> 2 -> 3 -> 1, and 0 leads into it.
  const std::string text = complaint(5, {{0, 1}, {1, 2}, {2, 3}, {3, 1}, {3, 4}});
  EXPECT_THAT(text, HasSubstr("closes the cycle"));
  EXPECT_THAT(text, ::testing::AnyOf(HasSubstr("1 -> 2 -> 3 -> 1"), HasSubstr("2 -> 3 -> 1 -> 2"),
                                     HasSubstr("3 -> 1 -> 2 -> 3")));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("-> 4")));
  EXPECT_THAT(text, ::testing::ContainsRegex("^edge [123]: "));
}

TEST(MakeDag, NamesACycleOfTwo) {
  EXPECT_THAT(complaint(2, {{0, 1}, {1, 0}}),
              ::testing::AnyOf(HasSubstr("edge 1: 1 -> 0 closes the cycle 0 -> 1 -> 0"),
                               HasSubstr("edge 0: 0 -> 1 closes the cycle 1 -> 0 -> 1")));
}

// A recursive search would need a million frames.
TEST(MakeDag, TakesAMillionTasksInOnePath) {
  std::vector<Edge> edges;
  constexpr TaskId tasks = 1000000;
  for (TaskId i = tasks - 1; i > 0; --i) edges.push_back({i, i - 1});
  const Dag dag = make_dag(tasks, edges);
  EXPECT_EQ(dag.order.front(), tasks - 1);
  EXPECT_EQ(dag.order.back(), 0);
  edges.push_back({0, tasks - 1});
  EXPECT_THAT(complaint(tasks, edges), HasSubstr("(1000000 tasks)"));
}

// Durations 2, 3, 1, 4, 20: 0-1-3 takes 9, and 4 alone is longer than any path.
TEST(DagBounds, AreWorkCriticalPathAndHeaviestTask) {
  const Dag dag = make_dag(5, diamond);
  const DagBounds five = bounds_of(dag, std::vector<double>{2, 3, 1, 4, 20});
  EXPECT_EQ(five.work, 30);
  EXPECT_EQ(five.critical_path, 20);
  EXPECT_EQ(five.heaviest, 20);
  EXPECT_EQ(five.makespan(2), 20);
  const DagBounds four = bounds_of(dag, std::vector<double>{2, 3, 1, 4, 5});
  EXPECT_EQ(four.critical_path, 9);
  EXPECT_EQ(four.makespan(1), 15);
  EXPECT_EQ(four.makespan(2), 9);
  EXPECT_EQ(four.parallelism(), 15.0 / 9);
}

TEST(LongestToEnd, CountsTheTaskItself) {
  EXPECT_THAT(longest_to_end(make_dag(5, diamond), std::vector<double>{2, 3, 1, 4, 20}),
              ElementsAre(9, 7, 5, 4, 20));
}

TEST(LevelsOf, AreTheLongestWayThere) {
  EXPECT_THAT(levels_of(make_dag(4, std::vector<Edge>{{0, 1}, {1, 2}, {0, 2}, {0, 3}})),
              ElementsAre(0, 1, 2, 1));
}

double parallelism(DagShape shape, Index tasks) {
  Rng rng(42);
  const WeightedDag made = make_shape(shape, tasks, false, rng);
  return bounds_of(made.dag, made.weight).parallelism();
}

// Nothing is gained: the shortcut of a block is a thirty-eighth of it, where it is any work at all.
TEST(MakeShape, GivesResidualNetworksNoParallelism) {
  for (const Index tasks : {27, 54, 1000}) {
    EXPECT_GE(parallelism(DagShape::residual, tasks), 1.0) << tasks;
    EXPECT_LE(parallelism(DagShape::residual, tasks), 1.05) << tasks;
  }
}

// Modules of 8.25 with a path of 3.25 through each.
TEST(MakeShape, GivesInceptionNetworksTheirFourBranches) {
  for (const Index tasks : {9, 81, 999}) {
    EXPECT_DOUBLE_EQ(parallelism(DagShape::inception, tasks), 8.25 / 3.25) << tasks;
  }
}

TEST(MakeShape, GivesAChainNoParallelismAndAWavefrontHalfItsSide) {
  EXPECT_EQ(parallelism(DagShape::chain, 100), 1);
  EXPECT_EQ(parallelism(DagShape::wavefront, 100), 100.0 / 19);
}

TEST(MakeShape, HasTheSameBoundsUnderOtherIds) {
  for (const auto shape : {DagShape::layered_random, DagShape::wavefront, DagShape::inception}) {
    Rng one(7), other(7);
    const WeightedDag ordered = make_shape(shape, 90, false, one);
    const WeightedDag shuffled = make_shape(shape, 90, true, other);
    EXPECT_EQ(ordered.dag.edges(), shuffled.dag.edges());
    EXPECT_DOUBLE_EQ(bounds_of(ordered.dag, ordered.weight).critical_path,
                     bounds_of(shuffled.dag, shuffled.weight).critical_path);
    EXPECT_NE(ordered.dag.order, shuffled.dag.order);
  }
}

TEST(MakeShape, RefusesAFileItWasNotGiven) {
  Rng rng(1);
  EXPECT_THROW(make_shape(DagShape::file, 3, false, rng), Error);
}

class DagFile : public ::testing::Test {
 protected:
  ~DagFile() override { std::filesystem::remove(path_); }
  std::string complaint_about(const std::string& lines) {
    write(lines);
    try {
      read_dag(path_, "nanoseconds", 0, 1000);
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  }
  void write(const std::string& lines) {
    std::ofstream(path_, std::ios::binary) << "task,nanoseconds,predecessors\n" << lines;
  }
  std::filesystem::path path_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("assay_dag_") + ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv");
};

TEST_F(DagFile, IsReadInTheOrderOfItsLines) {
  write("add,80,conv1 conv2\r\n# a comment\n\nconv1,120,\nconv2,900,conv1");
  const WeightedDag read = read_dag(path_, "nanoseconds", 0, 1000);
  EXPECT_THAT(read.weight, ElementsAre(80, 120, 900));
  EXPECT_THAT(row(read.dag.predecessors, 0), ElementsAre(1, 2));
  EXPECT_THAT(row(read.dag.predecessors, 2), ElementsAre(1));
  EXPECT_THAT(read.dag.order, ElementsAre(1, 2, 0));
}

TEST_F(DagFile, HasItsFaultsNamedByLine) {
  const std::string file = path_.string();
  EXPECT_THAT(complaint_about("a,1,\nb,x,\n"), HasSubstr(file + ":3: 'x' is no whole number"));
  EXPECT_THAT(complaint_about("a,1,\nb,1001,\n"), HasSubstr(file + ":3: '1001' is no whole number"));
  EXPECT_THAT(complaint_about("a,1\n"), HasSubstr(file + ":2: has not three columns"));
  EXPECT_THAT(complaint_about("a,1,b,c\n"), HasSubstr(file + ":2: has not three columns"));
  EXPECT_THAT(complaint_about(",1,\n"), HasSubstr(file + ":2: '' is no name"));
  EXPECT_THAT(complaint_about("a,1,\na,2,\n"),
              AllOf(HasSubstr(file + ":3: task a is there twice"), HasSubstr("line 2")));
  EXPECT_THAT(complaint_about("a,1,\nb,1,a c\n"),
              HasSubstr(file + ":3: task b waits for c, which no line names"));
  EXPECT_THAT(complaint_about("a,1,\nb,1,a b\n"), HasSubstr(file + ":3: b -> b: a task waits for itself"));
  EXPECT_THAT(complaint_about("a,1,\nb,1,a a\n"), HasSubstr(file + ":3: a -> b is there twice"));
  EXPECT_THAT(complaint_about("a,1,b\nb,1,a\n"),
              ::testing::ContainsRegex("closes the cycle (a -> b -> a|b -> a -> b)"));
  EXPECT_THAT(complaint_about(""), HasSubstr("holds no tasks"));
}

TEST_F(DagFile, NeedsItsHeader) {
  std::ofstream(path_) << "a,1,\n";
  try {
    read_dag(path_, "nanoseconds", 0, 1000);
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(":1: is not the header task,nanoseconds,predecessors"));
  }
}

TEST_F(DagFile, ThatIsMissingIsAnError) { EXPECT_THROW(read_dag(path_, "nanoseconds", 0, 1), Error); }

}  // namespace
}  // namespace assay::task_dag_test
