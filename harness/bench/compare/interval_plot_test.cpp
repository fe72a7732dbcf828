#include "bench/compare/pull_request.hpp"

#include "core/text/utf8.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// Between the logarithms of 0.8 and 1.25 are 42 columns: 1.05 lies in the 26th, 0.85 in the 6th.
TEST(IntervalPlot, DrawsRatiosAroundOneOnAScale) {
  EXPECT_THAT(interval_plot({{"gemm/simd/m=1#1", {1.05, 1.1, 1.25, 0.95}},
                             {"gemm/packed/m=1#1", {0.8, 0.85, 0.9, 0.95}}}),
              ElementsAre("time now / time before               0.8x     0.9x       1x      1.1x      1.25x",
                          "gemm/simd/m=1#1                                           │    ├───●───────────┤",
                          "gemm/packed/m=1#1                    ├─────●────┤         │"));
}

TEST(IntervalPlot, FitsEightyColumnsWhateverTheNames) {
  const std::string hostile = "a|`b\n\x1b[31m@me\xff" + std::string(10'000, 'x') + "/m=256#2";
  const auto lines = interval_plot({{hostile, {0.001, 1, 1000, 0.95}}, {"µµ", {1.04, 1.05, 1.06, 0.95}}});
  ASSERT_THAT(lines, SizeIs(3));
  for (const std::string& line : lines) {
    EXPECT_LE(display_width(line), 80U) << line;
    EXPECT_THAT(line, Not(HasSubstr("\x1b")));
    EXPECT_THAT(line, Not(HasSubstr("\n")));
  }
  EXPECT_THAT(lines[1], StartsWith(R"(a|`b \x1b[31m@me\x…xxx)"));
  EXPECT_THAT(lines[1], HasSubstr("/m=256#2 ◂──"));
  EXPECT_THAT(lines[1], EndsWith("▸"));
}

TEST(IntervalPlot, LeavesOutWhatHasNoInterval) {
  EXPECT_THAT(interval_plot({}), IsEmpty());
  EXPECT_THAT(interval_plot({{"a", {0, 0, 0, 0}}, {"b", {1, 2, std::numeric_limits<double>::infinity(), 1}}}),
              IsEmpty());
}

}  // namespace
}  // namespace assay
