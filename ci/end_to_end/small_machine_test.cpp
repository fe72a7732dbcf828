// The program on machines that are smaller than this one, or busier: as a container, a batch system or a user
// limits it.

#include "program.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <sched.h>

namespace assay::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

/// As sh sets it: 1 GiB of address space.
constexpr const char* one_gibibyte = "ulimit -v 1048576 && ";

class SmallMachine : public ::testing::Test {
 protected:
  void SetUp() override { folder_.write("tiny.json", tiny_suite); }
  Finished run(const std::string& before, const std::string& arguments) {
    return run_shell(before + "'" ASSAY_PROGRAM "' " + arguments, folder_.path());
  }
  bool starts_within_the_limit() {
    const std::string is_set = "grep -q 'address space *1073741824 ' /proc/self/limits";
    return run_shell(one_gibibyte + is_set, folder_.path()).exit_code == 0 &&
           run(one_gibibyte, "--version").exit_code == 0;
  }
  Folder folder_;
};

TEST_F(SmallMachine, RefusesACaseThatNeedsMoreMemoryThanItsLimit) {
  if (!starts_within_the_limit()) GTEST_SKIP() << "sanitizers and emulators take more";
  // Two inputs and an output of 1 GiB each.
  folder_.write("large.json", R"({"schema": 1, "name": "large", "about": "x",
    "cases": [{"op": "gemm", "m": 16384, "n": 16384, "k": 16384}]})");
  const std::string before = folder_.listing();
  for (const char* arguments : {"run gemm/m=16384,n=16384,k=16384 -k naive -o r.json",
                                "run --suite large.json --launches 1 -o r.json", "check --suite large.json",
                                "record --suite large.json --reason x --baselines b"}) {
    const Finished done = run(one_gibibyte, arguments);
    EXPECT_EQ(done.exit_code, 2) << arguments << "\n" << done.output << done.errors;
    EXPECT_THAT(done.errors, AllOf(HasSubstr("gemm/m=16384,n=16384,k=16384: needs "),
                                   ContainsRegex("GiB of 1[.0]* GiB are available"),
                                   HasSubstr("lift the limit on memory")))
        << arguments;
    EXPECT_EQ(folder_.listing(), before) << arguments;
  }
}

TEST_F(SmallMachine, MeasuresWhatFitsIntoItsLimit) {
  if (!starts_within_the_limit()) GTEST_SKIP() << "sanitizers and emulators take more";
  const Finished done = run(one_gibibyte, "run --suite tiny.json -k 'gemm/packed' --launches 1 -o r.json");
  EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
  EXPECT_FALSE(Json::parse(folder_.read("r.json")).at("roofs").empty());
}

// hwloc takes the topology of this variable for that of the machine.
TEST_F(SmallMachine, HasOneThreadForAllHardwareThreadsOfACore) {
  const std::string list = "run --suite tiny.json -k 'gemm/threaded' --benchmark_list_tests=true";
  const Finished done = run("HWLOC_SYNTHETIC='core:1 pu:1024' ", list);
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(done.output, AllOf(ContainsRegex("gemm/threaded.*#1\n"), Not(ContainsRegex("#[^1]"))));
}

/// Leaves this thread, and what it starts, two of its processors; all again when it goes.
class TwoProcessors {
 public:
  TwoProcessors() {
    sched_getaffinity(0, sizeof all_, &all_);
    cpu_set_t two;
    CPU_ZERO(&two);
    for (std::size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&two) < 2; ++i) {
      if (CPU_ISSET(i, &all_)) CPU_SET(i, &two);
    }
    sched_setaffinity(0, sizeof two, &two);
  }
  ~TwoProcessors() { sched_setaffinity(0, sizeof all_, &all_); }
  TwoProcessors(const TwoProcessors&) = delete;
  TwoProcessors& operator=(const TwoProcessors&) = delete;

 private:
  cpu_set_t all_{};
};

TEST_F(SmallMachine, RunsManyMoreThreadsThanItHasProcessorsAndNamesNobody) {
  const TwoProcessors two;
  const Finished done =
      run("timeout 300 ", "run --suite tiny.json -k 'gemm/threaded' --threads 128 --launches 1 -o r.json");
  EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
  int crowded = 0;
  const Json results = Json::parse(folder_.read("r.json"));
  for (const Json& trial : results.at("trials")) {
    EXPECT_TRUE(trial.at("agreement").at("agrees").get<bool>()) << trial.dump();
    EXPECT_FALSE(trial.contains("failure") || trial.contains("impossible")) << trial.dump();
    EXPECT_EQ(trial.at("launches").size(), 1U) << trial.dump();
    if (trial.at("threads") == 128) ++crowded;
  }
  EXPECT_EQ(crowded, 2) << "of each product";
}

}  // namespace
}  // namespace assay::testing
