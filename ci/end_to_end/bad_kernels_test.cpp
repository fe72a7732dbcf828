// Kernels that crash, hang, exit or throw, among others that are right: each costs its own row.

#include "program.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <thread>

namespace assay::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

/// A case that has bad variants, between two that have none.
constexpr const char* suite =
    R"({"schema": 1, "name": "tiny", "about": "end to end", "steps_per_epoch": 10,
 "cases": [{"op": "elementwise_relu", "n": 1, "c": 2, "h": 16, "w": 16, "per_step": 1},
           {"op": "gemm", "m": 24, "n": 24, "k": 25, "per_step": 2},
           {"op": "elementwise_add", "n": 1, "c": 2, "h": 16, "w": 16, "per_step": 1}]})";

constexpr const char* selected = " --suite tiny.json --threads 1 --time-limit 2 -k 'bad|packed|flat' ";

/// The reason that is given for each bad variant.
const std::map<std::string, std::string> reasons{{"bad_crash", "was ended by signal 6"},
                                                 {"bad_hang", "did not end within 2 s"},
                                                 {"bad_exit", "called exit(0)"},
                                                 {"bad_throw", "threw std::runtime_error: no such tile"},
                                                 {"bad_late_crash", "was ended by signal 6"},
                                                 {"bad_late_hang", "did not end within 2 s"}};

/// Each bad trial of a result file failed by name and with its reason, and every other one was measured.
void expect_others_whole(const Json& results) {
  EXPECT_FALSE(results.at("partial").get<bool>());
  std::size_t bad = 0, good = 0;
  for (const Json& trial : results.at("trials")) {
    const std::string variant = trial.at("variant");
    const auto reason = reasons.find(variant);
    if (reason == reasons.end()) {
      ++good;
      EXPECT_FALSE(trial.contains("failure")) << variant;
      EXPECT_FALSE(trial.at("launches").empty()) << variant;
      for (const Json& launch : trial.at("launches")) EXPECT_FALSE(launch.empty()) << variant;
      continue;
    }
    ++bad;
    ASSERT_TRUE(trial.contains("failure")) << variant;
    EXPECT_THAT(trial.at("failure").at("reason").get<std::string>(), HasSubstr(reason->second)) << variant;
    EXPECT_EQ(trial.at("failure").at("kind") == "timed out", reason->second.starts_with("did not"))
        << variant;
    EXPECT_TRUE(trial.at("launches").empty()) << variant;
  }
  EXPECT_EQ(bad, reasons.size());
  EXPECT_GE(good, 6u) << "naive, and packed or flat, in three cases";
}

class BadKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("tiny.json", suite);
    script("base", "export ASSAY_FAULT=benign\nexec '" ASSAY_PROGRAM "' \"$@\"\n");
    script("endless", "exec 3>hangs\nprintf ! >&3\nexec sleep 1000\n");
  }
  void script(const std::string& name, const std::string& lines) {
    const auto file = folder_.write(name, "#!/bin/sh\n" + lines);
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  Finished run(const std::string& arguments, const std::string& plant = "bad") {
    return run_program(arguments, folder_.path(), plant);
  }
  Json read(const std::string& name) { return Json::parse(folder_.read(name)); }
  Folder folder_;
};

TEST_F(BadKernels, AreNamedByACheckThatGoesOn) {
  const Finished done = run("check -k '^gemm/(bad|naive|reordered)' --time-limit 2 --json check.json");
  EXPECT_EQ(done.exit_code, 4) << done.output << done.errors;
  EXPECT_THAT(done.last_lines(1), AllOf(HasSubstr("CRASHED: "), HasSubstr("gemm/bad_exit at "),
                                        HasSubstr("it called exit(0)"), HasSubstr("did not end within 2 s")));
  EXPECT_THAT(done.output, HasSubstr("assay_planted check -k '^gemm/bad_crash$' --time-limit 2"));
  const Json json = read("check.json");
  std::map<std::string, int> agree, failed;
  for (const Json& row : json.at("checks")) {
    if (row.contains("skipped")) continue;
    const std::string variant = row.at("variant");
    ++(row.contains("failure") ? failed : agree)[variant];
  }
  for (const auto& [variant, reason] : reasons) EXPECT_EQ(failed[variant], 1) << variant;
  EXPECT_EQ(failed.size(), reasons.size());
  EXPECT_EQ(agree["naive"], agree["reordered"]) << "others are checked on everything";
}

TEST_F(BadKernels, CostTheirOwnRowOfARun) {
  const Finished done = run("run" + std::string(selected) + "--launches 2 -o r.json");
  EXPECT_EQ(done.exit_code, 4) << done.output << done.errors;
  EXPECT_THAT(done.last_lines(1),
              AllOf(HasSubstr("CRASHED: "), HasSubstr("gemm/bad_throw/"), HasSubstr("no such tile")));
  EXPECT_THAT(done.output,
              AllOf(HasSubstr("TIMED OUT: did not end within 2 s"), HasSubstr("CRASHED: called exit(0)")));
  expect_others_whole(read("r.json"));
}

TEST_F(BadKernels, CostTheirOwnRowOfARecordingAndOfItsGate) {
  const std::string all = " --suite tiny.json --threads 1 --time-limit 2 --launches 2 ";
  const Finished recorded = run("record" + all + "--baselines b --reason first");
  EXPECT_EQ(recorded.exit_code, 4) << recorded.output << recorded.errors;
  EXPECT_THAT(recorded.output, HasSubstr("RECORDED: "));
  const Finished gated = run("gate" + all + "--baselines b -k 'bad|packed|flat' -o g.json --junit g.xml");
  EXPECT_EQ(gated.exit_code, 4) << gated.output << gated.errors;
  EXPECT_THAT(gated.last_lines(1), HasSubstr("CRASHED: "));
  EXPECT_THAT(folder_.read("g.xml"),
              AllOf(HasSubstr("<error type=\"crashed\""), HasSubstr("<error type=\"timed out\"")));
  expect_others_whole(read("g.json"));
}

TEST_F(BadKernels, OfAHeadFailTheGateOfTwoBuildsAndTheOthersAreDecided) {
  const Finished done =
      run("gate --base ./base --identical --budget 20" + std::string(selected) + "-o g.json");
  EXPECT_EQ(done.exit_code, 4) << done.output << done.errors;
  EXPECT_THAT(done.last_lines(1), AllOf(HasSubstr("CRASHED: "), HasSubstr("the head called exit(0)")));
  std::size_t bad = 0;
  const Json json = read("g.json");
  for (const Json& trial : json.at("trials")) {
    const std::string key = trial.at("key");
    const bool is_bad = key.find("/bad_") != std::string::npos;
    bad += is_bad ? 1 : 0;
    EXPECT_EQ(trial.at("launches").empty(), is_bad) << key;
  }
  EXPECT_EQ(bad, reasons.size());
}

TEST_F(BadKernels, CostTheirOwnRowOfASelfTest) {
  const Finished done =
      run("selftest --runs 2 --planted-runs 0 --budget 10 -o raw.jsonl --md r.md" + std::string(selected));
  EXPECT_EQ(done.exit_code, 4) << done.output << done.errors;
  EXPECT_THAT(folder_.read("r.md"), HasSubstr("called exit(0)"));
  const std::string raw = folder_.read("raw.jsonl");
  EXPECT_EQ(std::count(raw.begin(), raw.end(), '\n'), 2);
  const Json json = Json::parse(raw.substr(0, raw.find('\n')));
  for (const Json& trial : json.at("trials")) {
    const std::string key = trial.at("key");
    EXPECT_EQ(trial.at("launches").empty(), key.find("/bad_") != std::string::npos) << key;
  }
}

/// A pipe that a kernel which hangs holds open.
class HangingKernel {
 public:
  explicit HangingKernel(const std::filesystem::path& folder) {
    const auto file = folder / "hangs";
    mkfifo(file.c_str(), 0600);
    pipe_ = open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  }
  ~HangingKernel() { close(pipe_); }
  HangingKernel(const HangingKernel&) = delete;
  HangingKernel& operator=(const HangingKernel&) = delete;

  /// Waits until it hangs.
  bool hangs() const { return next() == 1; }
  /// Waits until no process has the pipe.
  bool has_ended() const { return next() == 0; }

 private:
  ssize_t next() const {
    pollfd pipe{.fd = pipe_, .events = POLLIN, .revents = 0};
    constexpr int deadline = 60'000;
    if (poll(&pipe, 1, deadline) != 1) return -1;
    char said = 0;
    return read(pipe_, &said, 1);
  }
  int pipe_;
};

// Its limit would end the kernel after half an hour only.
TEST_F(BadKernels, ThatHangEndWithTheProgramHoweverItEnds) {
  const std::string one = " --suite tiny.json --threads 1 --time-limit 2000 ";
  const Finished recorded =
      run("record --suite tiny.json --threads 1 --launches 1 --baselines b --reason first", "benign");
  ASSERT_EQ(recorded.exit_code, 0) << recorded.errors;
  for (const std::string& verb :
       {"check -k bad_hang" + one, "run -k late_hang -o r.json" + one,
        "gate --baselines b -k late_hang" + one, "gate --base ./base --identical -k bad_hang" + one,
        "selftest --runs 1 --planted-runs 0 -k late_hang" + one, "gate --base ./endless" + one,
        std::string("gate --base ./endless --head ./base")}) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGKILL}) {
      SCOPED_TRACE(verb + strsignal(signal));
      const HangingKernel kernel(folder_.path());
      Running program(verb, folder_.path(), "bad");
      ASSERT_TRUE(kernel.hangs());
      program.send(signal);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      program.send(signal);  // as `timeout` does, which signals its child and then the group
      const Finished done = program.wait();
      EXPECT_EQ(done.exit_code, signal == SIGKILL ? -SIGKILL : 130) << done.output << done.errors;
      if (signal != SIGKILL) {
        EXPECT_THAT(done.output, HasSubstr("INTERRUPTED")) << done.errors;
      }
      EXPECT_TRUE(kernel.has_ended());
    }
  }
  EXPECT_TRUE(read("r.json").at("partial").get<bool>());
}

}  // namespace
}  // namespace assay::testing
