// Names of programs that are not assay's as trials, and what their sides report as launches.
#include "bench/gate/two_builds.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::ElementsAre;

TEST(ReportedTimes, MatchNamesAndLeaveOutWhatMeansSeveralThings) {
  const auto trials = matched({"a", "gone", "twice"}, {"twice", "a", "added", "twice"});
  ASSERT_EQ(trials.size(), 4U);
  EXPECT_EQ(trials[0].trial.key, "twice");
  EXPECT_EQ(trials[0].left_out.standing, Standing::not_comparable);
  EXPECT_TRUE(trials[1].tested());
  EXPECT_EQ(trials[2].left_out.standing, Standing::added);
  EXPECT_EQ(trials[3].left_out.standing, Standing::gone);
}

class ReportedLaunch : public ::testing::Test {
 protected:
  ReportedLaunch() { run.trials = matched({"a"}, {"a"}); }
  const PairedTrial& after(Reported base, Reported head, Reported control) {
    add_launch(run, {0}, {{{{"a", std::move(base)}}, {{"a", std::move(head)}}, {{"a", std::move(control)}}}});
    return run.trials[0];
  }
  const Reported timed{.seconds = {1, 2}}, nothing{};
  const Reported error{.error = "reports an error: boom", .failed = true},
      absent{.error = "reports: no device"};
  TwoBuilds run;
};

TEST_F(ReportedLaunch, HasTheTimesOfAllSides) {
  const PairedTrial& trial = after(timed, {.seconds = {3}}, timed);
  EXPECT_TRUE(trial.tested());
  ASSERT_EQ(trial.launches.size(), 1U);
  EXPECT_THAT(trial.launches[0].base, ElementsAre(1, 2));
  EXPECT_THAT(trial.launches[0].head, ElementsAre(3));
}

TEST_F(ReportedLaunch, IsWrongWhereTheHeadAloneReportsAnError) {
  after(timed, timed, timed);
  const PairedTrial& trial = after(timed, error, timed);
  EXPECT_EQ(trial.left_out.standing, Standing::wrong);
  EXPECT_EQ(trial.left_out.why, "reports an error: boom");
  EXPECT_TRUE(trial.launches.empty());
  const GateFindings findings = findings_of(run);
  EXPECT_EQ(findings.comparison.rows[0].standing, Standing::wrong);
}

TEST_F(ReportedLaunch, CannotBeComparedWhereTheBaseHasNoTime) {
  EXPECT_EQ(after(error, timed, error).left_out.why, "the base reports an error: boom");
  EXPECT_EQ(run.trials[0].left_out.standing, Standing::not_comparable);
}

TEST_F(ReportedLaunch, IsSkippedWhereBothSaySo) {
  EXPECT_EQ(after(absent, absent, absent).left_out.standing, Standing::skipped);
  EXPECT_EQ(run.trials[0].left_out.why, "did not run here, in either program: reports: no device");
}

TEST_F(ReportedLaunch, SaysWhoReportedNothing) {
  EXPECT_EQ(after(timed, nothing, timed).left_out.why, "the head reported no time for it");
  EXPECT_EQ(after(nothing, nothing, nothing).left_out.why, "neither program reported a time for it");
  EXPECT_EQ(after(timed, absent, timed).left_out.why, "the head reports: no device");
}

/// A figure of 6 launches of equal base and control, and this head.
Counted counted(const std::vector<double>& base, const std::vector<double>& head, double noise = 0) {
  return {.figure = {.name = "lost", .better = Figure::Better::lower},
          .noise = noise,
          .values = {base, head, base}};
}

TEST(Counted, OfSidesThatNeverVaryDifferExactly) {
  const auto [base, head] = settled(counted({100, 100, 100, 100, 100, 100}, {101, 101, 101, 101, 101, 101}));
  EXPECT_EQ(base.value, 100);
  EXPECT_EQ(head.value, 101);
  EXPECT_EQ(head.better, Figure::Better::lower);
}

TEST(Counted, OfSidesThatVaryDifferBeyondAllAndATwentieth) {
  const std::vector<double> base{100, 101, 99, 100, 102, 100};
  EXPECT_EQ(settled(counted(base, {110, 111, 112, 110, 109, 108}))[1].value, 110);
  EXPECT_EQ(settled(counted(base, {90, 91, 92, 90, 89, 88}))[1].value, 90);
  EXPECT_EQ(settled(counted(base, {110, 111, 112, 110, 109, 102}))[1].value, 100) << "one is not beyond all";
  EXPECT_EQ(settled(counted(base, {103, 104, 105, 103, 104, 103}))[1].value, 100) << "less than a twentieth";
  EXPECT_EQ(settled(counted(base, {110, 111, 112, 110, 109, 108}, 50))[1].value, 100) << "within the noise";
  EXPECT_EQ(settled(counted({-9, -9, -9, -9, -9, -8}, {-9, -9, -9, -9, -9, -9}))[1].value, -9);
}

TEST(Counted, OfFewLaunchesAreNotToldApart) {
  const auto [base, head] = settled(counted({100, 100, 100, 100, 100}, {200, 200, 200, 200, 200}));
  EXPECT_EQ(head.value, base.value);
  EXPECT_EQ(settled(counted({100, 100}, {200, 200}, 50))[1].value, 200) << "its noise is known";
}

TEST_F(ReportedLaunch, KeepsWhatAllSidesCounted) {
  const auto with = [](double value) {
    return Reported{.seconds = {1}, .figures = {{.name = "lost", .value = value}}};
  };
  for (int i = 0; i < 6; ++i) after(with(3), with(4), with(3));
  const PairedTrial& trial = after(timed, with(4), timed);
  EXPECT_TRUE(trial.head_figures.empty()) << "the base counts it no more";
  EXPECT_EQ(after(with(3), with(4), with(3)).head_figures.at(0).value, 4);
  EXPECT_EQ(trial.base_figures.at(0).value, 3);
}

TEST(ReportedTimes, OfSeveralStartsAreOneUnlessOneReportsAnError) {
  ReportedTimes all;
  append(all, {{"a", {.seconds = {1}}}, {"b", {.seconds = {1}}}});
  append(all, {{"a", {.seconds = {2}}}, {"b", {.error = "reports an error: boom", .failed = true}}});
  append(all, {{"b", {.seconds = {2}}}});
  EXPECT_THAT(all["a"].seconds, ElementsAre(1, 2));
  EXPECT_TRUE(all["b"].seconds.empty());
  EXPECT_TRUE(all["b"].failed);
}

}  // namespace
}  // namespace assay
