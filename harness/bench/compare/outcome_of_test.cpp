#include "bench/compare/words.hpp"

#include <gmock/gmock.h>

#include <initializer_list>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Comparison of(const std::vector<Standing>& standings) {
  Comparison out;
  for (const Standing standing : standings) {
    out.rows.push_back({.key = "gemm/v" + std::to_string(out.rows.size()) + "/m=1#1",
                        .standing = standing,
                        .why = "as this test wants it",
                        .launches = 6});
  }
  return out;
}

Outcome decided(const Comparison& comparison, const FailurePolicy& policy = {},
                Against against = Against::baseline) {
  return outcome_of(comparison, {.against = against, .measured = comparison.rows.size()}, policy);
}

constexpr FailurePolicy demanding{.undecided_fails = true};
constexpr FailurePolicy bisecting{.bisection = true};

TEST(Decision, CountsWhatIsUnjudgedByItsReason) {
  EXPECT_EQ(unjudged_text(of({Standing::gone, Standing::undecided, Standing::same, Standing::undecided,
                              Standing::not_comparable})),
            "2 undecided, 1 not comparable, 1 gone");
  EXPECT_EQ(unjudged_text(of({Standing::same, Standing::added, Standing::skipped})), "");
}

TEST(Decision, IsNoPassWhereATenthIsOpenOrATrialProbablySlower) {
  std::vector<Standing> standings(10, Standing::same);
  standings[3] = Standing::undecided;
  const auto line = [&] {
    Comparison rows;
    for (const Standing one : standings) rows.rows.push_back({.key = "k", .standing = one, .launches = 8});
    return outcome_of(rows, {.against = Against::base, .measured = rows.rows.size()}).line();
  };
  EXPECT_EQ(line(), "PASSED: 10 trials compared, none slower, 1 undecided");
  standings.pop_back();
  EXPECT_EQ(line(), "DECIDED 8 of 9: none slower, 1 undecided");
  standings.resize(20, Standing::same);
  standings[3] = Standing::probably_slower;
  EXPECT_EQ(line(), "DECIDED 19 of 20: none slower beyond doubt, 1 probably slower");
}

TEST(Decision, FailsOnWhatIsUnjudgedWhereItIsAskedTo) {
  for (const Standing standing : {Standing::undecided, Standing::not_comparable, Standing::gone}) {
    EXPECT_EQ(decided(of({Standing::same, standing})).exit_code(), exit_code::passed);
    EXPECT_EQ(decided(of({Standing::same, standing}), demanding).word, Word::undecided);
  }
  EXPECT_EQ(decided(of({Standing::same, Standing::skipped}), demanding).word, Word::passed);
}

TEST(Decision, LeavesABisectionWithoutAnAnswer) {
  EXPECT_EQ(decided(of({Standing::same, Standing::undecided}), bisecting).word, Word::undecided);
  EXPECT_EQ(decided(of({Standing::same, Standing::not_comparable}), bisecting).word, Word::undecided);
  EXPECT_EQ(decided(of({Standing::same, Standing::gone}), bisecting).word, Word::passed);
  Comparison expired = of({Standing::same});
  expired.objections = {"it ran out"};
  EXPECT_EQ(decided(expired, bisecting).word, Word::passed);
  EXPECT_EQ(decided(expired).word, Word::expired);
}

/// The height of the first row goes from 1,234 bytes to `after`.
Comparison with_height(Comparison out, double after) {
  const auto height = [](double value) {
    return Figure{.name = "height", .value = value, .unit = "bytes", .better = Figure::Better::lower};
  };
  out.rows.front().figures = {{height(1234), height(after)}};
  return out;
}

TEST(Decision, CallsAWorseFigureARegressionWhateverItsTime) {
  for (const Standing standing :
       {Standing::same, Standing::faster, Standing::undecided, Standing::not_comparable}) {
    const Outcome outcome = decided(with_height(of({standing, Standing::same}), 1300));
    EXPECT_EQ(outcome.line(), "REGRESSION: height 1,234 → 1,300 bytes (5.3 % more) in gemm/v0/m=1#1" +
                                  std::string(standing == Standing::undecided        ? ", 1 undecided"
                                              : standing == Standing::not_comparable ? ", 1 not comparable"
                                                                                     : ""));
    EXPECT_EQ(outcome.exit_code(), exit_code::found);
  }
  EXPECT_EQ(decided(with_height(of({Standing::same, Standing::slower}), 1300)).sentence,
            "1 of 2 trials is slower than its limit; height 1,234 → 1,300 bytes (5.3 % more) in "
            "gemm/v0/m=1#1");
  Comparison unfit = with_height(of({Standing::undecided}), 1300);
  unfit.unfit = "the machine moved";
  EXPECT_EQ(decided(unfit).word, Word::regression);
}

TEST(Decision, PassesFiguresThatAreEqualOrBetterAndCountsThem) {
  EXPECT_EQ(decided(with_height(of({Standing::same}), 1234)).line(),
            "PASSED: 1 trials compared, none slower; 1 figure as before");
  EXPECT_EQ(decided(with_height(of({Standing::same}), 1200)).line(),
            "PASSED: 1 trials compared, none slower; 1 figure better");
}

TEST(Decision, WeighsWhatIsWrongMoreThanWhatIsSlowAndTellsOfBoth) {
  const Outcome outcome = decided(of({Standing::slower, Standing::wrong, Standing::same}));
  EXPECT_EQ(outcome.text(),
            "REGRESSION: 1 of 2 trials is slower than its limit\n"
            "WRONG: gemm/v1 disagrees with the oracle and was not timed\n");
  const Outcome crashed = decided(of({Standing::timed_out, Standing::wrong}));
  EXPECT_EQ(crashed.exit_code(), exit_code::crashed);
  EXPECT_THAT(crashed.text(), AllOf(HasSubstr("WRONG: gemm/v1 "), HasSubstr("CRASHED: gemm/v0/m=1#1 as")));
}

TEST(Decision, FailsOnATimeThatCannotBe) {
  const Outcome alone = decided(of({Standing::impossible, Standing::same, Standing::impossible}));
  EXPECT_EQ(alone.exit_code(), exit_code::found);
  EXPECT_EQ(
      alone.line(),
      "IMPOSSIBLE: gemm/v0, gemm/v2 are faster than any kernel can be here, and their times are not used");
  EXPECT_EQ(alone.ci_word(), "impossible");
  const Outcome of_head = decided(of({Standing::impossible, Standing::slower}), {}, Against::base);
  EXPECT_EQ(
      of_head.text(),
      "REGRESSION: 1 of 1 trials is slower than the base\n"
      "IMPOSSIBLE: gemm/v0 of the head is faster than any kernel can be here, and its time is not used\n");
  EXPECT_EQ(decided(of({Standing::impossible, Standing::wrong})).word, Word::wrong);
  EXPECT_EQ(decided(of({Standing::impossible, Standing::not_comparable}), {}, Against::nothing).word,
            Word::impossible);
}

TEST(Decision, BlamesNoRowOnAnUnfitMachine) {
  Comparison comparison = of({Standing::undecided, Standing::undecided});
  comparison.unfit = "a copy moved";
  EXPECT_EQ(decided(comparison).line(), "MACHINE UNFIT: a copy moved");
}

TEST(Decision, TellsWhatCreptFromWhatBecameSlowerHere) {
  Comparison comparison = of({Standing::slower, Standing::slower, Standing::same});
  for (ComparedRow& verdict : comparison.rows) verdict.ratio = {1, 1.1, 1.2, 0.95, Basis::launches};
  comparison.rows[1].launches = 0;  // identical machine code
  comparison.rows[1].crept_since = "v1";
  EXPECT_EQ(decided(comparison, {}, Against::base).sentence,
            "1 of 2 trials is slower than the base; 1 of 3 trials is slower than at release v1, by the sum "
            "of the steps since");
}

TEST(Decision, PassesNothingThatWasNotCompared) {
  EXPECT_EQ(decided(of({Standing::not_comparable})).word, Word::not_comparable);
  EXPECT_EQ(decided(of({Standing::added}), {}, Against::base).word, Word::not_comparable);
  EXPECT_EQ(decided(of({Standing::undecided, Standing::undecided})).word, Word::undecided);
  EXPECT_EQ(decided(of({Standing::skipped})).word, Word::skipped);
  EXPECT_EQ(decided(of({Standing::not_comparable}), {}, Against::nothing).word, Word::measured);
  const Comparison rows = of({Standing::not_comparable});
  EXPECT_EQ(outcome_of(rows, ComparisonRun{}).word, Word::not_measured);
}

TEST(Decision, PassesIdenticalMachineCode) {
  Comparison comparison = of({Standing::same, Standing::gone});
  comparison.rows[0].launches = 0;
  const Outcome outcome = decided(comparison, {}, Against::base);
  EXPECT_EQ(outcome.line(), "PASSED: all 1 trials that both builds have are identical machine code, 1 gone");
}

TEST(Decision, PassesIdenticalMachineCodeBesideFewThatCannotBeCompared) {
  Comparison comparison = of(std::vector<Standing>(11, Standing::same));
  for (ComparedRow& row : comparison.rows) row.launches = 0;
  comparison.rows[0].standing = Standing::not_comparable;
  EXPECT_EQ(decided(comparison, {}, Against::base).line(),
            "PASSED: all 10 trials that can be compared are identical machine code, 1 not comparable");
  comparison.rows[1].standing = Standing::not_comparable;
  EXPECT_EQ(decided(comparison, {}, Against::base).word, Word::not_comparable) << "more than a tenth";
}

TEST(Decision, TellsWhatFailedBeforeAnInterrupt) {
  const Comparison rows = of({Standing::wrong, Standing::not_comparable});
  const Outcome outcome = outcome_of(rows, {.measured = 0, .partial = true});
  EXPECT_EQ(outcome.exit_code(), exit_code::interrupted);
  EXPECT_THAT(outcome.text(), AllOf(HasSubstr("WRONG: gemm/v0"), HasSubstr("0 of 2 trials were measured\n"),
                                    Not(HasSubstr("nothing is decided"))));
}

TEST(Decision, TakesRowsOfResultsThatWereComparedWithNothing) {
  Results results{.suite = "s"};
  results.trials.resize(5);
  results.trials[0].key = "a/b/c#1";
  results.trials[1].skipped = "needs AVX-512";
  results.trials[2].failure = Failure{Failure::Kind::timed_out, "did not end"};
  results.trials[3].agreement.agrees = false;
  results.trials[4].impossible = "took no time";
  const Comparison rows = not_compared(results, "nobody asked");
  EXPECT_EQ(rows.rows[0].why, "nobody asked");
  EXPECT_EQ(rows.rows[1].standing, Standing::skipped);
  EXPECT_EQ(rows.rows[2].standing, Standing::timed_out);
  EXPECT_EQ(rows.rows[3].standing, Standing::wrong);
  EXPECT_EQ(rows.rows[4].standing, Standing::impossible);
  EXPECT_EQ(rows.rows[4].why, "took no time");
  EXPECT_EQ(outcome_of(results).word, Word::crashed);
}

}  // namespace
}  // namespace assay
