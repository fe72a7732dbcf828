#include "bench/measure/turns.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Batons, GiveUpOnASideThatNeverEndsItsTurn) {
  Board board{};
  Baton baton(board, 1, std::chrono::seconds(0));
  baton.step(0, 1, [] {});
  try {
    baton.step(1, 0, [] {});
    FAIL() << "the step before was never done";
  } catch (const Error& failure) {
    EXPECT_THAT(failure.what(), ::testing::HasSubstr("did not end its turn"));
  }
}

TEST(Batons, PassTheTurnOn) {
  Board board{};
  Baton first(board, 0), second(board, 1);
  int steps = 0;
  for (Baton* side : {&first, &second}) {
    side->step(0, 1, [&] { ++steps; });
    side->step(1, 0, [&] { ++steps; });
  }
  EXPECT_EQ(steps, 2);
  EXPECT_EQ(board.step.load(), 2U);
}

TEST(SliceSeeds, AreTheSameForAllSidesAndAnotherInEachSlice) {
  Board board{};
  const auto seen = [&](std::int64_t slice) { return SliceSeed(board, slice).value(); };
  const std::uint64_t first = seen(1);
  EXPECT_EQ(seen(1), first);
  const std::uint64_t second = seen(2);
  EXPECT_NE(second, first);
  EXPECT_EQ(seen(2), second);
}

TEST(SliceSeeds, AreNotOnTheBoardWhileAKernelRuns) {
  Board board{};
  for (int side = 0; side < 2; ++side) {
    const SliceSeed seed(board, 1);
    EXPECT_NE(board.seed, seed.value());
  }
}

}  // namespace
}  // namespace assay
