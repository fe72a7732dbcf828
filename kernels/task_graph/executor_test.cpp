// Tests the promises of every executor on any graph: every task once and in order, exceptions to the caller,
// and no thread that waits for ever.

#include "task_graph/executor.hpp"

#include "task_graph/crew.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace assay::task_graph {
namespace {

struct Named {
  std::string name;
  Maker* make;
};

std::vector<Named> makers() {
  return {{"levels", levels},
          {"list_scheduling", list_scheduling},
          {"work_stealing", work_stealing},
#ifdef ASSAY_HAS_TBB
          {"tbb", tbb_tasks},
#endif
          {"openmp_tasks", openmp_tasks}};
}

class ThreadedExecutor : public ::testing::TestWithParam<Named> {
 protected:
  Executor make(const WeightedDag& made, int threads) const {
    return GetParam().make(made.dag, made.weight, threads);
  }
};

WeightedDag shape(DagShape shape, Index tasks) {
  Rng rng(42);
  return make_shape(shape, tasks, true, rng);
}

/// Runs that check every task's predecessors, and their findings.
class Watch {
 public:
  explicit Watch(const Dag& graph) : graph_(graph), runs_(graph.order.size()), done_(graph.order.size()) {}
  void operator()(TaskId task) const {
    runs_[at(task)].fetch_add(1);
    for (const TaskId before : graph_.predecessors[task]) early_.fetch_add(done_[at(before)].load() ? 0 : 1);
    double x = task;
    for (int i = 0; i < 50; ++i) x = std::sqrt(x + i);
    done_[at(task)].store(x >= 0);
  }
  int early() const { return early_.load(); }
  Index once() const {
    return std::ranges::count_if(runs_, [](const auto& runs) { return runs.load() == 1; });
  }
  int ran(TaskId task) const { return runs_[at(task)].load(); }

 private:
  static std::size_t at(TaskId task) { return static_cast<std::size_t>(task); }
  const Dag& graph_;
  mutable std::vector<std::atomic<int>> runs_;
  mutable std::vector<std::atomic<bool>> done_;
  mutable std::atomic<int> early_{0};
};

TEST_P(ThreadedExecutor, RunsEveryTaskOnceAfterItsPredecessors) {
  for (const auto kind :
       {DagShape::layered_random, DagShape::chain, DagShape::wavefront, DagShape::inception}) {
    const WeightedDag made = shape(kind, 700);
    for (const int threads : {1, 2, 3, 7}) {
      const Executor run = make(made, threads);
      for (int call = 0; call < 3; ++call) {
        const Watch watch(made.dag);
        run(TaskBody(watch));
        EXPECT_EQ(watch.early(), 0) << threads << " threads, call " << call;
        EXPECT_EQ(watch.once(), 700) << threads << " threads, call " << call;
      }
    }
  }
}

TEST_P(ThreadedExecutor, TakesTasksWithoutAnyOrder) {
  const WeightedDag made{make_dag(300, {}), std::vector<double>(300, 1)};
  const Watch watch(made.dag);
  make(made, 2)(TaskBody(watch));
  EXPECT_EQ(watch.once(), 300);
}

// Each task waits for the other one to begin: on one thread the first would wait for ever.
TEST_P(ThreadedExecutor, RunsIndependentTasksAtTheSameTime) {
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "TBB starts no more threads than there are cores";
  const WeightedDag made{make_dag(2, {}), std::vector<double>(2, 1)};
  const Executor run = make(made, 2);
  for (int call = 0; call < 3; ++call) {
    std::atomic<int> begun{0};
    const auto meet = [&](TaskId) {
      begun.fetch_add(1);
      while (begun.load() < 2) relax();
    };
    run(TaskBody(meet));
    EXPECT_EQ(begun.load(), 2);
  }
}

TEST_P(ThreadedExecutor, ThrowsToTheCallerWhatATaskThrows) {
  for (const auto kind : {DagShape::layered_random, DagShape::chain, DagShape::wavefront}) {
    const WeightedDag made = shape(kind, 200);
    for (const int threads : {1, 2, 3}) {
      const Executor run = make(made, threads);
      const TaskId guilty = made.dag.order[100];
      const auto body = [&](TaskId task) {
        if (task == guilty) throw std::runtime_error("task 100 of the order");
      };
      for (int call = 0; call < 3; ++call) {
        try {
          run(TaskBody(body));
          ADD_FAILURE() << "nothing was thrown";
        } catch (const std::runtime_error& error) {
          EXPECT_STREQ(error.what(), "task 100 of the order");
        }
      }
    }
  }
}

TEST_P(ThreadedExecutor, LeavesOutWhatDependsOnATaskThatThrew) {
  const WeightedDag made = shape(DagShape::chain, 50);
  for (const int threads : {1, 2}) {
    const Watch watch(made.dag);
    const TaskId guilty = made.dag.order[20];
    const auto body = [&](TaskId task) {
      watch(task);
      if (task == guilty) throw 1;
    };
    EXPECT_THROW(make(made, threads)(TaskBody(body)), int);
    EXPECT_EQ(watch.once(), 21);
    EXPECT_EQ(watch.ran(made.dag.order[21]), 0);
  }
}

TEST_P(ThreadedExecutor, RunsAgainAfterAnException) {
  const WeightedDag made = shape(DagShape::wavefront, 150);
  for (const int threads : {1, 2, 3}) {
    const Executor run = make(made, threads);
    for (int call = 0; call < 3; ++call) {
      const auto every = [&](TaskId) { throw 1; };
      EXPECT_THROW(run(TaskBody(every)), int);
      const Watch watch(made.dag);
      run(TaskBody(watch));
      EXPECT_EQ(watch.once(), 150);
      EXPECT_EQ(watch.early(), 0);
    }
  }
}

TEST_P(ThreadedExecutor, EndsWhenEveryTaskThrows) {
  const WeightedDag made{make_dag(64, {}), std::vector<double>(64, 1)};
  const auto every = [&](TaskId task) { throw task; };
  EXPECT_THROW(make(made, 3)(TaskBody(every)), TaskId);
}

/// The order in which one thread runs 0 -> 1 beside 0 -> 2 -> 3.
std::vector<TaskId> order_of(Maker* make) {
  const Dag graph = make_dag(4, std::vector<Edge>{{0, 1}, {0, 2}, {2, 3}});
  std::vector<TaskId> order;
  const auto body = [&](TaskId task) { order.push_back(task); };
  make(graph, std::vector<double>(4, 1), 1)(TaskBody(body));
  return order;
}

TEST(ListScheduling, TakesTheLongestPathFirst) {
  // 1 and 3 are as urgent; 1 stands before 3 in the order of the graph.
  EXPECT_THAT(order_of(list_scheduling), ::testing::ElementsAre(0, 2, 1, 3));
}

TEST(WorkStealing, GoesOnWithTheMostUrgentSuccessorAndItsOwn) {
  EXPECT_THAT(order_of(work_stealing), ::testing::ElementsAre(0, 2, 3, 1));
}

TEST(Levels, FinishALevelBeforeTheNext) { EXPECT_THAT(order_of(levels), ::testing::ElementsAre(0, 1, 2, 3)); }

INSTANTIATE_TEST_SUITE_P(TaskGraph, ThreadedExecutor, ::testing::ValuesIn(makers()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace assay::task_graph
