#include "core/machine/clock.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

using namespace std::chrono_literals;

TEST(SystemSeconds, AreThoseThatTheLibraryShows) {
  const auto shown = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  const double before = shown(), asked = system_seconds(CLOCK_MONOTONIC), after = shown();
  EXPECT_LE(before, asked);
  EXPECT_LE(asked, after);
}

TEST(Ticks, AreAsSteadyAsTheClockOfTheSystem) {
  const auto rate = [] {
    const double start = system_seconds(CLOCK_MONOTONIC);
    const std::uint64_t first = ticks();
    while (system_seconds(CLOCK_MONOTONIC) - start < 0.01) {
    }
    return static_cast<double>(ticks() - first) / (system_seconds(CLOCK_MONOTONIC) - start);
  };
  const double first = rate();
  EXPECT_NEAR(rate() / first, 1, 0.02);
}

TEST(Date, IsReadAndWrittenAsIso) {
  const auto date = date_from("2026-10-01");
  ASSERT_TRUE(date);
  EXPECT_EQ(*date, Date(std::chrono::year_month_day(2026y, std::chrono::October, 1d)));
  EXPECT_EQ(date_text(*date), "2026-10-01");
  EXPECT_EQ(date_text(*date - std::chrono::days(1)), "2026-09-30");
}

TEST(Date, KnowsLeapYears) {
  EXPECT_TRUE(date_from("2028-02-29"));
  EXPECT_FALSE(date_from("2026-02-29"));
  EXPECT_FALSE(date_from("2100-02-29"));
}

TEST(Date, IsNothingWhenThereIsNoSuchDay) {
  for (const char* text : {"", "2026-10", "2026-13-01", "2026-00-01", "2026-01-00", "2026-04-31", "2026-4-01",
                           "2026/04/01", "2026-04-01 ", "-026-04-01", "+026-04-01", "2026-04-0x", "soon"}) {
    EXPECT_FALSE(date_from(text)) << text;
  }
}

}  // namespace
}  // namespace assay
