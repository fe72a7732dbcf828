#include "bench/measure/merge.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>

#include <functional>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

TrialResult trial_of(const std::string& variant, const std::string& problem, double seconds) {
  TrialResult out{.key = "gemm/" + variant + "/" + problem + "#1",
                  .operation = "gemm",
                  .variant = variant,
                  .problem = problem,
                  .workload = problem};
  out.launches = {{Slice{.seconds = seconds}}, {Slice{.seconds = seconds}}};
  return out;
}

/// Shard `index` of 0 to 2 of a selection of four cases, at these places in it. Shard 1 is the first by date.
NamedRun<Results> shard(int index, std::vector<std::int64_t> positions) {
  NamedRun<Results> out{.name = "s" + std::to_string(index) + ".json"};
  Results& results = out.run;
  results.suite = "tiny";
  results.seed = 42;
  results.commit = "abc";
  results.date = index == 1 ? "2026-01-01T00:00:00Z" : "2026-01-02T00:00:00Z";
  results.command = "assay run --suite tiny.json -k 'gemm' --benchmark_repetitions=9";
  results.cases_left_out = 5;
  results.machine = {
      .key = "cpu_2c",
      .facts = {{"processor", "a CPU", true}, {"compiler", "GCC 12", true}, {"system", "Linux 6.1", false}},
      .cores = 2,
      .memory_bytes = 8e9,
      .caches = {{1, 32768, 1}}};
  results.roofs = {{.threads = 1, .flops_per_second = 1e11}};
  results.weather = {.seconds = 1, .steal_share = 0.25, .involuntary_switches = 3, .migrations = 1};
  results.shard = ShardRecord{.shard = {index, 3}, .selection = "-k 'gemm'", .fingerprint = "f0", .cases = 4};
  for (const std::int64_t position : positions) {
    const std::string problem = "m=" + std::to_string(position);
    results.trials.push_back(trial_of("naive", problem, 2e-6));
    results.trials.push_back(trial_of("packed", problem, 1e-6));
  }
  results.calls = {{.variant = "gemm/packed", .calls = {{"openblas", {"cblas_sgemm"}}}}};
  results.steps = {{.variant = "gemm/packed", .after = "naive"}};
  results.shard->positions = std::move(positions);
  return out;
}

std::vector<NamedRun<Results>> all_shards() { return {shard(2, {}), shard(0, {1, 3}), shard(1, {0, 2})}; }

Results merge_after(const std::function<void(std::vector<NamedRun<Results>>&)>& change) {
  auto files = all_shards();
  change(files);
  return merged(std::move(files));
}

void expect_refused(const std::function<void(std::vector<NamedRun<Results>>&)>& change,
                    const std::string& where, const std::string& what) {
  EXPECT_THAT([&] { merge_after(change); },
              ThrowsMessage<Error>(AllOf(HasSubstr(where + ": "), HasSubstr(what))));
}

TEST(Merge, ReadsNoOptionBeyondTheEndOfItsCommand) {
  EXPECT_NO_THROW(merge_after([](std::vector<NamedRun<Results>>& files) {
    for (NamedRun<Results>& file : files) file.run.command += " --launches";
  }));
}

TEST(Merge, PutsCasesBackInTheOrderOfTheSuite) {
  std::vector<std::string> keys;
  for (const TrialResult& one : merged(all_shards()).trials) keys.push_back(one.key);
  EXPECT_THAT(keys,
              ElementsAre("gemm/naive/m=0#1", "gemm/packed/m=0#1", "gemm/naive/m=1#1", "gemm/packed/m=1#1",
                          "gemm/naive/m=2#1", "gemm/packed/m=2#1", "gemm/naive/m=3#1", "gemm/packed/m=3#1"));
}

TEST(Merge, OfMachinesThatAreAlikeIsLikeOneRun) {
  const Results all = merged(all_shards());
  EXPECT_FALSE(all.shard.has_value());
  EXPECT_EQ(all.merged_shards, 3);
  EXPECT_THAT(all.mixed_machines, IsEmpty());
  EXPECT_EQ(all.machine.key, "cpu_2c");
  EXPECT_EQ(all.machine.facts, all_shards()[0].run.machine.facts);
  EXPECT_THAT(all.roofs, SizeIs(1));
  ASSERT_THAT(all.calls, SizeIs(1)) << "one line for each variant";
  EXPECT_EQ(all.calls[0].variant, "gemm/packed");
  ASSERT_THAT(all.steps, SizeIs(1));
  EXPECT_EQ(all.steps[0].after, "naive");
  EXPECT_EQ(all.cases_left_out, 5);
  EXPECT_EQ(all.date, "2026-01-01T00:00:00Z");
  EXPECT_EQ(all.command, "assay run --suite tiny.json -k 'gemm' --benchmark_repetitions=9");
  EXPECT_FALSE(all.partial);
}

TEST(Merge, HoldsNoShardAgainstALowerRoofThanItsOwn) {
  const Results all = merge_after([](auto& files) {
    files[0].run.roofs[0].flops_per_second = 2e11;
    files[1].run.roofs[0].measurements = 3;
    files[1].run.trials[0].impossible = "took 1 ns";
  });
  ASSERT_THAT(all.roofs, SizeIs(1));
  EXPECT_EQ(all.roofs[0].flops_per_second, 2e11);
  EXPECT_EQ(all.roofs[0].measurements, 5);
  EXPECT_EQ(std::ranges::count(all.trials, "took 1 ns", &TrialResult::impossible), 1);
}

TEST(Merge, KeepsWhatAShardOfAnotherMachineFoundImpossible) {
  const Results all = merge_after([](auto& files) {
    files[2].run.machine.facts[0].value = "another CPU";
    files[2].run.trials[0].impossible = "took 1 ns";
  });
  EXPECT_NE(all.mixed_machines, "");
  EXPECT_EQ(std::ranges::count(all.trials, "took 1 ns", &TrialResult::impossible), 1);
}

// One second with a share of 0.25, one of 0.25, and one shard that timed nothing: still 0.25.
// Pressure is not visible to one of them, so it is not known of all.
TEST(Merge, AddsUpTheWeatherOfThoseThatTimedSomething) {
  const Results all = merge_after([](auto& files) {
    files[0].run.weather = {};
    files[1].run.weather.cpu_pressure_share = -1;
  });
  EXPECT_EQ(all.weather.seconds, 2);
  EXPECT_EQ(all.weather.steal_share, 0.25);
  EXPECT_EQ(all.weather.cpu_pressure_share, -1);
  EXPECT_EQ(all.weather.involuntary_switches, 6);
  EXPECT_EQ(all.weather.migrations, 2);
}

TEST(Merge, OfAnInterruptedShardIsPartial) {
  EXPECT_TRUE(merge_after([](auto& files) { files[1].run.partial = true; }).partial);
}

TEST(Merge, OfDifferentMachinesWithholdsRoofsAndSaysWhy) {
  const Results all = merge_after([](auto& files) {
    files[2].run.machine.key = "other_4c";
    files[2].run.machine.facts[0].value = "another CPU";
  });
  EXPECT_EQ(all.mixed_machines,
            "the shards ran on machines that differ in processor (shards 0, 2: cpu_2c; shard 1: other_4c)");
  EXPECT_THAT(all.roofs, IsEmpty());
  EXPECT_EQ(all.machine.key, "mixed");
  EXPECT_EQ(all.machine.facts[0].value, "shards 0, 2: a CPU; shard 1: another CPU");
  EXPECT_EQ(all.machine.facts[1].value, "GCC 12");
  EXPECT_THAT(all.trials, SizeIs(8)) << "the samples stay";
}

TEST(Merge, ShowsFactsThatDecideNothingWithoutCallingTheMachinesDifferent) {
  const Results all = merge_after([](auto& files) { files[0].run.machine.facts[2].value = "Linux 6.2"; });
  EXPECT_THAT(all.mixed_machines, IsEmpty());
  EXPECT_EQ(all.machine.facts[2].value, "shards 0, 1: Linux 6.1; shard 2: Linux 6.2");
}

TEST(Merge, SurvivesTheJourneyThroughAFile) {
  const Results all = merge_after([](auto& files) { files[2].run.machine.facts[0].value = "another"; });
  const Results again = results_from_json(to_json(all), "all.json");
  EXPECT_EQ(again.mixed_machines, all.mixed_machines);
  EXPECT_EQ(again.merged_shards, 3);
}

TEST(Merge, RefusesMissingAndDuplicateShards) {
  expect_refused([](auto& files) { files.erase(files.begin()); }, "merge", "lacks shard 2 of 0 to 2");
  expect_refused([](auto& files) { files.resize(1); }, "merge", "lacks shards 0, 1 of 0 to 2");
  expect_refused(
      [](auto& files) {
        files.push_back(shard(1, {0, 2}));
        files.back().name = "copy.json";
      },
      "copy.json", "is shard 1 of 0 to 2, and so is s1.json");
}

TEST(Merge, RefusesWhatIsNoShard) {
  expect_refused([](auto& files) { files[1].run.shard.reset(); }, "s0.json", "is no shard");
  expect_refused(
      [](auto& files) {
        files[1].run.shard.reset();
        files[1].run.merged_shards = 3;
      },
      "s0.json", "was merged already, of 3 shards");
}

TEST(Merge, RefusesShardsOfAnotherRun) {
  using Change = std::function<void(Results&)>;
  struct Planted {
    Change change;
    std::string what;
  };
  for (const auto& planted : std::vector<Planted>{
           {[](Results& r) { r.suite = "other"; }, "has the suite 'other', and s2.json has 'tiny'"},
           {[](Results& r) { r.seed = 43; }, "has the seed '43'"},
           {[](Results& r) { r.commit = "abc+changes"; }, "has the commit 'abc+changes'"},
           {[](Results& r) { r.shard->selection = ""; }, "has the selection ''"},
           {[](Results& r) { r.command += " --launches 3"; },
            "has the --launches '3', and s2.json has 'the usual'"},
           {[](Results& r) { r.command = "assay run --benchmark_repetitions=5"; },
            "has the --benchmark_repetitions '5', and s2.json has '9'"},
           {[](Results& r) { r.command += " --benchmark_min_time=0.1"; },
            "has the --benchmark_min_time '0.1'"},
           {[](Results& r) { r.shard->fingerprint = "f1"; }, "fingerprint of the selected cases"},
           {[](Results& r) { r.shard->cases = 5; }, "number of selected cases '5'"},
           {[](Results& r) { r.shard->shard.count = 4; }, "number of shards '4'"},
           {[](Results& r) { r.machine.facts[1].value = "Clang 14"; },
            "is of another build than s2.json: compiler: GCC 12 -> Clang 14"},
           {[](Results& r) {
              r.machine.facts.push_back({"OMP_NUM_THREADS", "1", true});
            },
            "OMP_NUM_THREADS: (absent) -> 1"}}) {
    expect_refused([&](auto& files) { planted.change(files[1].run); }, "s0.json", planted.what);
  }
}

TEST(Merge, RefusesTrialsAndCasesThatTwoShardsHold) {
  expect_refused([](auto& files) { files[2].run.trials[0].key = "gemm/packed/m=3#1"; }, "s1.json",
                 "holds the trial gemm/packed/m=3#1, and so does s0.json");
  expect_refused(
      [](auto& files) {
        files[2].run.shard->positions = {0, 3};
      },
      "s1.json", "holds case 3 of the selection, and so does s0.json");
}

TEST(Merge, RefusesShardsThatDoNotHoldWhatTheyList) {
  expect_refused([](auto& files) { files[1] = shard(0, {1}); }, "merge",
                 "the shards hold 3 cases, and 4 were selected");
  expect_refused([](auto& files) { files[2].run.trials.resize(2); }, "s1.json",
                 "lists 2 cases and holds another number");
  expect_refused(
      [](auto& files) {
        files[1].run.shard->positions = {1, 1};
      },
      "merge", "no shard holds case 3 of the 4");
}

}  // namespace
}  // namespace assay
