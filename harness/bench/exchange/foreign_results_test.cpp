#include "bench/exchange/read_results.hpp"

#include "assay/compare.hpp"
#include "assay/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

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
  EXPECT_THAT(read(hyperfine_file("")).trials.front().remark,
              HasSubstr("median counts as one process start"));
}

/// As pytest-benchmark 4 writes it, shortened.
std::string pytest_file(const std::string& stats) {
  return R"({"machine_info": {"node": "h", "python_version": "3.11.2", "cpu": {"brand_raw": "Zen", "count": 2}},
    "commit_info": {"id": "abc", "dirty": true}, "datetime": "2026-01-02T03:04:05",
    "benchmarks": [{"group": null, "name": "test_gelu", "fullname": "tests/t.py::test_gelu", "stats": {)" +
         stats + "}}]}";
}

TEST_F(ForeignResults, OfPytestBenchmarkHaveALaunchPerRound) {
  const Results results = read(pytest_file(R"("median": 2e-6, "iterations": 7, "data": [1e-6, 2e-6, 3e-6])"));
  EXPECT_EQ(results.commit, "abc+changes");
  EXPECT_EQ(results.machine.cores, 2);
  ASSERT_EQ(results.trials.size(), 1U);
  EXPECT_EQ(results.trials[0].key, "tests/t.py::test_gelu");
  ASSERT_EQ(results.trials[0].launches.size(), 3U);
  EXPECT_DOUBLE_EQ(results.trials[0].launches[2].at(0).seconds, 3e-6);
  EXPECT_EQ(results.trials[0].launches[2].at(0).calls, 7);
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
  ASSERT_EQ(trial.launches.size(), 2U);
  EXPECT_DOUBLE_EQ(trial.launches[1].at(0).seconds, 0.25);
  write_file(folder_ / "results-bin/0.bin", std::string("\0\0\x80\x3f\0\0", 6));
  EXPECT_THAT(reading(nvbench_file(times)), says("0.bin: is cut off"));
  write_file(folder_ / "results-bin/0.bin", std::string("\0\0\x80\xbf\0\0\x80\x3e", 8));  // -1 and 0.25
  const TrialResult bad = read(nvbench_file(times)).trials.front();
  EXPECT_EQ(bad.launches.at(0).size(), 1U);
  EXPECT_THAT(bad.remark, HasSubstr("were left out"));
}

// /dev/zero has no end, and no file has a name of a thousand letters.
TEST_F(ForeignResults, OfNvbenchTakeNoSamplesFromWhatIsNoFile) {
  for (const std::string& name : {std::string("/dev/zero"), std::string(1000, 'a')}) {
    const std::string times = R"({"tag": "nv/json/bin:nv/cold/sample_times", "name": "Sample Times File",
    "data": [{"name": "filename", "type": "string", "value": ")" +
                              name + R"("}]}, )";
    const Results results = read(nvbench_file(times + duration("nv/cold/time/gpu/mean", "0.5")));
    EXPECT_DOUBLE_EQ(results.trials[0].launches[0][0].seconds, 0.5);
  }
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
  for (const char* none : {"nan", "-1", "1e308", "inf"})
    EXPECT_EQ(read(nvbench_file(duration("nv/cold/time/gpu/mean", none))).trials[0].skipped,
              "reports no time");
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

// As oneDNN prints it since 2026: a row of names follows the template.
TEST_F(ForeignResults, OfBenchdnnOf2026AreReadWithAndWithoutTheProblemAsAWhole) {
  const Results usual = read(
      "Template entries: "
      "perf,%engine%,%impl%,%name%,%prb%,%Gops%,%+ctime%,%-time%,%-Gflops%,%0time%,%0Gflops%\n"
      "perf,engine,impl,name,prb,Gops,max_ctime,min_time,min_Gflops,avg_time,avg_Gflops\n"
      "perf,cpu,brg,\"resnet:ip1\",--mode=P --ip "
      "ic2048oc1000n\"resnet:ip1\",0.008,0.93,0.023,349.5,0.027,303.5\n");
  ASSERT_EQ(usual.trials.size(), 1U);
  EXPECT_EQ(usual.trials[0].key, "--mode=P --ip ic2048oc1000nresnet:ip1");
  EXPECT_DOUBLE_EQ(usual.trials[0].launches.at(0)[0].seconds, 0.027e-3);
  const std::string form = "perf,%engine%,%impl%,%name%,%dir%,%sdt%,%attr%,%DESC%,%Gops%,%-time%,%0time%\n",
                    names = "perf,engine,impl,name,dir,sdt,attr,desc,Gops,min_time,avg_time\n";
  const Results csv = read("Template entries: " + form + names +
                           "perf,cpu,brg,,FWD_B,f32:f32:f32,,ic20oc10,0.008,0.02,0.03\n"
                           "perf,cpu,brg,,BWD_D,f32:f32:f32,,ic20oc10,0.008,0.02,0.04\n"
                           "perf,cpu,brg,,FWD_B,s8:s8:f32,,ic20oc10,0.008,0.02,0.05\n");
  ASSERT_EQ(csv.trials.size(), 3U) << "direction and types tell rows apart";
  EXPECT_EQ(csv.trials[0].key, "ic20oc10 [dir=FWD_B sdt=f32:f32:f32]");
  EXPECT_EQ(csv.trials[1].key, "ic20oc10 [dir=BWD_D sdt=f32:f32:f32]");
}

TEST_F(ForeignResults, OfBenchdnnMayLackTheEngineOrATime) {
  const Results results = read(
      "Template entries: perf,%name%,%prb%,%-time%,%0time%\nperf,name,prb,min_time,avg_time\n"
      "perf,x,--ip ic20oc10,1.2,nan\nperf,x,--ip ic20oc10,1.2,-1\nperf,x,--ip ic20oc10,1.2,0\n"
      "perf,x,--ip ic20oc10,1.2,1.5\n");
  ASSERT_EQ(results.trials.size(), 1U);
  EXPECT_EQ(results.trials[0].key, "x --ip ic20oc10");
  ASSERT_EQ(results.trials[0].launches.size(), 1U);
  EXPECT_DOUBLE_EQ(results.trials[0].launches[0].at(0).seconds, 1.5e-3);
  EXPECT_THAT(results.trials[0].remark, ::testing::AllOf(HasSubstr("average"), HasSubstr("were left out")));
}

TEST_F(ForeignResults, KeepATimeBesideAProcessorTimeThatIsNone) {
  std::string text = hyperfine_file(R"(, "times": [0.1, 0.2])");
  text.replace(text.find("0.02"), 4, "-1e-9");
  const TrialResult trial = read(text).trials.front();
  EXPECT_EQ(trial.launches.size(), 2U);
  EXPECT_THAT(trial.remark, HasSubstr("\"user\" is -1e-09 and was left out"));
  EXPECT_EQ(trial.launches[0].at(0).cpu_seconds, 0) << "half of it is none";
}

TEST_F(ForeignResults, OfHyperfineHaveTheMemoryOfTheirRuns) {
  const std::string memory = R"(, "times": [0.1, 0.2, 0.3], "memory_usage_byte": [5, 9, 6])";
  EXPECT_EQ(read(hyperfine_file(memory)).trials.at(0).figures, (FigureValues{{"memory_usage_byte", 6}}));
}

TEST_F(ForeignResults, LeaveOutASampleThatIsNoTime) {
  const TrialResult runs = read(hyperfine_file(R"(, "times": [0.0, 0.0003, null, -1, NaN])")).trials.front();
  ASSERT_EQ(runs.launches.size(), 1U);
  EXPECT_DOUBLE_EQ(runs.launches[0][0].seconds, 0.0003);
  EXPECT_THAT(runs.remark, HasSubstr("some samples report no finite time above 0 and were left out"));
  const TrialResult rounds =
      read(pytest_file(R"("data": [0.0, 2e-6, Infinity, -nan(ind), 1.#INF])")).trials.front();
  ASSERT_EQ(rounds.launches.size(), 1U);
  EXPECT_EQ(rounds.launches[0].size(), 1U);
  EXPECT_THAT(rounds.remark, HasSubstr("were left out"));
  EXPECT_FALSE(is_measured(read(hyperfine_file(R"(, "times": [0.0])")).trials.front()));
  EXPECT_EQ(read(pytest_file(R"("data": ["soon", 2e-6])")).trials.at(0).launches.size(), 1U);
}

TEST_F(ForeignResults, AreToldApartByWhatTheyWereRunWith) {
  const auto run = [](const std::string& name, const std::string& parameters) {
    return fmt::format(R"({{"command": "{}", "times": [1], "parameters": {{{}}}}})", name, parameters);
  };
  const Results results = read(fmt::format(
      R"({{"results": [{}, {}, {}, {}]}})", run("build", R"("threads": "11")"),
      run("build", R"("threads": "12")"), run("sleep 11", R"("n": "11")"), run("sleep 11", R"("n": "11")")));
  ASSERT_EQ(results.trials.size(), 4U);
  EXPECT_EQ(results.trials[0].key, "build [threads=11]");
  EXPECT_EQ(results.trials[1].key, "build [threads=12]");
  EXPECT_EQ(results.trials[2].key, "sleep 11 (1)") << "its words hold the parameter";
  EXPECT_EQ(results.trials[3].key, "sleep 11 (2)") << "nothing else tells it apart";
  EXPECT_THAT(results.trials[3].remark, HasSubstr("told apart by their order alone"));
}

TEST_F(ForeignResults, OfPytestBenchmarkMayHaveAnyParameters) {
  std::string text = pytest_file(R"("median": 2e-6)");
  text.insert(text.find("\"stats\""), R"("params": {"context": 2048, "machine_info": {}}, )");
  EXPECT_EQ(read(text).trials.at(0).key, "tests/t.py::test_gelu [context=2048 machine_info={}]");
}

// As JMH 1.37 writes it, shortened.
TEST_F(ForeignResults, OfJmhAreTimesPerOperationWhateverItsMode) {
  const auto row = [](const char* mode, const char* unit, const char* raw) {
    return fmt::format(
        R"({{"jmhVersion": "1.37", "benchmark": "org.B.f", "mode": "{}", "threads": 1, "vmVersion": "17",
      "params": {{"size": "100"}}, "primaryMetric": {{"score": 4.0, "scoreUnit": "{}", "rawData": {}}},
      "secondaryMetrics": {{"gc.alloc.rate.norm": {{"score": 48.0}}, "gc.time": {{"score": "NaN"}}}}}})",
        mode, unit, raw);
  };
  const Results results =
      read(fmt::format("[{}, {}, {}]", row("avgt", "us/op", "[[2.0, 3.0], [4.0]]"),
                       row("thrpt", "ops/ms", "[[2.0, 0.0]]"), row("sample", "ns/op", "[]")));
  EXPECT_EQ(results.suite, "JMH");
  ASSERT_EQ(results.trials.size(), 3U);
  EXPECT_EQ(results.trials[0].key, "org.B.f [mode=avgt size=100]");
  EXPECT_EQ(results.trials[0].figures, (FigureValues{{"gc.alloc.rate.norm", 48}}));
  ASSERT_EQ(results.trials[0].launches.size(), 3U) << "two forks decide nothing, three iterations may";
  EXPECT_DOUBLE_EQ(results.trials[0].launches[1].at(0).seconds, 3e-6);
  EXPECT_EQ(results.trials[1].key, "org.B.f [mode=thrpt size=100]");
  EXPECT_DOUBLE_EQ(results.trials[1].launches.at(0).at(0).seconds, 0.5e-3)
      << "twice the rate is half the time";
  EXPECT_DOUBLE_EQ(results.trials[2].launches.at(0).at(0).seconds, 4e-9);
  EXPECT_THAT(reading("[" + row("avgt", "furlong/op", "[]") + "]"), says("scoreUnit: is furlong/op"));
  const Results forks = read("[" + row("avgt", "us/op", R"([["NaN", 2.0], [3.0, 5.0], [4.0, 6.0]])") + "]");
  ASSERT_EQ(forks.trials.at(0).launches.size(), 3U) << "a fork is a process";
  EXPECT_EQ(forks.trials[0].launches[0].size(), 1U);
  EXPECT_EQ(forks.trials[0].launches[1].size(), 2U);
  EXPECT_THAT(forks.trials[0].remark, HasSubstr("some samples report no finite time above 0"));
}

/// As JMH writes mode "sample": bins [time, samples] of each iteration of each fork.
std::string jmh_histogram(const std::string& forks) {
  return R"([{"benchmark": "org.B.f", "mode": "sample", "primaryMetric": {"score": 4.0, "scoreUnit": "us/op",
    "rawDataHistogram": )" +
         forks + "}}]";
}

TEST_F(ForeignResults, OfJmhHaveTheMedianAndTheSpreadOfTheirHistograms) {
  const std::string fork = "[[[3.0, 2000000], [2.0, 1000000]], [[9.0, 1000000]]]";
  const TrialResult trial =
      read(jmh_histogram(fmt::format("[{}, {}, [[[5.0, 2], [7.0, 1]]]]", fork, fork))).trials.at(0);
  ASSERT_EQ(trial.launches.size(), 3U) << "a fork is a process";
  const std::vector<double> seconds = seconds_of(trial.launches[0]);
  ASSERT_EQ(seconds.size(), 21U) << "samples are not counted out";
  EXPECT_EQ(std::ranges::count(seconds, seconds.front()), 5) << "a quarter";
  EXPECT_DOUBLE_EQ(seconds[4], 2e-6);
  EXPECT_DOUBLE_EQ(seconds[10], 3e-6);
  EXPECT_DOUBLE_EQ(seconds[20], 9e-6);
  std::vector<double> few = seconds_of(trial.launches[2]);
  for (double& one : few) one *= 1e6;
  EXPECT_THAT(few, ::testing::ElementsAre(5, 5, 7)) << "all of few";
  EXPECT_THAT(trial.remark, ::testing::IsEmpty());
  const TrialResult one = read(jmh_histogram("[" + fork + "]")).trials.at(0);
  ASSERT_EQ(one.launches.size(), 2U) << "iterations of one fork";
  EXPECT_DOUBLE_EQ(one.launches[1].at(0).seconds, 9e-6);
}

TEST_F(ForeignResults, OfJmhLeaveOutBinsThatAreNoTime) {
  const TrialResult trial =
      read(jmh_histogram(R"([[[[0.0, 2], [4.0, 2], ["NaN", 1], [5.0, -1], [6.0, 0]]]])")).trials.at(0);
  EXPECT_EQ(trial.launches.at(0).size(), 2U);
  EXPECT_THAT(trial.remark, HasSubstr("some samples report no finite time above 0"));
  EXPECT_FALSE(is_measured(read(jmh_histogram("[[[]]]")).trials.at(0)));
  EXPECT_THAT(reading(jmh_histogram("[[[[1.0, 2, 3]]]]")), says("rawDataHistogram[0][0][0][0]: is a number"));
}

TEST_F(ForeignResults, OfCriterionAreItsSamples) {
  std::filesystem::create_directories(folder_ / "fib/new");
  write_file(folder_ / "fib/new/sample.json",
             R"({"sampling_mode": "Linear", "iters": [2.0, 4.0], "times": [200.0, 600.0]})");
  const Results results = read_any_results(folder_ / "fib/new/sample.json");
  EXPECT_EQ(results.trials.at(0).key, "fib");
  ASSERT_EQ(results.trials[0].launches.size(), 2U);
  EXPECT_DOUBLE_EQ(results.trials[0].launches[1].at(0).seconds, 150e-9);
  const std::string message = R"({"reason": "benchmark-complete", "id": "g/)",
                    rest = R"(", "iteration_count": [2], "measured_values": [8.0], "unit": "us"})";
  const Results messages =
      read(message + "a" + rest + "\n" + message + "b" + rest + "\n{\"reason\": \"group-complete\"}\n");
  ASSERT_EQ(messages.trials.size(), 2U);
  EXPECT_EQ(messages.trials[1].key, "g/b");
  EXPECT_DOUBLE_EQ(messages.trials[1].launches.at(0)[0].seconds, 4e-6);
}

TEST_F(ForeignResults, OfCriterionAreNamedByAllFoldersBelowItsOwn) {
  const std::string sample = R"({"iters": [1.0], "times": [200.0]})";
  for (const char* name : {"criterion/a/1024/new", "criterion/b/f/1024/base", "elsewhere"}) {
    std::filesystem::create_directories(folder_ / name);
    write_file(folder_ / name / "sample.json", sample);
  }
  const auto key = [&](const char* name) {
    return read_any_results(folder_ / name / "sample.json").trials.at(0).key;
  };
  EXPECT_EQ(key("criterion/a/1024/new"), "a/1024");
  EXPECT_EQ(key("criterion/b/f/1024/base"), "b/f/1024");
  EXPECT_EQ(key("elsewhere"), "benchmark") << "two copies are of one benchmark";
}

TEST_F(ForeignResults, OfManySamplesHaveNeighboursInOneLaunch) {
  std::string rounds = "1e-6";
  for (int i = 1; i < 1000; ++i) rounds += fmt::format(", {}e-6", 1 + i / 100);
  const TrialResult trial = read(pytest_file(R"("data": [)" + rounds + "]")).trials.front();
  ASSERT_EQ(trial.launches.size(), 20U);
  EXPECT_EQ(trial.launches[0].size(), 50U);
  EXPECT_DOUBLE_EQ(trial.launches[19].at(49).seconds, 10e-6);
}

TEST_F(ForeignResults, OfAsvHaveATrialPerSetOfParameters) {
  const Results results = read(R"({"version": 2, "commit_hash": "abc", "params": {"cpu": "Zen"},
    "result_columns": ["result", "params", "version", "samples", "stats_ci_99_a", "stats_ci_99_b"], "results": {
    "s.time_f": [[1e-3, NaN, 3e-3, 4e-3], [["1", "2"], ["'a'", "'b'"]], "v", [[1e-3, 2e-3], null, null, null],
      [null, null, null, 3.9e-3], [null, null, null, 4.2e-3]],
    "s.peakmem_g": [[100], [], "v"], "s.time_failed": [null, []]}, "durations": {}})");
  EXPECT_EQ(results.commit, "abc");
  ASSERT_EQ(results.trials.size(), 5U);
  EXPECT_EQ(results.trials[1].key, "s.time_f(1, 'b')") << "the last parameter changes fastest";
  EXPECT_EQ(results.trials[0].launches.size(), 2U);
  EXPECT_FALSE(is_measured(results.trials[1]));
  EXPECT_DOUBLE_EQ(results.trials[2].launches.at(0).at(0).seconds, 3e-3);
  EXPECT_THAT(results.trials[2].remark, HasSubstr("--record-samples"));
  EXPECT_EQ(results.trials[2].launches.size(), 1U);
  std::vector<double> seconds;
  for (const Launch& launch : results.trials[3].launches) seconds.push_back(launch.at(0).seconds);
  EXPECT_THAT(seconds, ::testing::UnorderedElementsAre(3.9e-3, 4e-3, 4.2e-3));
  EXPECT_THAT(results.trials[3].remark, HasSubstr("its bounds count as three process starts"));
  EXPECT_EQ(results.trials[4].skipped, "reports no time, but what its name tracks");
  EXPECT_EQ(results.trials[4].figures, (FigureValues{{"peakmem", 100}}));
}

TEST_F(ForeignResults, OfAsvHaveSomeParameters) {
  std::string axes = "[1]";
  for (int i = 0; i < 64; ++i) axes += ", [1]";
  EXPECT_THAT(reading(R"({"result_columns": ["result", "params"], "results": {"s.time_f": [[1e-3], [)" +
                      axes + "]]}}"),
              says("has more than 64 parameters"));
}

TEST_F(ForeignResults, OfLlamaBenchAreToldApartByTheirTests) {
  const auto row = [](int prompt, int generated) {
    return fmt::format(
        R"({{"build_commit": "c", "cpu_info": "Zen", "gpu_info": "", "model_filename": "m/llama.gguf",
      "n_threads": 8, "type_k": "f16", "n_prompt": {}, "n_gen": {}, "avg_ns": 2, "samples_ns": [1000, 2000],
      "samples_ts": [1, 2]}})",
        prompt, generated);
  };
  const auto line = [&](int prompt, int generated) {
    std::string out = row(prompt, generated) + "\n";
    std::replace(out.begin(), out.end() - 1, '\n', ' ');
    return out;
  };
  const std::string list = "[" + row(512, 0) + "," + row(0, 128) + "]", lines = line(512, 0) + line(0, 128);
  for (const std::string& text : {list, lines}) {
    const Results results = read(text);
    ASSERT_EQ(results.trials.size(), 2U);
    EXPECT_EQ(results.trials[0].key, "llama.gguf pp512");
    EXPECT_EQ(results.trials[1].key, "llama.gguf tg128") << "all else is alike";
    ASSERT_EQ(results.trials[1].launches.size(), 2U);
    EXPECT_DOUBLE_EQ(results.trials[1].launches[1][0].seconds, 2e-6);
  }
}

/// Settings of versions to come are settings, too.
TEST_F(ForeignResults, OfLlamaBenchAreToldApartByAllThatIsNoMeasurement) {
  const auto row = [](const std::string& members) {
    return R"({"model_filename": "m.gguf", "build_number": 7, "test_time": "2026", "avg_ts": 1, "stddev_ns": 2,
      "cpu_info": "Zen", "samples_ns": [1000], )" +
           members + "}";
  };
  const Results results = read(fmt::format("[{}, {}, {}]", row(R"("devices": "CUDA0", "no_op_offload": 0)"),
                                           row(R"("devices": "CUDA1", "no_op_offload": 0)"),
                                           row(R"("devices": "CUDA0", "no_op_offload": 1)")));
  ASSERT_EQ(results.trials.size(), 3U);
  EXPECT_EQ(results.trials[0].key, "m.gguf [devices=CUDA0 no_op_offload=0]");
  EXPECT_EQ(results.trials[1].key, "m.gguf [devices=CUDA1 no_op_offload=0]");
  EXPECT_EQ(results.trials[2].key, "m.gguf [devices=CUDA0 no_op_offload=1]");
}

/// Rows of a file of llama-bench that differ in these members.
std::string llama_rows(const std::vector<std::string>& rows) {
  std::vector<std::string> out;
  for (const std::string& members : rows)
    out.push_back(R"({"model_filename": "m.gguf", "samples_ns": [1000], "n_prompt": 512, "n_gen": 64, )" +
                  members + "}");
  return fmt::format("[{}]", fmt::join(out, ", "));
}

/// Both files decide on names, or rows of different settings would be compared.
TEST_F(ForeignResults, OfLlamaBenchHaveTheSameNamesInFilesThatAreCompared) {
  const auto keys = [&](const std::vector<std::string>& before, const std::vector<std::string>& after) {
    write_file(folder_ / "before", llama_rows(before));
    write_file(folder_ / "after", llama_rows(after));
    std::vector<std::vector<std::string>> out;
    for (const Results& results : read_compared({folder_ / "before", folder_ / "after"})) {
      out.emplace_back();
      for (const TrialResult& trial : results.trials) out.back().push_back(trial.key);
    }
    return out;
  };
  using ::testing::ElementsAre;
  const std::string eight = R"("n_threads": 8)", four = R"("n_threads": 4)";
  EXPECT_THAT(keys({eight}, {four, eight}),
              ElementsAre(ElementsAre("m.gguf pp512 tg64 [n_threads=8]"),
                          ElementsAre("m.gguf pp512 tg64 [n_threads=4]", "m.gguf pp512 tg64 [n_threads=8]")));
  EXPECT_THAT(keys({eight}, {four}),
              ElementsAre(ElementsAre("m.gguf pp512 tg64"), ElementsAre("m.gguf pp512 tg64")))
      << "a setting is compared";
  const std::vector<Results> both = read_compared({folder_ / "before", folder_ / "after"});
  EXPECT_THAT(compare(both[0], both[1], {}).differences, ElementsAre("n_threads: 8 -> 4"));
  EXPECT_THAT(keys({R"("n_depth": 0, "model_size": 3)"}, {R"("n_depth": 4096, "model_size": 4)"}),
              ElementsAre(ElementsAre("m.gguf pp512 tg64"), ElementsAre("m.gguf pp512 tg64 @ d4096")));
  EXPECT_THAT(keys({R"("model_size": 3)", R"("model_size": 4)"}, {R"("model_size": 4)"}),
              ElementsAre(::testing::SizeIs(2), ElementsAre("m.gguf pp512 tg64 [model_size=4]")))
      << "models of one name";
}

TEST_F(ForeignResults, OfGoAreItsLines) {
  const Results results = read(
      "goos: linux\ngoarch: amd64\npkg: example.com/a\ncpu: AMD EPYC\n"
      "BenchmarkF/n=8-2   \t     100\t        11.5 ns/op\t       5 B/op\n"
      "BenchmarkF/n=8-2   \t     100\t        12.5 ns/op\t       5 B/op\nBenchmarkLog\nPASS\n"
      "pkg: example.com/b\nBenchmarkF/n=8-2 7 1e3 ns/op\nok  \texample.com/b\t1.2s\n");
  ASSERT_EQ(results.trials.size(), 2U) << "packages tell benchmarks of one name apart";
  EXPECT_EQ(results.trials[0].key, "example.com/a.BenchmarkF/n=8-2");
  ASSERT_EQ(results.trials[0].launches.size(), 2U);
  EXPECT_DOUBLE_EQ(results.trials[0].launches[1][0].seconds, 12.5e-9);
  EXPECT_EQ(results.trials[0].figures.at("B/op"), 5);
  EXPECT_DOUBLE_EQ(results.trials[1].launches.at(0)[0].seconds, 1e-6);
  const Results bare = read("BenchmarkF-8   \t  100\t   99.8 ns/op\nBenchmarkF-8   \t  100\t   99.9 ns/op\n");
  EXPECT_EQ(bare.suite, "Go") << "a header may have been cut off";
  EXPECT_EQ(bare.trials.at(0).launches.size(), 2U);
}

/// As `go test -json` writes a line that was printed, or a part of one.
std::string go_event(const std::string& package, const std::string& printed) {
  return Json{{"Time", "2026-01-02T03:04:05Z"},
              {"Action", "output"},
              {"Package", package},
              {"Output", printed}}
             .dump() +
         "\n";
}

TEST_F(ForeignResults, OfGoMayBeEvents) {
  const std::string events = R"({"Action": "start", "Package": "example.com/a"})"
                             "\n" +
                             go_event("example.com/a", "cpu: AMD EPYC\n") +
                             go_event("example.com/a", "BenchmarkF/n=8\nBenchmarkF/n=8-2   \t") +
                             go_event("example.com/b", "BenchmarkF/n=8-2 7 1e3 ns/op\n") +
                             go_event("example.com/a", "     100\t        11.5 ns/op\t       5 B/op\n") +
                             go_event("example.com/a", "BenchmarkF/n=8-2 \t 100\t 12.5 ns/op\nPASS\n") +
                             R"({"Action": "pass", "Package": "example.com/a", "Elapsed": 1.2})" + "\n";
  const Results read_events = read(events),
                text = read(
                    "pkg: example.com/a\ncpu: AMD EPYC\nBenchmarkF/n=8-2 100 11.5 ns/op 5 B/op\n"
                    "BenchmarkF/n=8-2 100 12.5 ns/op\npkg: example.com/b\n"
                    "BenchmarkF/n=8-2 7 1e3 ns/op\n");
  EXPECT_EQ(read_events.suite, text.suite);
  EXPECT_EQ(read_events.machine.facts, text.machine.facts);
  ASSERT_EQ(read_events.trials.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read_events.trials[i].key, text.trials[i].key);
    EXPECT_EQ(read_events.trials[i].figures, text.trials[i].figures);
    ASSERT_EQ(read_events.trials[i].launches.size(), text.trials[i].launches.size());
    EXPECT_EQ(seconds_of(read_events.trials[i].launches.back()), seconds_of(text.trials[i].launches.back()));
  }
  EXPECT_THAT(reading(go_event("example.com/a", "PASS\n")), says("holds no line with ns/op"));
}

TEST_F(ForeignResults, OfCatch2AreItsMeansWithTheirBounds) {
  const Results results = read(R"(<?xml version="1.0" encoding="UTF-8"?>
<Catch2TestRun name="b" rng-seed="1">
  <TestCase name="of &lt;int&gt;" filename="b.cpp">
    <BenchmarkResults name="p->Fib 20" samples="100" iterations="3">
      <!--All values in nano seconds-->
      <mean value="1500.5" lowerBound="1400" upperBound="1600" ci="0.95"/>
      <standardDeviation value="3"/>
    </BenchmarkResults>
  </TestCase>
</Catch2TestRun>
)");
  ASSERT_EQ(results.trials.size(), 1U);
  EXPECT_EQ(results.trials[0].key, "of <int>/p->Fib 20") << "values may hold >";
  std::vector<double> nanoseconds;
  for (const Launch& launch : results.trials[0].launches) nanoseconds.push_back(1e9 * launch.at(0).seconds);
  EXPECT_THAT(nanoseconds,
              ::testing::UnorderedElementsAre(::testing::DoubleEq(1400), ::testing::DoubleEq(1500.5),
                                              ::testing::DoubleEq(1600)));
}

TEST_F(ForeignResults, BehindOtherTextSayHowManyLines) {
  const std::string log = "2026-01-02 Running ./bench\nRun on (8 X 3000 MHz CPU s)\n[info] ready\n";
  EXPECT_THAT(
      reading(log + hyperfine_file("")),
      says("3 lines of text stand before the JSON\n  cut them; Google Benchmark writes JSON alone with "
           "--benchmark_out=FILE"));
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

TEST_F(ForeignResults, SayByWhichClockTheyWereTimed) {
  const auto clock = [&](const std::string& text) {
    return fact_value(read(text).machine.facts, "clock", "none");
  };
  EXPECT_EQ(clock(nvbench_file(duration("nv/cold/time/gpu/mean", "0.5"))), "GPU time");
  EXPECT_EQ(clock(nvbench_file(duration("nv/cpu_only/time/cpu/mean", "0.5"))), "wall time");
  std::string text = pytest_file(R"("median": 2e-6)");
  EXPECT_EQ(clock(text), "wall time");
  text.insert(text.find("\"stats\""), R"("options": {"timer": "process_time"}, )");
  EXPECT_EQ(clock(text), "time by process_time");
}

/// Five benchmarks with ten samples each, two percent apart, as every format has them.
using Samples = std::vector<std::vector<double>>;
Samples of_five(double first) {
  Samples out(5);
  for (std::size_t row = 0; row < out.size(); ++row) {
    for (std::size_t i = 0; i < 10; ++i)
      out[row].push_back((row == 0 ? first : 1) * (1 + 0.003 * static_cast<double>((5 * i + 3 * row) % 7)));
  }
  return out;
}
/// Each row with its number and samples, joined by commas.
std::string rows_of(const Samples& all,
                    const std::function<std::string(std::size_t, const std::vector<double>&)>& row) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < all.size(); ++i) out.push_back(row(i, all[i]));
  return fmt::format("{}", fmt::join(out, ", "));
}
std::string list(const std::vector<double>& samples) { return fmt::format("[{}]", fmt::join(samples, ", ")); }

using Written = std::function<std::string(const Samples&)>;
const std::map<std::string, Written>& verdict_formats() {
  static const std::map<std::string, Written> formats{
      {"JMH of one fork",
       [](const Samples& all) {
         return "[" +
                rows_of(all,
                        [](std::size_t i, const auto& samples) {
                          return fmt::format(R"({{"benchmark": "b{}", "mode": "avgt", "primaryMetric": {{
                    "scoreUnit": "s/op", "rawData": [{}]}}}})",
                                             i, list(samples));
                        }) +
                "]";
       }},
      {"pytest-benchmark",
       [](const Samples& all) {
         return R"({"machine_info": {}, "benchmarks": [)" +
                rows_of(all,
                        [](std::size_t i, const auto& samples) {
                          return fmt::format(R"({{"name": "t{}", "stats": {{"data": {}}}}})", i,
                                             list(samples));
                        }) +
                "]}";
       }},
      {"llama-bench",
       [](const Samples& all) {
         return "[" +
                rows_of(all,
                        [](std::size_t i, const auto& samples) {
                          return fmt::format(R"({{"model_filename": "m", "n_gen": {}, "samples_ns": {}}})",
                                             10 * i, list(samples));
                        }) +
                "]";
       }},
      {"cargo-criterion",
       [](const Samples& all) {
         std::string out;
         rows_of(all, [&](std::size_t i, const auto& samples) {
           return out += fmt::format(
                      R"({{"reason": "benchmark-complete", "id": "g{}", "iteration_count": {}, "measured_values": {}}})"
                      "\n",
                      i, list(std::vector<double>(samples.size(), 1)), list(samples));
         });
         return out;
       }},
      {"asv with samples",
       [](const Samples& all) {
         return R"({"result_columns": ["result", "params", "samples"], "results": {)" +
                rows_of(all,
                        [](std::size_t i, const auto& samples) {
                          return fmt::format(R"("s.time_{}": [[{}], [], [{}]])", i, samples[0],
                                             list(samples));
                        }) +
                "}}";
       }},
      {"asv with bounds",
       [](const Samples& all) {
         return R"({"result_columns": ["result", "params", "stats_ci_99_a", "stats_ci_99_b"], "results": {)" +
                rows_of(all,
                        [](std::size_t i, const auto& samples) {
                          return fmt::format(R"("s.time_{}": [[{}], [], [{}], [{}]])", i, samples[0],
                                             0.99 * samples[0], 1.01 * samples[0]);
                        }) +
                "}}";
       }},
      {"Catch2", [](const Samples& all) {
         std::string out = "<Catch2TestRun name=\"b\">\n";
         rows_of(all, [&](std::size_t i, const auto& samples) {
           return out += fmt::format(
                      "<BenchmarkResults name=\"b{}\">\n<mean value=\"{}\" lowerBound=\"{}\" "
                      "upperBound=\"{}\" ci=\"0.95\"/>\n</BenchmarkResults>\n",
                      i, samples[0], 0.99 * samples[0], 1.01 * samples[0]);
         });
         return out + "</Catch2TestRun>\n";
       }}};
  return formats;
}

TEST_F(ForeignResults, OfEachFormatGetVerdicts) {
  for (const auto& [format, written] : verdict_formats()) {
    const Results before = read(written(of_five(1)));
    ASSERT_EQ(before.trials.size(), 5U) << format;
    const Comparison same = compare(before, before, {}),
                     slower = compare(before, read(written(of_five(1.5))), {});
    EXPECT_EQ(same.count(Standing::same), 5U) << format << ": " << same.rows[0].why;
    EXPECT_EQ(to_string(slower.rows[0].standing), "slower") << format << ": " << slower.rows[0].why;
    EXPECT_EQ(slower.count(Standing::same), 4U) << format << ": " << slower.rows[1].why;
  }
}

TEST_F(ForeignResults, OfCriterionAndNvbenchGetVerdicts) {
  std::vector<Results> criterion, nvbench;
  std::filesystem::create_directories(folder_ / "a/new");
  std::filesystem::create_directories(folder_ / "results-bin");
  for (const double first : {1.0, 3.0}) {
    const Samples samples = of_five(first);
    write_file(
        folder_ / "a/new/sample.json",
        fmt::format(R"({{"iters": {}, "times": {}}})", list(std::vector<double>(10, 1)), list(samples[0])));
    criterion.push_back(read_any_results(folder_ / "a/new/sample.json"));
    const std::string states = rows_of(samples, [&](std::size_t i, const std::vector<double>& row) {
      const std::vector<float> floats(row.begin(), row.end());
      const std::string name = fmt::format("results-bin/{}.bin", i);
      write_file(folder_ / name,
                 std::string(reinterpret_cast<const char*>(floats.data()), 4 * floats.size()));
      return fmt::format(R"({{"name": "s{}", "summaries": [{{"tag": "nv/json/bin:nv/cold/sample_times",
        "data": [{{"name": "filename", "value": "{}"}}]}}]}})",
                         i, name);
    });
    nvbench.push_back(read(R"({"benchmarks": [{"name": "copy", "states": [)" + states + "]}]}"));
  }
  for (const auto* results : {&criterion, &nvbench}) {
    const Comparison found = compare(results->at(0), results->at(1), {});
    EXPECT_EQ(to_string(found.rows.at(0).standing), "slower") << found.rows[0].why;
  }
}

/// A file of two records, the first of which has a fault, and what is said of that.
struct OneFault {
  const char* format;
  std::string file;
  const char *key, *remark;
};
std::vector<OneFault> files_of_one_fault() {
  return {
      {"Google Benchmark",
       R"({"context": {}, "benchmarks": [{"name": "A", "real_time": "soon"}, {"name": "B", "real_time": 1}]})",
       "A", "left out: benchmarks[0].real_time: is a string, must be a number"},
      {"Google Benchmark",
       R"({"context": {}, "benchmarks": [{"real_time": 2}, {"name": "A", "real_time": 1}, {"name": "A_BigO", "big_o": "N"}]})",
       "benchmarks[0]", "left out: benchmarks[0]: has no \"name\""},
      {"hyperfine", R"({"results": [{"command": 3, "times": [1]}, {"command": "b", "times": [1]}]})",
       "results[0]", "left out: results[0].command: is a number, must be a string"},
      {"hyperfine", R"({"results": [{"command": "a", "times": 1}, {"command": "b", "times": [1]}]})", "a",
       "left out: results[0].times: is a number, must be an array"},
      {"pytest-benchmark",
       R"({"machine_info": {}, "benchmarks": [{"name": "a"}, {"name": "b", "stats": {"median": 1}}]})", "a",
       "left out: benchmarks[0]: has no \"stats\""},
      {"nvbench",
       R"({"benchmarks": [{"name": "c", "states": [{"name": "1"}, {"name": "2", "is_skipped": true}]}]})",
       "c [1]", "left out: benchmarks[0].states[0]: has no \"summaries\""},
      {"JMH", R"([{"benchmark": "a", "primaryMetric": 1},
        {"benchmark": "b", "primaryMetric": {"scoreUnit": "s/op", "score": 1}}])",
       "a", "left out: [0].primaryMetric: is a number, must be an object"},
      {"cargo-criterion", R"({"reason": "benchmark-complete", "id": "a", "measured_values": [1]}
{"reason": "benchmark-complete", "id": "b", "measured_values": [1], "iteration_count": [1]}
)",
       "a", "left out: [0]: has no \"iteration_count\""},
      {"asv", R"({"result_columns": ["result"], "results": {"time_a": 3, "time_b": [[1]]}})",
       "results.time_a", "left out: results.time_a: is a number, must be an array"},
      {"llama-bench", llama_rows({R"("n_threads": 8, "cpu_info": 3)", R"("n_threads": 4)"}),
       "m.gguf pp512 tg64 [n_threads=8]", "left out: [0].cpu_info: is a number, must be a string"},
      {"Go", "{\"Action\": \"output\", \"Output\": 3}\n" + go_event("a", "BenchmarkF 1 2 ns/op\n"), "[0]",
       "left out: [0].Output: is a number, must be a string"}};
}

TEST_F(ForeignResults, LeaveOutARecordThatCannotBeRead) {
  for (const OneFault& one : files_of_one_fault()) {
    const Results results = read(one.file);
    ASSERT_EQ(results.trials.size(), 2U) << one.format;
    EXPECT_EQ(results.trials[1].key, one.key) << one.format;
    EXPECT_EQ(results.trials[1].remark, one.remark) << one.format;
    EXPECT_TRUE(results.trials[1].launches.empty()) << one.format;
    EXPECT_THAT(results.trials[0].remark, ::testing::Not(HasSubstr("left out"))) << one.format;
  }
}

TEST_F(ForeignResults, RemarkOnATrialThatHasOtherRecords) {
  const auto row = [](const char* time) { return fmt::format(R"({{"name": "A", "real_time": {}}})", time); };
  const Results results = read(fmt::format(R"({{"context": {{}}, "benchmarks": [{}, {}, {}, {}]}})", row("1"),
                                           row("\"x\""), row("true"), row("2")));
  ASSERT_EQ(results.trials.size(), 1U);
  EXPECT_EQ(results.trials[0].launches.size(), 2U);
  EXPECT_THAT(results.trials[0].remark,
              ::testing::AllOf(HasSubstr("benchmarks[1].real_time"),
                               ::testing::Not(HasSubstr("benchmarks[2].real_time"))))
      << "the first stands for all";
}

TEST_F(ForeignResults, OfWhichNothingIsLeftAreRefused) {
  const char* const records = R"("benchmarks": [{"name": "A", "real_time": "x"}, {"name": "B"}]})";
  EXPECT_THAT(reading(R"({"context": {}, )" + std::string(records)),
              says("benchmarks[0].real_time: is a string, must be a number\n  write it again"));
  EXPECT_THAT(reading(R"({"context": {"num_cpus": 0}, "benchmarks": [{"name": "A", "real_time": 1},
    {"name": "B", "real_time": 1}]})"),
              says("context.num_cpus: is 0"));
}

TEST_F(ForeignResults, OfAnUnknownKindAreRefused) {
  EXPECT_THAT(reading("{\"rows\": []}"), says("schema"));
  EXPECT_THAT(reading("{\"rows\": []}"),
              says("\n  files of these are read: assay, Google Benchmark, pytest-benchmark, nvbench,\n"
                   "  hyperfine, benchdnn, JMH, criterion, cargo-criterion, asv, llama-bench, Go,\n  Go "
                   "events, Catch2"));
  EXPECT_THAT(reading(""), says("results: is empty"));
  EXPECT_THAT(reading("perfect\n"),
              says("is neither JSON nor a text of a known format\n  files of these are"));
  EXPECT_THAT(reading("{perfect\n"), says("invalid JSON at line 1, column 2"));
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
