#include "training/epoch/forecast.hpp"

#include "assay/files.hpp"
#include "training/job/read_job.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

auto finding(Rule rule, const std::string& field, const std::string& text) {
  return AllOf(Field(&LintFinding::rule, rule), Field(&LintFinding::field, field),
               Field(&LintFinding::text, HasSubstr(text)));
}

/// The figures of a decision record that somebody published, as they stand there; the file names it.
const std::vector<LintFinding>& adr_003() {
  static const std::vector<LintFinding> findings = [] {
    const std::filesystem::path file = std::filesystem::path(ASSAY_JOB_DATA) / "adr_003.json";
    return lint(read_phases_json(read_file(file), file.string()));
  }();
  return findings;
}

// 750 / 0.0997 = 7,522.6.
TEST(LintOfAdr003, SaysThatItsThroughputIsNotBatchByTime) {
  EXPECT_THAT(adr_003(), Contains(finding(Rule::throughput, "claims[0].throughput",
                                          "5,641/s contradicts 750 / 0.0997 s = 7,523/s")));
}

// 0.0079 + 0.0008 + 0.0082 + 0.0023 = 0.0192.
TEST(LintOfAdr003, SaysThatItsPhasesDoNotSumToItsGpuTime) {
  EXPECT_THAT(adr_003(),
              Contains(finding(Rule::sum_of_parts, "claims[1].total",
                               "0.0238 s contradicts forward + loss + backward + optimizer = 19.2 ms")));
}

// 34,222 steps of 0.0192 s = 657.1 s.
TEST(LintOfAdr003, SaysThatItsMinimumFollowsFromNothing) {
  EXPECT_THAT(adr_003(), Contains(AllOf(finding(Rule::underived_minimum, "claims[3].minimum",
                                                "21.7 min is called a minimum without saying"),
                                        Field(&LintFinding::text, HasSubstr("take 10.95 min")))));
}

// 0.443 * 56.7 = 25.12.
TEST(LintOfAdr003, SaysThatItsOtherMinimumDoesNotFollow) {
  EXPECT_THAT(adr_003(), Contains(finding(Rule::underived_minimum, "claims[4].minimum",
                                          "24.9 min contradicts 44.3 % x 56.7 min = 25.12 min")));
}

// 25,666,449 / 750 = 34,221.93 and / 1,500 = 17,110.97.
TEST(LintOfAdr003, SaysThatItRoundsStepsDownInOneRowAndUpInAnother) {
  EXPECT_THAT(adr_003(),
              Contains(finding(Rule::step_count, "claims[0].steps and claims[6].steps",
                               "34,221 is floor of 25,666,449 / 750, 17,111 is ceil of 25,666,449 / 1,500")));
}

// 0.0362 / 0.0997.
TEST(LintOfAdr003, SaysThatAThirdOfTheStepIsOther) {
  EXPECT_THAT(adr_003(), Contains(finding(Rule::large_other, "phases", "36.3 %")));
}

// 34,221 * 0.0997 s = 56.86 min; 1,500 / 0.4969 = 3,018.7; 17,111 * 0.4969 s = 141.71 min.
TEST(LintOfAdr003, SaysWhichOtherProductsAreNotWhatItSays) {
  EXPECT_THAT(adr_003(), Contains(finding(Rule::epoch, "claims[0].epoch",
                                          "56.7 min contradicts 34,221 x 0.0997 s = 56.86 min")));
  EXPECT_THAT(adr_003(),
              Contains(finding(Rule::throughput, "claims[6].throughput", "1,500 / 0.4969 s = 3,019/s")));
  EXPECT_THAT(adr_003(), Contains(finding(Rule::epoch, "claims[6].epoch", "141.71 min")));
}

// Rows 5, 7 and 8 are consistent within their rounding, as are all shares and the pure computation.
TEST(LintOfAdr003, FindsNothingElse) { EXPECT_THAT(adr_003(), SizeIs(9)); }

/// Consistent: ten steps of 0.1 s, of which 0.04 are loading and 0.06 are compute.
Job consistent() {
  return {.name = "job",
          .dataset = {.train = 1005, .batch = 100},
          .windows = {{.steps = 10, .wall_seconds = 1}},
          .phases = {{.name = "load", .kind = PhaseKind::load, .mean_seconds = 0.04},
                     {.name = "forward", .kind = PhaseKind::compute, .mean_seconds = 0.06}}};
}

TEST(Lint, FindsNothingInAConsistentJob) { EXPECT_THAT(lint(consistent()), IsEmpty()); }

TEST(Lint, AcceptsFiguresThatAgreeWithinTheirRounding) {
  Job job = consistent();
  job.claims = {{.steps = 10,
                 .step = parse_quoted("0.1 s"),
                 .throughput = parse_quoted("1,000/s"),
                 .epoch = parse_quoted("1 s")}};
  EXPECT_THAT(lint(job), IsEmpty());
  job.claims[0].throughput = parse_quoted("700/s");
  EXPECT_THAT(lint(job), IsEmpty()) << "0.1 s may be 0.149 s";
  job.claims[0].step = parse_quoted("0.100 s");
  EXPECT_THAT(lint(job),
              Contains(finding(Rule::throughput, "claims[0].throughput", "100 / 0.100 s = 1,000/s")));
}

TEST(Lint, FindsTimesBelowZero) {
  Job job = consistent();
  job.phases[0].mean_seconds = -0.04;
  EXPECT_THAT(lint(job), Contains(finding(Rule::negative, "phases.load.mean_seconds", "below 0")));
  job = consistent();
  job.windows[0].wall_seconds = 0;
  EXPECT_THAT(lint(job), Contains(finding(Rule::negative, "windows[0].wall_seconds", "not above 0")));
}

TEST(Lint, FindsPhasesLongerThanTheStep) {
  Job job = consistent();
  job.phases[1].mean_seconds = 0.08;
  EXPECT_THAT(lint(job),
              Contains(finding(Rule::parts_of_step, "phases", "120 ms together, and a step 100 ms")));
  job.phases[1].overlaps = true;
  EXPECT_THAT(lint(job), Each(Field(&LintFinding::contradiction, false)));
}

TEST(Lint, FindsSharesThatSumToMoreThanTheStep) {
  Job job = consistent();
  job.windows.clear();
  job.phases[0].share = parse_quoted("55 %");
  job.phases[1].share = parse_quoted("60 %");
  EXPECT_THAT(lint(job), Contains(finding(Rule::shares, "phases", "sum to 115 %")));
  EXPECT_THAT(lint(job), Contains(finding(Rule::shares, "phases.load.share",
                                          "55 % contradicts 40.0 ms / 100 ms = 40.0 %")));
}

TEST(Lint, FindsPhasesThatAreNamedAndMissing) {
  Job job = consistent();
  job.claims = {{.total = parse_quoted("0.06 s"), .of = {"forward", "backward"}}};
  EXPECT_THAT(lint(job),
              Contains(finding(Rule::missing_phase, "claims[0].of", "there is no phase backward")));
}

TEST(Lint, RemarksThatNothingLoads) {
  Job job = consistent();
  job.phases.erase(job.phases.begin());
  EXPECT_THAT(lint(job), Contains(finding(Rule::missing_phase, "phases", "none is of kind load")));
}

TEST(Lint, AsksNothingOfABreakDownThatTimesLoadingAlone) {
  Job job = consistent();
  job.phases.resize(1);
  EXPECT_THAT(lint(job), IsEmpty());
  job.phases[0].mean_seconds = 0.12;
  EXPECT_THAT(lint(job), Contains(finding(Rule::parts_of_step, "phases", "120 ms together")));
}

// Five of 100 ms are in no phase: less than a tenth. Then 15.
TEST(Lint, RemarksThatMuchOfAStepIsInNoPhase) {
  Job job = consistent();
  job.phases[1].mean_seconds = 0.055;
  EXPECT_THAT(lint(job), IsEmpty());
  job.phases[1].mean_seconds = 0.045;
  EXPECT_THAT(lint(job),
              Contains(finding(Rule::large_other, "phases", "15.0 ms of 100 ms per step, 15.0 %")));
}

TEST(Lint, FindsAStepCountThatIsNeitherFloorNorCeil) {
  Job job = consistent();
  job.claims = {{.steps = 12}};
  EXPECT_THAT(lint(job), Contains(finding(Rule::step_count, "claims[0].steps", "which are 10 and 11")));
  for (const Index right : {10, 11}) {
    job.claims = {{.steps = right}};
    EXPECT_THAT(lint(job), IsEmpty()) << right;
  }
}

TEST(Lint, AcceptsAMinimumThatFollows) {
  Job job = consistent();
  job.claims = {
      {.minimum = parse_quoted("0.6 s"), .derivation = {*parse_quoted("0.06 s"), *parse_quoted("10")}}};
  EXPECT_THAT(lint(job), IsEmpty());
}

TEST(Lint, FindsPartsOfDifferentScopesAdded) {
  Job job = consistent();
  job.phases.push_back({.name = "validation", .scope = Scope::validation, .mean_seconds = 0.04});
  job.claims = {{.total = parse_quoted("0.10 s"), .of = {"forward", "validation"}}};
  EXPECT_THAT(lint(job), Contains(finding(Rule::scopes, "claims[0].of",
                                          "forward is of training and validation of validation")));
  job.claims[0].of = {"load", "forward"};
  EXPECT_THAT(lint(job), IsEmpty());
}

// 1 / 4 of the throughput is left.
TEST(Lint, FindsTimesSlowerThatAreNotTheLossOfThroughput) {
  Job job = consistent();
  job.claims = {{.slower = parse_quoted("4"), .throughput_change = parse_quoted("-300 %")}};
  EXPECT_THAT(lint(job), Contains(finding(Rule::slower, "claims[0].throughput_change",
                                          "-300 % contradicts 4 times slower, which is -75.0 %")));
  job.claims[0].throughput_change = parse_quoted("-75 %");
  EXPECT_THAT(lint(job), IsEmpty());
}

TEST(Lint, FindsAnEpochBelowItsMinimum) {
  Job job = consistent();
  job.claims = {{.where = "a table",
                 .epoch = parse_quoted("1 s"),
                 .minimum = parse_quoted("3 s"),
                 .derivation = {*parse_quoted("0.3 s"), *parse_quoted("10")}}};
  EXPECT_THAT(lint(job), Contains(finding(Rule::bound, "claims[0].epoch", "1 s is below 3 s")));
}

TEST(Lint, FindsStepsLongerThanTheirWindow) {
  Job job = consistent();
  job.windows[0] = {.steps = 2, .wall_seconds = 0.2, .step_seconds = {0.15, 0.1}};
  EXPECT_THAT(lint(job), Contains(finding(Rule::timed_windows, "windows[0].step_seconds",
                                          "250 ms in a window of 200 ms")));
}

}  // namespace
}  // namespace assay
