// Drawing of plants and the tally of gates whose answer is known, with launches from a script.
#include "bench/gate/selftest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

PairedTrial trial(const std::string& key, int threads = 1) {
  return {.trial = {.key = key, .operation = "gemm", .variant = key, .threads = threads}};
}

/// `launches` of each trial; a head takes as long as its base times the ratio given for its position.
TwoBuilds run_of(const std::vector<double>& ratios, int launches) {
  TwoBuilds run{.suite = "s", .budget_seconds = 10, .seconds = 10};
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    run.trials.push_back(trial(std::string(1, static_cast<char>('a' + i))));
    run.trials.back().launches.assign(static_cast<std::size_t>(launches),
                                      {.base = {1.0}, .head = {ratios[i]}, .control = {1.0}});
  }
  return run;
}

std::string markdown_of(std::vector<SelfTestRun> runs) {
  return selftest_markdown({.suite = "s", .runs = std::move(runs)});
}

TEST(SelfTest, DrawsOneTrialPerSizeAndBoundOfThoseThatCanBePlanted) {
  std::vector<PairedTrial> trials{trial("m1"), trial("m2"), trial("c1"), trial("two threads", 2),
                                  trial("gone")};
  trials.back().left_out = {Standing::gone, "only in the base"};
  std::map<std::string, Cost> costs{{"c1", {.flops = 400, .bytes_read = 50, .bytes_written = 50}}};
  for (const char* key : {"m1", "m2", "two threads", "gone"})
    costs[key] = {.flops = 399, .bytes_read = 50, .bytes_written = 50};
  Rng rng(1);
  std::set<std::string> of_memory, of_compute;
  for (const Plant& plant : drawn_plants(trials, costs, {0.02, 0.03}, 0, rng))
    (plant.bound == Bound::memory ? of_memory : of_compute).insert(plant.key);
  EXPECT_THAT(of_memory, ElementsAre("m1", "m2")) << "different ones, with one thread, that exist";
  EXPECT_THAT(of_compute, ElementsAre("c1")) << "one trial is not planted twice";
}

// Two trials for three sizes: the last one was never planted once.
TEST(SelfTest, GivesEverySizeItsShareWhereThereAreTooFewTrials) {
  const std::vector<PairedTrial> trials{trial("m1"), trial("m2")};
  const std::map<std::string, Cost> costs{{"m1", {.bytes_read = 50}}, {"m2", {.bytes_read = 50}}};
  Rng rng(1);
  std::map<double, int> planted;
  for (std::size_t turn = 0; turn < 3; ++turn) {
    for (const Plant& plant : drawn_plants(trials, costs, {0.02, 0.03, 0.1}, turn, rng)) {
      ++planted[plant.slowdown];
    }
  }
  EXPECT_THAT(planted, ElementsAre(Pair(0.02, 2), Pair(0.03, 2), Pair(0.1, 2)));
}

TEST(SelfTest, SaysWhichSizesWereNeverPlanted) {
  const SelfTestRun run = tallied(run_of({1, 1.1}, 21), {{.key = "b", .slowdown = 0.1}});
  const SelfTest test{.suite = "s", .runs = {run}, .asked = {0.05, 0.1}};
  EXPECT_THAT(selftest_markdown(test),
              AllOf(HasSubstr("Never planted in trials bound by memory: 5 %."),
                    HasSubstr("Never planted in trials bound by compute: 5 %, 10 %.")));
}

TEST(SelfTest, TellsPlantsFromFalseAlarms) {
  const SelfTestRun found =
      tallied(run_of({1, 1.1, 1.1}, 21), {{.key = "b", .bound = Bound::compute, .slowdown = 0.1}});
  ASSERT_EQ(found.plants.size(), 1U);
  EXPECT_EQ(found.plants[0].found, Standing::slower);
  EXPECT_NEAR(found.plants[0].ratio.middle, 1.1, 1e-9);
  EXPECT_THAT(found.alarms, ElementsAre("c"));
  EXPECT_EQ(found.trials, 2U);
  const std::string text = markdown_of({found});
  EXPECT_THAT(text, HasSubstr("an unplanted trial was called slower | 1 of 1 "));
  EXPECT_THAT(text, HasSubstr("| unplanted trials called slower | 1 of 2 "));
  EXPECT_THAT(text, HasSubstr("| 10 % | compute | 1 of 1 "));
  EXPECT_THAT(text, HasSubstr("* run 1: `c` called slower"));
}

TEST(SelfTest, CountsAPlantThatWasNotFoundAndTrialsLeftUndecided) {
  const SelfTestRun missed = tallied(run_of({1, 1.1}, 2), {{.key = "b", .slowdown = 0.1}});
  EXPECT_EQ(missed.plants[0].found, Standing::undecided);
  EXPECT_EQ(missed.undecided, 1U);
  EXPECT_THAT(markdown_of({missed}), HasSubstr("| 10 % | memory | 0 of 1 "));
}

// Printed as a slow-down of -100 % once, which reads as the most sensitive gate of all.
TEST(SelfTest, SaysThatNothingWouldHaveShownWhereLaunchesWereTooFew) {
  const SelfTestRun few = tallied(run_of({1, 1, 1}, 3), {});
  EXPECT_FALSE(few.typical_visible.has_value());
  const std::string text = markdown_of({few});
  EXPECT_THAT(text, HasSubstr("would have shown | none in any run: too few process starts |"));
  EXPECT_THAT(text, Not(HasSubstr("-100")));

  const SelfTestRun enough = tallied(run_of({1, 1, 1}, 21), {});
  ASSERT_TRUE(enough.typical_visible.has_value());
  EXPECT_NEAR(*enough.typical_visible, 1.01, 1e-9);
  EXPECT_THAT(markdown_of({enough, few}),
              HasSubstr("| 1.00 % in the median, 1.00 to 1.00; none in 1 of 2 runs |"));
}

TEST(SelfTest, CallsTypicalWhatHalfOfTheTrialsWouldHaveShown) {
  TwoBuilds run = run_of({1, 1, 1, 1}, 21);
  const auto without_control = [&run](std::size_t i) {
    for (PairedLaunch& launch : run.trials[i].launches) launch.control.clear();
  };
  without_control(0);
  without_control(1);
  EXPECT_TRUE(tallied(run, {}).typical_visible.has_value());
  without_control(2);
  EXPECT_FALSE(tallied(run, {}).typical_visible.has_value());
}

TEST(SelfTest, SaysWhenNoRunWasFinished) { EXPECT_THAT(markdown_of({}), HasSubstr("no run was finished")); }

TEST(SelfTest, CountsAlarmsAmongFitRunsOnly) {
  const SelfTestRun fit = tallied(run_of({1, 1}, 21), {}),
                    unfit{.unfit = "moved", .trials = 2, .undecided = 2};
  const std::string text = markdown_of({fit, unfit, unfit});
  EXPECT_THAT(text, AllOf(HasSubstr("| unchanged suites that went red | 0 of 1 "),
                          HasSubstr("| unplanted trials called slower | 0 of 2 "),
                          HasSubstr("| runs declared unfit by the control | 2 of 3 ")));
}

TEST(SelfTest, SaysWhenItShowsNothing) {
  const SelfTestRun fit = tallied(run_of({1, 1}, 21), {}), unfit{.unfit = "moved"};
  const SelfTestRun open{.trials = 2, .undecided = 2};
  EXPECT_EQ(why_nothing_is_shown({.runs = {unfit, fit}}), "");
  EXPECT_THAT(why_nothing_is_shown({.runs = {unfit, unfit}}), HasSubstr("unfit in all of 2 runs"));
  EXPECT_THAT(why_nothing_is_shown({.runs = {unfit, open}}), HasSubstr("none of 2 runs decided anything"));
  EXPECT_THAT(why_nothing_is_shown({}), HasSubstr("no run"));
  EXPECT_THAT(markdown_of({open}), HasSubstr("This says nothing of the gate"));
}

// The extremes of six values hold the median with 1 - 2 / 2^6 = 97 %, those of three with 1 - 2 / 2^3 = 75 %.
TEST(SelfTest, GivesMediansTheirIntervals) {
  std::vector<SelfTestRun> runs(6);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].trials = 1;
    runs[i].typical_visible = 1.02 + 0.01 * static_cast<double>(i);
  }
  EXPECT_THAT(markdown_of(runs), HasSubstr("| 4.50 % in the median [2.00, 7.00], 2.00 to 7.00 |"));
  runs.resize(3);
  EXPECT_THAT(markdown_of(runs), HasSubstr("| 3.00 % in the median [2.00, 4.00] (75 %), 2.00 to 4.00 |"));
}

TEST(SelfTest, SaysHowManyGatesWereLeftOut) {
  const SelfTest test{.suite = "s", .runs = {tallied(run_of({1}, 21), {})}, .interrupted = 2};
  EXPECT_THAT(selftest_markdown(test), HasSubstr("2 unfinished gates were left out"));
}

}  // namespace
}  // namespace assay
