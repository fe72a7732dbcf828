// Verdicts on core types from scripted launches: no process is started.
#include "bench/tune/variable.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Eight rounds of two trials. A trial takes so much of the default's time, each round at the machine's own
/// pace and with some luck; the control is the default times `control`.
ValueAttempt attempt(const std::string& value, std::vector<double> shares, double luck = 0.001,
                    double control = 1) {
  ValueAttempt out{.value = value, .reported = value};
  for (const double share : shares) {
    PairedTrial& trial = out.trials.emplace_back();
    for (int round = 0; round < 8; ++round) {
      const double base = 1e-6 * (1 + 0.2 * round);
      const double off = 1 + luck * (round % 2 == 0 ? 1 : -1) * (1 + 0.1 * round);
      trial.launches.push_back({.base = {base, base, base},
                                .head = {base * share * off, base * share * off, base * share * off},
                                .control = {base * control, base * control, base * control}});
    }
  }
  return out;
}

ValueAttempt unset(double control = 1) { return attempt("", {1, 1}, 0, control); }

TEST(CoreTypes, AreJudgedByTheGeometricMeanOverTrials) {
  const VariableRuling out = ruled(core_type, {unset(), attempt("Haswell", {0.5, 0.32}), attempt("Nehalem", {1.5, 0.9})});
  EXPECT_EQ(out.attempts[0].decision, Decision::baseline);
  EXPECT_EQ(out.attempts[1].decision, Decision::retain);
  EXPECT_NEAR(out.attempts[1].ratio.middle, 0.4, 1e-3) << "the root of 0.5 * 0.32";
  EXPECT_NEAR(out.attempts[1].trials[1].middle, 0.32, 1e-3);
  EXPECT_EQ(out.attempts[2].decision, Decision::reject);
  EXPECT_NEAR(out.attempts[2].ratio.middle, 1.162, 1e-3) << "the root of 1.5 * 0.9";
  EXPECT_EQ(out.chosen, 1U);
}

TEST(CoreTypes, ThatCannotBeToldApartAreTiedAndTheLeastDemandingIsTaken) {
  const VariableRuling out = ruled(core_type, {unset(), attempt("Haswell", {0.5, 0.5}, 0.01),
                                   attempt("SkylakeX", {0.4995, 0.4995}, 0.02), attempt("Zen", {0.6, 0.6})});
  EXPECT_TRUE(out.attempts[1].tied_with_best);
  EXPECT_TRUE(out.attempts[2].tied_with_best);
  EXPECT_FALSE(out.attempts[3].tied_with_best);
  EXPECT_EQ(out.chosen, 1U);
  EXPECT_THAT(out.ties, HasSubstr("2 of them"));
}

TEST(CoreTypes, LeaveTheDefaultWhereNoneIsSurelyFaster) {
  const VariableRuling out = ruled(core_type, {unset(), attempt("Haswell", {1.001, 0.999}), attempt("Zen", {1.2, 1.1})});
  EXPECT_EQ(out.attempts[1].decision, Decision::no_change);
  EXPECT_EQ(out.chosen, 0U);
  EXPECT_TRUE(out.attempts[0].tied_with_best);
}

TEST(CoreTypes, AreConfoundedWhenTheDefaultMovesAgainstItself) {
  const VariableRuling out = ruled(core_type, {unset(1.1), attempt("Haswell", {0.5, 0.5})});
  EXPECT_EQ(out.attempts[1].decision, Decision::confounded);
  EXPECT_THAT(out.attempts[1].why, HasSubstr("against itself was 1.10x slower"));
  EXPECT_EQ(out.chosen, 0U);
}

TEST(CoreTypes, ThatDisagreeAreWrongHoweverFast) {
  ValueAttempt fast{.value = "Zen", .wrong = "gemm/openblas/m=1,n=1,k=1#1: c[0, 0] is 2"};
  const VariableRuling out = ruled(core_type, {unset(), fast});
  EXPECT_EQ(out.attempts[1].decision, Decision::wrong);
  EXPECT_EQ(out.attempts[1].why, fast.wrong);
  EXPECT_EQ(out.chosen, 0U);
}

TEST(CoreTypes, ThatWereLeftOutAreNeverChosen) {
  const ValueAttempt refused{.value = "Zen", .reported = "Haswell", .left_out = "OpenBLAS took Haswell"};
  const VariableRuling out = ruled(core_type, {unset(), refused, attempt("SkylakeX", {0.5, 0.5})});
  EXPECT_EQ(out.attempts[1].why, "OpenBLAS took Haswell");
  EXPECT_THAT(out.attempts[1].trials, IsEmpty());
  EXPECT_EQ(out.chosen, 2U);
}

}  // namespace
}  // namespace assay
