// Matching, sampling in rounds and verdicts of two builds, with launches from a script instead of processes.
#include "bench/gate/two_builds.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace assay {
namespace {

using ::testing::HasSubstr;

DescribedTrial described(const std::string& variant, const std::string& code = "") {
  return {.trial = {"gemm/" + variant + "/m=1#1", "gemm", variant, "m=1"}, .workload = "w", .code = code};
}

Description description_of(std::vector<DescribedTrial> trials) {
  return {.commit = "c", .trials = std::move(trials)};
}

bool all(const std::string&) { return true; }

/// A run of trials a, b, c, ... that all are in the tested family.
TwoBuilds run_of(std::size_t count, double budget = 1e9) {
  std::vector<DescribedTrial> trials;
  for (std::size_t i = 0; i < count; ++i)
    trials.push_back(described(std::string(1, static_cast<char>('a' + i))));
  TwoBuilds run{.suite = "s", .budget_seconds = budget};
  run.trials = matched(description_of(trials), description_of(trials), all, false);
  return run;
}

/// Every launch takes as long in the head as in the base, times the ratio given for its variant.
PairedSample scripted(const std::map<std::string, double>& ratios,
                      std::vector<std::size_t>* sizes = nullptr) {
  return [=](TwoBuilds& run, const std::vector<std::size_t>& trials, int) {
    if (sizes != nullptr) sizes->push_back(trials.size());
    for (const std::size_t i : trials) {
      const auto found = ratios.find(run.trials[i].trial.variant);
      const double ratio = found == ratios.end() ? 1 : found->second;
      run.trials[i].launches.push_back({.base = {1e-3, 1e-3, 1e-3},
                                        .head = {ratio * 1e-3, ratio * 1e-3, 9.0},
                                        .control = {1e-3, 1e-3, 1e-3}});
    }
  };
}

TEST(TwoBuilds, LeaveOutWhatCannotBeComparedAndSayWhy) {
  auto base =
      description_of({described("same", "1"), described("changed", "1"), described("unknown"),
                      described("gone"), described("other"), described("unfit"), described("narrowed")});
  auto head =
      description_of({described("same", "1"), described("changed", "2"), described("unknown"),
                      described("added"), described("other"), described("unfit"), described("narrowed")});
  base.trials[4].workload = "v";
  base.trials[5].skipped = head.trials[5].skipped = "needs avx512";
  head.trials[6].skipped = "needs a multiple of 8";
  const auto trials = matched(base, head, all, false);
  ASSERT_EQ(trials.size(), 8U);
  EXPECT_EQ(trials[0].left_out.standing, Standing::same);
  EXPECT_THAT(trials[0].left_out.why, HasSubstr("identical"));
  EXPECT_TRUE(trials[1].tested());
  EXPECT_TRUE(trials[2].tested()) << "code that is unknown counts as changed";
  EXPECT_EQ(trials[3].left_out.standing, Standing::added);
  EXPECT_EQ(trials[4].left_out.standing, Standing::not_comparable);
  EXPECT_EQ(trials[5].left_out.standing, Standing::skipped);
  EXPECT_THAT(trials[5].left_out.why, HasSubstr("needs avx512"));
  EXPECT_EQ(trials[6].left_out.standing, Standing::not_comparable) << "the base ran it";
  EXPECT_THAT(trials[6].left_out.why, HasSubstr("multiple of 8"));
  EXPECT_EQ(trials[7].left_out.standing, Standing::gone);
}

TEST(TwoBuilds, LeaveOutWhatFailsACornerCaseOnEitherSide) {
  const auto side = [] {
    return description_of({described("sound"), described("wrong"), described("before"), described("crashes"),
                           described("same", "1")});
  };
  Description base = side(), head = side();
  auto trials = matched(base, head, all, false);
  head.trials[1].wrong = "at the corner case m=1: 1 of 1 disagree";
  base.trials[1].wrong = base.trials[2].wrong = "at the corner case m=2: 1 of 1 disagree";
  head.trials[3].failure =
      Failure{Failure::Kind::timed_out, "did not end within 10 s, at the corner case m=3"};
  head.trials[3].wrong = head.trials[3].failure->reason;
  leave_out_wrong(trials, base, head);
  EXPECT_TRUE(trials[0].tested());
  EXPECT_EQ(trials[1].left_out.standing, Standing::wrong);
  EXPECT_EQ(trials[1].left_out.why, "disagrees with the oracle: at the corner case m=1: 1 of 1 disagree");
  EXPECT_EQ(trials[2].left_out.standing, Standing::not_comparable);
  EXPECT_EQ(trials[2].left_out.why,
            "the base disagrees with the oracle: at the corner case m=2: 1 of 1 disagree");
  EXPECT_EQ(trials[3].left_out.standing, Standing::timed_out);
  EXPECT_EQ(trials[3].left_out.why, "the head did not end within 10 s, at the corner case m=3");
  EXPECT_EQ(trials[4].left_out.standing, Standing::same) << "it is not timed";
}

TEST(TwoBuilds, AskNothingOfAProgramThatKnowsNoCornerCases) {
  const Description older = description_of({described("a")});
  auto trials = matched(older, older, all, false);
  leave_out_wrong(trials, older, description_of({}));
  EXPECT_TRUE(trials[0].tested());
}

TEST(TwoBuilds, MeasureIdenticalCodeWhenAskedTo) {
  const auto both = description_of({described("same", "1")});
  EXPECT_TRUE(matched(both, both, all, true).front().tested());
}

TEST(TwoBuilds, MeasureIdenticalCodeThatCallsAnotherLibrary) {
  auto base = description_of({described("same", "1")}), head = base;
  base.facts = {{"OpenBLAS", "0.3.21"}, {"system", "Linux 6", false}};
  head.facts = {{"OpenBLAS", "0.3.21"}, {"system", "Linux 7", false}};
  EXPECT_FALSE(matched(base, head, all, false).front().tested());
  head.facts[0].value = "0.3.26";
  EXPECT_TRUE(matched(base, head, all, false).front().tested());
}

TEST(TwoBuilds, LeaveUnselectedTrialsOfEitherSideOut) {
  const auto trials = matched(
      description_of({described("a"), described("gone")}), description_of({described("a"), described("b")}),
      [](const std::string& key) { return key == "gemm/b/m=1#1"; }, false);
  ASSERT_EQ(trials.size(), 1U);
  EXPECT_EQ(trials[0].trial.variant, "b");
}

TEST(TwoBuilds, JudgeFiguresWhateverTheMachineDoes) {
  TwoBuilds run = run_of(2);
  sample_two_builds(run, scripted({}), {});
  const Figure low{.name = "height", .value = 1234, .unit = "bytes", .better = Figure::Better::lower};
  Figure high = low;
  high.value = 1300;
  for (PairedTrial& trial : run.trials) trial.base_figures = trial.head_figures = {low};
  EXPECT_FALSE(has_worse_figure(findings_of(run).comparison.rows[0]));
  run.trials[0].head_figures = {high};
  run.unfit_shard = "it moved";
  run.machine.cores = 1;
  const TwoBuilds read = two_builds_from_json(to_json(run), "run.json");
  const GateFindings findings = findings_of(read);
  EXPECT_TRUE(has_worse_figure(findings.comparison.rows[0]));
  EXPECT_FALSE(has_worse_figure(findings.comparison.rows[1]));
  EXPECT_EQ(findings.comparison.rows[0].standing, Standing::undecided) << "of its time";
  const std::string text = pull_request_text(pull_request_of(read, findings));
  EXPECT_THAT(text, HasSubstr("✗ gemm/a/m=1#1\n"));
  EXPECT_THAT(text, HasSubstr("    height 1,234 → 1,300 bytes (5.3 % more)\n"));
  EXPECT_THAT(urgent_text(pull_request_of(read, findings)), HasSubstr("✗ gemm/a/m=1#1\n"));
}

TEST(TwoBuilds, FollowWhatTheScreenLeftOpenAndNothingElse) {
  TwoBuilds run = run_of(6);
  std::vector<std::size_t> sizes;
  sample_two_builds(run, scripted({{"c", 1.05}}, &sizes), {});
  // Eight launches of all six, then eight more of the slow one: p = 1.5e-5 at the look after sixteen.
  EXPECT_EQ(sizes.size(), 16U);
  EXPECT_EQ(std::count(sizes.begin(), sizes.end(), 6U), 8);
  EXPECT_EQ(std::count(sizes.begin(), sizes.end(), 1U), 8);
  const GateFindings findings = findings_of(run);
  EXPECT_EQ(findings.comparison.count(Standing::same), 5U);
  EXPECT_EQ(findings.comparison.rows[2].standing, Standing::slower);
  EXPECT_NEAR(findings.comparison.rows[2].ratio.middle, 1.05, 1e-9);
  EXPECT_EQ(findings.comparison.unfit, "");
}

// It ends with the budget or with the last look, whichever comes first: here with the last look.
TEST(TwoBuilds, SayWhichShareOfTheLaunchesIsDone) {
  TwoBuilds run = run_of(1);
  std::vector<double> shares;
  const Hooks hooks{
      .progress = [&](std::string_view, std::optional<double> done) { shares.push_back(done.value_or(-1)); }};
  sample_two_builds(run, scripted({}), hooks);
  ASSERT_EQ(shares.size(), run.trials[0].launches.size());
  const auto most = static_cast<double>(run.policy.looks.back());
  for (std::size_t i = 0; i < shares.size(); ++i) EXPECT_NEAR(shares[i], static_cast<double>(i) / most, 1e-6);

  TwoBuilds short_of_time = run_of(1, 1e-9);
  shares.clear();
  sample_two_builds(short_of_time, scripted({}), hooks);
  EXPECT_LE(shares.back(), 1);
}

TEST(TwoBuilds, StopWhenTheBudgetIsSpentAndLeaveTheRestUndecided) {
  TwoBuilds run = run_of(3, 1e-9);
  sample_two_builds(run, scripted({}), {});
  EXPECT_EQ(run.trials[0].launches.size(), 1U);
  const GateFindings findings = findings_of(run);
  EXPECT_EQ(findings.comparison.count(Standing::undecided), 3U);
  EXPECT_THAT(findings.comparison.rows[0].why, HasSubstr("1 process starts fitted the budget"));
}

TEST(TwoBuilds, LeaveCallsAloneThatAreTooLongForTheBudgetAndSaySo) {
  const PairedSample sample = [](TwoBuilds& r, const std::vector<std::size_t>& trials, int) {
    for (const std::size_t i : trials) {
      const double call = i == 1 ? 10.0 : 1e-3;
      r.trials[i].launches.push_back({.base = {call}, .head = {call}, .control = {call}});
    }
  };
  TwoBuilds one_start = run_of(3, 100);
  sample_two_builds(one_start, sample, {}, true);
  EXPECT_EQ(findings_of(one_start).comparison.count(Standing::same), 3U) << "one start reports all of them";
  TwoBuilds run = run_of(3, 100);
  sample_two_builds(run, sample, {});
  const GateFindings findings = findings_of(run);
  EXPECT_EQ(findings.comparison.rows[0].standing, Standing::same);
  EXPECT_EQ(findings.comparison.rows[1].standing, Standing::undecided);
  EXPECT_THAT(findings.comparison.rows[1].why, HasSubstr("1 process starts fitted the budget"));
  EXPECT_EQ(findings.comparison.rows[2].standing, Standing::same);
}

// 82 trials ask for more than sixteen launches of sixteen, and 81 do not: a trial that was dropped counts.
TEST(TwoBuilds, GoOnUntilTheVerdictIsReachedWithAllTrialsAndNotOnlyWithThoseThatFit) {
  TwoBuilds run = run_of(82, 1000);
  sample_two_builds(run,
                    [](TwoBuilds& r, const std::vector<std::size_t>& trials, int) {
                      for (const std::size_t i : trials) {
                        const double call = i == 1 ? 100.0 : 1e-3, head = i == 0 ? 1.05 * call : call;
                        r.trials[i].launches.push_back({.base = {call}, .head = {head}, .control = {call}});
                      }
                    },
                    {});
  EXPECT_EQ(run.trials[1].launches.size(), 1U);
  EXPECT_EQ(run.trials[0].launches.size(), 21U);
  EXPECT_EQ(findings_of(run).comparison.rows[0].standing, Standing::slower);
}

/// A run with so many launches of each trial, of which the first one's head takes `ratio` times as long.
TwoBuilds launched(std::size_t count, std::size_t launches, double ratio) {
  TwoBuilds run = run_of(count);
  sample_two_builds(run, scripted({}), {});
  for (PairedTrial& trial : run.trials) {
    const PairedLaunch one{
        .base = {1.0}, .head = {&trial == &run.trials.front() ? ratio : 1.0}, .control = {1.0}};
    trial.launches.assign(launches, one);
  }
  return run;
}

TEST(TwoBuilds, CouldHaveSeenWhatTheirLaunchesShowAndNotWhatMoreWould) {
  EXPECT_EQ(findings_of(launched(3, 9, 1.015)).visible.front(), 0)
      << "time ran out, and nine of nine are more likely than 0.01 / 8 / 3";
  EXPECT_NEAR(findings_of(launched(3, 9, 1)).visible.front(), 1.01, 1e-9) << "there was time for more";
  TwoBuilds interrupted = launched(3, 9, 1);
  interrupted.partial = true;
  EXPECT_EQ(findings_of(interrupted).visible.front(), 0);
  TwoBuilds dropped = launched(3, 9, 1);
  dropped.trials[2].launches.resize(1);
  EXPECT_EQ(findings_of(dropped).visible[2], 0);
  EXPECT_NEAR(findings_of(dropped).visible[1], 1.01, 1e-9);
}

TEST(TwoBuilds, EstimateWhatWasLaunchedTwiceAndNotDecided) {
  TwoBuilds run = launched(2, 2, 1.4);
  run.trials[0].launches[1].head = {1.5};
  run.trials[1].launches.resize(1);
  const GateFindings findings = findings_of(run);
  const ComparedRow& twice = findings.comparison.rows[0];
  EXPECT_EQ(twice.standing, Standing::undecided);
  EXPECT_NEAR(twice.ratio.low, 1.4, 1e-9);
  EXPECT_NEAR(twice.ratio.high, 1.5, 1e-9);
  EXPECT_EQ(findings.comparison.rows[1].ratio.coverage, 0) << "one launch has no interval";
  EXPECT_THAT(pull_request_text(pull_request_of(run, findings)),
              HasSubstr("undecided 1.449 [1.400, 1.500]  limit 1.010  2 launches"));
}

/// Launches of programs that are not assay's, each trial of which takes a second.
TEST(TwoBuilds, OfOtherProgramsMakeRoomForWhatIsNotSettled) {
  TwoBuilds run = run_of(3);
  run.timing = "processor time";
  for (PairedTrial& trial : run.trials) trial.trial.variant.clear();
  std::vector<std::size_t> sizes;
  sample_two_builds(
      run,
      [&](TwoBuilds& r, const std::vector<std::size_t>& trials, int) {
        sizes.push_back(trials.size());
        for (const std::size_t i : trials)
          r.trials[i].launches.push_back({.base = {1}, .head = {i == 0 ? 1.2 : 1}, .control = {1}});
      },
      {});
  EXPECT_EQ(std::count(sizes.begin(), sizes.end(), 3U), 5);
  EXPECT_EQ(std::count(sizes.begin(), sizes.end(), 1U), 11);
  const GateFindings findings = findings_of(run);
  EXPECT_EQ(findings.comparison.rows[0].standing, Standing::slower);
  EXPECT_EQ(findings.comparison.count(Standing::same), 2U);
}

// Every tenth iteration takes twice as long, which one repetition in three holds: no quartile would show it.
TEST(TwoBuilds, OfOtherProgramsCountWhatIsSlowerInSomeRepetitions) {
  PairedTrial trial;
  trial.launches.push_back({.base = {1, 1, 1, 1, 1, 1, 1, 9}, .head = {1, 1, 1, 1.2, 1.2, 1, 1, 1.2}});
  EXPECT_NEAR(logs_of(trial).head.front(), std::log(1.05), 1e-12);
}

TEST(TwoBuilds, DecideNothingWhenTheyWereInterrupted) {
  TwoBuilds run = launched(3, 16, 1.05);
  EXPECT_EQ(findings_of(run).comparison.count(Standing::slower), 1U);
  run.partial = true;
  const GateFindings findings = findings_of(run);
  EXPECT_EQ(findings.comparison.count(Standing::undecided), 3U);
  EXPECT_THAT(findings.comparison.rows[0].why, HasSubstr("it was interrupted; otherwise slower"));
  for (PairedTrial& trial : run.trials) trial.launches.resize(3);
  EXPECT_THAT(findings_of(run).comparison.rows[0].why, HasSubstr("when it was interrupted"));
}

TEST(TwoBuilds, SayWhenLayoutsDisagree) {
  TwoBuilds run = launched(1, 32, 1.05);
  for (std::size_t i = 0; i < 32; ++i) {
    PairedLaunch& launch = run.trials[0].launches[i];
    launch.base_link = launch.head_link = i % 8;
    if (i % 8 < 2) launch.head = launch.base;
  }
  run.trials[0].launches.insert(run.trials[0].launches.end(), 31, PairedLaunch(run.trials[0].launches[7]));
  const ComparedRow verdict = findings_of(run).comparison.rows[0];
  EXPECT_EQ(verdict.standing, Standing::undecided);
  EXPECT_THAT(verdict.why, HasSubstr("in some layouts of the code and not in others"));
}

TEST(TwoBuilds, DoNotJudgeAnythingByAControlThatMoved) {
  TwoBuilds run = run_of(2);
  sample_two_builds(run,
                    [](TwoBuilds& r, const std::vector<std::size_t>& trials, int) {
                      for (const std::size_t i : trials) {
                        r.trials[i].launches.push_back({.base = {1.0}, .head = {1.05}, .control = {0.95}});
                      }
                    },
                    {});
  const GateFindings findings = findings_of(run);
  EXPECT_THAT(findings.comparison.unfit, HasSubstr("copy of the base"));
  EXPECT_EQ(findings.comparison.count(Standing::undecided), 2U);
  EXPECT_THAT(findings.comparison.rows[0].why, HasSubstr("otherwise slower"));
  EXPECT_THAT(to_json(findings.comparison), HasSubstr("copy of the base"));
  EXPECT_THAT(pull_request_markdown(pull_request_of(run, findings)), HasSubstr("machine is unfit"));
}

TEST(TwoBuilds, AreSummedUpFromLaunchesThatWereTakenWhateverTheyShowed) {
  TwoBuilds run = run_of(2);
  // Launches of the second trial show 1.2 % in the screen and 0.2 % after it.
  int launch = 0;
  sample_two_builds(run,
                    [&](TwoBuilds& sampled, const std::vector<std::size_t>& trials, int) {
                      const double ratio = launch++ < 8 ? 1.012 : 1.002;
                      for (const std::size_t i : trials) {
                        sampled.trials[i].launches.push_back(
                            {.base = {1e-3}, .head = {i == 1 ? ratio * 1e-3 : 1e-3}, .control = {1e-3}});
                      }
                    },
                    {});
  const ComparedRow verdict = findings_of(run).comparison.rows[1];
  EXPECT_NEAR(verdict.ratio.middle, 1.002, 1e-9) << "of the 21 that decided";
  EXPECT_NEAR(verdict.unselected.middle, 1.012, 1e-9);
  EXPECT_EQ(verdict.unselected_launches, 8U);
}

TEST(TwoBuilds, ThatWereStoredGiveTheSameVerdicts) {
  TwoBuilds run = run_of(4);
  sample_two_builds(run, scripted({{"a", 1.0301234567}, {"d", 0.9}}), {});
  run.trials[0].pointers = {"look here"};
  run.base = {.name = "v1", .commit = "abc", .links = 8};
  run.head = {.name = "this program", .layout_remark = "one link"};
  const TwoBuilds read = two_builds_from_json(to_json(run), "run.json");
  EXPECT_EQ(to_json(read), to_json(run));
  const GateFindings before = findings_of(run), after = findings_of(read);
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    EXPECT_EQ(before.comparison.rows[i].standing, after.comparison.rows[i].standing);
    EXPECT_NEAR(before.comparison.rows[i].ratio.middle, after.comparison.rows[i].ratio.middle, 1e-6);
  }
}

TEST(TwoBuilds, RefuseAFileThatIsCutOffOrHoldsNoTimes) {
  TwoBuilds run = run_of(1);
  sample_two_builds(run, scripted({}), {});
  const std::string text = to_json(run);
  EXPECT_THROW(two_builds_from_json(text.substr(0, text.size() / 2), "run.json"), Error);
  std::string negative = text;
  negative.replace(negative.find("0.001", negative.find("\"launches\"")), 5, "-0.01");
  try {
    two_builds_from_json(negative, "run.json");
    FAIL() << "a negative time was accepted";
  } catch (const Error& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("run.json"));
    EXPECT_THAT(failure.what(), HasSubstr("base"));
  }
}

TEST(TwoBuilds, SayInWordsWhatIsSlowerAndWhatCouldHaveBeenSeen) {
  TwoBuilds run = run_of(3);
  run.trials[1].occurrences = {{"mlp", 20000}};
  run.trials[1].pointers = {"1 function of kernels/gemm/b.cpp differs"};
  run.base.facts = {{.name = "build type", .value = "Debug"}};
  sample_two_builds(run, scripted({{"b", 1.05}}), {});
  const std::string text = pull_request_text(pull_request_of(run, findings_of(run)));
  EXPECT_THAT(text, HasSubstr("1.050x slower, no spread"));
  EXPECT_THAT(text, HasSubstr("gemm/b/m=1#1"));
  EXPECT_THAT(text, HasSubstr("1.00 s [1.00, 1.00] more per epoch of mlp")) << "20,000 times 5 % of 1 ms";
  EXPECT_THAT(text, HasSubstr("    1 function of kernels/gemm/b.cpp differs\n"));
  EXPECT_THAT(text, HasSubstr("base is no Release build (Debug)"));
  EXPECT_THAT(text, HasSubstr("2 same (2 by the screen, which took "));
  EXPECT_THAT(text, HasSubstr("smallest slow-down that would have been seen: 1.00 % in the median trial"));
  const std::string markdown = pull_request_markdown(pull_request_of(run, findings_of(run)));
  EXPECT_THAT(markdown, HasSubstr("| ✗ | `gemm/b/m=1#1` |"));
}

TEST(TwoBuilds, SayNothingOfAScreenWhenNothingWasMeasured) {
  TwoBuilds run;
  run.budget_seconds = 10;
  run.trials =
      matched(description_of({described("a", "1")}), description_of({described("a", "1")}), all, false);
  sample_two_builds(run, scripted({}), {});
  EXPECT_THAT(pull_request_text(pull_request_of(run, findings_of(run))),
              HasSubstr("0 same (0 by the screen), 1 not measured"));
}

TEST(TwoBuilds, AttributeToTheLayoutWhatTheControlDoesNotShow) {
  PairedTrial trial;
  for (int launch = 0; launch < 20; ++launch) {
    const double head = launch % 2 == 0 ? 1.0 : 1.1;
    trial.launches.push_back({.base = {1.0},
                              .head = {head},
                              .control = {1.0},
                              .base_link = 0,
                              .head_link = static_cast<std::size_t>(launch % 2)});
  }
  // Half the distance of the logarithms, scaled as the deviation of a normal distribution.
  EXPECT_NEAR(moved_by_layout(trial), 1.4826 * std::log(1.1) / 2, 1e-6);
  for (PairedLaunch& launch : trial.launches) launch.head_link = 0;
  EXPECT_EQ(moved_by_layout(trial), 0) << "one link tells nothing about layouts";
}

}  // namespace
}  // namespace assay
