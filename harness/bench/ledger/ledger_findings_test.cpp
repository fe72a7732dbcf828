#include "bench/ledger/hand_made_ledger_test.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <tuple>

namespace assay {
namespace {

using hand_made::acceptance;
using hand_made::acceptance_of_height;
using hand_made::commit;
using hand_made::day;
using hand_made::naive;
using hand_made::packed;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A row whose estimate is a tenth of a percent sure: eleven launches, 2.228 deviations either way.
ComparedRow row(const std::string& key, Standing standing, double log_ratio) {
  const double half_width = 0.001 * 2.228139;
  return {.key = key,
          .standing = standing,
          .ratio = {std::exp(log_ratio - half_width), std::exp(log_ratio), std::exp(log_ratio + half_width),
                    0.95},
          .limit = 1.05,
          .why = "measured",
          .launches = 11};
}

Comparison comparison(Standing standing, double log_ratio) {
  return {.rows = {row(naive, Standing::same, 0), row(packed, standing, log_ratio)}};
}

const ComparedRow& verdict_of_packed(const Comparison& comparison) { return comparison.rows.at(1); }

Occasion occasion(const std::string& today = "2026-04-01", const std::string& base = commit(2)) {
  return {.today = day(today), .base = base, .suite = "suites/smoke.json"};
}

/// Release v1 with nothing since.
Ledger fresh() {
  Ledger out = hand_made::ledger();
  out.steps.clear();
  return out;
}

Ledger with_acceptance(Ledger ledger) {
  ledger.acceptances = {acceptance()};
  return ledger;
}

TEST(LedgerFindings, AcceptASlowerRowThatWasAcceptedAndSayWhyAndHowLong) {
  Comparison seen = comparison(Standing::slower, std::log(1.06));
  const auto found = apply(seen, with_acceptance(fresh()), occasion("2026-04-01", commit(0)));
  EXPECT_FALSE(hand_made::ledger_fails(seen));
  EXPECT_EQ(verdict_of_packed(seen).standing, Standing::accepted);
  EXPECT_THAT(verdict_of_packed(seen).why,
              AllOf(HasSubstr("exact tails"), HasSubstr("until 2026-05-01"), HasSubstr("measured")));
  EXPECT_THAT(found, Contains(HasSubstr("accepted: gemm/packed/m=64#1 up to 1.08x until 2026-05-01")));
}

TEST(LedgerFindings, LeaveARowSlowerThatWasNotAccepted) {
  Comparison seen = comparison(Standing::slower, std::log(1.06));
  apply(seen, fresh(), occasion("2026-04-01", commit(0)));
  EXPECT_EQ(verdict_of_packed(seen).standing, Standing::slower);
}

TEST(LedgerFindings, LeaveARowSlowerWhoseIntervalReachesBeyondWhatWasAccepted) {
  // 1.079 * exp(0.00223) = 1.0814.
  Comparison seen = comparison(Standing::slower, std::log(1.079));
  apply(seen, with_acceptance(fresh()), occasion("2026-04-01", commit(0)));
  EXPECT_EQ(verdict_of_packed(seen).standing, Standing::slower);
  EXPECT_THAT(verdict_of_packed(seen).why, HasSubstr("more than the 1.08x accepted until 2026-05-01"));
}

TEST(LedgerFindings, AcceptUntilTheLastDayAndNoLonger) {
  for (const auto& [today, standing, fails] : {std::tuple{"2026-05-01", Standing::accepted, false},
                                               std::tuple{"2026-05-02", Standing::slower, true}}) {
    Comparison seen = comparison(Standing::slower, std::log(1.06));
    apply(seen, with_acceptance(fresh()), occasion(today, commit(0)));
    EXPECT_EQ(hand_made::ledger_fails(seen), fails) << today;
    EXPECT_EQ(verdict_of_packed(seen).standing, standing) << today;
  }
}

TEST(LedgerFindings, FailForAPromiseThatWasNotKeptThoughTheRowLooksTheSame) {
  // The base of a comparison of two builds has the slow-down as well.
  Comparison seen = comparison(Standing::same, 0);
  const auto found = apply(seen, with_acceptance(hand_made::ledger()), occasion("2026-05-02"));
  EXPECT_TRUE(hand_made::ledger_fails(seen));
  EXPECT_EQ(verdict_of_packed(seen).standing, Standing::same);
  EXPECT_THAT(seen.objections, ElementsAre("the acceptance of gemm/packed/m=64#1 ran out on 2026-05-01"));
  EXPECT_THAT(
      found,
      AllOf(Contains(HasSubstr("EXPIRED: accepted was gemm/packed/m=64#1")),
            Contains(HasSubstr("assay record --suite suites/smoke.json --withdraw 'gemm/packed/m=64#1'")),
            Contains(HasSubstr("assay record --suite suites/smoke.json --accept 'gemm/packed/m=64#1' "
                               "--ratio 1.08 --until DATE --reason TEXT"))));
}

Comparison heights(double before, double after, Figure::Better better = Figure::Better::lower) {
  ComparedRow plan{.key = hand_made::plan, .standing = Standing::same};
  plan.figures = {{.before = {.name = "height", .value = before, .unit = "bytes", .better = better},
                   .after = {.name = "height", .value = after, .unit = "bytes", .better = better}}};
  return {.rows = {row(naive, Standing::same, 0), plan}};
}

Ledger with_height(double value = 1300) {
  Ledger out = fresh();
  out.acceptances = {acceptance_of_height()};
  out.acceptances[0].value = value;
  return out;
}

TEST(LedgerFindings, AcceptAWorseFigureUpToItsValue) {
  Comparison seen = heights(1200, 1300);
  const auto found = apply(seen, with_height(), occasion("2026-04-01", commit(0)));
  EXPECT_FALSE(hand_made::ledger_fails(seen));
  EXPECT_FALSE(has_worse_figure(seen.rows[1]));
  EXPECT_EQ(seen.rows[1].standing, Standing::same);
  EXPECT_EQ(in_words(seen.rows[1].figures[0]),
            "height 1,200 → 1,300 bytes (8.3 % more), within the 1,300 bytes accepted until 2026-05-01 "
            "(fewer searches)");
  EXPECT_THAT(found,
              Contains(HasSubstr("accepted: height of memory_pool_plan/by_size/blocks=9#1 up to 1,300 until "
                                 "2026-05-01 (fewer searches)")));
}

TEST(LedgerFindings, LeaveAFigureWorseThatIsBeyondWhatWasAccepted) {
  Comparison seen = heights(1200, 1301);
  apply(seen, with_height(), occasion("2026-04-01", commit(0)));
  EXPECT_TRUE(has_worse_figure(seen.rows[1]));
  EXPECT_THAT(in_words(seen.rows[1].figures[0]),
              HasSubstr("beyond the 1,300 bytes accepted until 2026-05-01"));
}

TEST(LedgerFindings, AcceptAFigureThatIsBetterHigherDownToItsValue) {
  for (const auto& [after, worse] : {std::pair{1000.0, false}, std::pair{999.0, true}}) {
    Comparison seen = heights(1200, after, Figure::Better::higher);
    apply(seen, with_height(1000), occasion("2026-04-01", commit(0)));
    EXPECT_EQ(has_worse_figure(seen.rows[1]), worse) << after;
  }
}

TEST(LedgerFindings, AcceptAFigureUntilTheLastDayAndNoLonger) {
  Comparison last = heights(1200, 1300);
  apply(last, with_height(), occasion("2026-05-01", commit(0)));
  EXPECT_FALSE(hand_made::ledger_fails(last));
  EXPECT_FALSE(has_worse_figure(last.rows[1]));
  Comparison late = heights(1200, 1300);
  apply(late, with_height(), occasion("2026-05-02", commit(0)));
  EXPECT_TRUE(hand_made::ledger_fails(late));
  EXPECT_TRUE(has_worse_figure(late.rows[1]));
  EXPECT_THAT(in_words(late.rows[1].figures[0]), HasSubstr("its acceptance ran out on 2026-05-01"));
  // Mended, and not withdrawn.
  Comparison mended = heights(1200, 1200);
  const auto found = apply(mended, with_height(), occasion("2026-05-02", commit(0)));
  EXPECT_TRUE(hand_made::ledger_fails(mended));
  EXPECT_THAT(mended.objections,
              ElementsAre("the acceptance of height of memory_pool_plan/by_size/blocks=9#1 "
                          "ran out on 2026-05-01"));
  EXPECT_THAT(found, AllOf(Contains(HasSubstr("--withdraw 'memory_pool_plan/by_size/blocks=9#1' "
                                              "--figure 'height'")),
                           Contains(HasSubstr("--figure 'height=1300' --until DATE --reason TEXT"))));
}

TEST(LedgerFindings, AcceptOfEachTrialWhatItIsAboutAlone) {
  // The time is slower as well, and nobody accepted that.
  Comparison seen = heights(1200, 1300);
  seen.rows[1] = row(hand_made::plan, Standing::slower, std::log(1.06));
  seen.rows[1].figures = heights(1200, 1300).rows[1].figures;
  apply(seen, with_height(), occasion("2026-04-01", commit(0)));
  EXPECT_EQ(seen.rows[1].standing, Standing::slower);
  EXPECT_FALSE(has_worse_figure(seen.rows[1]));
  Ledger of_time = with_height();
  of_time.acceptances[0].figure = "";
  Comparison again = heights(1200, 1300);
  apply(again, of_time, occasion("2026-04-01", commit(0)));
  EXPECT_TRUE(has_worse_figure(again.rows[1]));
  Ledger of_none = with_height();
  of_none.acceptances[0].figure = "hight";
  Comparison mistyped = heights(1200, 1300);
  EXPECT_THAT(apply(mistyped, of_none, occasion("2026-04-01", commit(0))),
              Contains(AllOf(HasSubstr("hight of"), HasSubstr("not in this comparison"))));
  EXPECT_TRUE(has_worse_figure(mistyped.rows[1]));
}

TEST(LedgerFindings, LeaveSumsOfAShardToTheWhole) {
  Comparison seen = comparison(Standing::same, 0);
  Occasion shard = occasion("2026-04-01");
  shard.part = true;
  EXPECT_THAT(apply(seen, hand_made::ledger(), shard), Contains(HasSubstr("assay merge")));
}

TEST(LedgerFindings, FailForAPromiseThatWasNotKeptThoughNothingIsCompared) {
  Comparison nothing;
  apply(nothing, with_acceptance(fresh()), occasion("2026-05-02"));
  EXPECT_TRUE(hand_made::ledger_fails(nothing));
}

TEST(LedgerFindings, WarnFromFourteenDaysBefore) {
  const auto lines = [](const std::string& today) {
    Comparison seen = comparison(Standing::same, 0);
    return apply(seen, with_acceptance(hand_made::ledger()), occasion(today));
  };
  EXPECT_THAT(lines("2026-04-16"), Not(Contains(HasSubstr("runs out"))));
  EXPECT_THAT(lines("2026-04-17"),
              AllOf(Contains(HasSubstr("runs out in 14 days")), Contains(HasSubstr("--withdraw"))));
}

TEST(LedgerFindings, SumStepsUntilTheyExceedTheDriftLimit) {
  // 1 % and 1 % and 1.5 %: 3.5 % with a deviation of 0.17 %, against a limit of 2.96 %. Two trials share 1 %:
  // the lower end lies 2.66 deviations down, at 3.04 %.
  Comparison seen = comparison(Standing::same, 0.015);
  const auto found = apply(seen, hand_made::ledger(), occasion());
  EXPECT_TRUE(hand_made::ledger_fails(seen));
  const ComparedRow& crept = verdict_of_packed(seen);
  EXPECT_EQ(crept.standing, Standing::slower);
  EXPECT_NEAR(crept.ratio.middle, std::exp(0.035), 1e-9);
  EXPECT_EQ(crept.limit, 1.03);
  EXPECT_THAT(crept.why, AllOf(HasSubstr("by drift"), HasSubstr("at release v1"), HasSubstr("measured")));
  EXPECT_THAT(found, Contains(HasSubstr("CREPT: gemm/packed/m=64#1")));
  EXPECT_EQ(seen.rows[0].standing, Standing::same);
}

TEST(LedgerFindings, LetASumPassWhoseLowerEndLiesBelowTheLimit) {
  Comparison seen = comparison(Standing::same, 0.013);
  const auto found = apply(seen, hand_made::ledger(), occasion());
  EXPECT_FALSE(hand_made::ledger_fails(seen));
  EXPECT_EQ(verdict_of_packed(seen).standing, Standing::same);
  EXPECT_THAT(found, Contains(AllOf(HasSubstr("2 trials tested over 2 steps and this one"),
                                    HasSubstr("most: gemm/packed/m=64#1 1.034x"))));
}

TEST(LedgerFindings, SumOnlyTheStepsBeforeTheBase) {
  Comparison seen = comparison(Standing::same, 0.015);
  apply(seen, hand_made::ledger(), occasion("2026-04-01", commit(1)));
  EXPECT_FALSE(hand_made::ledger_fails(seen));
}

TEST(LedgerFindings, TakeWhatWasAcceptedOutOfTheSum) {
  // log(1.08) + 2.96 % = 10.65 %.
  Ledger ledger = with_acceptance(hand_made::ledger());
  ledger.steps[1].rows[packed].log_ratio = 0.075;
  Comparison within = comparison(Standing::same, 0.015);
  apply(within, ledger, occasion());
  EXPECT_FALSE(hand_made::ledger_fails(within));
  Comparison beyond = comparison(Standing::same, 0.035);
  apply(beyond, ledger, occasion());
  EXPECT_TRUE(hand_made::ledger_fails(beyond));
  Comparison expired = comparison(Standing::same, 0.015);
  apply(expired, ledger, occasion("2026-05-02"));
  EXPECT_EQ(verdict_of_packed(expired).standing, Standing::slower);
}

TEST(LedgerFindings, DoNotTakeWhatWasAcceptedOutOfTheSumOfALaterRelease) {
  Ledger ledger = with_acceptance(hand_made::ledger());
  ledger.acceptances[0].release = "v0";
  Comparison seen = comparison(Standing::same, 0.015);
  apply(seen, ledger, occasion());
  EXPECT_TRUE(hand_made::ledger_fails(seen));
}

TEST(LedgerFindings, DoNotAcceptTheSameSlowDownTwice) {
  // 6 % of the 8 % are in a step since; another 6 % are not what was accepted.
  Ledger ledger = with_acceptance(hand_made::ledger());
  ledger.steps[1].rows[packed].log_ratio = std::log(1.06);
  Comparison seen = comparison(Standing::slower, std::log(1.06));
  apply(seen, ledger, occasion());
  EXPECT_EQ(verdict_of_packed(seen).standing, Standing::slower);
  EXPECT_THAT(verdict_of_packed(seen).why, HasSubstr("is in the base already"));
  Comparison before_that_step = comparison(Standing::slower, std::log(1.06));
  apply(before_that_step, ledger, occasion("2026-04-01", commit(1)));
  EXPECT_EQ(verdict_of_packed(before_that_step).standing, Standing::accepted);
}

TEST(LedgerFindings, DoNotAcceptASlowDownThatIsInTheReleaseAlready) {
  Ledger ledger = with_acceptance(fresh());
  ledger.acceptances[0].release = "v0";
  Comparison seen = comparison(Standing::slower, std::log(1.06));
  apply(seen, ledger, occasion("2026-04-01", commit(0)));
  EXPECT_EQ(verdict_of_packed(seen).standing, Standing::slower);
  EXPECT_THAT(verdict_of_packed(seen).why, HasSubstr("in the base already"));
  // A stored baseline may be older than the release, and lack it.
  Comparison stored = comparison(Standing::slower, std::log(1.06));
  apply(stored, ledger, occasion("2026-04-01", commit(7)));
  EXPECT_EQ(verdict_of_packed(stored).standing, Standing::accepted);
}

TEST(LedgerFindings, SayWhyThereIsNoSum) {
  const auto line = [](const Ledger& ledger, const std::string& base, const Comparison& given) {
    Comparison seen = given;
    const auto found = apply(seen, ledger, occasion("2026-04-01", base));
    EXPECT_FALSE(hand_made::ledger_fails(seen));
    return found.back();
  };
  const Comparison large = comparison(Standing::same, 0.2);
  EXPECT_THAT(line({.suite = "smoke"}, commit(2), large), HasSubstr("no release is set: assay record"));
  EXPECT_THAT(
      line(hand_made::ledger(), commit(7), large),
      HasSubstr("compared with c0ffee7, which is neither the release (c0ffee0) nor the end of a step"));
  EXPECT_THAT(line(hand_made::ledger(), "", large), HasSubstr("no single commit"));
  EXPECT_THAT(line(hand_made::ledger(), commit(2), {}), HasSubstr("no trial has an interval"));
  Comparison moved = large;
  moved.machine_moved = 2.5;
  EXPECT_THAT(line(hand_made::ledger(), commit(2), moved), HasSubstr("the machine moved by 2.50"));
}

TEST(LedgerFindings, SayWhichSumsLackAStepAndWhichTrialsAreNotHere) {
  Ledger ledger = hand_made::ledger();
  ledger.steps[0].rows.erase(packed);
  ledger.steps[0].rows["lora/naive/r=8#1"] = {0, 0.001, 40};
  Comparison seen = comparison(Standing::same, 0);
  EXPECT_THAT(
      apply(seen, ledger, occasion()),
      AllOf(Contains(HasSubstr("1 trials lack an estimate in some step, so their sums may be too small: "
                               "gemm/packed/m=64#1")),
            Contains(HasSubstr("1 trials of the steps have no interval here and were not tested: "
                               "lora/naive/r=8#1"))));
}

TEST(LedgerFindings, ShowInTheWordsOfAComparison) {
  Comparison seen = comparison(Standing::slower, std::log(1.06));
  apply(seen, with_acceptance(fresh()), occasion("2026-04-01", commit(0)));
  EXPECT_THAT(
      comparison_text(seen, {}, {}),
      AllOf(
          HasSubstr("none of 2 trials is slower than its limit without being accepted; 1 accepted, 1\nsame"),
          HasSubstr("~ gemm/packed/m=64#1"), HasSubstr("accepted 1.06x [1.058, 1.062]")));
  EXPECT_THAT(comparison_markdown(seen, {}, {}), AllOf(HasSubstr("| \\~ |"), HasSubstr("accepted 1.06x")));
  Comparison expired = comparison(Standing::same, 0);
  apply(expired, with_acceptance(fresh()), occasion("2026-05-02", commit(0)));
  EXPECT_THAT(comparison_text(expired, {}, {}),
              AllOf(HasSubstr("1 acceptance ran out; none of 2 trials"), HasSubstr("ran out on 2026-05-01")));
  EXPECT_THAT(comparison_markdown(expired, {}, {}), HasSubstr("* the acceptance of gemm/packed"));
  EXPECT_THAT(to_json(expired), HasSubstr("\"objections\": [\"the acceptance of"));
}

}  // namespace
}  // namespace assay
