// Simulates the slow-downs that the sum of steps catches and no single gate can, and how often it cries wolf,
// on scripted noise with fixed seeds. No clock is involved.
#include "bench/compare/judge.hpp"
#include "bench/compare/scripted_results_test.hpp"
#include "bench/ledger/hand_made_ledger_test.hpp"
#include "bench/ledger/ledger.hpp"
#include "core/statistics/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

/// Launches of a program against itself deviate by 0.3 to 1 %, and noisy trials are given more launches. With
/// strays, one launch in fifty is off by 5 % in either direction as well: neighbours.
struct Noise {
  double deviation;
  std::size_t launches;
};
constexpr Noise noises[] = {{0.003, 8}, {0.005, 12}, {0.007, 27}, {0.01, 40}};
constexpr double stray_share = 0.02, stray = 0.05;
enum class Strays { none, some };

std::string commit(std::size_t i) {
  std::string out = "c0ffee000";
  for (std::size_t digit = out.size(); i > 0; i /= 10) out[--digit] = static_cast<char>('0' + i % 10);
  return out;
}

/// Log ratios of launches of a comparison of two builds in turns.
std::vector<double> launches(const Noise& noise, double truth, Strays strays, Rng& rng) {
  std::vector<double> out;
  for (std::size_t i = 0; i < noise.launches; ++i) {
    out.push_back(truth + noise.deviation * scripted::normal(rng));
    if (strays == Strays::some && rng.unit() < stray_share) out.back() += rng.unit() < 0.5 ? stray : -stray;
  }
  return out;
}

/// Whether the sign test says that a trial takes more than 1 % longer, at 1 % for all trials together: what a
/// gate of two builds asks of a single commit.
bool is_slower_alone(const std::vector<double>& logs, std::size_t trials) {
  const double level = 1 - 2 * 0.01 / static_cast<double>(trials);
  const Interval sign = median_interval(logs, level);
  return sign.coverage >= level && sign.low > std::log(1.01);
}

struct History {
  std::size_t slower_alone = 0;  ///< rows over all commits that a gate would call slower without the ledger
  std::size_t alarms = 0;        ///< commits at which the ledger fails
  std::size_t crept = 0;         ///< rows at the last commit
};

enum class Judged { every_commit, last_commit };

/// `steps` commits in each of which trial t takes exp(truth[t]) times as long, each gated beside the ledger
/// of those before.
History history(std::size_t steps, const std::vector<double>& truth, Strays strays, Judged judged, Rng& rng) {
  History out;
  Ledger ledger{.suite = "scripted", .release = "v1", .release_commit = commit(0)};
  for (std::size_t i = 0; i < steps; ++i) {
    Comparison seen;
    for (std::size_t t = 0; t < truth.size(); ++t) {
      const auto logs = launches(noises[t % std::size(noises)], truth[t], strays, rng);
      if (truth[t] > 0 && is_slower_alone(logs, truth.size())) ++out.slower_alone;
      seen.rows.push_back({.key = scripted::key(t, "packed"),
                           .standing = Standing::same,
                           .ratio = exponential(centre(logs, standing_coverage)),
                           .launches = logs.size()});
    }
    Step step = step_of(seen, commit(i), commit(i + 1), {});
    if (judged == Judged::every_commit || i + 1 == steps) {
      apply(seen, ledger, {.base = commit(i)});
      if (hand_made::ledger_fails(seen)) ++out.alarms;
      out.crept = seen.count(Standing::slower);
    }
    ledger.steps.push_back(std::move(step));
  }
  return out;
}

constexpr std::size_t many = 60;

/// One trial of sixty takes 1 % longer with every commit, each of the noises in turn.
struct Tally {
  std::size_t caught = 0, slower_alone = 0, others = 0;
};
Tally creeping(std::size_t histories, std::size_t steps, Strays strays, std::uint64_t seed) {
  Rng rng(seed);
  Tally out;
  for (std::size_t h = 0; h < histories; ++h) {
    std::vector<double> truth(many, 0);
    truth[h % many] = std::log(1.01);
    const History seen = history(steps, truth, strays, Judged::last_commit, rng);
    out.slower_alone += seen.slower_alone;
    if (seen.crept > 0) ++out.caught;
    if (seen.crept > 1) ++out.others;
  }
  return out;
}

TEST(Drift, OfFiveCommitsOfOnePercentIsCaughtAtTheFifthThoughNoGateSeesOne) {
  const Tally seen = creeping(60, 5, Strays::none, 31);
  RecordProperty("caught_of_60", static_cast<int>(seen.caught));
  EXPECT_EQ(seen.slower_alone, 0U);
  EXPECT_GE(seen.caught, 57U);
  EXPECT_EQ(seen.others, 0U);
}

TEST(Drift, OfOnePercentEachIsCaughtLaterWhereLaunchesStray) {
  // One stray of eight launches widens the interval of a step several times, and the sum with it.
  const Tally seen = creeping(60, 8, Strays::some, 35);
  RecordProperty("caught_of_60", static_cast<int>(seen.caught));
  EXPECT_GE(seen.caught, 54U);
  EXPECT_EQ(seen.others, 0U);
}

TEST(Drift, OfUnchangedCodeRaisesNoAlarmOverTwentySteps) {
  Rng rng(32);
  std::size_t alarms = 0;
  const std::vector<double> unchanged(many, 0);
  for (std::size_t h = 0; h < 20; ++h) {
    alarms += history(20, unchanged, Strays::some, Judged::every_commit, rng).alarms;
  }
  EXPECT_EQ(alarms, 0U) << "of 400 ledger tests, 20 in each of 20 histories";
}

TEST(Drift, OfAllTrialsExactlyAtTheLimitKeepsTheLevel) {
  // The worst case: sixty trials that each sum up to the limit itself.
  Rng rng(33);
  std::size_t alarms = 0;
  const std::vector<double> truth(many, std::log(1.03) / 3);
  for (std::size_t h = 0; h < 200; ++h) {
    alarms += history(3, truth, Strays::some, Judged::last_commit, rng).alarms;
  }
  RecordProperty("alarms_of_200", static_cast<int>(alarms));
  // Two are expected at 1 %; seven or more have a chance of 0.4 %.
  EXPECT_LE(alarms, 6U);
}

TEST(Drift, AgainstAStoredBaselineLeavesRowsAloneThatMoveBetweenRecordings) {
  // Each recording and run moves every row by 3 % by itself and the machine by 10 %: no step of the code.
  const scripted::Script script{
      .cases = 20, .noise = {.run = 0.1, .drift = 0.03, .row_in_run = 0.03, .launch = 0.02, .slice = 0.05}};
  Rng rng(34);
  const Ledger ledger{.suite = "scripted", .release = "v1", .release_commit = commit(0)};
  std::size_t alarms = 0;
  for (int i = 0; i < 30; ++i) {
    std::vector<Results> recorded;
    for (int r = 0; r < 3; ++r) recorded.push_back(scripted::results(script, rng));
    Comparison seen = compare(scripted::results(script, rng), scripted::baseline(std::move(recorded)), {});
    for (ComparedRow& verdict : seen.rows) verdict.standing = Standing::same;
    apply(seen, ledger, {.base = commit(0)});
    if (hand_made::ledger_fails(seen)) ++alarms;
  }
  EXPECT_LE(alarms, 1U);
}

}  // namespace
}  // namespace assay
