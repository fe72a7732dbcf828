// The ledger from the outside: accepted, run out, withdrawn, and a chain of steps without gaps.

#include "program.hpp"

#include <gmock/gmock.h>

namespace assay::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* key = "gemm/packed/m=24,n=24,k=25#1";

class LedgerProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("tiny.json", R"({"schema": 1, "name": "tiny", "about": "end to end", "steps_per_epoch": 1,
 "cases": [{"op": "gemm", "m": 24, "n": 24, "k": 25, "per_step": 2}]})");
  }
  /// Runs on a day in October 2026.
  Finished run(int day, const std::string& arguments, const std::string& plant = "") {
    return run_shell("ASSAY_TODAY=2026-10-" + std::string(day < 10 ? "0" : "") + std::to_string(day) +
                         " ASSAY_FAULT='" + plant + "' '" ASSAY_PROGRAM "' " + arguments,
                     folder_.path());
  }
  Finished record(int day, const std::string& arguments) {
    return run(day, "record --suite tiny.json --baselines b " + arguments);
  }
  Finished gate(int day, const std::string& more = "", const std::string& plant = "") {
    return run(day, "gate --suite tiny.json --baselines b --launches 4 --record-missing b -k packed " + more,
               plant);
  }
  Finished accept(int day, const std::string& until) {
    return record(day,
                  std::string("--accept '") + key + "' --ratio 40 --reason 'exact tails' --until " + until);
  }
  Folder folder_;
};

TEST_F(LedgerProgram, AcceptsWithoutMeasuringAndOnlyWhatThereIs) {
  const Finished done = accept(1, "2026-10-20");
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(done.last_lines(1),
              HasSubstr("ACCEPTED: gemm/packed/m=24,n=24,k=25#1 up to 40x until 2026-10-20"));
  EXPECT_EQ(folder_.listing(), "b/tiny.ledger.json\ntiny.json\n");
  const std::string before = folder_.read("b/tiny.ledger.json");
  struct Bad {
    std::string arguments, complaint;
  };
  for (const auto& [arguments, complaint] : std::vector<Bad>{
           {"--accept 'gemm/paked/m=24,n=24,k=25#1' --reason x --until 2026-10-20", key},
           {"--accept x --reason x --until 2026-10-20", "is no trial of suite tiny"},
           {"--accept '' --reason x --until 2026-10-20", "is no trial of suite tiny"},
           {std::string("--accept '") + key + "' --reason x --until 2026-09-30", "is past"},
           {std::string("--accept '") + key + "' --reason x --until 2026-02-30", "is no day"},
           {std::string("--accept '") + key + "' --reason '' --until 2026-10-20", "says nothing"},
           {std::string("--accept '") + key + "' --reason x --until 2026-10-20 --ratio 0.9", "--ratio"},
           {"--withdraw x", "was not accepted"},
           {"--withdraw ''", "was not accepted"},
           {"--release ''", "names nothing"}}) {
    const Finished refused = record(1, arguments);
    EXPECT_EQ(refused.exit_code, 2) << arguments << refused.output;
    EXPECT_THAT(refused.errors, HasSubstr(complaint)) << arguments;
    EXPECT_EQ(folder_.read("b/tiny.ledger.json"), before) << arguments;
  }
}

TEST_F(LedgerProgram, PassesASlowDownThatWasAcceptedUntilTheDayIsPast) {
  ASSERT_EQ(gate(1).exit_code, 0);
  const Finished red = gate(1, "", "slower=4");
  EXPECT_EQ(red.exit_code, 1) << red.output;
  EXPECT_THAT(red.last_lines(2), AllOf(HasSubstr("--accept 'gemm/packed/"), HasSubstr("REGRESSION")));
  ASSERT_EQ(accept(1, "2026-10-20").exit_code, 0);

  const Finished accepted = gate(2, "--reports r", "slower=4");
  EXPECT_EQ(accepted.exit_code, 0) << accepted.output << accepted.errors;
  EXPECT_THAT(accepted.last_lines(1),
              AllOf(ContainsRegex("^(PASSED:|DECIDED) .*none slower"), HasSubstr("1 accepted")));
  EXPECT_THAT(accepted.output, HasSubstr("no release is set"));
  const Finished warned = gate(6, "", "slower=4");
  EXPECT_EQ(warned.exit_code, 0) << warned.output;
  EXPECT_THAT(warned.output, HasSubstr("runs out in 14 days"));

  // The slow-down is gone, and the promise still stands in the ledger: somebody has to say that it was kept.
  const Finished expired = gate(21);
  EXPECT_EQ(expired.exit_code, 1) << expired.output;
  EXPECT_THAT(expired.last_lines(1), HasSubstr("EXPIRED: the acceptance of gemm/packed"));
  EXPECT_THAT(expired.output, HasSubstr("--withdraw 'gemm/packed/"));
  ASSERT_EQ(record(21, std::string("--withdraw '") + key + "'").exit_code, 0);
  EXPECT_NE(gate(21).exit_code, 1) << "of two unchanged rows none may be decided beside other tests";
}

TEST_F(LedgerProgram, FailsForAPromiseThatWasNotKeptOnAMachineWithoutABaseline) {
  ASSERT_EQ(accept(1, "2026-10-20").exit_code, 0);
  const Finished done = gate(21, "--reports r --junit j.xml");
  EXPECT_EQ(done.exit_code, 1) << done.output;
  EXPECT_THAT(folder_.read("j.xml"), HasSubstr("<failure type=\"expired\""));
  EXPECT_THAT(done.last_lines(1), HasSubstr("EXPIRED"));
  const std::filesystem::directory_iterator machine(folder_.path() / "r");
  EXPECT_THAT(folder_.read("r/" + machine->path().filename().string() + "/tiny.md"),
              HasSubstr("# Suite `tiny`: EXPIRED"));
}

TEST_F(LedgerProgram, RecordsNoStepAcrossAGapAndFindsOutBeforeItMeasures) {
  const std::string step = "gate --suite tiny.json --baselines b --launches 2 --record-step";
  EXPECT_THAT(run(1, step).errors, HasSubstr("--baselines b: is no folder"));
  folder_.write("b/made", "");
  EXPECT_THAT(run(1, step).errors, HasSubstr("there is no ledger of this suite"));
  ASSERT_EQ(record(1, "--release deadbeef").exit_code, 0);
  ASSERT_EQ(gate(1).exit_code, 0);
  const Finished done = run(1, step);
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.errors, HasSubstr("--record-step"));
  EXPECT_THAT(done.output, IsEmpty());
}

// Two of three requests live at once, 640 bytes and 64; in a row all are 640 + 64 + 640.
TEST_F(LedgerProgram, PassesAHigherPlanThatWasAcceptedUpToAHeightUntilADay) {
  folder_.write("tiny.json", R"({"schema": 1, "name": "tiny", "about": "end to end", "cases": [
    {"op": "memory_pool_plan", "trace": "net.csv"}]})");
  folder_.write("net.csv", "id,lower,upper,size\na,0,2,640\nb,1,4,64\nc,3,5,640\n");
  const std::string plan = "'memory_pool_plan/planted/trace=net.csv#1'";
  // Figures alone are judged: calls of nanoseconds differ by their neighbours on the machine.
  const auto judge = [&](int day, const std::string& height) {
    return run(day,
               "gate --suite tiny.json --baselines b --launches 4 --limit 100 --record-missing b -k planted",
               "plan=" + height);
  };
  const auto accepts = [&](const std::string& figure) {
    return run(1,
               "record --suite tiny.json --baselines b --accept " + plan + " --figure " + figure +
                   " --until 2026-10-20 --reason 'fewer searches'",
               "plan=low");
  };
  ASSERT_EQ(judge(1, "low").exit_code, 0);
  const Finished red = judge(1, "high");
  EXPECT_EQ(red.exit_code, 1) << red.output << red.errors;
  EXPECT_THAT(red.last_lines(2), AllOf(HasSubstr("--accept " + plan + " --figure 'height=1344' --until DATE"),
                                       HasSubstr("REGRESSION: height 704 → 1,344 bytes")));
  for (const std::string bad : {"height", "height=", "=3", "height=tall", "'height=3 bytes'"}) {
    EXPECT_THAT(accepts(bad).errors, HasSubstr("is no figure with a value")) << bad;
  }
  EXPECT_EQ(accepts("height=1344 --ratio 2").exit_code, 2);

  const Finished done = accepts("height=1344");
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(done.last_lines(1), HasSubstr("up to 1,344 until 2026-10-20"));
  const Finished accepted = judge(2, "high");
  EXPECT_NE(accepted.exit_code, 1) << accepted.output << accepted.errors;
  EXPECT_THAT(accepted.output, AllOf(HasSubstr("1 figure accepted"), Not(HasSubstr("REGRESSION"))));
  ASSERT_EQ(accepts("height=1343").exit_code, 0);
  const Finished beyond = judge(2, "high");
  EXPECT_EQ(beyond.exit_code, 1) << beyond.output;
  EXPECT_THAT(beyond.last_lines(1), HasSubstr("beyond the 1,343 bytes accepted until 2026-10-20"));

  ASSERT_EQ(accepts("height=1344").exit_code, 0);
  const Finished late = judge(21, "high");
  EXPECT_EQ(late.exit_code, 1) << late.output;
  EXPECT_THAT(late.output, AllOf(HasSubstr("EXPIRED: the acceptance of height of memory_pool_plan/planted"),
                                 HasSubstr("its acceptance ran out on 2026-10-20")));
  const Finished mended = judge(21, "low");
  EXPECT_EQ(mended.exit_code, 1) << mended.output;
  EXPECT_THAT(mended.last_lines(1), HasSubstr("EXPIRED: the acceptance of height"));
  ASSERT_EQ(record(21, "--withdraw " + plan + " --figure height").exit_code, 0);
  EXPECT_NE(judge(21, "low").exit_code, 1);
}

TEST_F(LedgerProgram, RefusesALedgerThatIsCutOff) {
  ASSERT_EQ(accept(1, "2026-10-20").exit_code, 0);
  const std::string whole = folder_.read("b/tiny.ledger.json");
  folder_.write("b/tiny.ledger.json", whole.substr(0, whole.size() / 2));
  const Finished done = gate(1);
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.errors, AllOf(HasSubstr("tiny.ledger.json"), HasSubstr("ends in the middle")));
  EXPECT_THAT(done.output, IsEmpty());
}

}  // namespace
}  // namespace assay::testing
