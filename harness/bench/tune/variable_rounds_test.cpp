// Tests rounds over sides that a script plays.
#include "bench/tune/variable.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TrialRequest trial(const std::string& key) {
  return {.key = key, .operation = "gemm", .variant = "openblas"};
}

const std::vector<TrialRequest> trials{trial("a"), trial("b")};

/// Sides that take 1 µs, Haswell 0.5 µs; `wrong` disagrees in trial b.
SampleSides scripted(std::vector<PairRequest>& asked, const std::string& wrong) {
  return [&asked, wrong](const PairRequest& request, const Hooks&) {
    asked.push_back(request);
    std::vector<std::vector<TurnSample>> out;
    for (const SideProgram& side : request.sides) {
      const double seconds = side.name == "Haswell" ? 5e-7 : 1e-6;
      auto& samples = out.emplace_back();
      for (const TrialRequest& one : request.trials) {
        const bool agrees = !request.check || side.name != wrong || one.key != "b";
        samples.push_back({.key = one.key,
                           .seconds = {seconds, seconds},
                           .agrees = agrees,
                           .disagreement = agrees ? "" : "c[0, 0] is 2"});
      }
    }
    return out;
  };
}

std::vector<Candidate> three() {
  return {{.name = "default", .in_use = "Nehalem"},
          {.name = "Sandybridge", .in_use = "Sandybridge"},
          {.name = "Haswell", .in_use = "Haswell"}};
}

TEST(ValueRounds, RunEachInAProcessOfItsOwnBesideAControl) {
  auto candidates = three();
  std::vector<PairRequest> asked;
  measure_values(core_type, candidates, trials, {.rounds = {.rounds = 6}, .program = "/bin/assay"},
                 scripted(asked, ""), {});
  ASSERT_THAT(asked, SizeIs(6));
  const auto& sides = asked[1].sides;
  ASSERT_THAT(sides, SizeIs(4));
  EXPECT_EQ(sides[0].name, "default");
  EXPECT_FALSE(sides[0].environment.front().second.has_value());
  EXPECT_EQ(sides[1].environment.front().second, "Sandybridge");
  EXPECT_EQ(sides[2].environment.front().second, "Haswell");
  EXPECT_EQ(sides[3].name, "control");
  EXPECT_EQ(sides[3].environment, sides[0].environment);
  EXPECT_TRUE(asked[0].check);
  EXPECT_FALSE(asked[1].check);
  EXPECT_NE(asked[0].draw, asked[1].draw);
  const TuneRuling ruling = ruled(core_type.words, candidates);
  EXPECT_EQ(ruling.candidates[1].decision, Decision::no_change);
  EXPECT_EQ(ruling.candidates[2].decision, Decision::retain);
  EXPECT_NEAR(ruling.candidates[2].ratio.middle, 0.5, 1e-9);
}

TEST(ValueRounds, GoOnWithoutACoreTypeThatDisagrees) {
  auto candidates = three();
  std::vector<PairRequest> asked;
  measure_values(core_type, candidates, trials, {.rounds = {.rounds = 6}}, scripted(asked, "Haswell"), {});
  EXPECT_EQ(candidates[2].wrong, "b: c[0, 0] is 2");
  EXPECT_THAT(candidates[2].turns, IsEmpty());
  EXPECT_THAT(asked[0].sides, SizeIs(4));
  EXPECT_THAT(asked[1].sides, SizeIs(3));
  EXPECT_EQ(ruled(core_type.words, candidates).candidates[2].decision, Decision::wrong);
  EXPECT_EQ(rounds_of(candidates), 6U);
}

TEST(ValueRounds, EndWhenTheDefaultDisagrees) {
  auto candidates = three();
  std::vector<PairRequest> asked;
  measure_values(core_type, candidates, trials, {.rounds = {.rounds = 6}}, scripted(asked, "default"), {});
  EXPECT_THAT(asked, SizeIs(1));
  EXPECT_EQ(candidates[0].wrong, "b: c[0, 0] is 2");
}

TEST(ValueRounds, LeaveOutTheOneInWhichTheyWereInterrupted) {
  auto candidates = three();
  std::vector<PairRequest> asked;
  const Hooks hooks{.stop = [&] { return asked.size() == 3; }};
  measure_values(core_type, candidates, trials, {.rounds = {.rounds = 6}}, scripted(asked, ""), hooks);
  EXPECT_EQ(rounds_of(candidates), 2U);
}

}  // namespace
}  // namespace assay
