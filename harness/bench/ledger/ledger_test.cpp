#include "assay/error.hpp"
#include "bench/ledger/hand_made_ledger_test.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace assay {
namespace {

using hand_made::acceptance;
using hand_made::acceptance_of_height;
using hand_made::commit;
using hand_made::day;
using hand_made::naive;
using hand_made::packed;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Commits, AreTheSameWhenOneAbbreviatesTheOther) {
  EXPECT_TRUE(same_commit("c0ffee0", "c0ffee0123"));
  EXPECT_TRUE(same_commit("c0ffee0123", "c0ffee0"));
  EXPECT_FALSE(same_commit("c0ffee0", "c0ffee1"));
  EXPECT_FALSE(same_commit("c0ffe", "c0ffe")) << "too short to tell commits apart";
  EXPECT_FALSE(same_commit("", ""));
  EXPECT_FALSE(same_commit("unknown", "unknown"));
  EXPECT_FALSE(same_commit("c0ffee0+changes", "c0ffee0+changes")) << "two changes may differ";
}

TEST(Acceptances, AreEnteredIntoTheSumOfThePresentRelease) {
  Ledger ledger = hand_made::ledger();
  accept(ledger, acceptance());
  ASSERT_EQ(ledger.acceptances.size(), 1U);
  EXPECT_EQ(ledger.acceptances[0].release, "v1");
  withdraw(ledger, packed);
  EXPECT_TRUE(ledger.acceptances.empty());
}

TEST(Acceptances, AreRenewedInTheSumTheyWereIn) {
  // A slow-down that is in the release already would else be taken out of the next sum as well.
  Ledger ledger = hand_made::ledger();
  accept(ledger, acceptance());
  begin_release(ledger, "v2", commit(5), day("2026-04-01"));
  Acceptance renewed = acceptance();
  renewed.accepted_on = day("2026-04-20");
  renewed.until = day("2026-09-01");
  renewed.ratio = 1.06;
  renewed.reason = "still worth it";
  accept(ledger, renewed);
  ASSERT_EQ(ledger.acceptances.size(), 1U);
  const Acceptance& one = ledger.acceptances[0];
  EXPECT_EQ(one.release, "v1");
  EXPECT_EQ(one.accepted_on, day("2026-03-02"));
  EXPECT_EQ(one.until, day("2026-09-01"));
  EXPECT_EQ(one.ratio, 1.06);
  EXPECT_EQ(one.reason, "still worth it");
}

TEST(Acceptances, AreRefusedWithoutAReasonADayToComeOrASlowDown) {
  Ledger ledger = hand_made::ledger();
  const auto refused = [&](auto change, const std::string& message) {
    Acceptance one = acceptance();
    change(one);
    EXPECT_THAT([&] { accept(ledger, one); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  refused([](Acceptance& one) { one.reason = ""; }, "--reason: says nothing");
  refused([](Acceptance& one) { one.reason = " "; }, "--reason: says nothing");
  refused([](Acceptance& one) { one.reason = "\x1b[2J"; }, "--reason: says nothing");
  refused([](Acceptance& one) { one.until = day("2026-03-01"); }, "--until: 2026-03-01 is past");
  refused([](Acceptance& one) { one.ratio = 1; }, "--ratio: is 1, which accepts no slow-down");
  refused([](Acceptance& one) { one.ratio = -1.1; }, "--ratio");
  refused([](Acceptance& one) { one.ratio = std::nan(""); }, "--ratio");
  refused([](Acceptance& one) { one.ratio = std::numeric_limits<double>::infinity(); }, "--ratio");
  EXPECT_TRUE(ledger.acceptances.empty());
  Acceptance today = acceptance();
  today.until = today.accepted_on;
  EXPECT_NO_THROW(accept(ledger, today));
}

TEST(Acceptances, AreWithdrawnOnlyWhereTheyAre) {
  Ledger ledger = hand_made::ledger();
  EXPECT_THAT([&] { withdraw(ledger, naive); }, ThrowsMessage<Error>(HasSubstr("has no acceptances")));
  accept(ledger, acceptance());
  EXPECT_THAT([&] { withdraw(ledger, naive); },
              ThrowsMessage<Error>(AllOf(HasSubstr("was not accepted"), HasSubstr(packed))));
}

TEST(Acceptances, OfATimeAndOfAFigureStandSideBySide) {
  Ledger ledger = hand_made::ledger();
  Acceptance time = acceptance();
  time.key = hand_made::plan;
  accept(ledger, time);
  accept(ledger, acceptance_of_height());
  Acceptance renewed = acceptance_of_height();
  renewed.value = 1400;
  accept(ledger, renewed);
  ASSERT_EQ(ledger.acceptances.size(), 2U);
  EXPECT_EQ(ledger.acceptances[0].ratio, 1.08);
  EXPECT_EQ(ledger.acceptances[1].value, 1400);
  EXPECT_EQ(in_words(ledger.acceptances[1]), "height of memory_pool_plan/by_size/blocks=9#1 up to 1,400");
  EXPECT_EQ(accepting_options(ledger.acceptances[1]),
            "--accept 'memory_pool_plan/by_size/blocks=9#1' --figure 'height=1400'");
  EXPECT_THAT([&] { withdraw(ledger, hand_made::plan, "gap"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("--figure gap: was not accepted"),
                                         HasSubstr("memory_pool_plan/by_size/blocks=9#1 --figure height"))));
  withdraw(ledger, hand_made::plan);
  ASSERT_EQ(ledger.acceptances.size(), 1U);
  EXPECT_EQ(ledger.acceptances[0].figure, "height");
  withdraw(ledger, hand_made::plan, "height");
  EXPECT_TRUE(ledger.acceptances.empty());
}

TEST(Acceptances, OfFiguresNeedAValueAndNoRatio) {
  Ledger ledger = hand_made::ledger();
  Acceptance one = acceptance_of_height();
  one.value = std::nan("");
  EXPECT_THAT([&] { accept(ledger, one); }, ThrowsMessage<Error>(HasSubstr("--figure: height up to nan")));
  one.value = 3;
  one.figure = "it's";
  EXPECT_THAT([&] { accept(ledger, one); }, ThrowsMessage<Error>(HasSubstr("--figure: it's")));
  one = acceptance_of_height();
  one.value = -3;
  one.ratio = 1;
  EXPECT_NO_THROW(accept(ledger, one));
}

TEST(Releases, BeginANewSumAndKeepAcceptances) {
  Ledger ledger = hand_made::ledger();
  accept(ledger, acceptance());
  begin_release(ledger, "v2", commit(2), day("2026-04-01"));
  EXPECT_EQ(ledger.release, "v2");
  EXPECT_EQ(ledger.release_commit, commit(2));
  EXPECT_TRUE(ledger.steps.empty());
  EXPECT_EQ(ledger.acceptances.size(), 1U);
  EXPECT_EQ(steps_before(ledger, commit(2)), 0U);
  EXPECT_FALSE(steps_before(ledger, commit(0)));
}

TEST(Releases, MayBeNamedByTheirCommit) {
  Ledger ledger = hand_made::ledger();
  begin_release(ledger, "deadbeef", "unknown", day("2026-04-01"));
  EXPECT_EQ(ledger.release_commit, "deadbeef");
}

TEST(Releases, NeedACommitToCountFrom) {
  Ledger ledger = hand_made::ledger();
  const auto begin = [&](const std::string& release, const std::string& from) {
    return [&ledger, release, from] { begin_release(ledger, release, from, day("2026-04-01")); };
  };
  EXPECT_THAT(begin("v2", "unknown"), ThrowsMessage<Error>(HasSubstr("no commit to count from")));
  EXPECT_THAT(begin("v2", "c0ffee2+changes"), ThrowsMessage<Error>(HasSubstr("no commit to count from")));
  EXPECT_THAT(begin("", commit(2)), ThrowsMessage<Error>(HasSubstr("names nothing")));
  EXPECT_THAT(begin("v1", commit(2)), ThrowsMessage<Error>(HasSubstr("already")));
  EXPECT_EQ(ledger.steps.size(), 2U) << "what is refused erases nothing";
}

TEST(Steps, ContinueTheLedgerOrAreRefusedWithTheGap) {
  const Ledger ledger = hand_made::ledger();
  EXPECT_NO_THROW(require_next(ledger, commit(2), commit(3)));
  EXPECT_NO_THROW(require_next(ledger, commit(2) + "9abc", commit(3)));
  EXPECT_THAT([&] { require_next(ledger, commit(4), commit(5)); },
              ThrowsMessage<Error>(AllOf(HasSubstr("ends at c0ffee2"), HasSubstr("begins at c0ffee4"))));
  EXPECT_THAT([&] { require_next(ledger, commit(1), commit(3)); },
              ThrowsMessage<Error>(HasSubstr("ends at c0ffee2")));
  EXPECT_THAT([&] { require_next(ledger, commit(1), commit(2)); },
              ThrowsMessage<Error>(HasSubstr("has c0ffee2 already")));
  EXPECT_THAT([&] { require_next(ledger, commit(2), commit(2)); },
              ThrowsMessage<Error>(HasSubstr("already")));
}

TEST(Steps, AreBetweenCommitsThatOthersCanFind) {
  const Ledger ledger = hand_made::ledger();
  EXPECT_THAT([&] { require_next(ledger, "", commit(3)); },
              ThrowsMessage<Error>(HasSubstr("the base is of no single commit")));
  EXPECT_THAT([&] { require_next(ledger, commit(2), "c0ffee3+changes"); },
              ThrowsMessage<Error>(HasSubstr("the head is \"c0ffee3+changes\"")));
  EXPECT_THAT([&] { require_next({.suite = "smoke"}, commit(0), commit(1)); },
              ThrowsMessage<Error>(HasSubstr("no release to count from")));
}

TEST(Steps, HoldWhatHasAnEstimate) {
  const Interval sure{std::exp(-0.002), std::exp(0.01), std::exp(0.022), 0.95};
  const Comparison comparison{
      .rows = {{.key = "a", .standing = Standing::same, .ratio = sure, .launches = 11},
               {.key = "b", .standing = Standing::skipped},
               {.key = "c", .standing = Standing::undecided, .ratio = sure, .launches = 1},
               {.key = "d", .standing = Standing::slower, .ratio = sure, .launches = 11}}};
  const Step step = step_of(comparison, commit(0), commit(1), day("2026-03-01"));
  ASSERT_EQ(step.rows.size(), 2U);
  EXPECT_NEAR(step.rows.at("a").log_ratio, 0.01, 1e-12);
  EXPECT_NEAR(step.rows.at("a").deviation, 0.012 / 2.228, 1e-6);
  EXPECT_TRUE(step.rows.contains("d"));
  Comparison moved = comparison;
  moved.machine_moved = 0.4;
  EXPECT_TRUE(step_of(moved, commit(0), commit(1), day("2026-03-01")).rows.empty());
}

}  // namespace
}  // namespace assay
