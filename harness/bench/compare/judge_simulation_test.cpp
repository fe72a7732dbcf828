// Simulates how often the rules cry wolf, and what they overlook, on scripted noise with fixed seeds. No
// clock is involved.
#include "bench/compare/scripted_results_test.hpp"

#include <gtest/gtest.h>

#include <set>

namespace assay {
namespace {

using scripted::Noise;
using scripted::Script;

/// A shared virtual machine: two runs differ by up to 20 %, launches drift by 3 % together and by 2 % one by
/// one, and tails: one launch of a row in fifty is off by 30 %, one slice in fifty by a factor of 3.
constexpr Noise shared_machine{
    .run = 0.1, .drift = 0.03, .launch = 0.02, .slice = 0.05, .bad_launches = 0.02, .bad_slices = 0.02};

/// Does as the gate does: compares, measures the cases of slower rows afresh, compares these.
Comparison gated(const Script& script, const Baseline& baseline, Rng& rng) {
  const GatePolicy policy;
  const auto afresh = [&](const std::vector<std::string>& keys) {
    std::set<std::string> problems;
    for (const std::string& key : keys) problems.insert(key.substr(key.rfind('/')));
    Results again = scripted::results(script, rng);
    std::erase_if(again.trials, [&](const TrialResult& trial) {
      return !problems.contains(trial.key.substr(trial.key.rfind('/')));
    });
    return again;
  };
  return confirm(compare(scripted::results(script, rng), baseline, policy), baseline, policy, afresh)
      .comparison;
}

struct Tally {
  std::size_t red_suites = 0, red_rows = 0, detected = 0, undecided_rows = 0, same_rows = 0;
};

/// Gates `suites` times, each with a baseline of its own; one row takes `factor` times as long as recorded.
Tally tally(Script script, std::size_t suites, std::size_t recordings, double factor, std::uint64_t seed) {
  Tally out;
  Rng rng(seed);
  for (std::size_t i = 0; i < suites; ++i) {
    std::vector<Results> recorded;
    Script unchanged = script;
    for (std::size_t r = 0; r < recordings; ++r) recorded.push_back(scripted::results(unchanged, rng));
    const auto baseline = scripted::baseline(std::move(recorded));
    const std::string planted = scripted::key(i % script.cases, "packed");
    Script now = script;
    now.changed[planted] = factor;
    const Comparison verdict = gated(now, baseline, rng);
    std::size_t red = 0;
    for (const ComparedRow& row : verdict.rows) {
      out.undecided_rows += row.standing == Standing::undecided ? 1 : 0;
      out.same_rows += row.standing == Standing::same ? 1 : 0;
      if (row.standing != Standing::slower) continue;
      if (factor > 1 && row.key == planted)
        ++out.detected;
      else
        ++red;
    }
    out.red_rows += red;
    out.red_suites += red > 0 ? 1 : 0;
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, const Tally& t) {
  return out << "red suites " << t.red_suites << ", red rows " << t.red_rows << ", detected " << t.detected
             << ", undecided " << t.undecided_rows << ", same " << t.same_rows;
}

Script suite_of_60() { return {.cases = 20, .launches = 6, .slices = 15, .noise = shared_machine}; }

TEST(Verdicts, OfUnchangedCodeAreHardlyEverSlower) {
  const auto one = tally(suite_of_60(), 200, 1, 1, 11);
  EXPECT_LE(one.red_suites, 2U) << one;
  const auto three = tally(suite_of_60(), 40, 3, 1, 12);
  EXPECT_LE(three.red_suites, 1U) << three;
  EXPECT_GE(three.same_rows, 40 * 60 / 2U) << "nothing is proved by a gate that decides nothing: " << three;
}

TEST(Verdicts, OfUnchangedCodeAreHardlyEverSlowerWithTheFewestLaunchesThatCount) {
  Script script = suite_of_60();
  script.launches = 3;
  const auto t = tally(script, 100, 1, 1, 13);
  EXPECT_LE(t.red_suites, 2U) << t;
}

TEST(Verdicts, OfRowsThatDifferBetweenRecordingsKeepTheirOwnDistance) {
  // Each recording and run lays code and pages out anew, which moves every row by itself.
  Script script = suite_of_60();
  script.noise.row_in_run = 0.03;
  const auto t = tally(script, 40, 3, 1, 14);
  EXPECT_LE(t.red_suites, 1U) << t;
}

TEST(Verdicts, SeeARowThatTakesTwiceAsLong) {
  const auto t = tally(suite_of_60(), 20, 1, 2, 21);
  EXPECT_EQ(t.detected, 20U) << t;
  EXPECT_EQ(t.red_suites, 0U) << t;
}

TEST(Verdicts, SeeARowThatTakesThirtyPercentLonger) {
  const auto t = tally(suite_of_60(), 50, 1, 1.3, 22);
  EXPECT_EQ(t.detected, 50U) << t;
  const auto three = tally(suite_of_60(), 20, 3, 1.3, 23);
  // The spread of a row between three recordings can be wide by chance.
  EXPECT_GE(three.detected, 19U) << three;
}

TEST(Verdicts, SeeTenPercentAsFarAsTheNoiseAllows) {
  const auto t = tally(suite_of_60(), 30, 1, 1.1, 24);
  RecordProperty("detected_of_30", static_cast<int>(t.detected));
  EXPECT_GT(t.detected, 0U) << t;
}

}  // namespace
}  // namespace assay
