// Verdicts on core types from scripted launches: no process is started.
#include "bench/tune/variable.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Eight rounds of two trials. A trial takes so much of the default's time, each round at the machine's own
/// pace and with some luck; the control is the default times `control`.
Candidate candidate(const std::string& name, std::vector<double> shares, double luck = 0.001,
                    double control = 1) {
  Candidate out{.name = name, .in_use = name};
  for (int round = 0; round < 8; ++round) {
    const double base = 1e-6 * (1 + 0.2 * round);
    const double off = 1 + luck * (round % 2 == 0 ? 1 : -1) * (1 + 0.1 * round);
    Turn& turn = out.turns.emplace_back();
    for (const double share : shares) {
      turn.seconds.emplace_back(3, base * share * off);
      turn.control.emplace_back(3, base * control);
    }
  }
  return out;
}

/// Values stand in the order of their price.
TuneRuling ruling(std::vector<Candidate> candidates) {
  for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i].price = {static_cast<double>(i)};
  return ruled(core_type.words, candidates);
}

Candidate unset() { return candidate("default", {1, 1}, 0); }

TEST(CoreTypes, AreJudgedByTheGeometricMeanOverTrials) {
  const TuneRuling out =
      ruling({unset(), candidate("Haswell", {0.5, 0.32}), candidate("Nehalem", {1.5, 0.9})});
  EXPECT_EQ(out.candidates[0].decision, Decision::baseline);
  EXPECT_EQ(out.candidates[1].decision, Decision::retain);
  EXPECT_NEAR(out.candidates[1].ratio.middle, 0.4, 1e-3) << "the root of 0.5 * 0.32";
  EXPECT_NEAR(out.candidates[1].cases[1].middle, 0.32, 1e-3);
  EXPECT_EQ(out.candidates[2].decision, Decision::reject);
  EXPECT_NEAR(out.candidates[2].ratio.middle, 1.162, 1e-3) << "the root of 1.5 * 0.9";
  EXPECT_EQ(out.chosen, 1U);
}

TEST(CoreTypes, ThatCannotBeToldApartAreTiedAndTheLeastDemandingIsTaken) {
  const TuneRuling out =
      ruling({unset(), candidate("Haswell", {0.5, 0.5}, 0.01), candidate("SkylakeX", {0.4995, 0.4995}, 0.02),
              candidate("Zen", {0.6, 0.6})});
  EXPECT_TRUE(out.candidates[1].tied_with_best);
  EXPECT_TRUE(out.candidates[2].tied_with_best);
  EXPECT_FALSE(out.candidates[3].tied_with_best);
  EXPECT_EQ(out.chosen, 1U);
  EXPECT_EQ(out.tied, 2U);
}

TEST(CoreTypes, LeaveTheDefaultWhereNoneIsSurelyFaster) {
  const TuneRuling out =
      ruling({unset(), candidate("Haswell", {1.001, 0.999}), candidate("Zen", {1.2, 1.1})});
  EXPECT_EQ(out.candidates[1].decision, Decision::no_change);
  EXPECT_EQ(out.chosen, 0U);
  EXPECT_TRUE(out.candidates[0].tied_with_best);
}

TEST(CoreTypes, AreConfoundedWhenTheDefaultMovesAgainstItself) {
  const TuneRuling out = ruling({unset(), candidate("Haswell", {0.5, 0.5}, 0.001, 1.1)});
  EXPECT_EQ(out.candidates[1].decision, Decision::confounded);
  EXPECT_THAT(out.candidates[1].why, HasSubstr("against itself was 1.10x slower"));
  EXPECT_EQ(out.chosen, 0U);
  EXPECT_EQ(out.advice, Advice::undecided) << "nothing that was tried could be told from the default";
}

TEST(CoreTypes, ThatDisagreeAreWrongHoweverFast) {
  Candidate fast{.name = "Zen", .wrong = "gemm/openblas/m=1,n=1,k=1#1: c[0, 0] is 2"};
  const TuneRuling out = ruling({unset(), fast});
  EXPECT_EQ(out.candidates[1].decision, Decision::wrong);
  EXPECT_EQ(out.candidates[1].why, fast.wrong);
  EXPECT_EQ(out.chosen, 0U);
}

TEST(CoreTypes, ThatWereLeftOutAreNeverChosen) {
  const Candidate refused{.name = "Zen", .in_use = "Haswell", .left_out = "OpenBLAS took Haswell"};
  const TuneRuling out = ruling({unset(), refused, candidate("SkylakeX", {0.5, 0.5})});
  EXPECT_EQ(out.candidates[1].why, "OpenBLAS took Haswell");
  EXPECT_THAT(out.candidates[1].cases, IsEmpty());
  EXPECT_EQ(out.chosen, 2U);
}

}  // namespace
}  // namespace assay
