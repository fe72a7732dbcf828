#include "bench/compare/judge.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

Interval about(double middle) { return {middle * 0.98, middle, middle * 1.02, 0.95}; }

Evidence evidence(double time, double beside_case, double beside_suite) {
  return {.launches_before = 6,
          .launches_after = 6,
          .time = about(time),
          .beside_case = about(beside_case),
          .beside_suite = about(beside_suite),
          .case_witness = "the naive variant of its case",
          .limit = 1.05,
          .plain_limit = 1.05};
}

TEST(Judge, CallsSlowerWhatAllWitnessesCallSlower) {
  const auto finding = judge(evidence(1.3, 1.3, 1.3));
  EXPECT_EQ(finding.standing, Standing::slower);
  EXPECT_THAT(finding.why, HasSubstr("time after / before 1.30 [1.27, 1.33]"));
  EXPECT_THAT(finding.why, HasSubstr("95 % over 6 and 6 process starts, limit 1.05"));
}

TEST(Judge, CallsFasterTheMirrorImage) {
  EXPECT_EQ(judge(evidence(1 / 1.3, 1 / 1.3, 1 / 1.3)).standing, Standing::faster);
}

TEST(Judge, DoesNotBlameTheCodeForASlowMachine) {
  EXPECT_EQ(judge(evidence(1.3, 1, 1)).standing, Standing::same);
}

TEST(Judge, SeesARegressionThatAFasterMachineHalfHides) {
  EXPECT_EQ(judge(evidence(1.1, 1.3, 1.3)).standing, Standing::slower);
}

TEST(Judge, IsUndecidedWhenOneWitnessDisagrees) {
  EXPECT_THAT(judge(evidence(1.3, 1, 1.3)).why, HasSubstr("the naive variant of its case moved with it"));
  EXPECT_EQ(judge(evidence(1.3, 1, 1.3)).standing, Standing::undecided);
  EXPECT_EQ(judge(evidence(1.3, 1.3, 1)).standing, Standing::same) << "only its own naive variant moved";
  EXPECT_THAT(judge(evidence(1, 1.3, 1.3)).why, HasSubstr("its own time hardly did"));
  EXPECT_EQ(judge(evidence(1, 1.3, 1.3)).standing, Standing::undecided);
}

TEST(Judge, NeedsTheWholeIntervalBeyondTheLimit) {
  const auto finding = judge(evidence(1.06, 1.06, 1.06));
  EXPECT_EQ(finding.standing, Standing::undecided);
  EXPECT_THAT(finding.why, HasSubstr("reaches across the limit"));
}

TEST(Judge, CallsNotSlowerWhatNoWitnessCallsSlower) {
  EXPECT_EQ(judge(evidence(0.95, 0.95, 0.95)).standing, Standing::not_slower);
  EXPECT_EQ(judge(evidence(1.3, 0.95, 0.95)).standing, Standing::not_slower) << "the machine was slower";
  EXPECT_EQ(judge(evidence(0.95, 1.3, 0.95)).standing, Standing::undecided);
  EXPECT_EQ(judge(evidence(1.04, 1.04, 1.04)).standing, Standing::undecided) << "it ends at 1.06";
  auto foreign = evidence(1.3, 1, 0.95);
  foreign.beside_case.reset();
  foreign.suite_is_naive = false;
  EXPECT_EQ(judge(foreign).standing, Standing::undecided) << "all moved alike";
  foreign.time = about(0.96);
  EXPECT_EQ(judge(foreign).standing, Standing::not_slower);
  foreign.beside_suite.reset();
  EXPECT_EQ(judge(foreign).standing, Standing::undecided) << "nothing was beside it";
}

TEST(Judge, BelievesNothingThatADriftMayHaveMoved) {
  auto seen = evidence(1.7, 1.7, 1.7);
  seen.drift = {2, "others used 80 % of the processors, 2 % before"};
  EXPECT_EQ(judge(seen).standing, Standing::probably_slower);
  EXPECT_THAT(judge(seen).why, HasSubstr("others used 80 % of the processors, 2 % before, and less than 2 "));
  auto faster = evidence(1 / 1.7, 1 / 1.7, 1 / 1.7);
  faster.drift = seen.drift;
  EXPECT_EQ(judge(faster).standing, Standing::undecided);
  auto slower = evidence(2.2, 2.2, 2.2);
  slower.drift = seen.drift;
  EXPECT_EQ(judge(slower).standing, Standing::slower);
  auto still = evidence(1, 1, 1);
  still.drift = seen.drift;
  EXPECT_EQ(judge(still).standing, Standing::same);
}

TEST(Judge, CallsNothingTheSameThatLeavesThePlainLimitHoweverFarItVaries) {
  auto varies = evidence(1, 1, 1);
  varies.limit = 1.25;
  EXPECT_EQ(judge(varies).standing, Standing::same);
  varies.beside_suite = Interval{0.9, 0.97, 1.04, 0.9};
  EXPECT_EQ(judge(varies).standing, Standing::not_slower);
  varies.beside_suite = Interval{0.9, 1, 1.12, 0.9};
  EXPECT_EQ(judge(varies).standing, Standing::undecided);
  EXPECT_THAT(judge(varies).why, HasSubstr("within what it varies by, which is more than 1.05 times"));
}

TEST(Judge, DecidesNothingFromTwoLaunches) {
  for (const double ratio : {0.3, 1.0, 3.0}) {
    auto few = evidence(ratio, ratio, ratio);
    few.launches_after = 2;
    EXPECT_EQ(judge(few).standing, Standing::undecided) << ratio;
    EXPECT_THAT(judge(few).why, HasSubstr("6 process starts before and 2 after are too few"));
  }
}

TEST(Judge, CallsNothingTheSameThatMovedWithTrialsThatMayHaveChangedAsWell) {
  auto foreign = evidence(1.3, 1, 1);
  foreign.beside_case.reset();
  foreign.suite_is_naive = false;
  EXPECT_EQ(judge(foreign).standing, Standing::undecided);
  EXPECT_THAT(judge(foreign).why, HasSubstr("all trials moved alike"));
  EXPECT_THAT(judge(foreign).why, HasSubstr("relative to the other trials 1.00"));
  foreign.time = about(1.03);
  EXPECT_EQ(judge(foreign).standing, Standing::same);
}

TEST(Judge, BelievesOnlyWhatIsNoDriftWithoutWitnesses) {
  auto alone = evidence(1.6, 1, 1);
  alone.beside_case.reset();
  alone.beside_suite.reset();
  EXPECT_EQ(judge(alone).standing, Standing::probably_slower);
  EXPECT_THAT(judge(alone).why, HasSubstr("nothing was measured beside it"));
  alone.time = about(2.5);
  EXPECT_EQ(judge(alone).standing, Standing::slower);
  alone.time = about(1);
  EXPECT_EQ(judge(alone).standing, Standing::same);
}

}  // namespace
}  // namespace assay
