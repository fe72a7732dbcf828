// Reports of round numbers in which one figure at a time is made to contradict another.
#include "core/json/lint.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

/// Naive takes 8, 10 and 12 s, simd half of that: two trials of one case, 100 steps of one call each.
Json consistent() {
  return Json::parse(R"({
    "outcome": {"trials": 4, "measured": 2, "fewest_launches": 3, "most_launches": 3, "counts": {
      "agree": 3, "disagree": 1, "measured": 2, "agree but not measured": 1, "did not run here": 0}},
    "agreement": [{"trials": 4, "disagreeing": 1, "worst_error_in_bounds": 1, "compared": 7, "total": 7}],
    "trust": [{"slices": 9, "judged": 9, "prepare_seconds": 0}],
    "times": [
      {"case": "a", "variant": "naive", "seconds": {"low": 8, "middle": 10, "high": 12, "coverage": 0.75},
       "speedup": null, "share_of_roof": 0.5, "samples": [[8], [10], [12]]},
      {"case": "a", "variant": "simd", "seconds": {"low": 4, "middle": 5, "high": 6, "coverage": 0.75},
       "speedup": {"low": 2, "middle": 2, "high": 2, "coverage": 0.75}, "share_of_roof": 1,
       "samples": [[4], [5], [6]]}],
    "peers": [{"geometric_mean": 2, "ratios": [{"ratio": {"low": 1, "middle": 1, "high": 1}},
                                               {"ratio": {"low": 4, "middle": 4, "high": 4}}]}],
    "comparison": {"verdicts": [
      {"standing": "slower", "ratio": {"low": 1.1, "middle": 1.2, "high": 1.3, "coverage": 0.9}},
      {"standing": "faster", "ratio": {"low": 0.7, "middle": 0.8, "high": 0.9, "coverage": 0.9}}]},
    "predictions": [{"steps_per_epoch": 100, "seconds": {"low": 800, "middle": 1000, "high": 1200},
      "contributions": [{"per_step": 1, "seconds": {"low": 8, "middle": 10, "high": 12},
                         "seconds_per_step": 10, "share_percent": 100}]}],
    "composition": {"operations": [{"share_percent": 60, "share_left_percent": 50},
                                   {"share_percent": 40, "share_left_percent": 50}]}})");
}

auto finding(Rule rule, const std::string& field, const std::string& text) {
  return AllOf(Field(&LintFinding::rule, rule), Field(&LintFinding::field, field),
               Field(&LintFinding::text, HasSubstr(text)));
}

TEST(LintOfReports, FindsNothingWhereAllAgrees) { EXPECT_THAT(lint(consistent()), IsEmpty()); }

TEST(LintOfReports, FindsIntervalsThatDoNotHoldTheirEstimate) {
  Json report = consistent();
  report["comparison"]["verdicts"][0]["ratio"]["high"] = 1.15;
  EXPECT_THAT(lint(report), ElementsAre(finding(Rule::interval, "comparison.verdicts[0].ratio",
                                                "1.20 is not within [1.10, 1.15]")));
  report = consistent();
  std::swap(report["peers"][0]["ratios"][1]["ratio"]["low"],
            report["peers"][0]["ratios"][1]["ratio"]["high"]);
  EXPECT_THAT(lint(report), IsEmpty()) << "both ends are the same";
  report["peers"][0]["ratios"][1]["ratio"]["low"] = 5;
  EXPECT_THAT(lint(report),
              ElementsAre(finding(Rule::interval, "peers[0].ratios[1].ratio", "is not within [5.00, 4.00]")));
  report = consistent();
  report["times"][0]["seconds"]["coverage"] = 75;
  EXPECT_THAT(lint(report), ElementsAre(finding(Rule::interval, "times[0].seconds.coverage", "75.0")));
}

TEST(LintOfReports, AllowsEndsThatWereDrawnFromSlicesBesideTheEstimate) {
  Json report = consistent();
  Json& ratio = report["comparison"]["verdicts"][0]["ratio"];
  ratio["middle"] = 1.31;
  ratio["over"] = "slices";
  EXPECT_THAT(lint(report), IsEmpty());
  ratio["low"] = 1.4;
  EXPECT_THAT(lint(report), ElementsAre(finding(Rule::interval, "comparison.verdicts[0].ratio", "1.31")));
}

TEST(LintOfReports, FindsATimeThatIsOfNoneOfItsSamples) {
  Json report = consistent();
  report["times"][0]["samples"] = Json::parse("[[11], [12, 11.5]]");
  EXPECT_THAT(lint(report), ElementsAre(finding(Rule::interval, "times[0].seconds",
                                                "10.0 s is of samples from 11.0 s to 12.0 s")));
}

// 12 / 4 = 3.
TEST(LintOfReports, FindsASpeedUpThatIsNoRatioOfSamples) {
  Json report = consistent();
  report["times"][1]["speedup"] = Json::parse(R"({"low": 3.1, "middle": 3.1, "high": 3.1})");
  EXPECT_THAT(lint(report), ElementsAre(finding(Rule::ratio, "times[1].speedup", "3.10 contradicts")));
  report["times"][1]["speedup"]["middle"] = 3;
  report["times"][1]["speedup"]["low"] = 3;
  EXPECT_THAT(lint(report), IsEmpty());
}

TEST(LintOfReports, FindsSharesOfMoreThanTheWhole) {
  Json report = consistent();
  report["times"][1]["share_of_roof"] = 1.3;
  EXPECT_THAT(lint(report), ElementsAre(finding(Rule::shares, "times[1].share_of_roof", "130 %")));
  report = consistent();
  report["composition"]["operations"][0]["share_percent"] = 61;
  EXPECT_THAT(lint(report),
              ElementsAre(finding(Rule::shares, "composition.operations.share_percent", "sum to 101 %")));
}

// 1.2 s in the middle, and 1 s at the high end of the interval: no faster than the roof for sure.
TEST(LintOfReports, BelievesARoofThatIsPassedWithinTheInterval) {
  Json report = consistent();
  report["times"][1]["share_of_roof"] = 1.2;
  EXPECT_THAT(lint(report), IsEmpty());
}

TEST(LintOfReports, FindsCountsThatDoNotAddUp) {
  Json report = consistent();
  report["outcome"]["counts"]["disagree"] = 2;
  EXPECT_THAT(lint(report), ElementsAre(finding(Rule::sum_of_parts, "outcome.counts",
                                                "4 trials contradicts the sum of their states, 5")));
  report = consistent();
  report["outcome"]["counts"]["agree but not measured"] = 0;
  EXPECT_THAT(lint(report), ElementsAre(finding(Rule::sum_of_parts, "outcome.counts",
                                                "3 that agree contradicts the sum of their states, 2")));
}

TEST(LintOfReports, FindsPartsThatAreMoreThanTheirWhole) {
  Json report = consistent();
  report["agreement"][0]["compared"] = 8;
  report["trust"][0]["judged"] = 10;
  report["outcome"]["measured"] = 5;
  report["outcome"]["fewest_launches"] = 4;
  EXPECT_THAT(
      lint(report),
      ElementsAre(finding(Rule::bound, "outcome.measured", "5 is more than trials, which is 4"),
                  finding(Rule::bound, "outcome.fewest_launches", "4 is more than most_launches, which is 3"),
                  finding(Rule::bound, "agreement[0].compared", "8 is more than total, which is 7"),
                  finding(Rule::bound, "trust[0].judged", "10 is more than slices, which is 9")));
}

TEST(LintOfReports, FindsErrorsBeyondTheBoundThatAgree) {
  Json report = consistent();
  report["agreement"][0]["worst_error_in_bounds"] = 1.5;
  EXPECT_THAT(lint(report), ElementsAre(finding(Rule::bound, "agreement[0].worst_error_in_bounds", "1.50")));
  EXPECT_THAT(lint(Json::parse(R"({"agrees": true, "worst_error": 2})")),
              ElementsAre(finding(Rule::bound, "worst_error", "2.00 times the bound")));
  EXPECT_THAT(lint(Json::parse(R"({"agrees": false, "worst_error": 2})")), IsEmpty());
}

TEST(LintOfReports, FindsVerdictsAgainstTheirRatio) {
  Json report = consistent();
  report["comparison"]["verdicts"][0]["standing"] = "faster";
  report["comparison"]["verdicts"][1]["standing"] = "slower";
  EXPECT_THAT(
      lint(report),
      ElementsAre(finding(Rule::slower, "comparison.verdicts[0].standing", "faster contradicts 1.20"),
                  finding(Rule::slower, "comparison.verdicts[1].standing", "slower contradicts 0.80")));
}

TEST(LintOfReports, FindsAMeanBeyondTheWorstAndTheBest) {
  Json report = consistent();
  report["peers"][0]["geometric_mean"] = 4.5;
  EXPECT_THAT(lint(report),
              ElementsAre(finding(Rule::ratio, "peers[0].geometric_mean", "4.50 is the mean of ratios")));
}

TEST(LintOfReports, FindsAnEpochThatIsNotItsSteps) {
  Json report = consistent();
  report["predictions"][0]["steps_per_epoch"] = 1000;
  EXPECT_THAT(lint(report),
              ElementsAre(finding(Rule::epoch, "predictions[0].seconds", "contradicts 1,000 steps")));
  report = consistent();
  report["predictions"][0]["contributions"][0]["seconds_per_step"] = 20;
  EXPECT_THAT(lint(report),
              ElementsAre(finding(Rule::epoch, "predictions[0].contributions[0].seconds_per_step",
                                  "20.0 s contradicts 1 x 10.0 s = 10.0 s")));
}

TEST(LintOfReports, FindsWhatIsBelowZero) {
  Json report = consistent();
  report["trust"][0]["prepare_seconds"] = -1;
  EXPECT_THAT(lint(report), ElementsAre(finding(Rule::negative, "trust[0].prepare_seconds", "below 0")));
}

TEST(LintOfReports, RefusesWhatIsReadWithThePlace) {
  EXPECT_NO_THROW(require_consistent(consistent(), "a.json"));
  EXPECT_THAT(
      [] { require_consistent(Json::parse(R"({"x": [{"compared": 2, "total": 1}]})"), "a.json"); },
      ThrowsMessage<Error>(AllOf(HasSubstr("a.json: x[0].compared"), HasSubstr("contradicts itself"))));
}

}  // namespace
}  // namespace assay
