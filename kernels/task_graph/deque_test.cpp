#include "task_graph/deque.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace assay::task_graph {
namespace {

constexpr TaskId none = Deque::none;

template <Sharing sharing>
void expect_a_stack_with_two_ends() {
  Deque deque(4);
  EXPECT_EQ(deque.pop<sharing>(), none);
  EXPECT_EQ(deque.steal(), none);
  for (const TaskId task : {10, 11, 12}) deque.push<sharing>(task);
  EXPECT_EQ(deque.pop<sharing>(), 12);
  EXPECT_EQ(deque.steal(), 10);
  EXPECT_FALSE(deque.looks_empty());
  EXPECT_EQ(deque.pop<sharing>(), 11);
  EXPECT_EQ(deque.pop<sharing>(), none);
  EXPECT_EQ(deque.steal(), none);
  EXPECT_TRUE(deque.looks_empty());
  deque.push<sharing>(13);
  EXPECT_EQ(deque.steal(), 13);
  deque.reset();
  for (const TaskId task : {1, 2, 3, 4}) deque.push<sharing>(task);
  EXPECT_EQ(deque.steal(), 1);
}

TEST(Deque, IsAStackForItsOwnerAndAQueueForOthers) {
  expect_a_stack_with_two_ends<Sharing::shared>();
  expect_a_stack_with_two_ends<Sharing::alone>();
}

// The owner keeps it nearly empty, so both threads often want the last task.
TEST(ThreadedDeque, GivesEveryTaskToExactlyOneThread) {
  constexpr TaskId tasks = 20000;
  Deque deque(tasks);
  std::vector<std::atomic<int>> taken(tasks);
  const auto take = [&](TaskId task) {
    if (task != none) taken[static_cast<std::size_t>(task)].fetch_add(1);
  };
  std::atomic<bool> over{false};
  std::vector<std::thread> thieves;
  for (int i = 0; i < 2; ++i) {
    thieves.emplace_back([&] {
      while (!over.load()) take(deque.steal());
    });
  }
  for (TaskId task = 0; task < tasks; ++task) {
    deque.push<Sharing::shared>(task);
    if (task % 3 > 0) take(deque.pop<Sharing::shared>());
  }
  for (TaskId task = 0; task != none; take(task)) task = deque.pop<Sharing::shared>();
  over.store(true);
  for (std::thread& thief : thieves) thief.join();
  take(deque.steal());
  for (TaskId task = 0; task < tasks; ++task) ASSERT_EQ(taken[static_cast<std::size_t>(task)], 1) << task;
}

}  // namespace
}  // namespace assay::task_graph
