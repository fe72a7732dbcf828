#include "app/progress.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string_view>
#include <vector>

namespace assay {
namespace {

TEST(Progress, TellsWhatIsLeftBeforeWhatRuns) {
  EXPECT_EQ(progress_line(12, 36, "process start 2 of 6"), "  12 s, about 40 s left  process start 2 of 6");
  EXPECT_EQ(progress_line(12, std::nullopt, "build"), "  12 s  build");
}

TEST(Progress, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(progress_line(3, std::nullopt, "a\x1b[2J\nb"), "   3 s  a\\x1b[2J b");
}

TEST(Progress, TellsNothingOfWhatEndsWithinFiveSeconds) {
  EXPECT_EQ(progress_line(3, 1.5, "check"), "   3 s  check");
  EXPECT_EQ(progress_line(4, 1.5, "check"), "   4 s, about 2 s left  check");
}

TEST(Progress, GuessesNothingInTheFirstTwoSeconds) {
  EXPECT_EQ(progress_line(1, 300, "check"), "   1 s  check");
}

// A quarter of the whole is over before this part, and a quarter follows it.
TEST(Progress, CountsSharesOfAPartAsSharesOfTheWhole) {
  std::vector<std::optional<double>> heard;
  const Hooks whole{.progress = [&](std::string_view, std::optional<double> done) { heard.push_back(done); }};
  const Hooks part = whole.part(0.25, 0.75);
  part.say("begins", 0);
  part.part(0.5, 1).say("half of its half", 0.5);
  part.say("unknown");
  part.part(0.5, 0.5).say("of no width", 0.7);
  ASSERT_EQ(heard.size(), 4U);
  EXPECT_DOUBLE_EQ(*heard[0], 0.25);
  EXPECT_DOUBLE_EQ(*heard[1], 0.625);
  EXPECT_FALSE(heard[2]);
  EXPECT_DOUBLE_EQ(*heard[3], 0.5);
}

TEST(Progress, OfAPartStopsWhereTheWholeDoes) {
  bool stop = false;
  const Hooks whole{.progress = [](std::string_view, std::optional<double>) {}, .stop = [&] { return stop; }};
  const Hooks part = whole.part(0, 1);
  EXPECT_FALSE(part.stopped());
  stop = true;
  EXPECT_TRUE(part.stopped());
}

}  // namespace
}  // namespace assay
