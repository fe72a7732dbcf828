#include "core/text/figures.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace assay {
namespace {

TEST(Figure, HasThreeSignificantDigits) {
  EXPECT_EQ(figure(0), "0");
  EXPECT_EQ(figure(0.0012345), "0.00123");
  EXPECT_EQ(figure(1), "1.00");
  EXPECT_EQ(figure(61.24), "61.2");
  EXPECT_EQ(figure(412.4), "412");
  EXPECT_EQ(figure(1234), "1,230");
  EXPECT_EQ(figure(1234567), "1,230,000");
  EXPECT_EQ(figure(-61.24), "-61.2");
}

TEST(Figure, RoundsBeforeItCountsDigits) {
  EXPECT_EQ(figure(9.996), "10.0");
  EXPECT_EQ(figure(999.6), "1,000");
}

TEST(Figure, IsUnknownWhereThereIsNone) {
  EXPECT_EQ(figure(std::numeric_limits<double>::quiet_NaN()), "unknown");
  EXPECT_EQ(figure(std::numeric_limits<double>::infinity()), "unknown");
}

TEST(CountText, SeparatesThousands) {
  EXPECT_EQ(count_text(std::int64_t{4096}), "4,096");
  EXPECT_EQ(count_text(std::int64_t{1048576}), "1,048,576");
  EXPECT_EQ(count_text(std::int64_t{999}), "999");
}

TEST(SecondsText, ChoosesTheUnit) {
  EXPECT_EQ(seconds_text(412e-6), "412 µs");
  EXPECT_EQ(seconds_text(18.9e-3), "18.9 ms");
  EXPECT_EQ(seconds_text(1.5), "1.50 s");
  EXPECT_EQ(seconds_text(3e-9), "3.00 ns");
  EXPECT_EQ(seconds_text(1e-6), "1.00 µs");
}

TEST(SecondsText, RoundsBeforeItChoosesTheUnit) { EXPECT_EQ(seconds_text(999.6e-9), "1.00 µs"); }

TEST(SecondsText, GivesAnIntervalTheUnitOfItsMiddle) {
  EXPECT_EQ(seconds_text(Interval{0.9996e-3, 1.02e-3, 1.5e-3, 0.95}), "1.02 ms [1.00, 1.50]");
  EXPECT_EQ(seconds_text(Interval{990e-6, 1.02e-3, 1.5e-3, 0.95}), "1.02 ms [0.990, 1.50]");
}

TEST(SpeedupText, CallsAWholeIntervalBelowOneSlower) {
  EXPECT_EQ(speedup_text({6.68, 6.73, 6.79, 0.95}), "6.73x [6.68, 6.79]");
  EXPECT_EQ(speedup_text({0.78, 0.8, 0.82, 0.95}), "0.800x [0.780, 0.820] (slower)");
  EXPECT_EQ(speedup_text({0.95, 0.99, 1.02, 0.95}), "0.990x [0.950, 1.02]");
}

TEST(PercentText, IsOfOne) {
  EXPECT_EQ(percent_text(0.7131), "71.3 %");
  EXPECT_EQ(percent_text(0.0088), "0.880 %");
  EXPECT_EQ(percent_text(0.9996), "100 %");
  EXPECT_EQ(percent_text(0), "0 %");
}

TEST(CountText, ShowsFractionsAsFigures) {
  EXPECT_EQ(count_text(576.0), "576");
  EXPECT_EQ(count_text(0.5), "0.500");
}

TEST(BytesText, UsesBinaryUnits) {
  EXPECT_EQ(bytes_text(65536), "64.0 KiB");
  EXPECT_EQ(bytes_text(1.5 * 0x1p20), "1.50 MiB");
  EXPECT_EQ(bytes_text(0x1p30), "1.00 GiB");
  EXPECT_EQ(bytes_text(1e12), "931 GiB");
}

TEST(FineSecondsText, HasTheDigitsThatItsIntervalResolves) {
  EXPECT_EQ(fine_seconds_text({1281.9, 1283.4, 1284.9}), "1,283.4 s [1,281.9, 1,284.9]");
  EXPECT_EQ(fine_seconds_text({105992, 106004, 106016}), "106,004 s [105,992, 106,016]");
  EXPECT_EQ(fine_seconds_text({0.2, 0.3, 0.4}), "300.0 ms [200.0, 400.0]");
  EXPECT_EQ(fine_seconds_text({3419, 3419, 3419}), "3,419 s");
}

}  // namespace
}  // namespace assay
