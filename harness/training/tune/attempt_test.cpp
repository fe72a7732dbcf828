// Verdicts on settings from scripted rounds: no clock is involved.
#include "training/tune/attempt.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace assay {
namespace {

using ::testing::HasSubstr;

/// Eight rounds at so many microseconds per sample, each round of the machine's own pace.
Attempt attempt(Index workers, double microseconds, double noise = 0.001, double control = 1) {
  Attempt out;
  out.plan.workers = workers;
  for (int round = 0; round < 8; ++round) {
    const double pace = 1 + 0.2 * round;
    const double luck = 1 + noise * (round % 2 == 0 ? 1 : -1) * (1 + 0.1 * round);
    out.rounds.push_back({.seconds = 1e-6 * microseconds * pace * luck,
                          .alone = 5e-6 * pace,
                          .control = 5e-6 * pace * control});
  }
  return out;
}

TEST(Settings, AreJudgedRoundByRoundWhateverTheMachineDoesMeanwhile) {
  const TuneRuling out = ruled({attempt(0, 10, 0), attempt(1, 8), attempt(2, 12), attempt(3, 10.02)});
  EXPECT_EQ(out.attempts[0].decision, Decision::baseline);
  EXPECT_EQ(out.attempts[1].decision, Decision::retain);
  EXPECT_NEAR(out.attempts[1].ratio.middle, 0.8, 1e-3);
  EXPECT_EQ(out.attempts[2].decision, Decision::reject);
  EXPECT_EQ(out.attempts[3].decision, Decision::no_change);
  EXPECT_EQ(out.chosen, 1U);
  EXPECT_EQ(out.best, 1U);
}

TEST(Settings, ThatCannotBeToldApartAreTiedAndTheCheapestIsTaken) {
  const TuneRuling out = ruled({attempt(0, 10, 0), attempt(4, 7.99, 0.01), attempt(1, 8.0, 0.01)});
  EXPECT_EQ(out.best, 1U);
  EXPECT_EQ(out.chosen, 2U) << "one worker instead of four";
  EXPECT_TRUE(out.attempts[1].tied_with_best);
  EXPECT_TRUE(out.attempts[2].tied_with_best);
  EXPECT_FALSE(out.attempts[0].tied_with_best);
  EXPECT_THAT(out.ties, HasSubstr("2 settings"));
}

TEST(Settings, ThatAreTiedButNotShownToBeFasterAreNotTakenForBeingCheap) {
  const TuneRuling out = ruled({attempt(2, 10, 0), attempt(4, 8, 0.01), attempt(1, 9.5, 0.2)});
  EXPECT_EQ(out.attempts[1].decision, Decision::retain);
  EXPECT_EQ(out.attempts[2].decision, Decision::no_change);
  EXPECT_TRUE(out.attempts[2].tied_with_best);
  EXPECT_EQ(out.chosen, 1U);
}

TEST(Settings, AreConfoundedWhenWhatTheyCannotReachMovedToo) {
  const TuneRuling out = ruled({attempt(0, 10, 0), attempt(1, 8, 0.001, 0.8)});
  EXPECT_EQ(out.attempts[1].decision, Decision::confounded);
  EXPECT_EQ(out.chosen, 0U) << "nothing that is confounded is chosen";
}

// Twice the batch, or threads: the step itself is faster, and the job's own steps, taken beside it, are not.
TEST(Settings, ThatMakeTheStepFasterAreNoReasonToDoubtTheMachine) {
  Attempt larger = attempt(0, 6);
  larger.plan.batch = 128;
  for (RoundTimes& round : larger.rounds) round.alone *= 0.6;
  const TuneRuling out = ruled({attempt(0, 10, 0), larger});
  EXPECT_EQ(out.attempts[1].decision, Decision::retain);
  EXPECT_EQ(out.chosen, 1U);
}

TEST(Settings, ThatTrainSomethingElseAreWrongHoweverFast) {
  Attempt fast = attempt(1, 6);
  fast.wrong = "batch 3 was trained twice";
  const TuneRuling out = ruled({attempt(0, 10, 0), fast});
  EXPECT_EQ(out.attempts[1].decision, Decision::wrong);
  EXPECT_EQ(out.attempts[1].why, "batch 3 was trained twice");
  EXPECT_EQ(out.chosen, 0U);
}

TEST(Settings, FasterThanAStepAloneAreOverTheirBound) {
  const TuneRuling out = ruled({attempt(0, 10, 0), attempt(1, 4)});
  EXPECT_EQ(out.attempts[1].decision, Decision::over_bound);
  EXPECT_EQ(out.chosen, 0U);
}

TEST(Settings, OfAJobThatIsBestAsItIsLeaveItAlone) {
  const TuneRuling out = ruled({attempt(1, 8, 0), attempt(0, 10), attempt(2, 9)});
  EXPECT_EQ(out.chosen, 0U);
  EXPECT_EQ(out.attempts[1].decision, Decision::reject);
  EXPECT_THAT(out.ties, HasSubstr("no other setting"));
}

}  // namespace
}  // namespace assay
