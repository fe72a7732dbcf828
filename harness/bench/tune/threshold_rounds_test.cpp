// Tests what is checked, asked for and refused at one size, with a sampler whose times are scripted.
#include "bench/tune/threshold.hpp"

#include "assay/error.hpp"
#include "core/check/doubling_test.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::AllOf;
using testing::doubled;
using testing::Doubling;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

/// Wrong from 40 columns on, as a kernel with a forgotten block is.
void doubled_up_to_forty(const Doubling::Problem& p, const Doubling::Input& in, Doubling::Output& out) {
  doubled(p, in, out);
  if (p.columns >= 40) out.y[39] = 0;
}

const Registry& doubling_with_a_wrong_variant() {
  static const Registry out = [] {
    Registry made = testing::doubling_registry();
    made.add<Doubling>({.name = "flat", .run = doubled});
    made.add<Doubling>({.name = "short", .run = doubled_up_to_forty});
    made.add<Doubling>({.name = "threaded", .threaded = true, .run = doubled});
    return made;
  }();
  return out;
}

ThresholdQuestion question(const char* between) {
  return question_of(
      {.subject = "doubling/rows=1", .vary = "columns", .from = 1, .to = 1024, .step = 2, .between = between},
      doubling_with_a_wrong_variant(), Machine{});
}

/// `naive` takes a nanosecond per column, every other variant 20 ns; each round at a pace of its own.
Sample scripted(std::vector<LaunchRequest>& asked) {
  return [&asked](const LaunchRequest& request, const Hooks&) {
    asked.push_back(request);
    const double pace = 1 + 0.3 * request.index;
    std::vector<TrialSample> out;
    for (const TrialRequest& trial : request.trials) {
      const double columns = std::stod(trial.problem.substr(trial.problem.rfind('=') + 1));
      const double seconds = 1e-9 * pace * (trial.variant == "naive" ? columns : 20);
      out.push_back({.key = trial.key, .slices = Launch(3, {.seconds = seconds})});
    }
    return out;
  };
}

TEST(ThresholdRounds, GiveTheRatioOfTimesRoundByRoundWhateverThePace) {
  std::vector<LaunchRequest> asked;
  const ThresholdQuestion wanted = question("naive,flat");
  ThresholdRounds rounds(wanted, {.rounds = 8}, scripted(asked), {});
  const MeasuredSize measured = rounds.measured_at(10);
  const Interval& ratio = measured.ratio;
  EXPECT_NEAR(ratio.middle, 0.5, 1e-9);
  EXPECT_NEAR(ratio.low, 0.5, 1e-9);
  EXPECT_NEAR(ratio.high, 0.5, 1e-9);
  ASSERT_THAT(asked, SizeIs(8));
  EXPECT_EQ(asked[0].trials[0].key, "doubling/naive/rows=1,columns=10#1");
  EXPECT_EQ(asked[0].trials[1].key, "doubling/flat/rows=1,columns=10#1");
  // The median of paces 1.0 to 3.1, in steps of 0.3.
  EXPECT_NEAR(measured.second.middle, 20e-9 * 2.05, 1e-15);
}

TEST(ThresholdRounds, LeadASearchToTheBreakEven) {
  std::vector<LaunchRequest> asked;
  const ThresholdQuestion wanted = question("naive,flat");
  ThresholdRounds rounds(wanted, {.rounds = 6}, scripted(asked), {});
  const Threshold found = find_threshold(
      wanted.sizes, [&](Index size) { return rounds.measured_at(size); }, [&] { return rounds.ended(); });
  EXPECT_EQ(found.outcome, ThresholdOutcome::found);
  EXPECT_EQ(found.low, 16) << "16 ns against 20 ns";
  EXPECT_EQ(found.high, 32);
}

TEST(ThresholdRounds, NeverTimeAVariantThatDisagrees) {
  std::vector<LaunchRequest> asked;
  const ThresholdQuestion wanted = question("naive,short");
  ThresholdRounds rounds(wanted, {.rounds = 6}, scripted(asked), {});
  rounds.measured_at(32);
  EXPECT_FALSE(rounds.ended());
  asked.clear();
  rounds.measured_at(64);
  EXPECT_TRUE(rounds.ended());
  EXPECT_THAT(rounds.wrong(), AllOf(HasSubstr("doubling/short/rows=1,columns=64#1"), HasSubstr("y[0, 39]")));
  EXPECT_THAT(asked, IsEmpty());
}

TEST(ThresholdRounds, GiveTeamsOfThreadsLongerSlices) {
  std::vector<LaunchRequest> asked;
  const ThresholdQuestion alone = question("naive,threaded#1"), team = question("naive,threaded#2");
  ThresholdRounds(alone, {.rounds = 6}, scripted(asked), {}).measured_at(4);
  ThresholdRounds(team, {.rounds = 6}, scripted(asked), {}).measured_at(4);
  EXPECT_GT(asked.back().policy.slice_seconds, asked.front().policy.slice_seconds);
  EXPECT_EQ(asked.back().trials[1].threads, 2);
}

TEST(ThresholdRounds, AreTooFewWhereACallTakesSeconds) {
  const Sample thrice = [](const LaunchRequest& request, const Hooks&) {
    std::vector<TrialSample> out;
    for (const TrialRequest& trial : request.trials) {
      out.push_back({.key = trial.key, .slices = Launch(request.index < 3 ? 1U : 0U, {.seconds = 2.5})});
    }
    return out;
  };
  const ThresholdQuestion wanted = question("naive,flat");
  ThresholdRounds rounds(wanted, {.rounds = 6}, thrice, {});
  EXPECT_THAT([&] { rounds.measured_at(64); },
              ThrowsMessage<Error>(AllOf(HasSubstr("3 rounds"), HasSubstr("smaller --to"))));
}

TEST(ThresholdRounds, EndWithAnInterrupt) {
  bool stop = false;
  std::vector<LaunchRequest> asked;
  const Sample interrupted = [&](const LaunchRequest& request, const Hooks& hooks) {
    stop = true;
    return scripted(asked)(request, hooks);
  };
  const ThresholdQuestion wanted = question("naive,flat");
  ThresholdRounds rounds(wanted, {.rounds = 6}, interrupted, {.stop = [&] { return stop; }});
  rounds.measured_at(4);
  EXPECT_TRUE(rounds.ended());
  EXPECT_THAT(rounds.wrong(), IsEmpty());
}

}  // namespace
}  // namespace assay
