#include "assay/results.hpp"
#include "assay/measure.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {
namespace {

using ::testing::HasSubstr;

Results sample() {
  TrialResult naive{
      .key = "gemm/naive/m=2,n=3,k=4#1",
      .operation = "gemm",
      .variant = "naive",
      .problem = "m=2,n=3,k=4",
      .threads = 1,
      .per_step = 2.5,
      .note = "a \"quoted\" note",
      .workload = "00ff",
      .cost = {48, 80, 24, false, 12, 40},
      .launches = {{{1e-4 / 3, 9e-5, 7}, {0.1 + 0.2, 0.3, 7}}, {{5e-5, 5e-5, 3}, {6e-5, 6e-5, 4}}},
      .figures = {{"allocations_per_call", 1.5}, {"workspace_bytes", 4096}},
      .picked = Picked{.variant = "packed", .reason = "the rows fit"},
      .remark = "short",
      .impossible = "took 1 ns"};
  // Assigned afterwards: GCC 12 sees an uninitialized text in a nested initializer at -O3.
  naive.agreement.worst_error = 0.25;
  naive.agreement.compared = naive.agreement.total = 6;
  naive.agreement.figures = {
      {.name = "height", .value = 1300, .unit = "bytes", .better = Figure::Better::lower, .bound = 1234},
      {.name = "parallelism", .value = 1.0 / 3}};
  TrialResult wrong = naive;
  wrong.agreement.figures.clear();
  wrong.key = "gemm/packed/m=2,n=3,k=4#2";
  wrong.variant = "packed";
  wrong.threads = 2;
  wrong.agreement = {.agrees = false,
                     .worst_error = std::numeric_limits<double>::infinity(),
                     .detail = "c[1, 2] is nan",
                     .compared = 6,
                     .total = 6};
  wrong.launches.clear();
  wrong.impossible.clear();
  TrialResult hung = wrong;
  hung.key = "gemm/hung/m=2,n=3,k=4#2";
  hung.variant = "hung";
  hung.failure = Failure{Failure::Kind::timed_out, "did not end within 10 s"};
  TrialResult skipped{.key = "gemm/simd@avx512/m=2,n=3,k=4#1",
                      .operation = "gemm",
                      .variant = "simd@avx512",
                      .problem = "m=2,n=3,k=4",
                      .skipped = "needs AVX-512"};
  return {.suite = "smoke",
          .about = "a test",
          .steps_per_epoch = 938,
          .machine = {.key = "cpu_2",
                      .facts = {{"cpu", "x", true}, {"kernel", "6.1", false}},
                      .cores = 2,
                      .memory_bytes = 8e9,
                      .caches = {{1, 32768, 1}, {2, 1048576, 2}}},
          .commit = "abc+changes",
          .date = "2026-01-02T03:04:05Z",
          .seed = 0xFFFFFFFFFFFFFFFFU,
          .command = "assay run",
          .partial = true,
          .roofs = {{1, 1e11, {{"L1", 16384, 1e12}}, 3, Weather{.seconds = 0.6, .migrations = -1}}},
          .weather = {1, 0.1, 0.2, -1, 4, -1, 6},
          .calls = {{"gemm/naive", {}},
                    {"gemm/packed", {{"tbb", {"tbb::f", "tbb::g"}}, {"threads", {"GOMP_parallel"}}}}},
          .steps = {{"gemm/packed", "naive"}},
          .trials = {naive, wrong, skipped, hung}};
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ResultsJson, GivesBackEveryBitOfEveryField) {
  const Results before = sample();
  const Results after = results_from_json(to_json(before), "r.json");
  EXPECT_EQ(to_json(after), to_json(before));

  EXPECT_EQ(after.seed, before.seed);
  EXPECT_TRUE(after.partial);
  EXPECT_EQ(after.machine.facts, before.machine.facts);
  EXPECT_EQ(after.machine.caches, before.machine.caches);
  EXPECT_EQ(after.weather.major_faults, 6);
  EXPECT_EQ(after.roofs[0].bandwidth[0].level, "L1");
  EXPECT_EQ(after.roofs[0].measurements, 3);
  EXPECT_EQ(after.roofs[0].weather->seconds, 0.6);
  ASSERT_EQ(after.calls.size(), 2U);
  EXPECT_EQ(after.calls[0].variant, "gemm/naive");
  EXPECT_TRUE(after.calls[0].calls.empty());
  EXPECT_EQ(after.calls[1].calls[1].to, "threads");
  EXPECT_THAT(after.calls[1].calls[0].names, ::testing::ElementsAre("tbb::f", "tbb::g"));
  ASSERT_EQ(after.steps.size(), 1U);
  EXPECT_EQ(after.steps[0].variant, "gemm/packed");
  EXPECT_EQ(after.steps[0].after, "naive");
  EXPECT_EQ(after.trials[0].launches[0][0].seconds, 1e-4 / 3);
  EXPECT_EQ(after.trials[0].launches[0][1].seconds, 0.1 + 0.2);
  EXPECT_EQ(after.trials[0].launches[0][1].calls, 7);
  EXPECT_EQ(after.trials[0].launches[1][1].calls, 4);
  EXPECT_EQ(after.trials[0].cost.bytes_read, 80);
  EXPECT_FALSE(after.trials[0].cost.f32);
  EXPECT_EQ(after.trials[0].cost.avoidable_flops, 12);
  EXPECT_EQ(after.trials[0].cost.avoidable_bytes, 40);
  EXPECT_EQ(after.trials[0].impossible, "took 1 ns");
  EXPECT_EQ(after.trials[1].impossible, "");
  EXPECT_EQ(after.trials[0].figures,
            (FigureValues{{"allocations_per_call", 1.5}, {"workspace_bytes", 4096}}));
  ASSERT_TRUE(after.trials[0].picked);
  EXPECT_EQ(after.trials[0].picked->variant, "packed");
  EXPECT_EQ(after.trials[0].picked->reason, "the rows fit");
  const auto& figures = after.trials[0].agreement.figures;
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_EQ(figures[0].name, "height");
  EXPECT_EQ(figures[0].unit, "bytes");
  EXPECT_EQ(figures[0].better, Figure::Better::lower);
  EXPECT_EQ(figures[0].bound, 1234);
  EXPECT_EQ(figures[1].value, 1.0 / 3);
  EXPECT_EQ(figures[1].better, Figure::Better::neither);
  EXPECT_EQ(figures[1].bound, std::nullopt);
  EXPECT_TRUE(after.trials[1].agreement.figures.empty());
  EXPECT_FALSE(after.trials[1].agreement.agrees);
  EXPECT_TRUE(std::isinf(after.trials[1].agreement.worst_error));
  EXPECT_EQ(after.trials[1].threads, 2);
  EXPECT_EQ(after.trials[2].skipped, "needs AVX-512");
  ASSERT_TRUE(after.trials[3].failure.has_value());
  EXPECT_EQ(after.trials[3].failure->kind, Failure::Kind::timed_out);
  EXPECT_EQ(after.trials[3].failure->reason, "did not end within 10 s");
  EXPECT_FALSE(after.trials[1].failure.has_value());
}

TEST(ResultsJson, DescribesTheFiguresOfItsTrialsOnce) {
  Results before = sample();
  before.figures = {
      {.name = "cycles", .unit = "B", .tag = "cycles_per_call", .join = Figure::Join::sum, .about = "A."}};
  before.trials[0].figures = {{"cycles_per_call", 3}};
  const Results after = results_from_json(to_json(before), "r.json");
  ASSERT_EQ(after.figures.size(), 1U);
  EXPECT_EQ(after.figures[0].name, "cycles");
  EXPECT_EQ(after.figures[0].unit, "B");
  EXPECT_EQ(after.figures[0].tag, "cycles_per_call");
  EXPECT_EQ(after.figures[0].join, Figure::Join::sum);
  EXPECT_EQ(after.figures[0].about, "A.");
  EXPECT_EQ(figure_of(after.trials[0], "cycles_per_call"), 3);
  EXPECT_EQ(figure_of(after.trials[0], "allocations_per_call"), 0);
}

TEST(ResultsJson, ReadsTheFieldsThatFiguresOnceWere) {
  Results before = sample();
  before.trials[0].figures.clear();
  std::string text = with(to_json(before), R"("figures": [],)", "");
  text = with(text, R"("picked": {)", R"("allocations_per_call": 2, "allocated_bytes_per_call": 64,
    "workspace_bytes": 4096, "prepare_seconds": 0.5, "picked": {)");
  const Results after = results_from_json(text, "r.json");
  EXPECT_EQ(after.trials[0].figures, (FigureValues{{"allocations_per_call", 2},
                                                   {"allocated_bytes_per_call", 64},
                                                   {"workspace_bytes", 4096},
                                                   {"prepare_seconds", 0.5}}));
  EXPECT_EQ(after.figures.size(), measured_figures().size());
}

TEST(ResultsJson, UnderstandsFormerNamesOfTiers) {
  Results before = sample();
  before.trials[2].variant = "simd@avx3";
  before.trials[2].key = "gemm/simd@avx3/m=2,n=3,k=4#1";
  const TrialResult skipped = results_from_json(to_json(before), "r.json").trials[2];
  EXPECT_EQ(skipped.variant, "simd@avx512");
  EXPECT_EQ(skipped.key, "gemm/simd@avx512/m=2,n=3,k=4#1");
}

TEST(ResultsJson, KeepsWhichShardItIs) {
  Results before = sample();
  before.shard = ShardRecord{
      .shard = {2, 4}, .selection = "-k 'gemm'", .fingerprint = "00ff", .cases = 23, .positions = {0, 7, 22}};
  const Results after = results_from_json(to_json(before), "r.json");
  ASSERT_TRUE(after.shard.has_value());
  EXPECT_EQ(after.shard->shard, (Shard{2, 4}));
  EXPECT_EQ(after.shard->selection, "-k 'gemm'");
  EXPECT_EQ(after.shard->fingerprint, "00ff");
  EXPECT_EQ(after.shard->cases, 23);
  EXPECT_THAT(after.shard->positions, ::testing::ElementsAre(0, 7, 22));
  EXPECT_FALSE(results_from_json(to_json(sample()), "r.json").shard.has_value()) << "as in older files";
}

TEST(ResultsJson, LeavesOutTheShardThatOlderFilesHoldInTheirCommand) {
  Results before = sample();
  before.shard = ShardRecord{.shard = {2, 4}, .cases = 1, .positions = {0}};
  before.command = "assay run --suite s.json --shard-count 4 --shard-index 2 --benchmark_repetitions=9";
  EXPECT_EQ(results_from_json(to_json(before), "r.json").command,
            "assay run --suite s.json --benchmark_repetitions=9");
}

TEST(ResultsJson, KeepsWhatWasMeasuredASecondTimeApart) {
  Results before = sample();
  before.again = {before.trials[0]};
  before.again[0].launches.resize(1);
  const Results after = results_from_json(to_json(before), "r.json");
  ASSERT_EQ(after.again.size(), 1U);
  EXPECT_EQ(after.again[0].launches.size(), 1U);
  EXPECT_EQ(after.trials[0].launches.size(), 2U);
  EXPECT_TRUE(results_from_json(to_json(sample()), "r.json").again.empty());
}

TEST(ResultsJson, WritesALaunchInFewLines) {
  Results results = sample();
  results.trials.resize(1);
  results.calls.clear();
  results.trials[0].agreement.figures.clear();
  results.trials[0].launches = {Launch(500, Slice{.seconds = 1.25e-5, .cpu_seconds = 1.25e-5, .calls = 20})};
  const std::string text = to_json(results);
  EXPECT_LT(std::ranges::count(text, '\n'), 60) << text;
  EXPECT_THAT(text, HasSubstr("\"calls\": 20"));
}

TEST(ResultsJson, ReadsNullWhereANumberWasNotFinite) {
  const auto text = with(to_json(sample()), "\"worst_error\":\"inf\"", "\"worst_error\":null");
  EXPECT_EQ(results_from_json(text, "r.json").trials[1].agreement.worst_error, 0);
}

TEST(ResultsJson, PassesOverKeysItDoesNotKnowAndDefaultsThoseThatAreMissing) {
  const auto results = results_from_json(
      R"({"schema": "assay.result/1", "suite": "s", "new_key": [1], "trials": [
          {"key": "a/b/c#1", "operation": "a", "variant": "b", "problem": "c", "later": {}}]})",
      "r.json");
  EXPECT_EQ(results.trials[0].threads, 1);
  EXPECT_TRUE(results.trials[0].agreement.agrees);
  EXPECT_TRUE(results.trials[0].launches.empty());
}

TEST(ResultsJson, CountsNoBracketsInQuotesAsNesting) {
  const std::string brackets = R"({"schema": "assay.result/1", "suite": "\"[", "later": ")" +
                               std::string(300, '[') + R"(", "trials": []})";
  EXPECT_EQ(results_from_json(brackets, "r.json").suite, "\"[");
}

TEST(ResultsJson, SurvivesTextThatIsNoUtf8) {
  Results results = sample();
  results.command = "assay run -o \xff.json";
  EXPECT_NO_THROW(results_from_json(to_json(results), "r.json"));
}

}  // namespace
}  // namespace assay
