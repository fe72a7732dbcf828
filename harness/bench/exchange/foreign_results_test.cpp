#include "bench/exchange/foreign_results.hpp"

#include "assay/compare.hpp"
#include "assay/error.hpp"
#include "bench/exchange/read_results.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <unistd.h>

#include <functional>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

auto says(const std::string& text) { return Throws<Error>(Property(&Error::what, HasSubstr(text))); }

/// A folder for the files of one test.
class ForeignResults : public ::testing::Test {
 protected:
  ForeignResults()
      : folder_(std::filesystem::temp_directory_path() / ("assay_foreign_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~ForeignResults() override { std::filesystem::remove_all(folder_); }

  Results read(const std::string& text) const {
    write_file(folder_ / "results", text);
    return read_any_results(folder_ / "results");
  }
  std::function<void()> reading(const std::string& text) const {
    return [this, text] { read(text); };
  }

  std::filesystem::path folder_;
};

/// As hyperfine 1.18 writes it.
std::string hyperfine_file(const std::string& members) {
  return R"({"results": [{"command": "sleep 0.1", "mean": 0.1, "stddev": null, "median": 0.1, "user": 0.02,
    "system": 0.01, "min": 0.1, "max": 0.1)" +
         members + "}]}";
}

TEST_F(ForeignResults, OfHyperfineHaveALaunchPerRun) {
  const Results results = read(hyperfine_file(R"(, "times": [0.101, 0.102, 0.1], "exit_codes": [0, 0, 0])"));
  ASSERT_EQ(results.trials.size(), 1U);
  const TrialResult& trial = results.trials.front();
  EXPECT_EQ(trial.key, "sleep 0.1");
  ASSERT_EQ(trial.launches.size(), 3U);
  EXPECT_DOUBLE_EQ(trial.launches[1][0].seconds, 0.102);
  EXPECT_DOUBLE_EQ(trial.launches[1][0].cpu_seconds, 0.03);
  EXPECT_TRUE(is_measured(trial));
}

TEST_F(ForeignResults, OfHyperfineThatFailedAreNotTimed) {
  const TrialResult failed =
      read(hyperfine_file(R"(, "times": [0.1, 0.1, 0.1], "exit_codes": [0, 3, null])")).trials.front();
  EXPECT_TRUE(failed.failed);
  EXPECT_EQ(failed.skipped, "reports an error: 2 of 3 runs failed; the first exits with code 3");
  EXPECT_FALSE(is_measured(failed));
  EXPECT_THAT(read(hyperfine_file("")).trials.front().remark, HasSubstr("median counts as one process start"));
}

/// As pytest-benchmark 4 writes it, shortened.
std::string pytest_file(const std::string& stats) {
  return R"({"machine_info": {"node": "h", "python_version": "3.11.2", "cpu": {"brand_raw": "Zen", "count": 2}},
    "commit_info": {"id": "abc", "dirty": true}, "datetime": "2026-01-02T03:04:05",
    "benchmarks": [{"group": null, "name": "test_gelu", "fullname": "tests/t.py::test_gelu", "stats": {)" +
         stats + "}}]}";
}

TEST_F(ForeignResults, OfPytestBenchmarkHaveTheRoundsOfATestAsSlices) {
  const Results results = read(pytest_file(R"("median": 2e-6, "iterations": 7, "data": [1e-6, 2e-6, 3e-6])"));
  EXPECT_EQ(results.commit, "abc+changes");
  EXPECT_EQ(results.machine.cores, 2);
  ASSERT_EQ(results.trials.size(), 1U);
  EXPECT_EQ(results.trials[0].key, "tests/t.py::test_gelu");
  ASSERT_EQ(results.trials[0].launches.size(), 1U) << "one process has one luck";
  ASSERT_EQ(results.trials[0].launches[0].size(), 3U);
  EXPECT_EQ(results.trials[0].launches[0][2].calls, 7);
  EXPECT_THAT(read(pytest_file(R"("median": 2e-6)")).trials[0].remark, HasSubstr("--benchmark-save-data"));
}

/// As NVBench writes it, shortened, with these summaries of its one state.
std::string nvbench_file(const std::string& summaries, const std::string& skipped = "false") {
  return R"({"meta": {}, "devices": [{"id": 0, "name": "H100"}], "benchmarks": [{"name": "copy", "states": [
    {"name": "Device=0 N=2^20", "device": 0, "summaries": [)" +
         summaries + R"(], "is_skipped": )" + skipped + R"(, "skip_reason": "too large"}]}]})";
}

std::string duration(const std::string& tag, const std::string& seconds) {
  return R"({"tag": ")" + tag +
         R"(", "name": "n", "data": [{"name": "hint", "type": "string", "value": "duration"},
    {"name": "value", "type": "float64", "value": ")" +
         seconds + R"("}]})";
}

TEST_F(ForeignResults, OfNvbenchAreItsSamplesWhereTheyAreBesideIt) {
  const std::string times =
      R"({"tag": "nv/json/bin:nv/cold/sample_times", "name": "Sample Times File", "data": [
    {"name": "filename", "type": "string", "value": "results-bin/0.bin"}]}, )" +
      duration("nv/cold/time/gpu/mean", "0.5");
  EXPECT_DOUBLE_EQ(read(nvbench_file(times)).trials[0].launches[0][0].seconds, 0.5) << "their file is lost";
  std::filesystem::create_directories(folder_ / "results-bin");
  // 1 and 0.25 as little-endian floats of 32 bits.
  write_file(folder_ / "results-bin/0.bin", std::string("\0\0\x80\x3f\0\0\x80\x3e", 8));
  const TrialResult trial = read(nvbench_file(times)).trials.front();
  EXPECT_EQ(trial.key, "copy [Device=0 N=2^20]");
  ASSERT_EQ(trial.launches.size(), 1U);
  ASSERT_EQ(trial.launches[0].size(), 2U);
  EXPECT_DOUBLE_EQ(trial.launches[0][1].seconds, 0.25);
  write_file(folder_ / "results-bin/0.bin", std::string("\0\0\x80\x3f\0\0", 6));
  EXPECT_THAT(reading(nvbench_file(times)), says("0.bin: is cut off"));
  write_file(folder_ / "results-bin/0.bin", std::string("\0\0\x80\xbf", 4));
  EXPECT_THAT(reading(nvbench_file(times)), says("sample 0 is -1"));
}

TEST_F(ForeignResults, OfNvbenchWithoutSamplesAreItsMedianOrItsMean) {
  const std::string mean = duration("nv/cold/time/gpu/mean", "0.002"),
                    median = duration("nv/cold/time/gpu/median", "0.001");
  const TrialResult both = read(nvbench_file(mean + ", " + median)).trials.front();
  EXPECT_DOUBLE_EQ(both.launches[0][0].seconds, 0.001);
  EXPECT_THAT(both.remark, HasSubstr("--jsonbin"));
  EXPECT_DOUBLE_EQ(read(nvbench_file(mean)).trials[0].launches[0][0].seconds, 0.002);
  EXPECT_EQ(read(nvbench_file("", "true")).trials[0].skipped, "reports: too large");
  EXPECT_EQ(read(nvbench_file("")).trials[0].skipped, "reports no time");
}

TEST_F(ForeignResults, OfBenchdnnAreItsAverages) {
  const std::string form = "Output template: perf,%engine%,%impl%,%name%,%prb%,%Gops%,%-time%,%0time%\n";
  const Results results =
      read(form +
           "perf,cpu,brgemm,\"a,b\",--matmul --attr-post-ops=sum,relu 2x3:3x4n\"a,b\",0.1,0.5,0.75\n"
           "perf,cpu,ref,,--matmul 2x3:3x4,0.1,2,2.5\nperf,cpu,ref,,--matmul 2x3:3x4,0.1,2,2.75\n"
           "tests:3 passed:3\n");
  ASSERT_EQ(results.trials.size(), 2U);
  EXPECT_EQ(results.trials[0].key, "--matmul --attr-post-ops=sum,relu 2x3:3x4na,b");
  EXPECT_EQ(results.trials[0].note, "brgemm");
  EXPECT_DOUBLE_EQ(results.trials[0].launches[0][0].seconds, 0.75e-3);
  EXPECT_EQ(results.trials[1].launches.size(), 2U);
  EXPECT_THAT(results.trials[1].remark, HasSubstr("average"));
}

TEST_F(ForeignResults, AreCompared) {
  // The second command takes 1 or 9 s, the others 1 s. No machine drifts by so much.
  const auto runs = [](const char* command, int seconds) {
    std::string out = fmt::format(R"({{"command": "{}", "times": [)", command);
    for (int i = 0; i < 10; ++i) out += fmt::format("{}{}.00{}", i > 0 ? ", " : "", seconds, i % 3);
    return out + "]}";
  };
  const auto file = [&](int seconds) {
    return fmt::format(R"({{"results": [{}, {}, {}]}})", runs("a", 1), runs("b", seconds), runs("c", 1));
  };
  const Comparison comparison = compare(read(file(1)), read(file(9)), {});
  ASSERT_EQ(comparison.rows.size(), 3U);
  EXPECT_EQ(to_string(comparison.rows[0].standing), "same") << comparison.rows[0].why;
  EXPECT_EQ(to_string(comparison.rows[1].standing), "slower") << comparison.rows[1].why;
}

TEST_F(ForeignResults, OfAnUnknownKindAreRefused) {
  EXPECT_THAT(reading("{\"rows\": []}"), says("schema"));
  EXPECT_THAT(reading("{\"rows\": []}"),
              says("files of these are read: assay, Google Benchmark, pytest-benchmark, nvbench, hyperfine, "
                   "benchdnn"));
  EXPECT_THAT(reading(""), says("results: is empty"));
  EXPECT_THAT(reading("perfect\n"), says("invalid JSON at line 1, column 1"));
}

TEST_F(ForeignResults, OfNoFormatNameTheNearestAndWhatItLacks) {
  EXPECT_THAT(
      reading(R"({"context": {}, "benchmark": []})"),
      says("is of no known format: nearest to Google Benchmark, but with no \"benchmarks\" that is an "
           "array"));
  EXPECT_THAT(reading(R"({"results": [{"name": "a"}]})"),
              says("nearest to hyperfine, but with no \"results.command\" that is a string"));
  EXPECT_THAT(reading(R"({"schema": "assay.two_builds/1"})"), says("`assay reanalyze` reads"));
}

/// Their words inside of other members, or of strings, say nothing.
TEST_F(ForeignResults, AreKnownByTheirStructureAlone) {
  const Results named = read(hyperfine_file(
      R"(, "times": [1], "parameters": {"schema": "assay.result/1", "context": "machine_info", "benchmarks": "states"})"));
  EXPECT_EQ(named.suite, "hyperfine");
  const Results typed = read(R"({"results": [{"command": "echo '\"context\" \"benchmarks\"\nperf,'",
    "times": [1]}]})");
  EXPECT_EQ(typed.trials.front().key, "echo '\"context\" \"benchmarks\"\nperf,'");
  EXPECT_EQ(
      read("perf \"context\": {}, \"benchmarks\"\nOutput template: perf,%prb%,%0time%\nperf,a,1\n").suite,
      "benchdnn");
  EXPECT_THAT(reading(R"({"context": {}, "benchmarks": "none", "schema": 3})"), says("Google Benchmark"));
}

}  // namespace
}  // namespace assay
