// Shards of a gate of two builds, with launches from a script.

#include "assay/error.hpp"
#include "bench/gate/two_builds.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int count = 3;

/// Products of eight sizes, of which the machine code changed everywhere.
TwoBuilds whole() {
  Description base{.commit = "b", .trials = {}}, head{.commit = "h", .trials = {}};
  for (int i = 1; i <= 8; ++i) {
    const std::string problem = fmt::format("m={}", i);
    DescribedTrial trial{
        .trial = {"gemm/packed/" + problem + "#1", "gemm", "packed", problem}, .workload = "w", .code = "1"};
    base.trials.push_back(trial);
    trial.code = "2";
    head.trials.push_back(trial);
  }
  TwoBuilds out{.suite = "s",
                .base = {.commit = "b"},
                .head = {.commit = "h"},
                .seed = 42,
                .command = "assay gate",
                .budget_seconds = 1e9};
  out.machine.key = "cpu_2c";
  out.trials = matched(
      base, head, [](const std::string&) { return true; }, false);
  for (PairedTrial& trial : out.trials) trial.occurrences = {{"lenet", 1e6}};
  return out;
}

/// m=5 takes 5 % longer in the head.
TwoBuilds sampled(TwoBuilds run) {
  sample_two_builds(run,
                    [](TwoBuilds& r, const std::vector<std::size_t>& trials, int) {
                      for (const std::size_t i : trials) {
                        const double head = r.trials[i].trial.problem == "m=5" ? 1.05e-3 : 1e-3;
                        r.trials[i].launches.push_back({.base = {1e-3}, .head = {head}, .control = {1e-3}});
                      }
                    },
                    {});
  return run;
}

TwoBuilds shard(int index) {
  TwoBuilds out = whole();
  keep_shard(out, {index, count}, {});
  return sampled(std::move(out));
}

std::vector<NamedRun<TwoBuilds>> shards() {
  std::vector<NamedRun<TwoBuilds>> out;
  for (const int index : {2, 0, 1}) out.push_back({fmt::format("{}.json", index), shard(index)});
  return out;
}

std::string refusal(std::vector<NamedRun<TwoBuilds>> files) {
  try {
    merged(std::move(files));
  } catch (const Error& error) {
    return error.what();
  }
  return "merged";
}

std::string refusal_after(const std::function<void(TwoBuilds&)>& change) {
  std::vector<NamedRun<TwoBuilds>> files = shards();
  change(files[1].run);
  return refusal(std::move(files));
}

TEST(ShardsOfAGate, HoldEachTrialOnceAndCountTheTrialsOfAll) {
  std::size_t held = 0;
  for (const NamedRun<TwoBuilds>& file : shards()) {
    held += file.run.trials.size();
    EXPECT_EQ(file.run.policy.family, 8U);
    EXPECT_EQ(file.run.shard->trials, 8U);
    EXPECT_EQ(file.run.command, "assay gate") << "of the whole run";
  }
  EXPECT_EQ(held, 8U);
}

TEST(ShardsOfAGate, PutTogetherSayWhatOneJobWouldHaveSaid) {
  const TwoBuilds run = merged(shards());
  const GateFindings findings = findings_of(run), alone = findings_of(sampled(whole()));

  EXPECT_EQ(run.merged_shards, 3);
  EXPECT_EQ(run.command, "assay gate");
  EXPECT_EQ(findings.decisions.family, 8U);
  EXPECT_EQ(findings.comparison.count(Standing::slower), 1U);
  EXPECT_EQ(findings.comparison.count(Standing::slower), alone.comparison.count(Standing::slower));
  EXPECT_EQ(findings.comparison.count(Standing::same), alone.comparison.count(Standing::same));
}

TEST(ShardsOfAGate, AreBalancedByTheTimesOfAnEarlierOne) {
  Durations durations{.file = "before.json"};
  for (int i = 1; i <= 8; ++i) durations.seconds[fmt::format("gemm/m={}", i)] = i == 5 ? 7 : 1;
  std::vector<NamedRun<TwoBuilds>> files;
  for (const int index : {0, 1}) {
    TwoBuilds run = whole();
    keep_shard(run, {index, 2}, durations);
    const std::string name = fmt::format("{}.json", index);
    files.push_back({name, two_builds_from_json(to_json(sampled(std::move(run))), name)});
  }
  ASSERT_EQ(files[0].run.trials.size(), 1U) << "m=5 takes as long as all others";
  EXPECT_EQ(files[0].run.trials[0].trial.problem, "m=5");
  EXPECT_EQ(files[1].run.trials.size(), 7U);
  EXPECT_FALSE(contains(files[1].run.shard->shard, "gemm", "m=5")) << "in the file as well";
  EXPECT_EQ(findings_of(merged(files)).comparison.count(Standing::slower), 1U);
  durations.seconds["gemm/m=1"] = 2;
  files[1].run = whole();
  keep_shard(files[1].run, {1, 2}, durations);
  EXPECT_THAT(refusal(std::move(files)), HasSubstr("fingerprint of all trials"));
}

TEST(ShardsOfAGate, AreUnfitTogetherWhenOneOfThemIs) {
  std::vector<NamedRun<TwoBuilds>> files = shards();
  for (NamedRun<TwoBuilds>& file : files) {
    for (PairedTrial& trial : file.run.trials) {
      if (trial.trial.problem != "m=5") continue;
      for (PairedLaunch& launch : trial.launches) launch.control = {0.95e-3};
    }
  }
  const TwoBuilds run = two_builds_from_json(to_json(merged(files)), "whole.json");
  EXPECT_THAT(run.unfit_shard,
              HasSubstr(".json: a copy of the base moved against the base itself in gemm/packed/m=5"));
  EXPECT_EQ(findings_of(run).comparison.unfit, run.unfit_shard);
  EXPECT_EQ(findings_of(run).comparison.count(Standing::slower), 0U);
}

TEST(ShardsOfAGate, AreTheSameFromTheirFiles) {
  std::vector<NamedRun<TwoBuilds>> files = shards();
  for (NamedRun<TwoBuilds>& file : files) file.run = two_builds_from_json(to_json(file.run), file.name);
  const TwoBuilds run = merged(std::move(files));

  EXPECT_EQ(findings_of(run).comparison.count(Standing::slower), 1U);
  EXPECT_EQ(two_builds_from_json(to_json(run), "whole").merged_shards, 3);
  EXPECT_TRUE(holds_two_builds(parse_json(to_json(run), "whole")));
  EXPECT_FALSE(holds_two_builds(parse_json(R"({"schema": "assay.results/1"})", "other")));
  EXPECT_FALSE(holds_two_builds(parse_json("[]", "other")));
}

TEST(ShardsOfAGate, AreTheSameFromOlderFilesWhoseCommandsHoldTheShard) {
  std::vector<NamedRun<TwoBuilds>> files = shards();
  for (NamedRun<TwoBuilds>& file : files) {
    file.run.command += " " + to_options(file.run.shard->shard);
    file.run = two_builds_from_json(to_json(file.run), file.name);
  }
  EXPECT_EQ(merged(std::move(files)).command, "assay gate");
}

TEST(ShardsOfAGate, AreRefusedUnlessEachIsThereOnce) {
  std::vector<NamedRun<TwoBuilds>> two = shards();
  two.pop_back();
  two[0].run.filter = two[1].run.filter = "gemm|conv";
  EXPECT_THAT(refusal(two),
              AllOf(HasSubstr("lacks shard 1 of 0 to 2"),
                    HasSubstr("assay gate -k 'gemm|conv' --shard-count 3 --shard-index 1 -o 1.json")));
  two[0].run.filter = two[1].run.filter = "";
  two.push_back({"again.json", shard(0)});
  EXPECT_THAT(refusal(two),
              AllOf(HasSubstr("again.json"), HasSubstr("is shard 0 of 0 to 2, and so is 0.json")));
}

TEST(ShardsOfAGate, AreRefusedWhenTheyAreOfAnotherRun) {
  EXPECT_THAT(refusal_after([](TwoBuilds& run) { run.seed = 1; }),
              AllOf(HasSubstr("0.json"), HasSubstr("seed '1'")));
  EXPECT_THAT(refusal_after([](TwoBuilds& run) { run.head.commit = "x"; }), HasSubstr("head 'x'"));
  EXPECT_THAT(refusal_after([](TwoBuilds& run) { run.filter = "gemm"; }), HasSubstr("filter 'gemm'"));
  EXPECT_THAT(refusal_after([](TwoBuilds& run) { run.policy.margin = 1.5; }), HasSubstr("policy '1.5"));
  EXPECT_THAT(refusal_after([](TwoBuilds& run) { run.shard->fingerprint = "f"; }),
              HasSubstr("fingerprint of all trials and their code 'f'"));
  EXPECT_THAT(refusal_after([](TwoBuilds& run) { run.trials.clear(); }), HasSubstr("and 8 were selected"));
}

TEST(ShardsOfAGate, AreRefusedWhenInterruptedWholeOrMergedAlready) {
  EXPECT_THAT(refusal_after([](TwoBuilds& run) { run.partial = true; }), HasSubstr("was interrupted"));
  EXPECT_THAT(refusal({{"whole.json", whole()}}), HasSubstr("is no shard"));
  EXPECT_THAT(refusal({{"merged.json", merged(shards())}}), HasSubstr("merged already, of 3 shards"));
}

TEST(ShardsOfAGate, OfDifferentMachinesWithholdSecondsAndKeepRatios) {
  const TwoBuilds alike = merged(shards());
  ASSERT_THAT(pull_request_text(pull_request_of(alike, findings_of(alike))),
              HasSubstr("more per epoch of lenet"));
  std::vector<NamedRun<TwoBuilds>> files = shards();
  files[1].run.machine.key = "other_8c";
  const TwoBuilds run = merged(std::move(files));

  EXPECT_THAT(run.mixed_machines, AllOf(HasSubstr("cpu_2c"), HasSubstr("other_8c")));
  EXPECT_THAT(
      pull_request_text(pull_request_of(run, findings_of(run))),
      AllOf(HasSubstr("1.050x slower"), HasSubstr("seconds are withheld"), Not(HasSubstr("per epoch"))));
  EXPECT_THAT(pull_request_markdown(pull_request_of(run, findings_of(run))),
              AllOf(HasSubstr("1.050x slower"), Not(HasSubstr("per epoch"))));
}

}  // namespace
}  // namespace assay
