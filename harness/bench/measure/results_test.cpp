#include "assay/results.hpp"
#include "assay/measure.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

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

void expect_refused(const std::string& text, const std::string& message) {
  EXPECT_THAT([&] { results_from_json(text, "r.json"); },
              Throws<Error>(Property(&Error::what, HasSubstr(message))));
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

TEST(ResultsJson, RefusesAShardThatCannotBe) {
  Results shard = sample();
  shard.shard = ShardRecord{.shard = {2, 4}, .cases = 23, .positions = {22}};
  const std::string text = to_json(shard);
  expect_refused(with(text, "\"index\":2", "\"index\":4"),
                 "shard.index: is 4, must be an integer from 0 to 3");
  expect_refused(with(text, "\"count\":4", "\"count\":0"), "shard.count: is 0, must be an integer from 1");
  expect_refused(with(text, "\"positions\":[22]", "\"positions\":[23]"), "shard.positions[0]: is 23");
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

TEST(ResultsJson, NamesTheFieldOfTheWrongType) {
  const std::string head = R"({"schema": "assay.result/1", "suite": "s", "trials": )";
  const std::string trial = R"({"key": "o/v/p#1", "operation": "o", "variant": "v", "problem": "p")";
  expect_refused(head + "[" + trial + R"(, "launches": "x"}]})",
                 "r.json: trials[0].launches: is a string, must be an array");
  expect_refused(head + "{}}", "r.json: trials: is an object, must be an array");
  expect_refused(head + "[3]}", "r.json: trials[0]: is a number, must be an object");
  expect_refused(head + R"([{"key": "k"}]})", "r.json: trials[0]: has no \"operation\"");
  expect_refused(head + "[" + trial + R"(, "threads": 1.5}]})",
                 "trials[0].threads: is 1.5, must be an integer");
  expect_refused(head + "[" + trial + R"(, "threads": 0}]})",
                 "trials[0].threads: is 0, must be an integer from 1");
  expect_refused(head + "[" + trial + "}, " + trial + "}]}", "trials[1]: repeats the trial o/v/p#1");
}

TEST(ResultsJson, RefusesAKeyThatIsNotMadeOfItsFields) {
  const auto file = [](const std::string& key) {
    return R"({"schema": "assay.result/1", "suite": "s", "trials": [{"key": ")" + key +
           R"(", "operation": "o", "variant": "v", "problem": "p", "threads": 2}]})";
  };
  EXPECT_EQ(results_from_json(file("o/v/p#2"), "r.json").trials[0].key, "o/v/p#2");
  for (const char* bad : {"o/v/p", "o/v/p#1", "o/v/p#", "o/v#2", "x#99999999999999999999", ""}) {
    expect_refused(file(bad), "r.json: trials[0].key: is " + std::string(bad) +
                                  ", but the fields beside it make o/v/p#2");
  }
}

TEST(ResultsJson, RefusesAFigureThatCannotBe) {
  const std::string right = to_json(sample());
  expect_refused(with(right, R"("better":"lower")", R"("better":"less")"), "must be one of lower, higher");
  expect_refused(with(right, R"("value":1300.0)", R"("value":"nan")"), "figures[0].value: is nan");
}

TEST(ResultsJson, RefusesSamplesThatAreNoTimes) {
  const auto launch = [](const std::string& inside) {
    return R"({"schema": "assay.result/1", "suite": "s", "trials": [{"key": "o/v/p#1", "operation": "o",
               "variant": "v", "problem": "p", "launches": [{)" +
           inside + "}]}]}";
  };
  expect_refused(launch(R"("seconds": [1, 0])"),
                 "launches[0].seconds: number 1 is 0, must be a time above 0");
  expect_refused(launch(R"("seconds": [-1e-9])"), "must be a time above 0");
  expect_refused(launch(R"("seconds": ["nan"])"), "must be a time above 0");
  expect_refused(launch(R"("seconds": ["inf"])"), "must be a time above 0");
  expect_refused(launch(R"("seconds": [1, true])"), "launches[0].seconds[1]: is a boolean, must be a number");
  expect_refused(launch(R"("seconds": [1, 2], "cpu_seconds": [1])"),
                 "cpu_seconds: has 1 numbers, \"seconds\" has 2");
  expect_refused(launch(R"("seconds": [1, 2], "calls": [1])"), "calls: has 1 numbers, \"seconds\" has 2");
}

TEST(ResultsJson, RefusesFiguresThatContradictEachOther) {
  Results results;
  results.trials = {{.key = "gemm/naive/m=1#1",
                     .operation = "gemm",
                     .variant = "naive",
                     .problem = "m=1",
                     .agreement = {.worst_error = 1, .compared = 7, .total = 7}}};
  EXPECT_NO_THROW(results_from_json(to_json(results), "r.json"));
  results.trials[0].agreement.compared = 8;
  expect_refused(to_json(results),
                 "r.json: trials[0].agreement.compared: contradicts itself: 8 is more than");
  results.trials[0].agreement = {.worst_error = 1.5, .compared = 7, .total = 7};
  expect_refused(to_json(results), "r.json: trials[0].agreement.worst_error");
  results.trials[0].agreement.worst_error = 1;
  results.trials[0].cost.bytes_read = -4;
  expect_refused(to_json(results), "r.json: trials[0].cost.bytes_read: contradicts itself: -4.00 is below 0");
}

TEST(ResultsJson, SaysWhichSchemaAFileIsOf) {
  expect_refused(with(to_json(sample()), "assay.result/1", "assay.result/2"),
                 "r.json: is of schema assay.result/2; this program reads assay.result/1 here");
  expect_refused("{}", "r.json: has no \"schema\"");
  expect_refused("[]", "r.json: is an array, must be an object");
}

TEST(ResultsJson, NamesLineAndColumnOfWhatIsNoJson) {
  expect_refused("{\n \"schema\": oops}", "r.json: invalid JSON at line 2, column 12");
}

TEST(ResultsJson, SaysThatAFileIsCutOffWhereverItEnds) {
  const std::string text = to_json(sample());
  expect_refused("", "r.json: is empty");
  for (std::size_t length = 1; length < text.size(); length += 7) {
    EXPECT_THROW(results_from_json(text.substr(0, length), "r.json"), Error) << length;
  }
  expect_refused(text.substr(0, text.size() / 2), "r.json: ends in the middle");
}

TEST(ResultsJson, RefusesWhatNestsSoDeepThatReadingItWouldUseUpTheStack) {
  const std::string deep = std::string(300'000, '[') + std::string(300'000, ']');
  expect_refused(deep, "r.json: nests more than 200 deep at byte 201");
  expect_refused(R"({"schema": "assay.result/1", "suite": "s", "seed": )" + deep + "}",
                 "nests more than 200 deep");
  const std::string brackets = R"({"schema": "assay.result/1", "suite": "\"[", "later": ")" +
                               std::string(300, '[') + R"(", "trials": []})";
  EXPECT_EQ(results_from_json(brackets, "r.json").suite, "\"[") << "in quotes they nest nothing";
}

TEST(ResultsJson, NamesWhatHoldsOthersByItsKind) {
  const std::string head = R"({"schema": "assay.result/1", "suite": "s", "trials": [], )";
  expect_refused(head + R"("seed": [[1, 2]]})", "r.json: seed: is an array, must be an integer from 0");
  expect_refused(head + R"("merged_shards": {"a": 1}})", "is an object, must be an integer from 1");
}

TEST(ResultsJson, SurvivesTextThatIsNoUtf8) {
  Results results = sample();
  results.command = "assay run -o \xff.json";
  EXPECT_NO_THROW(results_from_json(to_json(results), "r.json"));
}

}  // namespace
}  // namespace assay
