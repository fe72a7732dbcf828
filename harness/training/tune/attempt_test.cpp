// Verdicts on settings from scripted rounds: no clock is involved.
#include "training/tune/settings.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

/// Eight rounds at so many microseconds per sample, each round of the machine's own pace.
Candidate setting(Index workers, double microseconds, double noise = 0.001, double control = 1) {
  Candidate out{.price = {static_cast<double>(workers)}};
  for (int round = 0; round < 8; ++round) {
    const double pace = 1 + 0.2 * round;
    const double luck = 1 + noise * (round % 2 == 0 ? 1 : -1) * (1 + 0.1 * round);
    out.turns.push_back({.seconds = {{1e-6 * microseconds * pace * luck}},
                         .control = {{5e-6 * pace * control}},
                         .bound = 5e-6 * pace});
  }
  return out;
}

TuneRuling ruling(const std::vector<Candidate>& candidates) { return ruled(setting_words, candidates); }

TEST(Settings, AreJudgedRoundByRoundWhateverTheMachineDoesMeanwhile) {
  const TuneRuling out = ruling({setting(0, 10, 0), setting(1, 8), setting(2, 12), setting(3, 10.02)});
  EXPECT_EQ(out.candidates[0].decision, Decision::baseline);
  EXPECT_EQ(out.candidates[1].decision, Decision::retain);
  EXPECT_NEAR(out.candidates[1].ratio.middle, 0.8, 1e-3);
  EXPECT_EQ(out.candidates[2].decision, Decision::reject);
  EXPECT_EQ(out.candidates[3].decision, Decision::no_change);
  EXPECT_EQ(out.chosen, 1U);
  EXPECT_EQ(out.best, 1U);
}

TEST(Settings, ThatCannotBeToldApartAreTiedAndTheCheapestIsTaken) {
  const TuneRuling out = ruling({setting(0, 10, 0), setting(4, 7.99, 0.01), setting(1, 8.0, 0.01)});
  EXPECT_EQ(out.best, 1U);
  EXPECT_EQ(out.chosen, 2U) << "one worker instead of four";
  EXPECT_TRUE(out.candidates[1].tied_with_best);
  EXPECT_TRUE(out.candidates[2].tied_with_best);
  EXPECT_FALSE(out.candidates[0].tied_with_best);
  EXPECT_EQ(out.tied, 2U);
}

TEST(Settings, ThatAreTiedButNotShownToBeFasterAreNotTakenForBeingCheap) {
  const TuneRuling out = ruling({setting(2, 10, 0), setting(4, 8, 0.01), setting(1, 9.5, 0.2)});
  EXPECT_EQ(out.candidates[1].decision, Decision::retain);
  EXPECT_EQ(out.candidates[2].decision, Decision::no_change);
  EXPECT_TRUE(out.candidates[2].tied_with_best);
  EXPECT_EQ(out.chosen, 1U);
}

TEST(Settings, AreConfoundedWhenWhatTheyCannotReachMovedToo) {
  const TuneRuling out = ruling({setting(0, 10, 0), setting(1, 8, 0.001, 0.8)});
  EXPECT_EQ(out.candidates[1].decision, Decision::confounded);
  EXPECT_EQ(out.chosen, 0U) << "nothing that is confounded is chosen";
}

// Twice the batch, or threads: the step itself is faster, and the job's own steps, taken beside it, are not.
TEST(Settings, ThatMakeTheStepFasterAreNoReasonToDoubtTheMachine) {
  Candidate larger = setting(0, 6);
  for (Turn& turn : larger.turns) turn.bound *= 0.6;
  const TuneRuling out = ruling({setting(0, 10, 0), larger});
  EXPECT_EQ(out.candidates[1].decision, Decision::retain);
  EXPECT_EQ(out.chosen, 1U);
}

TEST(Settings, ThatTrainSomethingElseAreWrongHoweverFast) {
  Candidate fast = setting(1, 6);
  fast.wrong = "batch 3 was trained twice";
  const TuneRuling out = ruling({setting(0, 10, 0), fast});
  EXPECT_EQ(out.candidates[1].decision, Decision::wrong);
  EXPECT_EQ(out.candidates[1].why, "batch 3 was trained twice");
  EXPECT_EQ(out.chosen, 0U);
}

TEST(Settings, FasterThanAStepAloneAreOverTheirBound) {
  const TuneRuling out = ruling({setting(0, 10, 0), setting(1, 4)});
  EXPECT_EQ(out.candidates[1].decision, Decision::over_bound);
  EXPECT_EQ(out.chosen, 0U);
}

TEST(Settings, OfAJobThatIsBestAsItIsLeaveItAlone) {
  const TuneRuling out = ruling({setting(1, 8, 0), setting(0, 10), setting(2, 9)});
  EXPECT_EQ(out.chosen, 0U);
  EXPECT_EQ(out.candidates[1].decision, Decision::reject);
  EXPECT_EQ(out.tied, 1U);
}

}  // namespace
}  // namespace assay
