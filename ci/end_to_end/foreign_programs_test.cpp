// Gates of programs that are not assay's, from the outside: of Google Benchmark, and any other command. Where
// time is measured, the tests ask for what even a busy machine shows: a planted half more is found, and
// nothing unchanged is slower.

#include "program.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace assay::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr int undecided = 3;

class ForeignPrograms : public ::testing::Test {
 protected:
  void SetUp() override { program("old", "exec '" FOREIGN_BENCHMARK "' \"$@\"\n"); }
  void program(const std::string& name, const std::string& script) {
    std::filesystem::permissions(folder_.write(name, "#!/bin/sh\n" + script),
                                 std::filesystem::perms::owner_all);
  }
  Finished gate(const std::string& arguments, const std::string& plant = "") {
    program("new", "FOREIGN_PLANT=" + plant + " exec '" FOREIGN_BENCHMARK "' \"$@\"\n");
    return run_program("gate --base ./old --head ./new " + arguments, folder_.path());
  }
  Finished wrap(const std::string& arguments) { return run_program("wrap " + arguments, folder_.path()); }
  Folder folder_;
};

TEST_F(ForeignPrograms, OfGoogleBenchmarkAreGatedByTheirProcessorTime) {
  const Finished done = gate("-k '^(steady|moved)$' --budget 100 --json verdicts.json -o run.json", "slower");
  EXPECT_EQ(done.exit_code, 1) << done.output << done.errors;
  EXPECT_THAT(done.last_lines(1), HasSubstr("REGRESSION: 1 of 2 trials is slower"));
  EXPECT_THAT(done.output, HasSubstr("times: processor time of 2, all sides at once on one core"));
  const Json verdicts = Json::parse(folder_.read("verdicts.json")).at("verdicts");
  EXPECT_EQ(verdicts.at(0).at("key"), "steady");
  EXPECT_NE(verdicts.at(0).at("standing"), "slower");
  EXPECT_EQ(verdicts.at(1).at("standing"), "slower");
  EXPECT_NEAR(verdicts.at(1).at("ratio").at("middle").get<double>(), 1.5, 0.1);
  EXPECT_EQ(run_program("reanalyze run.json", folder_.path()).output, done.output);
}

TEST_F(ForeignPrograms, OfGoogleBenchmarkAreJudgedByCountersThatAreNamed) {
  const std::string judged = "-k '^moved$' --budget 30 --counter lost=lower";
  const Finished more = gate(judged + " -o run.json", "loses");
  EXPECT_EQ(more.exit_code, 1) << more.output << more.errors;
  EXPECT_THAT(more.output, HasSubstr("lost 100 → 101 (1.0 % more)"));
  EXPECT_EQ(run_program("reanalyze run.json", folder_.path()).exit_code, 1);
  const Finished equal = gate(judged);
  EXPECT_THAT(equal.exit_code, ::testing::AnyOf(0, undecided)) << equal.output;
  EXPECT_THAT(equal.output, HasSubstr("lost 100 as before"));
  const Finished unnamed = gate("-k '^moved$' --budget 30", "loses");
  EXPECT_THAT(unnamed.output, Not(HasSubstr("lost 1")));
  EXPECT_THAT(gate("-k '^moved$' --counter found=higher").errors,
              HasSubstr("--counter found=higher: is counted by no benchmark of both programs"));
  EXPECT_THAT(gate("-k '^moved$' --counter lost").errors, HasSubstr("--counter lost: says no direction"));
}

TEST_F(ForeignPrograms, OfGoogleBenchmarkMayHaveBenchmarksOfAnyKind) {
  const Finished done = gate("-k 'by_hand|small|odd|twice' --budget 4");
  EXPECT_THAT(done.exit_code, ::testing::AnyOf(0, undecided)) << done.output << done.errors;
  EXPECT_THAT(done.output, AllOf(HasSubstr("times: processor time of 2, all sides at once on one core; real "
                                           "time of 2,\n  manual time of 1, one side after the other"),
                                 HasSubstr("not comparable, twice: several have this name"),
                                 Not(HasSubstr("version 7")), Not(HasSubstr("no time for it"))));
}

TEST_F(ForeignPrograms, OfGoogleBenchmarkGoOnWithoutABenchmarkThatCrashes) {
  const Finished done = gate("-k '^(steady|moved)$' --budget 30 --json verdicts.json", "crashes");
  EXPECT_EQ(done.exit_code, 4) << done.output << done.errors;
  EXPECT_THAT(done.last_lines(1), HasSubstr("CRASHED: moved the head was ended by signal 6"));
  EXPECT_THAT(done.output, HasSubstr("about to crash"));
  const Json verdicts = Json::parse(folder_.read("verdicts.json")).at("verdicts");
  EXPECT_GT(verdicts.at(0).at("ratio").at("middle").get<double>(), 0) << "steady was measured all the same";
}

TEST_F(ForeignPrograms, OfGoogleBenchmarkGoOnWithoutABenchmarkThatHangs) {
  const Finished done = gate("-k '^(steady|moved)$' --budget 5 --time-limit 1", "hangs");
  EXPECT_EQ(done.exit_code, 4) << done.output << done.errors;
  EXPECT_THAT(done.last_lines(1), HasSubstr("CRASHED: moved the head did not end within 1 s"));
}

TEST_F(ForeignPrograms, OfGoogleBenchmarkFailWithABenchmarkThatReportsAnErrorInTheHead) {
  const Finished done = gate("-k '^(steady|moved)$' --budget 5", "errors");
  EXPECT_EQ(done.exit_code, 1) << done.output << done.errors;
  EXPECT_THAT(done.last_lines(1), HasSubstr("WRONG: moved of the head reports an error: boom"));
}

TEST_F(ForeignPrograms, OfGoogleBenchmarkRunWhereTheyLieWhenACopyDoesNot) {
  folder_.write("library", "");
  program("here", "[ -e \"${0%/*}/library\" ] || exit 1\nexec '" FOREIGN_BENCHMARK "' \"$@\"\n");
  const Finished done =
      run_program("gate --base ./old --head ./here -k '^steady$' --budget 4", folder_.path());
  EXPECT_THAT(done.exit_code, ::testing::AnyOf(0, undecided)) << done.output << done.errors;
  EXPECT_THAT(done.output, HasSubstr("./here runs where it lies alone"));
}

TEST_F(ForeignPrograms, OfGoogleBenchmarkAreNamedAsTheUserDidWhenTheyFail) {
  program("fails",
          "case \"$*\" in *'filter=^$'*) ;; *list_tests*) echo steady ;; *) echo no such device; exit 3 ;; "
          "esac\n");
  const Finished done =
      run_program("gate --base ./fails --head '" FOREIGN_BENCHMARK "' -k steady", folder_.path());
  EXPECT_EQ(done.exit_code, 2) << done.output;
  EXPECT_THAT(done.errors, HasSubstr("./fails: as base: ended with exit code 3: no such device"));
  const Finished other = run_program("gate --base /bin/true --head ./old", folder_.path());
  EXPECT_EQ(other.exit_code, 2) << other.output;
  EXPECT_THAT(other.errors, HasSubstr("/bin/true: is no program of Google Benchmark"));
  const Finished none = gate("-k no_such_benchmark");
  EXPECT_EQ(none.exit_code, 2) << none.output;
  EXPECT_THAT(none.errors, HasSubstr("selects nothing that both programs have"));
}

TEST_F(ForeignPrograms, MayBeCommandsThatPrintTheirTimes) {
  program("prints", "echo load: $1 us; echo step: $2 ms\n");
  const std::string commands = "--base './prints 100 20' --head './prints 100 30' --budget 30 ";
  const Finished done = wrap(commands + "--match '(\\w+): ([0-9.]+)' -o run.json --json verdicts.json");
  EXPECT_EQ(done.exit_code, 1) << done.output << done.errors;
  EXPECT_THAT(done.last_lines(1), HasSubstr("REGRESSION: 1 of 2 trials is slower"));
  EXPECT_THAT(done.output,
              AllOf(HasSubstr("20.0 ms   30.0 ms  1.500x slower [1.439, 1.563]"),
                    HasSubstr("assay_planted wrap --base './prints 100 20'"), HasSubstr("-k '^step$'")));
  EXPECT_EQ(run_program("reanalyze run.json", folder_.path()).output, done.output);
  const Finished rate = wrap(
      "--base './prints 1 3.00' --head './prints 1 2.00' --budget 30 --match 'step: (.*) ms' "
      "--rate --name steps");
  EXPECT_EQ(rate.exit_code, 1) << rate.output << rate.errors;
  EXPECT_THAT(rate.output, AllOf(HasSubstr("✗ steps"), HasSubstr("1.500x slower"),
                                 HasSubstr("smallest slow-down that would have been seen: ")));
}

TEST_F(ForeignPrograms, MayBeCommandsThatAreTimed) {
  const Finished longer = wrap("--base 'sleep 0.05' --head 'sleep 0.2' --budget 12");
  EXPECT_EQ(longer.exit_code, 1) << longer.output << longer.errors;
  EXPECT_THAT(longer.output, HasSubstr("times: wall time of the commands, the sides one after the other"));
  const Finished same = wrap("--base 'sleep 0.01' --head 'sleep 0.01' --budget 4");
  EXPECT_THAT(same.exit_code, ::testing::AnyOf(0, undecided)) << same.output << same.errors;
}

TEST_F(ForeignPrograms, ThatOnlyComputeShareOneCore) {
  const std::string loop = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
  const Finished done = wrap("--base '" + loop + "' --head '" + loop + ";' --budget 12");
  EXPECT_THAT(done.exit_code, ::testing::AnyOf(0, undecided)) << done.output << done.errors;
  // A sanitized program takes as long to start a command as this one computes.
  if (IS_SANITIZED == 0) {
    EXPECT_THAT(done.output, HasSubstr("processor time of the commands, which do nothing but compute, all"));
  }
  const Finished cold = wrap(
      "--base 'cat old' --head 'cat old' --cold --prepare 'echo x >>log' --setup 'echo y "
      ">>log' --budget 2");
  EXPECT_THAT(cold.output, HasSubstr("wall time of the commands, the sides one after the other"));
  EXPECT_THAT(folder_.read("log"), ::testing::StartsWith("y\nx\nx\n"));
}

TEST_F(ForeignPrograms, ThatAreTheSameInAllThatIsLoadedAreNotMeasured) {
  const Finished done = run_program(
      "gate --base '" FOREIGN_BENCHMARK "' --head '" FOREIGN_BENCHMARK "' -k '^steady$'", folder_.path());
  EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
  EXPECT_THAT(done.output, HasSubstr("1 not measured"));
}

TEST_F(ForeignPrograms, MayTakeLongToStartWhichIsSaidAtOnce) {
  program("slow", "sleep 3\nexec '" FOREIGN_BENCHMARK "' \"$@\"\n");
  const Finished done = run_program(
      "gate --base './slow --benchmark_color=false' --head ./slow -k steady "
      "--budget 20",
      folder_.path());
  EXPECT_EQ(done.exit_code, 2) << done.output;
  EXPECT_THAT(done.errors, AllOf(HasSubstr("./slow: its start-up takes 3."), HasSubstr("--budget 1")));
}

TEST_F(ForeignPrograms, MayBeOneCommandWhoseRunsAreKept) {
  const Finished done =
      wrap("--match 'took ([0-9]+)' --unit ms --launches 20 -o before.json -- sh -c 'echo took 12 --help'");
  EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
  EXPECT_THAT(done.output, AllOf(HasSubstr("sh  12.0 ms"), HasSubstr("20 runs"),
                                 HasSubstr("a gate of 300 s would see a slow-down of ")));
  EXPECT_THAT(done.last_lines(1), HasSubstr("MEASURED: 20 runs of `sh -c 'echo took 12 --help'`"));
  const Json results = Json::parse(folder_.read("before.json"));
  EXPECT_EQ(results.at("trials").at(0).at("key"), "command/printed/sh#1");
  EXPECT_THAT(run_program("compare before.json before.json", folder_.path()).output,
              HasSubstr("command/printed/sh#1"));
  EXPECT_EQ(run_program("report before.json", folder_.path()).exit_code, 0);
}

TEST_F(ForeignPrograms, NameACommandThatCannotBeTimed) {
  struct Bad {
    std::string arguments, complaint;
  };
  for (const auto& [arguments, complaint] : std::vector<Bad>{
           {"--base true --head 'echo no; exit 3'", "`echo no; exit 3`: as head: ended with exit code 3: no"},
           {"--base ./nothing --head true", "`./nothing`: as base: cannot be started: "},
           {"--base true --head 'kill -9 $$'", "as head: was ended by signal 9"},
           {"--base 'echo 1' --head true --match '([0-9])'", "`true`: prints no line that matches '([0-9])'"},
           {"--base 'echo 0' --head true --match '([0-9])'",
            "`echo 0`: prints \"0\", which is no number above 0"},
           {"--base true --head 'sleep 1000' --time-limit 1",
            "`sleep 1000`: as head: did not end within 1 s"},
           {"--base true --head true --match '[0-9'", "--match: '[0-9' is not a regular expression"},
           {"--base true --head true --match '[0-9]'", "--match: '[0-9]' has 0 groups"},
           {"--base true --head true -k other", "filter 'other': selects nothing"},
           {"-- no-such-program", "no-such-program: cannot be started"},
           {"--cpu", "assay wrap: names no command"},
           {"--cpu true", "assay wrap: names no command"},
           {"true -- true", "\"true\" was not expected before --"}}) {
    const Finished done = wrap(arguments);
    EXPECT_EQ(done.exit_code, 2) << arguments << done.output;
    EXPECT_THAT(done.errors, HasSubstr(complaint)) << arguments;
  }
}

}  // namespace
}  // namespace assay::testing
