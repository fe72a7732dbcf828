#include "bench/measure/sides.hpp"

#include "assay/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

namespace assay {
namespace {

TEST(Draws, AreTheSameForTheSameRunAndOthersForEachLaunchAndSeed) {
  EXPECT_EQ(draw_of(42, 0), Rng(42).next());
  EXPECT_EQ(draw_of(42, 2), Rng(42 + 2 * 1000003).next()) << "recorded runs are repeated by these";
  std::set<std::uint64_t> seen;
  for (const std::uint64_t seed : {1U, 2U, 42U}) {
    for (int launch = 0; launch < 150; ++launch) seen.insert(draw_of(seed, launch));
  }
  EXPECT_EQ(seen.size(), 3U * 150);
}

/// Whether the head of this trial is at fault in a launch of these.
using AtFault = std::function<bool(const std::string& key, const PairRequest& request)>;

/// The trials of three that are at fault in the end.
std::vector<std::string> named_of_three(const AtFault& at_fault) {
  PairRequest request{.sides = {{.name = "base"}, {.name = "head"}}};
  for (const char* key : {"a", "b", "c"}) request.trials.push_back({.key = key});
  const auto sample = [&](const PairRequest& part, const Hooks&) {
    std::vector<std::vector<TurnSample>> out(2);
    for (const TrialRequest& trial : part.trials) {
      out[0].push_back({.key = trial.key});
      out[1].push_back({.key = trial.key, .agrees = !at_fault(trial.key, part)});
    }
    return out;
  };
  std::vector<std::string> out;
  const auto sides = sample_accused_alone(request, sample, {});
  for (const TurnSample& one : sides[1]) {
    if (!one.agrees) out.push_back(one.key);
  }
  return out;
}

TEST(AccusedTrials, AreNamedWhereTheyDoItAlone) {
  using ::testing::ElementsAre;
  using ::testing::IsEmpty;
  EXPECT_THAT(named_of_three([](const auto&, const auto&) { return false; }), IsEmpty());
  EXPECT_THAT(named_of_three([](const auto& key, const auto&) { return key == "b"; }), ElementsAre("b"));
  EXPECT_THAT(
      named_of_three([](const auto& key, const auto& part) { return key == "b" && part.trials.size() > 1; }),
      IsEmpty());
  EXPECT_THAT(named_of_three([](const auto& key, const auto& part) {
                return key == (part.trials.size() > 1 ? "b" : "c");  // what c leaves behind is found in b
              }),
              ElementsAre("c"));
}

}  // namespace
}  // namespace assay
