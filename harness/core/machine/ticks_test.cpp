#include "core/machine/ticks.hpp"

#include "core/machine/clock.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

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

}  // namespace
}  // namespace assay
