#include "training/epoch/spread.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(LineFit, SplitsStartUpFromSteps) {
  const LineFit fit = fit_line({{50, 8}, {100, 13}, {200, 23}});
  EXPECT_EQ(fit.impossible, "");
  EXPECT_NEAR(fit.one_off, 3, 1e-9);
  EXPECT_NEAR(fit.period, 0.1, 1e-12);
  EXPECT_NEAR(fit.at(1000).middle, 103, 1e-9);
}

// One run: between its ends, b = (43 - 12) / 300 and A = 12 - 100 b, whatever happened at 200.
TEST(LineFit, OfOneRunGoesThroughItsEnds) {
  const LineFit fit = fit_line({{100, 12}, {200, 21}, {400, 43}});
  EXPECT_NEAR(fit.period, 31.0 / 300, 1e-12);
  EXPECT_NEAR(fit.one_off, 12 - 3100.0 / 300, 1e-9);
  EXPECT_EQ(fit.freedom, 1);
}

// Runs of their own: weights 1, 1/2, 1/4. Sums: w 1.75, wx 3, wxx 7, wy 4.875, wxy 10.5; determinant 3.25.
TEST(LineFit, OfSeveralRunsWeighsThemByTheirLength) {
  const LineFit fit = fit_line({{1, 2, true, 0}, {2, 3, true, 1}, {4, 5.5, true, 2}});
  EXPECT_NEAR(fit.period, (1.75 * 10.5 - 3 * 4.875) / 3.25, 1e-12);
  EXPECT_NEAR(fit.one_off, (7 * 4.875 - 3 * 10.5) / 3.25, 1e-12);
}

// One run: b = 22 / 200, A = 1. The stretches after the first take 10 and 12 s where the line says 11 each: a
// step's variance is 1 / 100 + 1 / 100, by one degree of freedom. The line at 300 is T(300), with the
// variance of 300 steps, and another epoch has the luck of its own 300. Student's 95 % quantile is 6.313752.
TEST(LineFit, HasAnIntervalFromWhatDoesNotFit) {
  const LineFit fit = fit_line({{100, 12}, {200, 22}, {300, 34}});
  EXPECT_NEAR(fit.step_variance, 0.02, 1e-12);
  const Interval epoch = fit.at(300);
  EXPECT_NEAR(epoch.middle, 34, 1e-9);
  EXPECT_NEAR(epoch.high - epoch.middle, 6.313752 * std::sqrt(0.02 * 600), 1e-4);
}

TEST(LineFit, OfTwoWindowsHasNoInterval) {
  const Interval epoch = fit_line({{100, 12}, {200, 22}}).at(1000);
  EXPECT_NEAR(epoch.middle, 102, 1e-9);
  EXPECT_EQ(epoch.coverage, 0);
}

TEST(LineFit, TakesThePeriodFromAWindowLaterInTheEpoch) {
  const LineFit fit = fit_line({{100, 12, true, 0}, {100, 10, false, 1}});
  EXPECT_NEAR(fit.period, 0.1, 1e-12);
  EXPECT_NEAR(fit.one_off, 2, 1e-9);
}

TEST(LineFit, SaysWhyItIsImpossible) {
  EXPECT_THAT(fit_line({}).impossible, HasSubstr("no window was timed"));
  EXPECT_THAT(fit_line({{100, 12, false, 0}, {200, 20, false, 1}}).impossible,
              HasSubstr("begins with step 0"));
  EXPECT_THAT(fit_line({{100, 12, true, 0}, {100, 13, true, 1}}).impossible, HasSubstr("equally long"));
  EXPECT_THAT(fit_line({{100, 12}, {100, 13}, {200, 20}}).impossible, HasSubstr("equally long"));
}

TEST(Stretches, AreCutFromAWindowOfSingleSteps) {
  TimedWindow window{.steps = 16, .wall_seconds = 16, .step_seconds = std::vector<double>(16, 1.0)};
  const std::vector<Stretch> cut = stretches_of({window});
  ASSERT_THAT(cut, SizeIs(8));
  EXPECT_EQ(cut[0].steps, 2);
  EXPECT_EQ(cut[7].seconds, 16);
  window.first_step = 5;
  const std::vector<Stretch> later = stretches_of({window});
  ASSERT_THAT(later, SizeIs(1));
  EXPECT_FALSE(later[0].from_start);
}

}  // namespace
}  // namespace assay
