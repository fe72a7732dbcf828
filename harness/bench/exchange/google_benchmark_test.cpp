#include "bench/exchange/read_results.hpp"

#include "assay/compare.hpp"
#include "assay/error.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <unistd.h>

#include <cstdlib>
#include <limits>

namespace assay {
namespace {

using ::testing::HasSubstr;

Results sample_results() {
  TrialResult naive{.key = "gemm/naive/m=2#1", .operation = "gemm", .variant = "naive", .problem = "m=2"};
  naive.workload = "0a";
  naive.launches = {{{1e-6, 1e-6, 10}, {3e-6, 3e-6, 10}, {2e-6, 2e-6, 10}}, {{4e-6, 4e-6, 5}}};
  TrialResult wrong{.key = "gemm/bad/m=2#1", .operation = "gemm", .variant = "bad", .problem = "m=2"};
  wrong.agreement.agrees = false;
  wrong.agreement.worst_error = std::numeric_limits<double>::infinity();
  wrong.agreement.detail = "c[0] is \"nan\"";
  TrialResult skipped{.key = "gemm/wide/m=2#1", .operation = "gemm", .variant = "wide", .problem = "m=2"};
  skipped.skipped = "needs AVX-512";
  return {.suite = "smoke", .machine = {.key = "cpu_2", .cores = 2}, .trials = {naive, wrong, skipped}};
}

/// As Google Benchmark 1.7.1 writes it, shortened: a counter that is NaN, aggregates, an error.
const char* const foreign = R"({"context": {"date": "d", "executable": "./conv_bench", "num_cpus": 2},
  "benchmarks": [
    {"name": "A/8 NaN", "run_name": "A/8 NaN", "run_type": "iteration", "repetition_index": 0, "threads": 2,
     "iterations": 100, "real_time": 1.5e+00, "cpu_time": 3.0, "time_unit": "us", "c": NaN, "d": -Infinity},
    {"name": "A/8 NaN", "run_name": "A/8 NaN", "run_type": "iteration", "repetition_index": 1, "threads": 2,
     "iterations": 100, "real_time": 1.7, "cpu_time": 3.0, "time_unit": "us", "c": NaN},
    {"name": "A/8 NaN_mean", "run_name": "A/8 NaN", "run_type": "aggregate", "aggregate_name": "mean",
     "iterations": 2, "real_time": 1.6, "cpu_time": 3.0, "time_unit": "us"},
    {"name": "B", "run_name": "B", "run_type": "iteration",
     "error_occurred": true, "error_message": "no luck",
     "iterations": 1, "real_time": 0.0, "cpu_time": 0.0, "time_unit": "ns"}]})";

TEST(GoogleBenchmarkJson, IsReadWithEachRepetitionAsALaunch) {
  const Results results = results_in(foreign, "f.json");
  EXPECT_EQ(results.suite, "conv_bench");
  ASSERT_EQ(results.trials.size(), 2U);
  const TrialResult& a = results.trials[0];
  EXPECT_EQ(a.key, "A/8 NaN") << "text in quotes stays";
  EXPECT_EQ(a.threads, 2);
  ASSERT_EQ(a.launches.size(), 2U) << "the mean is no measurement";
  EXPECT_DOUBLE_EQ(a.launches[0][0].seconds, 1.5e-6);
  EXPECT_DOUBLE_EQ(a.launches[1][0].seconds, 1.7e-6);
  EXPECT_EQ(a.launches[0][0].calls, 100);
  EXPECT_EQ(results.trials[1].skipped, "reports an error: no luck");
  EXPECT_TRUE(results.trials[1].failed);
}

/// A file of one benchmark `A` with these members beside its name.
std::string one_benchmark(const std::string& members) {
  return R"({"context": {}, "benchmarks": [{"name": "A", )" + members + R"(, "time_unit": "ns"}]})";
}

TEST(GoogleBenchmarkJson, MayHoldLongTimesInASmallUnit) {
  const Results read =
      results_in(one_benchmark(R"("iterations": 1, "real_time": 5e9, "cpu_time": 4e9)"), "f");
  EXPECT_DOUBLE_EQ(read.trials.at(0).launches.at(0).at(0).seconds, 5);
  EXPECT_DOUBLE_EQ(read.trials.at(0).launches.at(0).at(0).cpu_seconds, 4);
}

/// Counters stand behind fields, and may have their names.
TEST(GoogleBenchmarkJson, TakesNoCounterForAField) {
  const std::string fields =
      R"("iterations": 9, "threads": 2, "real_time": 5, "cpu_time": 4, "time_unit": "us", )";
  for (const char* counter :
       {"\"skipped\": 0.0", "\"skipped\": 1", "\"error_occurred\": 1.0", "\"aggregate_name\": 3",
        "\"threads\": 0.5", "\"iterations\": 2500.5", "\"time_unit\": 2", "\"name\": 3.5", "\"real_time\": 7",
        "\"label\": 1", "\"assay\": 1.5"}) {
    const Results read =
        results_in(R"({"context": {}, "benchmarks": [{"name": "A", )" + fields + counter + "}]}", "f");
    ASSERT_EQ(read.trials.size(), 1U) << counter;
    EXPECT_EQ(read.trials[0].key, "A") << counter;
    EXPECT_EQ(read.trials[0].threads, 2) << counter;
    ASSERT_EQ(read.trials[0].launches.size(), 1U) << counter;
    EXPECT_DOUBLE_EQ(read.trials[0].launches[0][0].seconds, 5e-6) << counter;
    EXPECT_EQ(read.trials[0].launches[0][0].calls, 9) << counter;
  }
  EXPECT_EQ(results_in(one_benchmark(R"("real_time": 1, "max_bytes_used": 64)"), "f").trials[0].figures,
            (FigureValues{{"max_bytes_used", 64}}));
}

std::string named_a(const std::string& members) {
  return R"({"name": "A", "run_name": "A", "run_type": "iteration", "real_time": 1, )" + members + "}";
}

TEST(GoogleBenchmarkJson, TellsBenchmarksOfOneNameApart) {
  const auto keys = [](const std::vector<std::string>& members) {
    std::string rows;
    for (const std::string& one : members) rows += (rows.empty() ? "" : ",") + named_a(one);
    std::vector<std::string> out;
    for (const TrialResult& trial :
         results_in(R"({"context": {}, "benchmarks": [)" + rows + "]}", "f").trials)
      out.push_back(fmt::format("{}: {}", trial.key, trial.launches.size()));
    return out;
  };
  const auto row = [](int family, int instance, int repetition) {
    return fmt::format(R"("family_index": {}, "per_family_instance_index": {}, "repetition_index": {})",
                       family, instance, repetition);
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(keys({row(0, 0, 0), row(0, 0, 1), row(1, 0, 0), row(1, 0, 1)}),
              ElementsAre("A (1): 2", "A (2): 2"));
  EXPECT_THAT(keys({row(0, 0, 0), row(0, 1, 0)}), ElementsAre("A (1): 1", "A (2): 1"));
  EXPECT_THAT(keys({row(0, 0, 0), row(0, 0, 0)}), ElementsAre("A: 2")) << "of two starts of the program";
  const auto old = [](int repetition) { return fmt::format(R"("repetition_index": {})", repetition); };
  EXPECT_THAT(keys({old(0), old(1), old(0), old(1)}), ElementsAre("A (1): 2", "A (2): 2"));
  EXPECT_THAT(keys({old(0), old(1)}), ElementsAre("A: 2"));
}

/// Versions before 1.5, and other programs, write no index.
TEST(GoogleBenchmarkJson, TellsRowsWithoutAnIndexApartByLabelAndThreads) {
  const auto read = [](const std::vector<std::string>& members) {
    std::string rows;
    for (const std::string& one : members) rows += (rows.empty() ? "" : ",") + named_a(one);
    return results_in(R"({"context": {}, "benchmarks": [)" + rows + "]}", "f").trials;
  };
  const std::string fast = R"("label": "lz4", "threads": 1)", slow = R"("label": "zstd", "threads": 1)";
  const auto labels = read({fast, slow, fast, slow});
  ASSERT_EQ(labels.size(), 2U);
  EXPECT_EQ(labels[0].key, "A [label=lz4 threads=1]");
  EXPECT_EQ(labels[1].key, "A [label=zstd threads=1]");
  EXPECT_EQ(labels[1].launches.size(), 2U);
  const auto threads = read({R"("threads": 1)", R"("threads": 8)"});
  ASSERT_EQ(threads.size(), 2U);
  EXPECT_EQ(threads[1].key, "A [threads=8]");
  const auto equal = read({R"("threads": 1)", R"("threads": 1)"});
  ASSERT_EQ(equal.size(), 1U);
  EXPECT_EQ(equal[0].key, "A");
  EXPECT_THAT(equal[0].remark, HasSubstr("rows of one name and without an index count as repetitions"));
}

TEST(GoogleBenchmarkJson, KeepsATimeBesideAProcessorTimeThatIsNone) {
  const auto trial = results_in(one_benchmark(R"("real_time": 5, "cpu_time": -1)"), "f").trials.at(0);
  ASSERT_EQ(trial.launches.size(), 1U);
  EXPECT_DOUBLE_EQ(trial.launches[0].at(0).seconds, 5e-9);
  EXPECT_EQ(trial.launches[0][0].cpu_seconds, 0);
  EXPECT_THAT(trial.remark, HasSubstr("\"cpu_time\" is -1 and was left out"));
}

TEST(GoogleBenchmarkJson, TellsWhatIsLeftOutOnPurposeFromWhatFails) {
  const auto skipped = results_in(
      one_benchmark(R"("real_time": 1, "skipped": true, "skip_message": "no such device")"), "f.json");
  EXPECT_EQ(skipped.trials[0].skipped, "reports: no such device");
  EXPECT_FALSE(skipped.trials[0].failed);
  const Results ours = results_in(google_benchmark_json(sample_results()), "f.json");
  EXPECT_TRUE(ours.trials[1].failed) << "it disagrees with the oracle";
  EXPECT_FALSE(ours.trials[2].failed) << "it needs another processor";
  Results idle = sample_results();
  idle.trials[0].impossible = "took 1 ns";
  const Results read = results_in(google_benchmark_json(idle), "f.json");
  EXPECT_TRUE(read.trials[0].failed);
  EXPECT_EQ(read.trials[0].skipped, "reports an error: impossible: took 1 ns");
}

TEST(GoogleBenchmarkJson, RemarksOnTimesThatAreNotFinite) {
  for (const char* word : {"NaN", "Infinity", "-nan", "0", "-5", "1e308", "-nan(ind)", "1.#INF"}) {
    const auto results = results_in(one_benchmark(std::string("\"real_time\": ") + word), "f.json");
    EXPECT_TRUE(results.trials[0].launches.empty()) << word;
    EXPECT_THAT(results.trials[0].remark, HasSubstr("no finite time above 0")) << word;
  }
}

TEST(GoogleBenchmarkJson, KnowsAggregatesByTheirNamesWhereNoTypeIsWritten) {
  const Results results = results_in(R"({"context": {}, "benchmarks": [
    {"name": "A/8", "real_time": 1}, {"name": "A/8", "real_time": 2}, {"name": "A/8_mean", "real_time": 1.5},
    {"name": "A/8_stddev", "real_time": 0.5}, {"name": "A_BigO", "real_time": 1}, {"name": "A_RMS", "real_time": 1},
    {"name": "harmonic_mean", "real_time": 3}]})",
                                     "old.json");
  ASSERT_EQ(results.trials.size(), 2U);
  EXPECT_EQ(results.trials[0].launches.size(), 2U);
  EXPECT_EQ(results.trials[1].key, "harmonic_mean") << "no benchmark is called harmonic";
}

TEST(GoogleBenchmarkJson, TakesTheMedianOfWhatReportsAggregatesAlone) {
  const Results results = results_in(R"({"context": {}, "benchmarks": [
    {"name": "A_mean", "run_name": "A", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 5},
    {"name": "A_median", "run_name": "A", "run_type": "aggregate", "aggregate_name": "median", "real_time": 4},
    {"name": "B", "run_name": "B", "run_type": "iteration", "real_time": 1},
    {"name": "B_median", "run_name": "B", "run_type": "aggregate", "aggregate_name": "median", "real_time": 2}]})",
                                     "f.json");
  ASSERT_EQ(results.trials.size(), 2U);
  EXPECT_EQ(results.trials[0].key, "B");
  ASSERT_EQ(results.trials[0].launches.size(), 1U);
  EXPECT_DOUBLE_EQ(results.trials[0].launches[0][0].seconds, 1e-9);
  EXPECT_EQ(results.trials[1].key, "A");
  ASSERT_EQ(results.trials[1].launches.size(), 1U);
  EXPECT_DOUBLE_EQ(results.trials[1].launches[0][0].seconds, 4e-9);
  EXPECT_THAT(results.trials[1].remark, HasSubstr("aggregates alone"));
}

TEST(GoogleBenchmarkJson, ListsAnotherBuildOfTheLibraryWithoutCallingItAnotherMachine) {
  const auto of = [](const std::string& type) {
    return results_in(R"({"context": {"library_build_type": ")" + type +
                          R"("}, "benchmarks": [{"name": "A", "real_time": 1}]})",
                      "f.json");
  };
  const auto comparison = compare(of("release"), of("debug"), {});
  EXPECT_TRUE(comparison.comparable);
  EXPECT_THAT(comparison.differences, ::testing::ElementsAre("library build type: release -> debug"));
}

TEST(GoogleBenchmarkJson, MakesAnErrorOfWhatHadATimeBeforeAFailure) {
  const Results before = results_in(one_benchmark("\"real_time\": 1"), "f.json");
  const Results after =
      results_in(one_benchmark(R"("error_occurred": true, "error_message": "boom")"), "f.json");
  EXPECT_THAT(compare(before, after, {}).failures,
              ::testing::ElementsAre("A had a time before, and now reports an error: boom"));
  EXPECT_THAT(compare(after, after, {}).failures, ::testing::IsEmpty());
  const std::string text = comparison_text(compare(before, after, {}), before, after);
  EXPECT_THAT(text, HasSubstr("now reports an error: boom"));
}

TEST(GoogleBenchmarkJson, OfOursIsReadBackWithItsVariants) {
  const Results results = results_in(google_benchmark_json(sample_results()), "f.json");
  ASSERT_EQ(results.trials.size(), 3U);
  EXPECT_EQ(results.trials[0].variant, "naive");
  EXPECT_EQ(results.trials[0].workload, "0a");
  ASSERT_EQ(results.trials[0].launches.size(), 2U);
  EXPECT_DOUBLE_EQ(results.trials[0].launches[0][0].seconds, 2e-6);
  EXPECT_EQ(results.trials[0].launches[0][0].calls, 30);
  EXPECT_FALSE(results.trials[1].skipped.empty());
}

class ResultFile : public ::testing::Test {
 protected:
  ResultFile()
      : file(std::filesystem::temp_directory_path() / ("assay_exchange_" + std::to_string(::getpid()))) {}
  ~ResultFile() override { std::filesystem::remove(file); }
  std::filesystem::path file;
};

TEST_F(ResultFile, IsReadWhateverItIs) {
  write_file(file, to_json(sample_results()));
  EXPECT_EQ(read_any_results(file).suite, "smoke");
  write_file(file, foreign);
  EXPECT_EQ(read_any_results(file).suite, "conv_bench");
  write_file(file, "{\"results\": []}");
  EXPECT_THROW(read_any_results(file), Error);
}

TEST_F(ResultFile, OfOursPassesThroughGoogleBenchmarksOwnTool) {
  const std::string tool = "/usr/share/benchmark/compare.py";
  if (!std::filesystem::exists(tool))
    GTEST_SKIP() << tool << " is not installed: apt install libbenchmark-tools";
  if (std::system("/usr/bin/python3 -c 'import scipy' 2>/dev/null") != 0) {
    GTEST_SKIP() << "compare.py needs scipy: apt install python3-scipy";
  }
  write_file(file, google_benchmark_json(sample_results()));
  const std::string command =
      "/usr/bin/python3 " + tool + " benchmarks " + file.string() + " " + file.string();
  EXPECT_EQ(std::system((command + " >/dev/null").c_str()), 0) << command;
}

TEST(GoogleBenchmarkCsv, HasItsColumnsInEveryRow) {
  const std::string text = google_benchmark_csv(sample_results());
  EXPECT_THAT(text, ::testing::StartsWith("name,iterations,real_time,cpu_time,time_unit,"));
  EXPECT_THAT(text, HasSubstr("\n\"gemm/naive/m=2#1\",30,2000,2000,ns,,,,,\n"));
  EXPECT_THAT(text, HasSubstr(",true,\"disagrees with the oracle: c[0] is \"\"nan\"\"\"\n"));
}

TEST(GoogleBenchmarkConsole, LaysOutItsColumns) {
  const std::string text = google_benchmark_console(sample_results());
  EXPECT_THAT(text, HasSubstr("Benchmark                 Time             CPU   Iterations\n"));
  EXPECT_THAT(text, HasSubstr("gemm/naive/m=2#1       2000 ns         2000 ns           30\n"));
  EXPECT_THAT(text, HasSubstr("gemm/wide/m=2#1  ERROR OCCURRED: 'skipped: needs AVX-512'"));
}

}  // namespace
}  // namespace assay
