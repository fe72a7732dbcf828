#include "bench/compare/judge.hpp"
#include "bench/compare/scripted_results_test.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace assay {
namespace {

using scripted::key;
using scripted::Script;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;

constexpr scripted::Noise quiet{.launch = 0.003, .slice = 0.01};

Results measured(std::map<std::string, double> changed = {}, std::uint64_t seed = 2) {
  Rng rng(seed);
  return scripted::results({.cases = 5, .changed = std::move(changed), .noise = quiet}, rng);
}

Baseline recorded() {
  Rng rng(1);
  return scripted::baseline({scripted::results({.cases = 5, .noise = quiet}, rng)});
}

TrialResult& trial(Results& results, const std::string& name) {
  return *std::ranges::find(results.trials, name, &TrialResult::key);
}

ComparedRow verdict(const Comparison& comparison, const std::string& name) {
  const auto found = std::ranges::find(comparison.rows, name, &ComparedRow::key);
  return found == comparison.rows.end() ? ComparedRow{.why = "no such row"} : *found;
}

TEST(Compare, CallsUnchangedRowsTheSame) {
  const auto comparison = compare(measured(), recorded(), {});
  EXPECT_EQ(comparison.count(Standing::same), 15U);
  EXPECT_NEAR(comparison.machine_moved, 1, 0.02);
}

// One launch on either side. Deviations from the mean of the sides: a -0.1 and 0.1, b -0.2 and 0.2, c -0.4
// and 0.4, and d, which was not measured before, none there. Of a row, the median of those of the others.
TEST(Witnesses, AreAllButTheRowThatTheyStandBeside) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const auto row = [](double log) { return LoggedTrial{{log}, log}; };
  Side before{{0}, {{"a", row(1)}, {"b", row(2)}, {"c", row(3)}, {"x", row(5)}}};
  Side after{{0}, {{"a", row(1.2)}, {"b", row(2.4)}, {"c", row(3.8)}, {"x", row(6)}}};
  before.rows["d"] = {{none}, 4};
  after.rows["d"] = {{none}, 4};
  const Witnesses all = witnesses_of(before, after, {"a", "b", "c", "d"});
  const auto shift_of = [&](const std::string& name, const Witnesses& witnesses) {
    const Paired paired = relative(before, after, name, witnesses);
    return paired.after.at(0) - paired.before.at(0);
  };
  EXPECT_NEAR(shift_of("x", all), 1 - 0.4, 1e-12);
  EXPECT_NEAR(shift_of("a", all), 0.2 - 0.6, 1e-12) << "b and c";
  EXPECT_NEAR(shift_of("b", all), 0.4 - 0.5, 1e-12) << "a and c";
  EXPECT_NEAR(shift_of("c", all), 0.8 - 0.3, 1e-12) << "a and b";
  EXPECT_NEAR(shift_of("x", {}), 1, 1e-12);
  const Witnesses alone = witnesses_of(before, after, {"a"});
  EXPECT_EQ(alone.beside("a"), 0U);
  EXPECT_NEAR(shift_of("a", alone), 0.2, 1e-12) << "as measured";
  EXPECT_TRUE(relative(before, after, "x", witnesses_of(before, after, {"d"})).before.empty())
      << "no witness was measured in the launch";
}

TEST(Compare, SaysWhatARatioRestsOn) {
  // Two recordings without any noise, in the second of which one row takes 1.1 times as long: half of ln(1.1)
  // on either side of their median.
  Rng rng(1);
  const scripted::Script still{.cases = 5}, once_slower{.cases = 5, .changed = {{key(1, "simd"), 1.1}}};
  const auto baseline =
      scripted::baseline({scripted::results(still, rng), scripted::results(once_slower, rng)});
  const auto comparison = compare(scripted::results({.cases = 5, .launches = 4}, rng), baseline, {});
  EXPECT_NEAR(verdict(comparison, key(1, "simd")).spread, 1.4826 * std::log(1.1) / 2, 1e-5);
  EXPECT_NEAR(verdict(comparison, key(1, "packed")).spread, 0, 1e-9);
  EXPECT_EQ(verdict(comparison, key(1, "packed")).launches, 4U) << "of 12 and 4";
}

TEST(Compare, FindsTheOneSlowRowAndTheOneFastRow) {
  const auto comparison = compare(measured({{key(1, "packed"), 1.3}, {key(2, "simd"), 0.7}}), recorded(), {});
  EXPECT_EQ(verdict(comparison, key(1, "packed")).standing, Standing::slower);
  EXPECT_THAT(in_words(verdict(comparison, key(1, "packed"))), ::testing::StartsWith("1.3"));
  EXPECT_EQ(verdict(comparison, key(2, "simd")).standing, Standing::faster);
  EXPECT_EQ(comparison.count(Standing::same), 13U);
}

TEST(Compare, BlamesNoRowForOtherWorkThatOneSideHadBesideIt) {
  Baseline before = recorded();
  Results now = measured({{key(1, "packed"), 1.6}, {key(2, "simd"), 2.5}});
  const auto standing = [&](double share, const std::string& name) {
    now.weather = {.seconds = 60, .other_busy_share = share};
    return verdict(compare(now, before, {}), name).standing;
  };
  EXPECT_EQ(standing(0.8, key(1, "packed")), Standing::slower) << "nobody knows how it was before";
  before.recordings[0].results.weather = {.seconds = 60, .other_busy_share = 0.05};
  EXPECT_EQ(standing(0.1, key(1, "packed")), Standing::slower);
  EXPECT_EQ(standing(0.8, key(1, "packed")), Standing::probably_slower);
  EXPECT_EQ(standing(0.8, key(2, "simd")), Standing::slower) << "no drift goes so far";
  EXPECT_EQ(standing(0.8, key(3, "simd")), Standing::same);
  before.recordings.push_back(before.recordings[0]);
  before.recordings[1].results.weather.other_busy_share = 0.9;
  EXPECT_EQ(standing(0.8, key(1, "packed")), Standing::slower) << "as busy as in one of the recordings";
}

TEST(Compare, CallsNothingInMemorySlowerByLittleThatWasRecordedOnce) {
  Baseline before = recorded();
  Results now = measured({{key(1, "packed"), 1.15}, {key(2, "simd"), 1.5}});
  const auto standing = [&](const std::string& name) {
    return verdict(compare(now, before, {}), name).standing;
  };
  now.roofs = {{.threads = 1, .flops_per_second = 1, .bandwidth = {{"L3", 1e6, 1}, {"memory", 1e8, 1}}}};
  EXPECT_EQ(standing(key(1, "packed")), Standing::slower) << "its data lie in a cache";
  for (TrialResult& trial : now.trials) trial.cost.bytes_read = 2e6;
  EXPECT_EQ(standing(key(1, "packed")), Standing::probably_slower);
  EXPECT_EQ(standing(key(2, "simd")), Standing::slower) << "no drift goes so far";
  EXPECT_EQ(standing(key(3, "simd")), Standing::same);
  Rng rng(3);
  before.recordings.push_back({"again", scripted::results({.cases = 5, .noise = quiet}, rng)});
  EXPECT_EQ(standing(key(1, "packed")), Standing::slower) << "two recordings show how far it drifts";
}

/// Seen between two quiet runs of one build: 10 µs became 14, and 14 became 21, with two threads only.
TEST(Compare, BlamesNoKernelForTheTimeThatWakingAThreadTakes) {
  const auto standing = [](int threads, double ratio, double times) {
    Results now = measured({{key(1, "packed"), ratio}});
    Baseline before = recorded();
    for (Results* one : {&now, &before.recordings[0].results}) {
      for (TrialResult& trial : one->trials) {
        if (trial.variant == "packed") trial.threads = threads;
        for (Launch& launch : trial.launches)
          for (Slice& slice : launch) slice.seconds *= times;
      }
    }
    return verdict(compare(now, before, {}), key(1, "packed")).standing;
  };
  EXPECT_EQ(standing(1, 1.6, 1), Standing::slower);
  EXPECT_EQ(standing(2, 1.6, 1), Standing::probably_slower) << "of 10 µs";
  EXPECT_EQ(standing(2, 2.5, 1), Standing::slower) << "no drift goes so far";
  EXPECT_EQ(standing(2, 1.3, 1000), Standing::slower) << "of 10 ms";
}

/// All of a case took longer, or the row relative to others alone: nothing decides that, and an interval
/// beyond the limit would look as if it did.
TEST(Compare, ShowsOfMeasuresThatContradictEachOtherTheOneThatIsLeastLikeAChange) {
  const Results case_moved =
      measured({{key(1, "naive"), 1.3}, {key(1, "packed"), 1.3}, {key(1, "simd"), 1.3}});
  const ComparedRow row = verdict(compare(case_moved, recorded(), {}), key(1, "packed"));
  EXPECT_EQ(row.standing, Standing::undecided);
  EXPECT_NEAR(row.ratio.middle, 1, 0.02);
  EXPECT_NEAR(row.time_ratio.middle, 1.3, 0.02);
}

TEST(Compare, BlamesNoKernelForWhatManyWithSeveralThreadsDid) {
  const auto standing = [](std::size_t moved) {
    const auto of = [&](std::map<std::string, double> changed, std::uint64_t seed) {
      Rng rng(seed);
      Results out = scripted::results({.cases = 20, .changed = std::move(changed), .noise = quiet}, rng);
      for (TrialResult& trial : out.trials) {
        if (trial.variant == "packed") trial.threads = 2;
        for (Launch& launch : trial.launches)
          for (Slice& slice : launch) slice.seconds *= 1000;
      }
      return out;
    };
    std::map<std::string, double> changed{{key(1, "packed"), 1.3}};
    for (std::size_t i = 2; i < 2 + moved; ++i) changed[key(i, "packed")] = 1.4;
    return verdict(compare(of(changed, 2), scripted::baseline({of({}, 1)}), {}), key(1, "packed")).standing;
  };
  EXPECT_EQ(standing(0), Standing::slower);
  EXPECT_EQ(standing(5), Standing::probably_slower) << "a quarter of the others moved as far";
}

TEST(Compare, FindsASlowNaiveVariantBesideTheOthersOfItsCase) {
  const auto comparison = compare(measured({{key(3, "naive"), 1.5}}), recorded(), {});
  EXPECT_EQ(verdict(comparison, key(3, "naive")).standing, Standing::slower);
  EXPECT_EQ(verdict(comparison, key(3, "packed")).standing, Standing::same);
}

Results with_height(double height) {
  Results out = measured();
  trial(out, key(1, "packed")).agreement.figures = {
      {.name = "height", .value = height, .unit = "bytes", .better = Figure::Better::lower, .bound = 1000},
      {.name = "blocks", .value = height}};
  return out;
}

TEST(Compare, JudgesFiguresExactlyAndNoneThatHasNoBetterSide) {
  const Baseline before = scripted::baseline({with_height(1234)});
  const auto found = [&](double height) { return compare(with_height(height), before, {}); };
  EXPECT_TRUE(has_worse_figure(verdict(found(1235), key(1, "packed"))));
  EXPECT_FALSE(has_worse_figure(verdict(found(1234), key(1, "packed"))));
  EXPECT_FALSE(has_worse_figure(verdict(found(1200), key(1, "packed"))));
  EXPECT_EQ(verdict(found(1300), key(1, "packed")).standing, Standing::same) << "of its time";
  const auto figures = verdict(found(1300), key(1, "packed")).figures;
  ASSERT_EQ(figures.size(), 1U) << "the number of blocks is told and not judged";
  EXPECT_EQ(in_words(figures[0]), "height 1,234 → 1,300 bytes (5.3 % more)");
  EXPECT_EQ(in_words(verdict(found(1234), key(1, "packed")).figures.at(0)), "height 1,234 bytes as before");
  EXPECT_EQ(in_words(verdict(found(617), key(1, "packed")).figures.at(0)),
            "height 1,234 → 617 bytes (50.0 % less)");
  EXPECT_TRUE(verdict(found(1300), key(1, "simd")).figures.empty());
}

TEST(Compare, CallsAFigureWorseThatFellWhereHigherIsBetter) {
  const auto rate = [](double value) {
    return Figure{.name = "share in use", .value = value, .unit = "%", .better = Figure::Better::higher};
  };
  EXPECT_TRUE(is_worse({rate(80), rate(79.5)}));
  EXPECT_FALSE(is_worse({rate(80), rate(80)}));
  EXPECT_FALSE(is_worse({rate(80), rate(81)}));
}

TEST(Compare, JudgesFiguresOnAnyMachineAndOfTheSameWorkloadAlone) {
  const Results before = with_height(1234);
  Results elsewhere = with_height(1300);
  elsewhere.machine.facts = {{"processor", "another", true}};
  const auto comparison = compare(before, elsewhere, {});
  EXPECT_FALSE(comparison.comparable);
  EXPECT_TRUE(has_worse_figure(verdict(comparison, key(1, "packed"))));

  Results other = with_height(1300);
  trial(other, key(1, "packed")).workload = "other requests";
  EXPECT_TRUE(verdict(compare(before, other, {}), key(1, "packed")).figures.empty());
  Results wrong = with_height(1300);
  trial(wrong, key(1, "packed")).agreement.agrees = false;
  EXPECT_TRUE(verdict(compare(before, wrong, {}), key(1, "packed")).figures.empty());
  EXPECT_TRUE(verdict(compare(measured(), with_height(1300), {}), key(1, "packed")).figures.empty())
      << "a file of before there were figures";
}

TEST(Compare, TakesASlowMachineForWhatItIs) {
  Results now = measured();
  for (auto& t : now.trials) {
    for (auto& launch : t.launches) {
      for (auto& slice : launch) slice.seconds *= 1.4;
    }
  }
  const auto comparison = compare(now, recorded(), {});
  EXPECT_EQ(comparison.count(Standing::same), 15U);
  EXPECT_NEAR(comparison.machine_moved, 1.4, 0.02);
  for (auto& t : now.trials) {
    for (auto& launch : t.launches) {
      for (auto& slice : launch) slice.seconds *= 2;
    }
  }
  const auto unfit = compare(now, recorded(), {});
  EXPECT_EQ(unfit.count(Standing::undecided), 15U) << "2.8 times is no drift";
  EXPECT_THAT(unfit.rows[0].why, HasSubstr("another state of the machine"));
  EXPECT_THAT(unfit.unfit, HasSubstr("the 5 naive variants took 2.8"));
  EXPECT_THAT(comparison.unfit, ::testing::IsEmpty());
}

TEST(Compare, ComparesNothingAcrossMachinesButStillReportsWrongRows) {
  Results now = measured();
  now.machine.facts[0].value = "another";
  trial(now, key(0, "packed")).agreement = {.agrees = false, .detail = "c[0] is nan"};
  const auto comparison = compare(now, recorded(), {});
  EXPECT_FALSE(comparison.comparable);
  EXPECT_THAT(comparison.differences, ::testing::ElementsAre("processor: scripted -> another"));
  EXPECT_EQ(comparison.count(Standing::not_comparable), 14U);
  EXPECT_EQ(verdict(comparison, key(0, "packed")).standing, Standing::wrong);
}

TEST(Compare, UsesNoTimeThatCannotBe) {
  Baseline baseline = recorded();
  Results now = measured();
  trial(now, key(0, "packed")).impossible = "took 1 ns";
  trial(now, key(1, "naive")).impossible = "took 1 ns";
  trial(baseline.recordings[0].results, key(2, "packed")).impossible = "took 2 ns";
  const auto comparison = compare(now, baseline, {});
  EXPECT_EQ(verdict(comparison, key(0, "packed")).standing, Standing::impossible);
  EXPECT_EQ(verdict(comparison, key(1, "naive")).standing, Standing::impossible);
  EXPECT_EQ(verdict(comparison, key(0, "packed")).ratio.middle, 0);
  EXPECT_EQ(verdict(comparison, key(1, "packed")).to_naive.middle, 0) << "it is no witness either";
  EXPECT_EQ(verdict(comparison, key(2, "packed")).standing, Standing::not_comparable);
  EXPECT_EQ(verdict(comparison, key(2, "packed")).why, "before, it took 2 ns");
  EXPECT_EQ(comparison.count(Standing::same), 12U);
  now.machine.facts[0].value = "another";
  EXPECT_EQ(verdict(compare(now, baseline, {}), key(0, "packed")).standing, Standing::impossible);
}

TEST(Compare, UsesTheRecordingsOfThisMachineOnly) {
  Baseline baseline = recorded();
  baseline.recordings.push_back(baseline.recordings[0]);
  baseline.recordings[1].results.machine.facts[0].value = "older compiler";
  const auto comparison = compare(measured(), baseline, {});
  EXPECT_TRUE(comparison.comparable);
  EXPECT_EQ(comparison.count(Standing::same), 15U);
}

TEST(Compare, NamesEveryRowThatHasNoCounterpart) {
  Baseline baseline = recorded();
  Results now = measured();
  trial(now, key(0, "packed")).workload = "other";
  trial(now, key(1, "packed")).skipped = "needs AVX-512";
  trial(now, key(2, "packed")).launches.clear();
  trial(now, key(3, "packed")).key = "gemm/new/m=3#1";
  trial(baseline.recordings[0].results, key(4, "packed")).agreement.agrees = false;
  const auto comparison = compare(now, baseline, {});
  EXPECT_EQ(verdict(comparison, key(0, "packed")).standing, Standing::not_comparable);
  EXPECT_THAT(verdict(comparison, key(0, "packed")).why, HasSubstr("another workload"));
  EXPECT_EQ(verdict(comparison, key(1, "packed")).standing, Standing::skipped);
  EXPECT_EQ(verdict(comparison, key(2, "packed")).standing, Standing::not_comparable);
  EXPECT_EQ(verdict(comparison, "gemm/new/m=3#1").standing, Standing::added);
  EXPECT_EQ(verdict(comparison, key(3, "packed")).standing, Standing::gone);
  EXPECT_EQ(verdict(comparison, key(4, "packed")).standing, Standing::not_comparable);
  EXPECT_EQ(comparison.rows.size(), 16U);
  EXPECT_EQ(comparison.count(Standing::same), 10U);
}

TEST(Compare, LetsACaseKeepTheSpreadBetweenItsRecordings) {
  std::vector<Results> recordings;
  for (const double factor : {0.8, 1.0, 1.25, 1.0}) {
    recordings.push_back(measured({{key(0, "simd"), factor}}, 3 + recordings.size()));
  }
  const auto comparison = compare(measured({{key(0, "simd"), 1.15}, {key(1, "simd"), 1.15}}),
                                  scripted::baseline(std::move(recordings)), {});
  EXPECT_GT(verdict(comparison, key(0, "simd")).limit, 1.2);
  EXPECT_NE(verdict(comparison, key(0, "simd")).standing, Standing::slower);
  EXPECT_EQ(verdict(comparison, key(1, "simd")).standing, Standing::slower);
}

TEST(Compare, WorksBetweenTwoFilesAndMirrorsWhenTheyAreExchanged) {
  const Results before = measured({}, 5), after = measured({{key(1, "packed"), 1.3}}, 6);
  EXPECT_EQ(verdict(compare(before, after, {}), key(1, "packed")).standing, Standing::slower);
  EXPECT_EQ(verdict(compare(after, before, {}), key(1, "packed")).standing, Standing::faster);
}

TEST(Compare, LetsOtherRowsStandWitnessWhereNothingIsNaive) {
  Rng rng(7);
  Script script{.cases = 5, .variants = {"a"}, .noise = quiet};
  const Results before = scripted::results(script, rng);
  script.changed[key(2, "a")] = 1.3;
  const auto comparison = compare(before, scripted::results(script, rng), {});
  EXPECT_EQ(verdict(comparison, key(2, "a")).standing, Standing::slower);
  EXPECT_EQ(comparison.count(Standing::same), 4U);
}

/// Two runs of a program without naive variants, the second of which takes `factor` times as long.
Comparison of_a_uniform_change(double factor) {
  Rng rng(9);
  Script script{.cases = 5, .variants = {"a"}, .noise = quiet};
  const Results before = scripted::results(script, rng);
  for (std::size_t i = 0; i < script.cases; ++i) script.changed[key(i, "a")] = factor;
  return compare(before, scripted::results(script, rng), {});
}

TEST(Compare, NeverCallsTheSameWhatAllMovedTogetherWhereNothingIsNaive) {
  for (const double factor : {1.5, 1 / 1.5}) {
    const auto comparison = of_a_uniform_change(factor);
    EXPECT_NEAR(comparison.machine_moved, factor, 0.02) << factor;
    EXPECT_THAT(comparison.unfit, ::testing::IsEmpty());
    const Standing expected = factor > 1 ? Standing::undecided : Standing::not_slower;
    EXPECT_THAT(comparison.rows, Each(Field(&ComparedRow::standing, expected))) << factor;
    EXPECT_NEAR(comparison.rows[0].ratio.middle, factor, 0.02);
    EXPECT_THAT(comparison.rows[0].why,
                HasSubstr(factor > 1 ? "code and machine cannot be told apart" : "no slower by any measure"));
  }
  EXPECT_EQ(of_a_uniform_change(1.01).count(Standing::same), 5U);
}

TEST(Compare, TakesWhatMovedFartherThanAnyDriftForAnotherMachineWhereNothingIsNaive) {
  for (const double factor : {10.0, 0.1}) {
    const auto comparison = of_a_uniform_change(factor);
    EXPECT_THAT(comparison.unfit, HasSubstr("the 5 trials took")) << factor;
    EXPECT_THAT(comparison.rows, Each(Field(&ComparedRow::standing, Standing::undecided))) << factor;
  }
}

TEST(Compare, DecidesNothingFromOneLaunch) {
  Rng rng(8);
  Script script{.cases = 5, .launches = 1, .noise = quiet};
  const Results before = scripted::results(script, rng);
  script.changed[key(2, "simd")] = 3;
  const auto comparison = compare(before, scripted::results(script, rng), {});
  EXPECT_THAT(comparison.rows, Each(Field(&ComparedRow::standing, Standing::undecided)));
}

TEST(Confirmed, KeepsSlowOnlyWhatIsSlowTwice) {
  const auto row = [](const std::string& name, Standing standing) {
    return ComparedRow{.key = name, .standing = standing};
  };
  Comparison first, again;
  first.rows = {row("twice", Standing::slower), row("once", Standing::slower),
                row("late", Standing::undecided), row("lost", Standing::slower), row("fine", Standing::same)};
  again.rows = {row("twice", Standing::slower), row("once", Standing::same), row("late", Standing::slower),
                row("fine", Standing::slower)};
  const auto both = confirmed(first, again);
  EXPECT_EQ(verdict(both, "twice").standing, Standing::slower);
  EXPECT_EQ(verdict(both, "once").standing, Standing::same);
  EXPECT_EQ(verdict(both, "late").standing, Standing::undecided);
  EXPECT_EQ(verdict(both, "lost").standing, Standing::undecided);
  EXPECT_EQ(verdict(both, "fine").standing, Standing::same);
}

TEST(Confirmed, TellsAFaultOfEitherTime) {
  const auto row = [](const std::string& name, Standing standing) {
    return ComparedRow{.key = name, .standing = standing};
  };
  Comparison first, again;
  first.rows = {row("beside", Standing::same), row("suspect", Standing::slower),
                row("first", Standing::wrong)};
  again.rows = {row("beside", Standing::impossible), row("suspect", Standing::wrong),
                row("first", Standing::impossible)};
  const auto both = confirmed(first, again);
  EXPECT_EQ(verdict(both, "beside").standing, Standing::impossible);
  EXPECT_THAT(verdict(both, "beside").why, HasSubstr("first same, then impossible"));
  EXPECT_EQ(verdict(both, "suspect").standing, Standing::wrong);
  EXPECT_EQ(verdict(both, "first").standing, Standing::wrong);
}

TEST(Confirmed, LeavesRowsOfOtherCasesAsTheyWere) {
  const auto row = [](const std::string& name, Standing standing) {
    return ComparedRow{.key = name, .standing = standing, .why = "first"};
  };
  Comparison first, again;
  first.rows = {row("slow", Standing::slower), row("open", Standing::undecided)};
  again.rows = {row("slow", Standing::slower), row("open", Standing::gone)};
  const auto both = confirmed(first, again);
  EXPECT_EQ(verdict(both, "open").standing, Standing::undecided)
      << "it was not measured again, so it is not gone";
  EXPECT_EQ(verdict(both, "open").why, "first");
  EXPECT_TRUE(verdict(both, "slow").afresh);
  EXPECT_FALSE(verdict(both, "open").afresh);
  again.rows[0].standing = Standing::gone;
  EXPECT_EQ(verdict(confirmed(first, again), "slow").standing, Standing::undecided);
}

TEST(Confirm, MeasuresSlowerRowsAloneASecondTime) {
  std::vector<std::string> measured_again;
  const auto afresh = [&](const std::vector<std::string>& keys) {
    measured_again = keys;
    return measured({{key(1, "packed"), 1.3}}, 7);
  };
  const auto slower = compare(measured({{key(1, "packed"), 1.3}}), recorded(), {});
  const Confirmation both = confirm(slower, recorded(), {}, afresh);
  EXPECT_THAT(measured_again, ::testing::ElementsAre(key(1, "packed")));
  EXPECT_EQ(verdict(both.comparison, key(1, "packed")).standing, Standing::slower);
  ASSERT_TRUE(both.again) << "the second launches are kept";
  EXPECT_EQ(both.again->trials.size(), 15U);
  EXPECT_FALSE(confirm(compare(measured(), recorded(), {}), recorded(), {}, afresh).again);
}

TEST(Confirm, DecidesNothingFromASecondMeasurementThatWasInterrupted) {
  const auto afresh = [](const std::vector<std::string>&) {
    Results again = measured();
    again.partial = true;
    return again;
  };
  const auto slower = compare(measured({{key(1, "packed"), 1.3}}), recorded(), {});
  const ComparedRow row = verdict(confirm(slower, recorded(), {}, afresh).comparison, key(1, "packed"));
  EXPECT_EQ(row.standing, Standing::undecided);
  EXPECT_THAT(row.why, HasSubstr("was not measured a second time; the first time: slower by every measure"));
}

TEST(Compare, JudgesNoTimesOfMixedMachines) {
  Results mixed = measured();
  mixed.mixed_machines = "the shards ran on machines that differ in cores";
  for (const auto& comparison : {compare(measured(), mixed, {}), compare(mixed, measured(), {}),
                                 compare(mixed, mixed, {}), compare(mixed, recorded(), {})}) {
    EXPECT_FALSE(comparison.comparable);
    EXPECT_EQ(comparison.count(Standing::not_comparable), 15U);
    EXPECT_THAT(comparison.differences, ::testing::Contains(HasSubstr(mixed.mixed_machines)));
  }
}

TEST(Compare, SaysThatRowsOfOtherShardsAreThere) {
  Results shard = measured();
  const auto is_ours = [](const TrialResult& t) { return contains({0, 2}, t.operation, t.problem); };
  std::erase_if(shard.trials, [&](const TrialResult& t) { return !is_ours(t); });
  shard.shard = ShardRecord{.shard = {0, 2}};
  const auto comparison = compare(measured(), shard, {});
  ASSERT_GT(comparison.count(Standing::gone), 0U);
  for (const ComparedRow& one : comparison.rows) {
    if (one.standing != Standing::gone) continue;
    EXPECT_THAT(one.why, HasSubstr("another shard")) << one.key;
  }
}

}  // namespace
}  // namespace assay
