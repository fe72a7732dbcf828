#include "core/machine/limits.hpp"

#include "assay/machine.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Weather, ReadsTheLineOfAllProcessors) {
  const auto ticks = cpu_ticks("cpu  100 20 30 1000 50 1 2 40 7 7\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
  ASSERT_TRUE(ticks);
  EXPECT_EQ(ticks->busy, 153);  // 100 + 20 + 30 + 1 + 2; guests are part of user
  EXPECT_EQ(ticks->steal, 40);
  EXPECT_EQ(ticks->total, 1243);  // 153 + 40 + 1000 + 50
}

TEST(Weather, KnowsKernelsThatCountNoStealing) {
  const auto ticks = cpu_ticks("cpu 10 0 5 85\n");
  ASSERT_TRUE(ticks);
  EXPECT_EQ(ticks->busy, 15);
  EXPECT_EQ(ticks->total, 100);
}

TEST(Weather, RefusesOddStatistics) {
  for (const char* text : {"", "cpu", "cpu0 1 2 3 4 5", "cpu a b c d", "intr 1 2 3 4 5", "cpu 1 2 x 4"}) {
    EXPECT_FALSE(cpu_ticks(text)) << text;
  }
}

TEST(Weather, ReadsThePressureOfSomeTask) {
  EXPECT_DOUBLE_EQ(*pressure_seconds("some avg10=0.00 avg60=1.50 avg300=2.00 total=2500000\n"
                                     "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"),
                   2.5);
  for (const char* text : {"", "full total=1", "some avg10=0", "some total=x"}) {
    EXPECT_FALSE(pressure_seconds(text)) << text;
  }
}

TEST(Weather, CountsOurOwnTimeOutOfWhatOthersUse) {
  // 110 of 200 ticks were busy, half a second of that (50 ticks) ours, and 20 stolen.
  const auto shares =
      cpu_shares({.busy = 10, .steal = 0, .total = 100}, {.busy = 120, .steal = 20, .total = 300}, 0.5, 100);
  EXPECT_DOUBLE_EQ(shares.other_busy, 0.3);
  EXPECT_DOUBLE_EQ(shares.steal, 0.1);
}

TEST(Weather, NeverTellsOfNegativeShares) {
  const auto shares = cpu_shares({.busy = 10, .total = 100}, {.busy = 12, .total = 200}, 0.5, 100);
  EXPECT_EQ(shares.other_busy, 0);
  const auto none = cpu_shares({.total = 100}, {.total = 100}, 0, 100);
  EXPECT_EQ(none.steal, 0);
}

TEST(Weather, CanBeReadAnywhere) {
  const Weather weather = WeatherStation().since();
  EXPECT_GE(weather.seconds, 0);
  EXPECT_GE(weather.cpu_pressure_share, -1);
  EXPECT_LE(weather.steal_share, 1);
}

}  // namespace
}  // namespace assay
