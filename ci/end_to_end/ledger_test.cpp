// The ledger from the outside: accepted, run out, withdrawn, and a chain of steps without gaps.

#include "program.hpp"

#include <gmock/gmock.h>

namespace assay::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
                         " ASSAY_PLANT='" + plant + "' '" ASSAY_PROGRAM "' " + arguments,
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
  EXPECT_THAT(accepted.last_lines(1), AllOf(HasSubstr("PASSED"), HasSubstr("1 accepted")));
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
