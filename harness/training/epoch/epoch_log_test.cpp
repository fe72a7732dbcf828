#include "training/epoch/epoch_prediction.hpp"

#include "assay/error.hpp"
#include "core/json/json.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

LoggedEpoch epoch(Index workers, Index prefetch, double seconds, double predicted) {
  LoggedEpoch out{.date = "2026-01-01T00:00:00Z", .commit = "c", .machine = "m", .seconds = seconds};
  out.job.name = "job";
  out.job.plan.samples = 100;
  out.job.plan.batch = 10;
  out.job.plan.workers = workers;
  out.job.plan.prefetch = prefetch;
  out.models = {{"M4", {predicted * 0.98, predicted, predicted * 1.02, 0.9}}, {"M0", {1, 1, 1, 0}}};
  return out;
}

/// The row of that name; none where there is none.
ErrorSummary row(const std::vector<LoggedEpoch>& log, const std::string& predicted) {
  const auto errors = errors_of(log);
  const auto found = std::ranges::find(errors, predicted, &ErrorSummary::predicted);
  return found == errors.end() ? ErrorSummary{} : *found;
}
const std::string m4_at_pace = "the same setting, M4 at the pace of the epoch",
                  unrun_at_pace = "a setting that had not been run, M4 at the pace of the epoch";

TEST(EpochLogs, SumUpErrorsAndCoverageOfEachModel) {
  // Off by 1, 3 and 10 %, of which the intervals of 2 % hold the first.
  const std::vector<LoggedEpoch> log{epoch(0, 1, 1, 1.01), epoch(1, 1, 1, 0.97), epoch(2, 1, 1, 1.1)};
  const auto errors = errors_of(log);
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[1].predicted, "the same setting, M4");
  EXPECT_NEAR(errors[1].median, 0.03, 1e-12);
  EXPECT_NEAR(errors[1].largest, 0.1, 1e-12);
  EXPECT_EQ(errors[1].with_interval, 3U);
  EXPECT_EQ(errors[1].inside, 1U);
  EXPECT_EQ(errors[0].with_interval, 0U) << "M0 has no interval";
}

TEST(EpochLogs, CountNoRangeThatClaimsNoCoverage) {
  LoggedEpoch drifting = epoch(0, 1, 1, 1.01);
  drifting.models[0].seconds.coverage = 0;
  EXPECT_EQ(row({drifting}, "the same setting, M4").with_interval, 0U);
}

TEST(EpochLogs, GiveTheErrorsOfThisMachineAndModelToTheNextPrediction) {
  LoggedEpoch elsewhere = epoch(0, 1, 1, 5);
  elsewhere.machine = "another";
  const std::vector<LoggedEpoch> log{epoch(0, 1, 1, 1 / 0.98), elsewhere, epoch(1, 1, 1.02, 1)};
  EXPECT_THAT(earlier_errors(log, "m", "M4"),
              ElementsAre(::testing::DoubleNear(0, 1e-9), ::testing::DoubleNear(0, 1e-9)));
  EXPECT_THAT(earlier_errors(log, "m", "M3"), ::testing::IsEmpty());
}

TEST(EpochLogs, SumUpIntervalsThatWereMadeWithTheEpochsBefore) {
  LoggedEpoch few = epoch(0, 1, 1, 1.1), held = few, missed = few;
  few.experience = {.epochs = 8, .seconds = {1.1, 1.1, 1.1, 0}};
  held.experience = {.epochs = 9, .seconds = {0.9, 1.1, 1.3, 0.9}};
  missed.experience = {.epochs = 10, .seconds = {1.05, 1.1, 1.15, 0.9}};
  const ErrorSummary all = row({few, held, missed}, std::string(with_experience));
  EXPECT_EQ(all.with_interval, 2U);
  EXPECT_EQ(all.inside, 1U);
  EXPECT_THAT(epoch_log_markdown({few, held, missed}, "h"), HasSubstr("with the epochs before it | 2 |"));
  EXPECT_THAT(epoch_log_markdown({few}, "h"), Not(HasSubstr("epochs before it")));
}

TEST(EpochLogs, ScoreSettingsThatWereNotRunYetAndWhatFollowingThemCosts) {
  LoggedEpoch none = epoch(0, 1, 2.0, 2.0);
  none.elsewhere = {{{0, 1}, 2.0}, {{1, 2}, 1.2}, {{2, 2}, 1.1}, {{2, 4}, 1.0}};
  const std::vector<LoggedEpoch> log{none, epoch(1, 2, 1.0, 1.0), epoch(2, 2, 1.25, 1.25)};
  const ErrorSummary unrun = row(log, std::string(unrun_setting));
  EXPECT_EQ(unrun.epochs, 2U) << "2 workers with 4 ahead were never run, and 0 workers are its own";
  EXPECT_NEAR(unrun.largest, 0.2, 1e-12);
  EXPECT_NEAR(unrun.median, (0.2 + 0.12) / 2, 1e-12);
  const std::vector<double> all = regrets(log);  // of 2 workers instead of 1, both with 2 ahead
  ASSERT_EQ(all.size(), 1U);
  EXPECT_NEAR(all[0], 0.25, 1e-12);
}

// The machine was a quarter slower than when it was predicted, which explains all but 1.2 % of 19 %.
TEST(EpochLogs, TellWhatIsLeftOfAnErrorAtThePaceOfTheEpoch) {
  LoggedEpoch slow = epoch(0, 1, 1.25, 1.012);
  slow.predicted_step = 0.004;
  slow.measured_step = 0.005;
  const ErrorSummary one = row({slow, epoch(1, 1, 1, 1)}, m4_at_pace);
  EXPECT_EQ(one.epochs, 1U) << "of the other nobody said how long its steps took";
  EXPECT_NEAR(one.largest, 0.012, 1e-9);

  LoggedEpoch predicted = epoch(1, 2, 1, 1);
  predicted.predicted_step = 0.004;
  predicted.elsewhere = {{{0, 1}, 1.05}, {{1, 2}, 1}};
  const ErrorSummary unrun = row({slow, predicted}, unrun_at_pace);
  EXPECT_EQ(unrun.epochs, 1U);
  EXPECT_NEAR(unrun.largest, 0.05, 1e-9);

  slow.job.plan.batch_delay = 0.001;
  EXPECT_EQ(row({slow}, m4_at_pace).epochs, 0U) << "a delay takes as long on a slow machine";
  EXPECT_EQ(row({slow, predicted}, unrun_at_pace).epochs, 0U);
}

// The epoch without workers took a tenth longer, when the machine was a fifth slower.
TEST(EpochLogs, TellRegretAtOnePace) {
  LoggedEpoch none = epoch(0, 1, 1.1, 1), one = epoch(1, 2, 1, 1);
  none.elsewhere = {{{0, 1}, 0.9}, {{1, 2}, 1}};
  none.measured_step = 0.012;
  one.measured_step = 0.010;
  EXPECT_NEAR(regrets({none, one}).at(0), 0.1, 1e-9);
  EXPECT_NEAR(regrets_at_pace({none, one}).at(0), 0, 1e-9);
  none.measured_step = 0;
  EXPECT_TRUE(regrets_at_pace({none, one}).empty()) << "one setting alone has no other to regret";
  EXPECT_THAT(epoch_log_markdown({none, one}, "h"), HasSubstr("over 1 prediction."));
}

// Validation predicted 10 % too long and outside its interval of 5 %, then 4 % too short and inside.
TEST(EpochLogs, SumUpErrorsOfValidationAndCheckpointsByThemselves) {
  LoggedEpoch first = epoch(0, 1, 1, 1), second = first;
  first.segments = {{"validation", {0.21, 0.22, 0.231, 0.9}, 0.2}, {"checkpoint", {0.1, 0.1, 0.1, 0}, 0.2}};
  second.segments = {{"validation", {0.182, 0.192, 0.202, 0.9}, 0.2}};
  const ErrorSummary checkpoint = row({first, second}, "checkpoint alone");
  EXPECT_EQ(checkpoint.epochs, 1U);
  EXPECT_NEAR(checkpoint.largest, 0.5, 1e-12);
  EXPECT_EQ(checkpoint.with_interval, 0U);
  const ErrorSummary validation = row({first, second}, "validation alone");
  EXPECT_NEAR(validation.median, 0.07, 1e-12);
  EXPECT_EQ(validation.with_interval, 2U);
  EXPECT_EQ(validation.inside, 1U);
  EXPECT_THAT(epoch_log_markdown({first, second}, "abc"), HasSubstr("| validation alone | 2 | 7.0 % |"));
}

TEST(EpochLogs, AreReadAsTheyWereWrittenAndNameABadLine) {
  LoggedEpoch one = epoch(1, 2, 1.5, 1.4);
  one.models[1] = {"M1", {-2, -1, -0.5, 0.9}};  // of a line through few steps
  one.elsewhere = {{{0, 1}, 2.0}};
  one.experience = {.epochs = 9, .seconds = {1.2, 1.4, 1.6, 0.9}};
  one.job.plan.validation_samples = 30;
  one.job.plan.checkpoint_every = 4;
  one.segments = {{"validation", {0.1, 0.11, 0.12, 0.9}, 0.13}, {"checkpoint", {0.02, 0.02, 0.02, 0}, 0.03}};
  const std::string text = to_line(one) + "\n" + to_line(epoch(0, 1, 2, 2)) + "\n";
  const auto log = epoch_log_from(text, "log.jsonl");
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(to_line(log[0]), to_line(one));
  ASSERT_EQ(log[0].segments.size(), 2U);
  EXPECT_EQ(log[0].segments[0].predicted.high, 0.12);
  EXPECT_EQ(log[0].segments[1].name, "checkpoint");
  EXPECT_EQ(log[0].segments[1].seconds, 0.03);
  EXPECT_EQ(log[0].job.plan.checkpoint_every, 4);
  EXPECT_EQ(log[0].experience.epochs, 9U);
  EXPECT_EQ(log[0].experience.seconds.high, 1.6);
  try {
    epoch_log_from(text + "{\"schema\": \"assay.epoch_log/1\"}\n", "log.jsonl");
    FAIL();
  } catch (const Error& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("log.jsonl, line 3"));
  }
  EXPECT_THAT(epoch_log_markdown(log, "abc"), HasSubstr("2 whole epochs"));
}

TEST(EpochLogs, OfEarlierVersionsMayLackSegmentsAndExperience) {
  Json value = Json::parse(to_line(epoch(1, 2, 1.5, 1.4)));
  for (const char* key : {"segments", "experience"}) {
    ASSERT_TRUE(value.contains(key));
    value.erase(key);
  }
  const std::string line = value.dump();
  const auto log = epoch_log_from(line, "log.jsonl");
  ASSERT_EQ(log.size(), 1U);
  EXPECT_TRUE(log[0].segments.empty());
}

TEST(EpochLogs, RefuseASegmentThatTookNoTime) {
  LoggedEpoch one = epoch(1, 2, 1.5, 1.4);
  one.segments = {{"validation", {0.1, 0.11, 0.12, 0.9}, 0}};
  EXPECT_THAT([&] { epoch_log_from(to_line(one), "log.jsonl"); },
              ::testing::ThrowsMessage<Error>(
                  HasSubstr("log.jsonl, line 1: segments[0].seconds: is 0, must be a number above 0")));
}

}  // namespace
}  // namespace assay
