#include "assay/report.hpp"

#include "bench/compare/words.hpp"
#include "bench/report/hand_made_test.hpp"
#include "core/json/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace assay {
namespace {

using hand_made::network;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

Report report_of(const Results& results) {
  return make_report(results, std::nullopt, std::nullopt, outcome_of(results));
}

Report report_of(const Results& results, const Comparison& comparison) {
  return make_report(results, std::nullopt, comparison, outcome_of(results, comparison, Against::baseline));
}

Comparison comparison_with(Standing standing) {
  return {.rows = {{.key = "gemm/packed/m=64,n=64,k=64#1",
                    .standing = standing,
                    .ratio = {1.08, 1.11, 1.14, 0.95},
                    .limit = 1.05,
                    .why = "a reason",
                    .launches = 3}},
          .machine_moved = 1.01};
}

std::string golden(const std::string& name) {
  std::ifstream stream(std::string(ASSAY_GOLDEN_DIR) + "/" + name);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The golden files are verified by hand from the numbers in hand_made_test.hpp. 524,288 operations in 102 µs
// are 5.14 GFLOP/s, 5.14 % of the roof; 12,000 bytes in 10 µs are 1.20 GB/s, and 0.12 µs at the roof of 100
// GB/s. The epochs are worked out in bench/report/prediction_test.cpp.
TEST(Report, IsTheGoldenOne) { EXPECT_EQ(to_markdown(report_of(network())), golden("golden_report.md")); }

TEST(Report, WithADisagreementIsTheGoldenOne) {
  const auto comparison = comparison_with(Standing::wrong);
  const Report report = report_of(hand_made::network_with_a_disagreement(), comparison);
  EXPECT_EQ(to_markdown(report), golden("golden_report_wrong.md"));
}

TEST(Report, PutsADisagreementBeforeARegression) {
  auto comparison = comparison_with(Standing::slower);
  comparison.rows.push_back({.key = "gemm/other/m=64,n=64,k=64#1", .standing = Standing::wrong});
  const Report report = report_of(hand_made::network_with_a_disagreement(), comparison);

  EXPECT_EQ(report.summary.outcome.word, Word::wrong);
  EXPECT_EQ(report.summary.outcome.sentence, "gemm/other disagrees with the oracle and was not timed");
  EXPECT_THAT(to_markdown(report), StartsWith("# Suite `tiny`: WRONG"));
}

TEST(Report, NamesATimeThatCannotBeAndUsesItNowhere) {
  Results results = network();
  results.trials[1].impossible = "took <5> ns a call";
  const Report report = report_of(results);
  EXPECT_EQ(report.summary.outcome.word, Word::impossible);
  EXPECT_EQ(report.summary.measured, 3U);
  EXPECT_EQ(report.times.size(), 3U);
  EXPECT_THAT(report.not_covered, Contains("1 trial not used, being faster than any kernel can be"));
  const std::string text = to_markdown(report);
  EXPECT_THAT(text, StartsWith("# Suite `tiny`: IMPOSSIBLE"));
  EXPECT_THAT(text, HasSubstr("1 faster than any kernel can be"));
  EXPECT_THAT(text, HasSubstr("Faster than any kernel can be, and not used:\n\n* "
                              "`gemm/packed/m=64,n=64,k=64#1`: took "));
  EXPECT_THAT(text, Not(HasSubstr("took <5>")));
  EXPECT_THAT(text, Not(HasSubstr("2.00x")));
  EXPECT_THAT(to_json(report), HasSubstr("\"impossible\""));
  EXPECT_THAT(to_json(report_of(network())), Not(HasSubstr("\"impossible\": [")));
}

TEST(Report, HasATableOfFiguresOnlyWhereThereAreAny) {
  Results results = network();
  EXPECT_THAT(to_markdown(report_of(results)), Not(HasSubstr("| case | figure |")));
  EXPECT_THAT(to_json(report_of(results)), Not(HasSubstr("\"figures\"")));
  const Figure tasks{.name = "tasks", .value = 81};
  const auto height = [](double value) {
    return Figure{
        .name = "height", .value = value, .unit = "bytes", .better = Figure::Better::lower, .bound = 1000};
  };
  results.trials[0].agreement.figures = {height(1250), tasks};
  results.trials[1].agreement.figures = {height(1000), tasks};
  const std::string text = to_markdown(report_of(results)), square = "`gemm/m=64,n=64,k=64`";
  EXPECT_THAT(text, HasSubstr("| " + square +
                              " | height, lower is better | 1,250 bytes | 1,000 bytes | "
                              "25.00 % | `naive#1` |\n| " +
                              square +
                              " | height, lower is better | 1,000 bytes | 1,000 bytes | 0.00 % | "
                              "`packed#1` |\n| " +
                              square + " | tasks | 81 |  |  | all 2 |\n"));
  EXPECT_THAT(to_json(report_of(results)), HasSubstr("\"gap\":0.25"));
  results.trials[1].agreement.agrees = false;
  EXPECT_THAT(to_markdown(report_of(results)), Not(HasSubstr("`packed#1`")));
}

TEST(Report, ListsBreakEvenSizesOnlyWhereThereIsAQuestion) {
  Results results = network();
  for (const std::size_t i : {0U, 1U}) {
    TrialResult larger = results.trials[i];
    larger.problem = "m=128,n=128,k=128";
    larger.key = "gemm/" + larger.variant + "/" + larger.problem + "#1";
    results.trials.push_back(larger);
  }
  const std::string report = to_markdown(report_of(results));
  const std::string sizes = report.substr(report.find("<summary>From which size on</summary>"));
  EXPECT_THAT(sizes, HasSubstr("1 pair of a variant and its rival is not listed: faster at every size."));
  EXPECT_THAT(sizes, Not(HasSubstr("| `gemm` | `packed` | `naive` |")));
}

TEST(Report, NamesARegressionOnlyWhereOneIsSlower) {
  const auto word = [](Standing standing) {
    return report_of(network(), comparison_with(standing)).summary.outcome.word;
  };
  EXPECT_EQ(word(Standing::slower), Word::regression);
  EXPECT_EQ(word(Standing::undecided), Word::undecided);
  EXPECT_EQ(word(Standing::not_comparable), Word::not_comparable);
  EXPECT_EQ(word(Standing::added), Word::not_comparable);
  EXPECT_EQ(word(Standing::same), Word::passed);
}

TEST(Report, PassesNothingOnAnUnfitMachine) {
  Comparison comparison = comparison_with(Standing::undecided);
  comparison.unfit = "the 3 naive variants took 2.80 times as long";
  const Outcome outcome = report_of(network(), comparison).summary.outcome;
  EXPECT_EQ(outcome.word, Word::unfit);
  EXPECT_THAT(outcome.sentence, HasSubstr(comparison.unfit));
}

TEST(Report, CountsWhatWasAcceptedAmongWhatPassed) {
  const Outcome outcome = report_of(network(), comparison_with(Standing::accepted)).summary.outcome;
  EXPECT_EQ(outcome.word, Word::passed);
  EXPECT_THAT(outcome.sentence, HasSubstr("1 accepted"));
}

TEST(Report, PassesNothingWhoseAcceptanceRanOut) {
  Comparison comparison = comparison_with(Standing::same);
  comparison.objections = {"the acceptance of gemm/packed/m=1#1 ran out on 2026-10-01"};
  const Report report = report_of(network(), comparison);
  EXPECT_EQ(report.summary.outcome.word, Word::expired);
  EXPECT_EQ(report.summary.outcome.sentence, "the acceptance of gemm/packed/m=1#1 ran out on 2026-10-01");
  EXPECT_THAT(to_markdown(report), HasSubstr("ran out on 2026-10-01"));
  EXPECT_THAT(to_json(report), HasSubstr("ran out on 2026-10-01"));
}

TEST(Report, SaysHowManyVerdictsAreOpenWhereOthersPassed) {
  Comparison comparison = comparison_with(Standing::same);
  comparison.rows.push_back({.key = "another", .standing = Standing::undecided});
  const Outcome outcome = report_of(network(), comparison).summary.outcome;
  EXPECT_EQ(outcome.word, Word::decided) << "of two one is open";
  EXPECT_THAT(outcome.sentence, HasSubstr("1 undecided"));
}

TEST(Report, PassesNothingThatWasNotCompared) {
  const Report report = report_of(network());
  EXPECT_EQ(report.summary.outcome.word, Word::measured);
  EXPECT_THAT(report.not_covered, Contains(HasSubstr("no trial was compared")));
}

TEST(Report, PassesNothingThatWasNotMeasured) {
  Results results = network();
  for (TrialResult& trial : results.trials) trial.launches.clear();
  const Report report = report_of(results, comparison_with(Standing::not_comparable));
  EXPECT_EQ(report.summary.outcome.word, Word::not_measured);
}

TEST(Report, CallsAnInterruptedRunIncomplete) {
  Results results = network();
  results.partial = true;
  const Report report = report_of(results, comparison_with(Standing::same));
  EXPECT_EQ(report.summary.outcome.word, Word::interrupted);
  EXPECT_THAT(report.not_covered, Contains(HasSubstr("interrupted")));
}

// 1.05 * 1.11 / 1.08 = 1.0792.
TEST(Report, SaysHowLargeASlowDownMustBeToBeSeen) {
  const Report report = report_of(network(), comparison_with(Standing::same));
  EXPECT_NEAR(report.summary.visible_in_half, 1.05 * 1.11 / 1.08 - 1, 1e-12);
  EXPECT_THAT(to_markdown(report), HasSubstr("a slow-down of 7.92 % would have been seen in half of them"));
}

TEST(Report, SaysWhatEachMixOfTrafficReached) {
  Results results = network();
  results.roofs[0].bandwidth[0].mixes = {{0, 2e11}, {0.5, 8e10}, {1, 5e10}};
  EXPECT_THAT(to_markdown(report_of(results)),
              HasSubstr("| 100 GB/s; reads alone 200, a write to a read 80.0, writes alone 50.0 |"));
}

TEST(Report, ShowsNoMoreThanTheWholeOfARoofThatNoTrialIsShownToBeat) {
  Results results = network();
  results.roofs[0].flops_per_second = 1e10;  // 524,288 operations in 51 µs are 3 % more
  const Report report = report_of(results);
  EXPECT_THAT(report.roofs_not_believed, IsEmpty());
  EXPECT_EQ(std::ranges::max(report.times, {}, &TimeRow::share_of_roof).share_of_roof, 1);
}

TEST(Report, ShowsNoShareOfARoofThatIsNotBelievedAndSaysWhyWhereverItDoesNot) {
  Results results = network();
  results.roofs[0].flops_per_second = 5e9;                // 524,288 operations in 51 µs are 10.3 GFLOP/s
  results.roofs[0].bandwidth[0].bytes_per_second = 5e10;  // 12,000 bytes in 0.24 µs, 1,000 operations in 0.2
  const Report report = report_of(results);
  for (const std::size_t gemm : {0U, 1U}) {
    EXPECT_EQ(report.times.at(gemm).share_of_roof, 0) << "of the trial that beat it, and of the other one";
    EXPECT_TRUE(Json::parse(to_json(report)).at("times").at(gemm).at("share_of_roof").is_null());
  }
  EXPECT_GT(report.times.at(2).share_of_roof, 0) << "the bandwidth is believed";

  const std::string why = "roof of arithmetic with 1 thread is not believed";
  EXPECT_THAT(report.not_covered, Contains(HasSubstr(why)));
  const std::string text = to_markdown(report);
  EXPECT_THAT(text, AllOf(HasSubstr(why), HasSubstr("| roof not believed |"), Not(HasSubstr("206 %"))));
  const std::string table = to_table(results);
  EXPECT_THAT(table, AllOf(HasSubstr("the roof of arithmetic"), Not(HasSubstr("206 %"))));
}

TEST(Report, SaysHowManyOutputsOfASampleWereCompared) {
  Results results = network();
  for (TrialResult& trial : results.trials) trial.agreement.compared = trial.agreement.total = 0;
  results.trials[0].agreement.compared = 4096;
  results.trials[0].agreement.total = 1048576;
  const Report report = report_of(results);
  EXPECT_THAT(to_markdown(report), HasSubstr("4,096 of 1,048,576"));
  EXPECT_THAT(report.not_covered, Contains(HasSubstr("1 trial checked on a seeded sample")));
}

TEST(Report, WithholdsSecondsOfMixedMachinesAndSaysWhyWhereverItDoes) {
  Results results = network();
  results.mixed_machines = "the shards ran on machines that differ in cores";
  results.roofs.clear();
  const Report report = report_of(results);
  for (const TimeRow& row : report.times) EXPECT_EQ(row.seconds.middle, 0) << row.trial.key;
  EXPECT_NEAR(report.times.at(1).speedup->middle, 2, 1e-9) << "a ratio within a case stands";
  EXPECT_THAT(report.break_even, IsEmpty());
  EXPECT_THAT(report.not_covered, Contains(HasSubstr("withheld: the shards ran on machines that differ")));

  const std::string text = to_markdown(report);
  EXPECT_THAT(text, Not(HasSubstr("µs")));
  EXPECT_THAT(text, Not(HasSubstr("FLOP/s")));
  EXPECT_THAT(text, HasSubstr("| `packed` | withheld | 2.00x [2.00, 2.00] |"));
  for (const char* place :
       {"Times and rates are withheld: ", "\n\nWithheld: ", "No prediction for naive: "}) {
    EXPECT_THAT(text, HasSubstr(place + results.mixed_machines)) << place;
  }
  const auto json = Json::parse(to_json(report));
  EXPECT_EQ(json.at("withheld"), results.mixed_machines);
  for (const char* key : {"seconds", "flops_per_second", "bytes_per_second", "share_of_roof"}) {
    EXPECT_TRUE(json.at("times").at(1).at(key).is_null()) << key;
  }
  EXPECT_FALSE(json.at("times").at(1).at("speedup").is_null());
}

TEST(Report, OfAShardSaysWhatTheOthersHold) {
  Results results = network();
  results.shard = ShardRecord{.shard = {1, 4}, .cases = 23, .positions = {3, 7}};
  EXPECT_THAT(report_of(results).not_covered,
              Contains("this is shard 1 of 0 to 3: 21 of the 23 selected cases are in the others"));
  results.trials.clear();
  results.shard->positions.clear();
  EXPECT_EQ(report_of(results).summary.outcome.sentence,
            "shard 1 of 0 to 3 holds none of the 23 selected cases");
}

TEST(Report, ListsWhatDidNotRunWithItsReason) {
  Results results = network();
  results.trials[3].launches.clear();
  results.trials[3].skipped = "needs AVX2";
  results.trials[2].remark = "one call takes over 2 s: timed 3 times and no more";
  results.machine.facts.push_back({"OpenBLAS", "not linked", true});
  results.commit = "abc123+changes";

  const Report report = report_of(results);

  EXPECT_THAT(report.not_covered, Contains("1 trial did not run: elementwise_add/simd@avx2: needs AVX2"));
  EXPECT_THAT(report.not_covered, Contains(HasSubstr("timed 3 times and no more")));
  EXPECT_THAT(report.not_covered, Contains(HasSubstr("OpenBLAS was not built in")));
  EXPECT_THAT(report.not_covered, Contains(HasSubstr("in no commit: abc123+changes")));
}

TEST(Report, ShowsTimesThatNoCheckStandsBehindAsSuch) {
  Results results = network();
  results.trials[0].agreement.compared = results.trials[0].agreement.total = 0;
  EXPECT_THAT(report_of(results).not_covered, Contains(HasSubstr("timed with no output compared")));
}

TEST(Report, GivesNoSpeedupWithoutNaive) {
  Results results = network();
  results.trials[0].launches.clear();
  const Report report = report_of(results);
  EXPECT_FALSE(report.times.at(0).speedup);
  EXPECT_THAT(report.not_covered, Contains("gemm/m=64,n=64,k=64: no speed-up, since naive has no time"));
}

TEST(Report, LetsNoNameFromOutsideBecomeMarkup) {
  Results results = hand_made::network_with_a_disagreement();
  results.about = "<img> @team #1 | x";
  results.trials[1].agreement.detail = "<b>`|`";
  results.trials[0].note = "*layer*";
  const std::string text = to_markdown(report_of(results));
  EXPECT_THAT(text, Not(HasSubstr("<img>")));
  EXPECT_THAT(text, Not(HasSubstr("@team")));
  EXPECT_THAT(text, Not(HasSubstr("<b>")));
  EXPECT_THAT(text, HasSubstr("\\*layer\\*"));
}

TEST(Report, OfAShardIsRepeatedWithItsOptions) {
  Results results = network();
  results.shard = ShardRecord{.shard = {1, 3}};
  EXPECT_EQ(report_of(results).reproduce.back(),
            "assay run --suite suites/tiny.json --shard-count 3 --shard-index 1");
}

TEST(Report, AsJsonHasTheSameContentInSiUnits) {
  const auto json = Json::parse(to_json(report_of(network())));
  EXPECT_EQ(json.at("schema"), "assay.report/1");
  EXPECT_EQ(json.at("outcome").at("word"), "MEASURED");
  EXPECT_EQ(json.at("times").size(), 4U);
  EXPECT_NEAR(json.at("times").at(1).at("seconds").at("middle").number(), 51e-6, 1e-12);
  EXPECT_NEAR(json.at("times").at(1).at("speedup").at("middle").number(), 2, 1e-9);
  EXPECT_TRUE(json.at("times").at(0).at("speedup").is_null());
  EXPECT_NEAR(json.at("predictions").at(0).at("seconds").at("middle").number(), 3260e-6, 1e-12);
  EXPECT_TRUE(json.at("comparison").is_null());
  EXPECT_EQ(json.at("trust").at(1).at("calls").at("openblas").at(0), "cblas_sgemm");
  EXPECT_TRUE(json.at("trust").at(0).at("calls").empty());
  EXPECT_FALSE(json.at("trust").at(2).contains("calls")) << "not known";
}

TEST(Report, SaysWhichOfItsFiguresContradictEachOther) {
  Results results = network();
  EXPECT_THAT(report_of(results).not_covered, Not(Contains(HasSubstr("WRONG"))));
  results.trials[1].agreement.worst_error = 3;
  EXPECT_THAT(to_markdown(report_of(results)),
              HasSubstr("* WRONG bound: agreement[0].worst_error_in_bounds: 3.00 times the bound"));
}

TEST(Report, OfAnEmptyRunSaysThatNothingWasMeasured) {
  const Report report = report_of({.suite = "empty"});
  EXPECT_EQ(report.summary.outcome.word, Word::not_measured);
  EXPECT_THAT(to_markdown(report), HasSubstr("It rests on no measurement."));
  EXPECT_THAT(report.times, IsEmpty());
}

}  // namespace
}  // namespace assay
