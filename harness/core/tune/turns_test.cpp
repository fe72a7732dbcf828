// Rounds and rulings over turns that a script plays: no clock is involved.
#include "core/tune/turns.hpp"

#include "assay/random.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

namespace assay {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr TuneWords words{.setting = "knob",
                          .settings = "knobs",
                          .present = "the knob as it is",
                          .preferred = "with the lowest number",
                          .control = "the control was {}"};

std::vector<Candidate> candidates(std::size_t count) {
  std::vector<Candidate> out(count);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = {.name = std::to_string(i), .price = {static_cast<double>(i)}};
  return out;
}

/// The sum of twelve uniform numbers has a deviation of 1.
double normal(Rng& rng) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += rng.unit();
  return sum;
}

/// Candidates take `shares` of a second, each turn with a luck of `deviation`.
TakeTurns scripted(std::vector<double> shares, double deviation, Rng& rng) {
  return one_by_one(
      [shares = std::move(shares), deviation, &rng](std::size_t i) {
        return Turn{.seconds = {{shares[i] * std::exp(deviation * normal(rng))}}, .control = {{1}}};
      },
      {});
}

TEST(Rounds, AskForAllCandidatesInAnOrderThatIsDrawnAnew) {
  auto all = candidates(4);
  std::set<std::vector<std::size_t>> orders;
  const TakeTurns take = [&](std::span<const std::size_t> order, int) {
    orders.insert({order.begin(), order.end()});
    EXPECT_THAT(order, SizeIs(4));
    return std::vector<Turn>(4, {.seconds = {{1}}, .control = {{1}}});
  };
  measure_rounds(all, {.rounds = 20}, take, {});
  EXPECT_EQ(rounds_of(all), 20U);
  EXPECT_GT(orders.size(), 10U);
}

TEST(Rounds, DropALoserOnceItsErrorSharedOverCandidatesAndLooksIsSmall) {
  auto all = candidates(4);
  Rng rng(1);
  measure_rounds(all, {.rounds = 40}, scripted({1, 0.8, 1, 1.5}, 0.01, rng), {});
  EXPECT_THAT(all[0].turns, SizeIs(40));
  EXPECT_THAT(all[1].turns, SizeIs(40)) << "faster than the present setting";
  EXPECT_THAT(all[2].turns, SizeIs(40)) << "as fast";
  EXPECT_THAT(all[3].turns, SizeIs(10)) << "the first look after a quarter of the rounds";
  const TuneRuling ruling = ruled(words, all);
  EXPECT_EQ(ruling.candidates[3].decision, Decision::reject);
  EXPECT_EQ(ruling.advice, Advice::take);
  EXPECT_EQ(ruling.chosen, 1U);
}

TEST(Rounds, TakeNoneOfAHundredEqualSettings) {
  int taken = 0;
  for (int seed = 1; seed <= 20; ++seed) {
    auto all = candidates(101);
    Rng rng(static_cast<std::uint64_t>(seed));
    measure_rounds(all, {.rounds = 16}, scripted(std::vector<double>(101, 1), 0.1, rng), {});
    taken += ruled(words, all).advice == Advice::take ? 1 : 0;
  }
  EXPECT_LE(taken, 3) << "by luck one of twenty";
}

TEST(Rulings, ShareTheErrorWithSettingsThatAreElsewhere) {
  auto all = candidates(2);
  for (int round = 0; round < 24; ++round) {
    all[0].turns.push_back({.seconds = {{1}}, .control = {{1}}});
    all[1].turns.push_back({.seconds = {{0.95 + 0.02 * (round % 5 - 2)}}, .control = {{1}}});
  }
  const Interval alone = ruled(words, all).candidates[1].ratio,
                 of_many = ruled(words, all, 100).candidates[1].ratio;
  EXPECT_GT(of_many.coverage, alone.coverage);
  EXPECT_GT(of_many.high, alone.high);
}

TEST(Rounds, DropLaterWhereTheErrorIsSharedByMore) {
  for (const std::size_t family : {std::size_t{0}, std::size_t{100'000}}) {
    auto all = candidates(2);
    Rng rng(1);
    measure_rounds(all, {.rounds = 40, .family = family}, scripted({1, 1.5}, 0.01, rng), {});
    if (family == 0) {
      EXPECT_THAT(all[1].turns, SizeIs(10));
    } else {
      EXPECT_GT(all[1].turns.size(), 10U);
    }
  }
}

TEST(Rounds, DropNothingWhileTheControlIsOff) {
  auto all = candidates(3);
  const TakeTurns take = [](std::span<const std::size_t> order, int) {
    std::vector<Turn> out;
    for (const std::size_t i : order)
      out.push_back({.seconds = {{i == 2 ? 2.0 : 1.0}}, .control = {{i == 0 ? 1 : 1.2}}});
    return out;
  };
  measure_rounds(all, {.rounds = 40}, take, {});
  EXPECT_THAT(all[2].turns, SizeIs(40));
}

// Turns of half and of twice the present time exclude no gain of a tenth.
TEST(Rulings, AreUndecidedWhereAGainCouldNotBeSeen) {
  auto all = candidates(2);
  for (int round = 0; round < 6; ++round) {
    all[0].turns.push_back({.seconds = {{1}}, .control = {{1}}});
    all[1].turns.push_back({.seconds = {{round % 2 == 0 ? 0.5 : 2}}, .control = {{1}}});
  }
  const TuneRuling noisy = ruled(words, all);
  EXPECT_EQ(noisy.advice, Advice::undecided);
  EXPECT_THAT(noisy.doubt, ::testing::HasSubstr("1 may be faster by a factor of 2.00"));
  for (Turn& turn : all[1].turns) turn.seconds = {{1}};
  EXPECT_EQ(ruled(words, all).advice, Advice::keep);
}

TEST(Rounds, DropNothingWhereNoLookIsAskedForOrRoundsAreTooFew) {
  for (const TuneRounds& rounds : {TuneRounds{.rounds = 40, .looks = 0}, TuneRounds{.rounds = 8}}) {
    auto all = candidates(8);
    Rng rng(1);
    measure_rounds(all, rounds, scripted({1, 2, 2, 2, 2, 2, 2, 2}, 0.01, rng), {});
    for (const Candidate& one : all) EXPECT_EQ(one.turns.size(), static_cast<std::size_t>(rounds.rounds));
  }
}

TEST(Rounds, DropACandidateThatIsAsFastInFewerThanOneOfTwentyRuns) {
  constexpr int runs = 400;
  int dropped = 0;
  for (int run = 0; run < runs; ++run) {
    auto all = candidates(4);
    Rng rng(static_cast<std::uint64_t>(run));
    measure_rounds(all, {.rounds = 24}, scripted({1, 1, 1, 1}, 0.1, rng), {});
    for (const Candidate& one : all) dropped += one.turns.size() < 24 ? 1 : 0;
  }
  EXPECT_LE(dropped, runs / 20);
}

TEST(Rounds, AreWholeAndEndWithAnInterrupt) {
  auto all = candidates(2);
  int turns = 0;
  const Hooks hooks{.stop = [&] { return turns == 7; }};
  const auto take = one_by_one(
      [&](std::size_t) {
        ++turns;
        return Turn{.seconds = {{1}}, .control = {{1}}};
      },
      hooks);
  measure_rounds(all, {.rounds = 6}, take, hooks);
  EXPECT_EQ(rounds_of(all), 3U);
  EXPECT_THAT(all[1].turns, SizeIs(3));
}

TEST(Rounds, GoOnWithoutACandidateThatIsWrongAndEndWhereThePresentOneIs) {
  auto all = candidates(3);
  std::vector<std::size_t> asked;
  const auto wrong = [&](std::size_t at) {
    return one_by_one(
        [&, at](std::size_t i) {
          asked.push_back(i);
          if (i == at) all[i].wrong = "it differs";
          return Turn{.seconds = {{1}}, .control = {{1}}};
        },
        {});
  };
  measure_rounds(all, {.rounds = 6}, wrong(1), {});
  EXPECT_THAT(all[1].turns, IsEmpty());
  EXPECT_EQ(rounds_of(all), 6U);
  EXPECT_THAT(asked, SizeIs(3 + 5 * 2));
  EXPECT_EQ(ruled(words, all).candidates[1].decision, Decision::wrong);

  all = candidates(3);
  asked.clear();
  measure_rounds(all, {.rounds = 6}, wrong(0), {});
  EXPECT_THAT(asked, SizeIs(3));
  EXPECT_EQ(rounds_of(all), 0U);
}

TEST(Rulings, TakeACheaperSettingThatIsAsFastWhereNoneIsFaster) {
  auto all = candidates(3);
  all[0].price = {2};
  all[1].price = {1};
  Rng rng(3);
  measure_rounds(all, {.rounds = 8}, scripted({1, 1, 1.2}, 0.001, rng), {});
  const TuneRuling ruling = ruled(words, all);
  EXPECT_EQ(ruling.advice, Advice::take);
  EXPECT_EQ(ruling.chosen, 1U);
}

TEST(Rulings, AreUndecidedWhereEveryControlMoved) {
  auto all = candidates(2);
  for (int round = 0; round < 8; ++round) {
    all[0].turns.push_back({.seconds = {{1}}, .control = {{1}}});
    all[1].turns.push_back({.seconds = {{0.5}}, .control = {{0.9}}});
  }
  const TuneRuling ruling = ruled(words, all);
  EXPECT_EQ(ruling.advice, Advice::undecided);
  EXPECT_EQ(ruling.candidates[1].why, "the control was 1.11x faster [1.11, 1.11]");
}

}  // namespace
}  // namespace assay
