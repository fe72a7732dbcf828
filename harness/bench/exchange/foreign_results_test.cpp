#include "bench/exchange/read_results.hpp"

#include "assay/compare.hpp"
#include "assay/error.hpp"

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
      "secondaryMetrics": {{}}}})",
        mode, unit, raw);
  };
  const Results results =
      read(fmt::format("[{}, {}, {}]", row("avgt", "us/op", "[[2.0, 3.0], [4.0]]"),
                       row("thrpt", "ops/ms", "[[2.0, 0.0]]"), row("sample", "ns/op", "[]")));
  EXPECT_EQ(results.suite, "JMH");
  ASSERT_EQ(results.trials.size(), 3U);
  EXPECT_EQ(results.trials[0].key, "org.B.f [mode=avgt size=100]");
  ASSERT_EQ(results.trials[0].launches.size(), 2U) << "a fork is a process";
  EXPECT_DOUBLE_EQ(results.trials[0].launches[0][1].seconds, 3e-6);
  EXPECT_EQ(results.trials[1].key, "org.B.f [mode=thrpt size=100]");
  EXPECT_DOUBLE_EQ(results.trials[1].launches.at(0).at(0).seconds, 0.5e-3)
      << "twice the rate is half the time";
  EXPECT_DOUBLE_EQ(results.trials[2].launches.at(0).at(0).seconds, 4e-9);
  EXPECT_THAT(reading("[" + row("avgt", "furlong/op", "[]") + "]"), says("scoreUnit: is furlong/op"));
}

TEST_F(ForeignResults, OfCriterionAreItsSamples) {
  std::filesystem::create_directories(folder_ / "fib/new");
  write_file(folder_ / "fib/new/sample.json",
             R"({"sampling_mode": "Linear", "iters": [2.0, 4.0], "times": [200.0, 600.0]})");
  const Results results = read_any_results(folder_ / "fib/new/sample.json");
  EXPECT_EQ(results.trials.at(0).key, "fib");
  ASSERT_EQ(results.trials[0].launches.size(), 1U) << "one process has one luck";
  EXPECT_DOUBLE_EQ(results.trials[0].launches[0].at(1).seconds, 150e-9);
  const std::string message = R"({"reason": "benchmark-complete", "id": "g/)",
                    rest = R"(", "iteration_count": [2], "measured_values": [8.0], "unit": "us"})";
  const Results messages =
      read(message + "a" + rest + "\n" + message + "b" + rest + "\n{\"reason\": \"group-complete\"}\n");
  ASSERT_EQ(messages.trials.size(), 2U);
  EXPECT_EQ(messages.trials[1].key, "g/b");
  EXPECT_DOUBLE_EQ(messages.trials[1].launches.at(0)[0].seconds, 4e-6);
}

TEST_F(ForeignResults, OfAsvHaveATrialPerSetOfParameters) {
  const Results results = read(R"({"version": 2, "commit_hash": "abc", "params": {"cpu": "Zen"},
    "result_columns": ["result", "params", "version", "samples"], "results": {
    "s.time_f": [[1e-3, NaN, 3e-3, 4e-3], [["1", "2"], ["'a'", "'b'"]], "v", [[1e-3, 2e-3], null, null, null]],
    "s.peakmem_g": [[100], [], "v"], "s.time_failed": [null, []]}, "durations": {}})");
  EXPECT_EQ(results.commit, "abc");
  ASSERT_EQ(results.trials.size(), 5U);
  EXPECT_EQ(results.trials[1].key, "s.time_f(1, 'b')") << "the last parameter changes fastest";
  EXPECT_EQ(results.trials[0].launches.at(0).size(), 2U);
  EXPECT_FALSE(is_measured(results.trials[1]));
  EXPECT_DOUBLE_EQ(results.trials[2].launches.at(0).at(0).seconds, 3e-3);
  EXPECT_THAT(results.trials[2].remark, HasSubstr("--record-samples"));
  EXPECT_EQ(results.trials[4].skipped, "reports: no time, but what its name tracks");
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
    EXPECT_EQ(results.trials[1].key, "llama.gguf [n_threads=8 type_k=f16 n_prompt=0 n_gen=128]");
    ASSERT_EQ(results.trials[1].launches.size(), 2U);
    EXPECT_DOUBLE_EQ(results.trials[1].launches[1][0].seconds, 2e-6);
  }
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
}

TEST_F(ForeignResults, OfCatch2AreItsMeans) {
  const Results results = read(R"(<?xml version="1.0" encoding="UTF-8"?>
<Catch2TestRun name="b" rng-seed="1">
  <TestCase name="of &lt;int&gt;" filename="b.cpp">
    <BenchmarkResults name="Fib 20" samples="100" iterations="3">
      <mean value="1500.5" lowerBound="1400" upperBound="1600" ci="0.95"/>
      <standardDeviation value="3"/>
    </BenchmarkResults>
  </TestCase>
</Catch2TestRun>
)");
  ASSERT_EQ(results.trials.size(), 1U);
  EXPECT_EQ(results.trials[0].key, "of <int>/Fib 20");
  EXPECT_DOUBLE_EQ(results.trials[0].launches.at(0)[0].seconds, 1500.5e-9);
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

TEST_F(ForeignResults, OfAnUnknownKindAreRefused) {
  EXPECT_THAT(reading("{\"rows\": []}"), says("schema"));
  EXPECT_THAT(reading("{\"rows\": []}"),
              says("files of these are read: assay, Google Benchmark, pytest-benchmark, nvbench, hyperfine, "
                   "benchdnn, JMH, criterion, cargo-criterion, asv, llama-bench, Go, Catch2"));
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
