#include "assay/ops/memory_pool.hpp"

#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace assay::memory_pool_test {
namespace {

using memory_pool::Draft;
using memory_pool::fault_by_pairs;
using memory_pool::fault_by_sweep;
using memory_pool::Plan;
using memory_pool::Request;
using ::testing::Contains;
using ::testing::HasSubstr;

/// The answer, which both oracles must give.
bool valid(const std::vector<Request>& requests, const std::vector<Index>& offsets, Index pool) {
  const Plan plan{requests, offsets, pool};
  const bool by_pairs = !fault_by_pairs(plan);
  EXPECT_EQ(by_pairs, !fault_by_sweep(plan));
  return by_pairs;
}

TEST(MemoryPool, TakesBlocksThatTouchInSpaceOrInTime) {
  EXPECT_TRUE(valid({{64, 0, 9}, {64, 0, 9}}, {0, 64}, 128));
  EXPECT_TRUE(valid({{64, 0, 5}, {64, 5, 9}}, {0, 0}, 64));
}

TEST(MemoryPool, RefusesAnOverlapOfOneByteInOneStep) {
  EXPECT_FALSE(valid({{65, 0, 6}, {64, 5, 9}}, {0, 64}, 128));
  EXPECT_FALSE(valid({{64, 5, 9}, {65, 0, 6}}, {64, 0}, 128));
}

TEST(MemoryPool, TakesAnEmptyList) { EXPECT_TRUE(valid({}, {}, 0)); }

TEST(MemoryPool, RefusesWhatIsNotInThePool) {
  constexpr Index most = std::numeric_limits<Index>::max(), least = std::numeric_limits<Index>::min();
  EXPECT_TRUE(valid({{100, 0, 1}}, {64}, 164));
  EXPECT_FALSE(valid({{100, 0, 1}}, {64}, 163));
  EXPECT_FALSE(valid({{100, 0, 1}}, {-64}, 164));
  EXPECT_FALSE(valid({{100, 0, 1}}, {most - most % 64}, 164));
  EXPECT_FALSE(valid({{100, 0, 1}}, {least}, 164));
  EXPECT_FALSE(valid({{100, 0, 1}}, {0}, 0));
}

TEST(MemoryPool, RefusesOffsetsBetweenMultiplesOf64) {
  for (const Index offset : {1, 8, 32, 63, 65}) EXPECT_FALSE(valid({{1, 0, 1}}, {offset}, 999)) << offset;
}

// The two plans by which the published shortcuts were refuted.
TEST(MemoryPool, RefusesAClashAcrossABlockBetweenInTime) {
  // A = [0, 100) x [0, 10), B = [10, 20) x [20, 30), C = [30, 40) x [0, 10), on offsets that are multiples
  // of 64.
  EXPECT_FALSE(valid({{6400, 0, 10}, {640, 20, 30}, {640, 0, 10}}, {0, 640, 1920}, 6400));
}

TEST(MemoryPool, RefusesTwinsWithAThirdBetween) {
  EXPECT_FALSE(valid({{64, 0, 10}, {64, 0, 10}, {64, 0, 10}}, {0, 128, 0}, 192));
}

TEST(MemoryPool, BoundsHeightsByBytesAliveWithHalfOpenLives) {
  // Steps 0 and 1: 100. Step 2: 64 for the block of 30, and 7 on top of it. Step 3: 30.
  const std::vector<Request> requests{{100, 0, 2}, {30, 2, 4}, {7, 2, 3}};
  EXPECT_EQ(memory_pool::least_height(requests), 100);
  // Two that live together: 64 and 65 on top are less than 128 and 64.
  EXPECT_EQ(memory_pool::least_height(std::vector<Request>{{65, 0, 1}, {64, 0, 1}}), 129);
  EXPECT_EQ(memory_pool::least_height({}), 0);
}

TEST(MemoryPool, PlacesByBestFit) {
  // The pool grows to 256 bytes; two gaps of 128 and 64 open at step 2, and the last request takes the
  // smaller.
  const std::vector<Request> requests{{128, 0, 2}, {1, 0, 9}, {64, 0, 2}, {64, 2, 9}};
  const auto [offsets, pool] = memory_pool::place_by_best_fit(requests);
  EXPECT_THAT(offsets, ::testing::ElementsAre(0, 128, 192, 192));
  EXPECT_EQ(pool, 256);
}

/// All drafts of a list of requests.
std::vector<Draft> drafts(Index blocks, Index pattern, std::uint64_t seed) {
  Setting setting{.rng = Rng(seed)};
  const auto requests = memory_pool::make_requests(blocks, pattern, setting);
  return memory_pool::drafts(requests, true, setting.rng);
}

bool valid(const Draft& draft) { return valid(draft.requests, draft.offsets, draft.pool); }

TEST(MemoryPoolOracles, AgreeOnEveryMutantOfEveryPattern) {
  int plans = 0, invalid = 0;
  for (Index pattern = 0; pattern < 3; ++pattern) {
    for (const Index blocks : {1, 2, 3, 5, 8, 20, 50, 150}) {
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        for (const Draft& draft : drafts(blocks, pattern, seed)) {
          ++plans;
          invalid += valid(draft) ? 0 : 1;
        }
      }
    }
  }
  EXPECT_GT(invalid, plans / 4);
  EXPECT_GT(plans - invalid, plans / 4);
}

// Blocks so few and so crowded that every way of touching and overlapping comes up.
TEST(MemoryPoolOracles, AgreeOnCrowdedRandomPlans) {
  Rng rng(3);
  int valid_ones = 0;
  for (int attempt = 0; attempt < 20'000; ++attempt) {
    std::vector<Request> requests(static_cast<std::size_t>(rng.integer(0, 6)));
    std::vector<Index> offsets;
    for (Request& r : requests) {
      const Index start = rng.integer(0, 5);
      r = {.bytes = 64 * rng.integer(1, 3) + rng.integer(-1, 1),
           .start = start,
           .end = start + rng.integer(1, 3)};
      offsets.push_back(64 * rng.integer(0, 9));
    }
    valid_ones += valid(requests, offsets, 64 * 12) ? 1 : 0;
  }
  EXPECT_GT(valid_ones, 2'000);
  EXPECT_LT(valid_ones, 18'000);
}

TEST(MemoryPoolDrafts, AreValidOrNotAsTheyWereMeant) {
  for (Index pattern = 0; pattern < 3; ++pattern) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const auto made = drafts(200, pattern, seed);
      ASSERT_EQ(made.size(), static_cast<std::size_t>(1 + memory_pool::mutations));
      // The plan itself; two that were published; five that are valid by a little; thirteen that break one
      // rule.
      for (const std::size_t i : {0U, 3U, 4U, 5U, 6U, 7U}) EXPECT_TRUE(valid(made[i])) << made[i].what;
      for (const std::size_t i : {1U, 2U, 8U, 9U, 10U, 11U, 12U, 13U, 14U, 15U, 16U, 17U, 18U, 19U, 20U}) {
        if (std::string_view(made[i].what).ends_with("used again")) continue;  // not those of each block are
        EXPECT_FALSE(valid(made[i])) << made[i].what;
      }
    }
  }
}

TEST(MemoryPoolDrafts, LetSomeBlockLiveOneStepTooLong) {
  int broken = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const Draft& draft : drafts(200, 1, seed)) {
      if (draft.what == "a block lives one step too long, if its bytes are used again") {
        broken += valid(draft) ? 0 : 1;
      }
    }
  }
  EXPECT_GE(broken, 5);
}

using Validator = bool (*)(const Plan&);

/// A validator with its fault, alone, on 60 blocks of each pattern.
std::vector<std::string> complaints(Validator answer) {
  Registry registry;
  const auto prepare = [answer](const auto&, const auto&, const Context&) {
    return [answer](const MemoryPoolValidate::Input& in, MemoryPoolValidate::Output& out) {
      for (Index i = 0; i < in.plans.size(); ++i) out.valid[i] = answer(in.plan(i)) ? 1 : 0;
    };
  };
  registry.add<MemoryPoolValidate>({.name = "naive", .prepare = prepare});
  std::vector<std::string> out;
  for (const char* pattern : {"nested", "short", "clipped"}) {
    const auto workload = registry.at(MemoryPoolValidate::name)
                              .open("blocks=60,pattern=" + std::string(pattern), {.rng = Rng(5)});
    const Agreement outcome = workload->check(0, {});
    if (!outcome.agrees) out.push_back(outcome.detail);
  }
  return out;
}

/// All pairs with other rules: what a validator in a hurry might take for an overlap.
template <class Alone, class Clash>
bool all_pairs(const Plan& plan, const Alone& alone, const Clash& clash) {
  for (std::size_t i = 0; i < plan.requests.size(); ++i) {
    if (!alone(plan.requests[i], plan.offsets[i], plan.pool)) return false;
    for (std::size_t j = 0; j < i; ++j) {
      const Request &a = plan.requests[i], &b = plan.requests[j];
      if (clash(a.start, a.end, b.start, b.end) &&
          clash(plan.offsets[i], plan.offsets[i] + a.bytes, plan.offsets[j], plan.offsets[j] + b.bytes)) {
        return false;
      }
    }
  }
  return true;
}
bool in_pool(const Request& r, Index offset, Index pool) {
  return offset >= 0 && offset % 64 == 0 && offset <= pool - r.bytes;
}
bool half_open(Index a, Index a_end, Index b, Index b_end) { return a < b_end && b < a_end; }

/// One block that changes alone shows who trusts what was said of the plan before.
TEST(MemoryPoolDrafts, LetABlockThatChangesAloneReachIntoAnother) {
  int all = 0, invalid = 0;
  for (Index pattern = 0; pattern < static_cast<Index>(memory_pool::Pattern::trace); ++pattern) {
    const MemoryPoolValidate::Problem p{.blocks = 100, .pattern = pattern, .plans = 1};
    Setting setting{.rng = Rng(42)};
    MemoryPoolValidate::Input in = MemoryPoolValidate::make_input(p, setting);
    setting.alone = true;
    for (Index at = 0; at < in.requests.size(); ++at, ++all) {
      const memory_pool::Request kept = in.requests[at];
      MemoryPoolValidate::salt(p, in, "requests", at, in.requests[at], setting);
      EXPECT_EQ(in.requests[at].start, kept.start);
      if (MemoryPoolValidate::expect(p, in, setting).valid[0] == 0) ++invalid;
      in.requests[at] = kept;
    }
  }
  EXPECT_GT(2 * invalid, all);
}

TEST(MemoryPoolJudge, AcceptsAllPairsWrittenElsewhere) {
  EXPECT_THAT(complaints([](const Plan& plan) { return all_pairs(plan, in_pool, half_open); }),
              ::testing::IsEmpty());
}

TEST(MemoryPoolJudge, ObjectsToOneAnswerForAll) {
  EXPECT_THAT(complaints([](const Plan&) { return true; }), ::testing::SizeIs(3));
  EXPECT_THAT(complaints([](const Plan&) { return false; }), ::testing::SizeIs(3));
}

TEST(MemoryPoolJudge, ObjectsToClosedIntervals) {
  const auto found = complaints([](const Plan& plan) {
    return all_pairs(plan, in_pool,
                     [](Index a, Index a_end, Index b, Index b_end) { return a <= b_end && b <= a_end; });
  });
  EXPECT_THAT(found, ::testing::SizeIs(3));
}

TEST(MemoryPoolJudge, ObjectsToAForgottenAlignment) {
  const auto found = complaints([](const Plan& plan) {
    return all_pairs(
        plan,
        [](const Request& r, Index offset, Index pool) { return offset >= 0 && offset <= pool - r.bytes; },
        half_open);
  });
  EXPECT_THAT(found, ::testing::SizeIs(3));
  EXPECT_THAT(found, Contains(HasSubstr("does not start at a multiple of 64")));
}

TEST(MemoryPoolJudge, ObjectsToAForgottenPool) {
  const auto found = complaints([](const Plan& plan) {
    return all_pairs(
        plan,
        [](const Request&, Index offset, Index) {
          return offset >= 0 && offset < 1 << 30 && offset % 64 == 0;
        },
        half_open);
  });
  EXPECT_THAT(found, ::testing::SizeIs(3));
  EXPECT_THAT(found, Contains(HasSubstr("not inside the pool")));
}

TEST(MemoryPoolJudge, ObjectsToAPairThatIsLeftOut) {
  const auto found = complaints([](const Plan& plan) {
    const std::size_t count = plan.requests.size();
    if (count < 2) return !fault_by_pairs(plan);
    // Without the first block, and without the last: only what these two do to each other is missed.
    const Plan tail{plan.requests.subspan(1), plan.offsets.subspan(1), plan.pool};
    return !fault_by_pairs(tail);
  });
  EXPECT_THAT(found, ::testing::Not(::testing::IsEmpty()));
}

TEST(MemoryPoolJudge, NamesThePlanAndTheBlocks) {
  const auto found = complaints([](const Plan& plan) { return plan.requests.size() != 61; });
  ASSERT_THAT(found, ::testing::SizeIs(3));
  EXPECT_THAT(found[0], HasSubstr("valid[1] is 1, expected 0: published: [0, 100), "));
  EXPECT_THAT(found[0], HasSubstr("block 0 (6400 B at 0, steps [0, 10)) and block 2 (640 B at 1920"));
  EXPECT_THAT(found[0], HasSubstr("of 29 answers are wrong"));
}

}  // namespace
}  // namespace assay::memory_pool_test
