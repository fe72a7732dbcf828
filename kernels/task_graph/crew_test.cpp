#include "task_graph/crew.hpp"

#include <gtest/gtest.h>

#include <array>

namespace assay::task_graph {
namespace {

TEST(ThreadedCrew, IsTheCallerAloneWithOneThread) {
  Crew crew(1);
  const auto caller = std::this_thread::get_id();
  int calls = 0;
  crew.run([&](int member) {
    ++calls;
    EXPECT_EQ(member, 0);
    EXPECT_EQ(std::this_thread::get_id(), caller);
  });
  EXPECT_EQ(calls, 1);
}

TEST(ThreadedCrew, EndsWithoutEverHavingRun) {
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Crew(4).members(), 4);
}

// The caller stays until the others have entered, so all of them have to be woken.
TEST(ThreadedCrew, BringsEveryMemberOnceWhileARunIsOpen) {
  Crew crew(3);
  for (int run = 0; run < 5; ++run) {
    std::array<std::atomic<int>, 3> calls{};
    crew.run([&](int member) {
      calls[static_cast<std::size_t>(member)].fetch_add(1);
      while (calls[1].load() + calls[2].load() < 2) relax();
    });
    for (const auto& count : calls) EXPECT_EQ(count.load(), 1) << "run " << run;
  }
}

// Some threads arrive in time and others do not, as it comes.
TEST(ThreadedCrew, HasNobodyInsideOnceARunIsOver) {
  Crew crew(4);
  std::atomic<int> inside{0};
  int plain = 0;  // for ThreadSanitizer: what a run leaves behind is the caller's
  std::atomic<bool> written{false};
  for (int run = 0; run < 2000; ++run) {
    written.store(false);
    crew.run([&](int) {
      inside.fetch_add(1);
      if (!written.exchange(true)) ++plain;
      inside.fetch_sub(1);
    });
    ASSERT_EQ(inside.load(), 0) << "run " << run;
    ASSERT_EQ(plain, run + 1);
  }
}

}  // namespace
}  // namespace assay::task_graph
