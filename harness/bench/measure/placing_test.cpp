#include "bench/measure/placing.hpp"

#include "core/files/processor_set.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace assay {
namespace {

std::vector<int> cores_of(int thread) {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(thread, sizeof set, &set);
  std::vector<int> out;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(static_cast<std::size_t>(i), &set)) out.push_back(i);
  return out;
}

/// Runs `test` in a thread of its own: the other tests keep their cores.
template <class Test>
void elsewhere(const Test& test) {
  std::thread(test).join();
}

/// Uses processor time for as long as a scheduler's clock needs to see it.
void work_a_while() {
  volatile double sum = 1;
  for (int i = 0; i < 200'000; ++i) sum = sum * 0.999 + 1;
}

/// A thread that works when it is asked to, as those of a pool do.
class Helper {
 public:
  Helper() : thread_([this] { serve(); }) {
    while (id_ == 0) std::this_thread::yield();
  }
  ~Helper() {
    ask(leave);
    thread_.join();
  }
  void work() {
    ask(do_work);
    while (asked_ != nothing) std::this_thread::yield();
  }
  int id() const { return id_; }

 private:
  enum Wish { nothing, do_work, leave };
  void ask(Wish wish) {
    asked_ = wish;
    asked_.notify_one();
  }
  void serve() {
    id_ = gettid();
    for (;;) {
      asked_.wait(nothing);
      if (asked_ == leave) return;
      work_a_while();
      asked_ = nothing;
    }
  }
  std::atomic<int> id_{0};
  std::atomic<Wish> asked_{nothing};
  std::thread thread_;
};

TEST(Placing, GivesOneThreadItsCoreBeforeItWorks) {
  elsewhere([] {
    const int core = cores_of(0).back();
    std::vector<int> seen;
    EXPECT_EQ(Placing(core).place(1, [&] { seen = cores_of(0); }), 1);
    EXPECT_EQ(seen, std::vector<int>{core});
  });
}

TEST(Placing, GivesEachThreadOfATeamACoreOnceTheyHaveWorked) {
  elsewhere([] {
    const std::vector<int> all = cores_of(0);
    if (all.size() < 2) GTEST_SKIP() << "there is one core";
    Helper idle, helper;
    std::vector<int> seen;
    EXPECT_EQ(Placing(all[1]).place(2,
                                    [&] {
                                      seen = cores_of(0);
                                      helper.work();
                                    }),
              2);
    EXPECT_EQ(seen, all) << "before it is known who works";
    EXPECT_EQ(cores_of(0), std::vector<int>{all[1]});
    EXPECT_EQ(cores_of(helper.id()).size(), 1U);
    EXPECT_NE(cores_of(helper.id()), cores_of(0));
    EXPECT_EQ(cores_of(idle.id()), all) << "which had no part in it";
  });
}

TEST(Placing, GivesMoreThreadsThanThereAreProcessorsTheseInTurn) {
  elsewhere([] {
    const std::vector<int> all = cores_of(0);
    if (all.size() < 2) GTEST_SKIP() << "there is one core";
    ProcessorSet({all[0], all[1]}).give_to(0);
    std::array<Helper, 3> helpers;
    EXPECT_EQ(Placing(all[0]).place(4,
                                    [&] {
                                      for (Helper& one : helpers) one.work();
                                    }),
              2);
    std::vector<int> threads_on(static_cast<std::size_t>(all[1]) + 1);
    for (const Helper& one : helpers) {
      const std::vector<int> its = cores_of(one.id());
      ASSERT_EQ(its.size(), 1U);
      ++threads_on.at(static_cast<std::size_t>(its[0]));
    }
    EXPECT_EQ(threads_on[static_cast<std::size_t>(all[0])], 1) << "beside the calling one";
    EXPECT_EQ(threads_on[static_cast<std::size_t>(all[1])], 2);
  });
}

TEST(Placing, PinsNobodyWhereThreadsDoNotOutliveTheCall) {
  elsewhere([] {
    const std::vector<int> all = cores_of(0);
    const Placing placing(all.front());
    placing.place(1, [] {});
    EXPECT_EQ(placing.place(2, [] { std::thread(work_a_while).join(); }), 0);
    EXPECT_EQ(cores_of(0), all);
  });
}

}  // namespace
}  // namespace assay
