// Simulates how often the rules cry wolf, and what they overlook, on scripted launches with fixed seeds. No
// clock is involved.
#include "bench/gate/sequential.hpp"

#include "assay/random.hpp"
#include "bench/compare/words.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

/// Sum of twelve uniforms: near enough to a normal distribution.
double normal(Rng& rng) {
  double out = -6;
  for (int i = 0; i < 12; ++i) out += rng.unit();
  return out;
}

/// Launches as observed on a shared virtual machine: most lie close together, one in eight is off by several
/// percent.
double launch_noise(Rng& rng, double deviation) {
  const double noise = normal(rng);
  const bool stray = rng.unit() < 0.125;
  return noise * (stray ? 8 * deviation : deviation);
}

struct GateCounts {
  std::size_t slower = 0, undecided = 0, probably = 0, launches = 0;
  bool planted_found = false, unfit = false;
};

/// One run of the gate: screens all, then follows what is open through the looks, as the driver does.
/// With a deviation of eight layouts they take turns, and each moves all launches of a trial that run it.
GateCounts gated(std::size_t count, double deviation, double planted, Rng& rng, double by_layout = 0) {
  constexpr std::size_t layouts = 8;
  const SequentialPolicy policy;
  std::vector<TrialLogs> trials(count);
  std::vector<double> moved(by_layout > 0 ? count * layouts : 0);
  for (double& log : moved) log = normal(rng) * by_layout;
  const auto launch = [&](std::size_t i) {
    const std::size_t layout = trials[i].head.size() % layouts;
    trials[i].head.push_back((i == 0 ? std::log(planted) : 0) + launch_noise(rng, deviation));
    trials[i].control.push_back(launch_noise(rng, deviation));
    if (!moved.empty()) {
      trials[i].layouts.push_back(layout);
      trials[i].head.back() += moved[i * layouts + layout];
    }
    trials[i].to_control.push_back(trials[i].head.back() - trials[i].control.back());
  };
  GateCounts out;
  for (std::size_t l = 0; l < policy.screen; ++l) {
    for (std::size_t i = 0; i < count; ++i) launch(i);
  }
  std::size_t launches = policy.screen;
  SequentialDecisions decisions = rule(trials, policy);
  for (const std::size_t look : policy.looks) {
    for (; launches < look; ++launches) {
      for (std::size_t i = 0; i < count; ++i) {
        if (decisions.trials[i].goes_on) launch(i);
      }
    }
    decisions = rule(trials, policy);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const SequentialDecision& decision = decisions.trials[i];
    out.launches += trials[i].head.size();
    out.unfit = out.unfit || decision.control_moved || !decisions.unfit.empty();
    if (is_open(decision.standing)) ++out.undecided;
    if (decision.standing == Standing::probably_slower) ++out.probably;
    if (decision.standing != Standing::slower) continue;
    if (i == 0 && planted > 1) {
      out.planted_found = true;
    } else {
      ++out.slower;
    }
  }
  return out;
}

TEST(SequentialRules, CallUnchangedSuitesOfAHundredTrialsRedLessThanOnceInAHundred) {
  Rng rng(1);
  std::size_t red = 0, unfit = 0, undecided = 0, probably = 0;
  for (int run = 0; run < 300; ++run) {
    const GateCounts outcome = gated(100, run % 2 == 0 ? 0.003 : 0.01, 1, rng);
    red += outcome.slower > 0 ? 1U : 0U;
    unfit += outcome.unfit ? 1 : 0;
    undecided += outcome.undecided;
    probably += outcome.probably;
  }
  EXPECT_LE(red, 3U);
  EXPECT_LE(unfit, 3U);
  EXPECT_LE(undecided, 300U) << "a gate that decides nothing proves nothing";
  EXPECT_LE(probably, 3U);
}

TEST(SequentialRules, SeeThreePercentInOneTrialOfAHundred) {
  Rng rng(2);
  std::size_t found = 0;
  for (int run = 0; run < 100; ++run) {
    if (gated(100, 0.006, 1.03, rng).planted_found) ++found;
  }
  EXPECT_GE(found, 95U);
}

// Eight layouts are eight samples, however many launches run them. Without a look at layouts, half of these
// suites were red.
TEST(SequentialRules, CallNothingSlowerThatOnlySomeLayoutsMoved) {
  Rng rng(5);
  std::size_t red = 0;
  for (int run = 0; run < 100; ++run) red += gated(38, 0.003, 1, rng, 0.02).slower > 0 ? 1U : 0U;
  EXPECT_LE(red, 1U);
}

TEST(SequentialRules, SeeThreePercentThroughLayoutsThatMoveItByHalfAPercent) {
  Rng rng(6);
  std::size_t found = 0;
  for (int run = 0; run < 100; ++run) found += gated(38, 0.006, 1.03, rng, 0.005).planted_found ? 1U : 0U;
  EXPECT_GE(found, 95U);
}

/// Screens of `launches` that time cut off, at a limit of 3 %, of 57 programs of others beside a busy core.
Standing cut_off(std::size_t launches, double ratio, double deviation, Rng& rng) {
  TrialLogs trial;
  for (std::size_t i = 0; i < launches; ++i) {
    trial.head.push_back(std::log(ratio) + launch_noise(rng, deviation));
    trial.control.push_back(launch_noise(rng, deviation));
    trial.to_control.push_back(trial.head.back() - trial.control.back());
  }
  SequentialPolicy policy = policy_with(1.03);
  policy.family = 57;
  return rule({&trial, 1}, policy).trials.front().standing;
}

TEST(SequentialRules, DoNotMistakeOneForTheOtherWhereTimeCutsThemOff) {
  Rng rng(7);
  for (const std::size_t launches : {5U, 6U, 7U, 8U, 11U, 18U}) {
    std::size_t same = 0, missed = 0, alarms = 0, probably = 0;
    for (int run = 0; run < 2000; ++run) {
      const Standing unchanged = cut_off(launches, 1, 0.015, rng),
                     slower = cut_off(launches, 1.05, 0.015, rng);
      same += unchanged == Standing::same ? 1U : 0U;
      alarms += unchanged == Standing::slower ? 1U : 0U;
      probably += unchanged == Standing::probably_slower ? 1U : 0U;
      missed += slower == Standing::same || slower == Standing::not_slower ? 1U : 0U;
    }
    EXPECT_EQ(alarms, 0U) << launches;
    EXPECT_LE(probably, 2U) << launches;
    EXPECT_LE(missed, 2U) << launches;
    EXPECT_GE(same, launches < 8 ? 0U : 1500U) << launches;
  }
}

TEST(SequentialRules, SeeFivePercentThroughTwiceTheNoise) {
  Rng rng(3);
  std::size_t found = 0;
  for (int run = 0; run < 100; ++run) {
    if (gated(100, 0.012, 1.05, rng).planted_found) ++found;
  }
  EXPECT_GE(found, 99U);
}

}  // namespace
}  // namespace assay
