#include "app/ledger_use.hpp"

#include "assay/error.hpp"
#include "bench/ledger/hand_made_ledger.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <cstdlib>

namespace assay {
namespace {

namespace fs = std::filesystem;
using hand_made::commit;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Today, IsTheDayThatTheVariableNames) {
  ::setenv("ASSAY_TODAY", "2026-10-01", 1);
  EXPECT_EQ(date_text(today()), "2026-10-01");
  for (const char* bad : {"", "soon", "2026-02-30", "1790812800"}) {
    ::setenv("ASSAY_TODAY", bad, 1);
    EXPECT_THAT([] { today(); }, ThrowsMessage<Error>(HasSubstr("is no day"))) << bad;
  }
  ::unsetenv("ASSAY_TODAY");
}

TEST(Today, IsNotTheDayOfASource) {
  ::setenv("SOURCE_DATE_EPOCH", "86399", 1);
  EXPECT_GT(today(), hand_made::day("2026-01-01")) << "acceptances that ran out would be in force again";
  ::unsetenv("SOURCE_DATE_EPOCH");
}

class LedgerUse : public testing::Test {
 protected:
  LedgerUse() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder = fs::temp_directory_path() / ("assay_" + std::to_string(::getpid()) + "_" + test->name());
    baselines = {folder / "none", folder / "some"};
    fs::create_directories(folder / "none");
    save_ledger(ledger_path(folder / "some", "smoke"), hand_made::ledger());
  }
  ~LedgerUse() override { fs::remove_all(folder); }
  fs::path folder;
  Folders baselines;
};

TEST_F(LedgerUse, TakesTheFirstLedgerThatThereIs) {
  const auto found = find_ledger(baselines, "smoke");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->file, folder / "some" / "smoke.ledger.json");
  EXPECT_FALSE(find_ledger(baselines, "full"));
}

TEST_F(LedgerUse, RefusesAFolderOfBaselinesThatIsNotThere) {
  baselines = {folder / "mistyped"};
  EXPECT_THAT([&] { find_ledger(baselines, "smoke"); },
              ThrowsMessage<Error>(HasSubstr("mistyped: is no folder")));
  EXPECT_FALSE(find_ledger(baselines, "smoke", folder / "mistyped")) << "that one is made when it is needed";
  baselines = {"baselines"};
  EXPECT_NO_THROW(find_ledger(baselines, "smoke")) << "nobody named it";
}

TEST_F(LedgerUse, NamesTheFolderInCommandsUnlessItIsTheUsualOne) {
  EXPECT_EQ(suite_in_commands("suites/smoke.json", baselines, find_ledger(baselines, "smoke")),
            "suites/smoke.json --baselines " + (folder / "some").string());
  baselines = {"baselines"};
  EXPECT_EQ(suite_in_commands("suites/smoke.json", baselines, std::nullopt), "suites/smoke.json");
}

TEST_F(LedgerUse, RecordsAStepThatContinuesIt) {
  const auto stored = find_ledger(baselines, "smoke");
  require_recordable(stored, "suites/smoke.json", commit(2), commit(3));
  const Ending ending = recorded(*stored, hand_made::step(2, 0.01), {0, "PASSED"});
  EXPECT_EQ(ending.code, 0);
  EXPECT_THAT(ending.text, AllOf(HasSubstr("c0ffee2 to c0ffee3, 2 trials"), HasSubstr("PASSED")));
  const auto after = find_ledger(baselines, "smoke");
  ASSERT_EQ(after->ledger.steps.size(), 3U);
  EXPECT_EQ(after->ledger.steps[2].head, "c0ffee3");
}

TEST_F(LedgerUse, KeepsWhatAnotherJobWroteWhileThisOneMeasured) {
  const auto stored = find_ledger(baselines, "smoke");
  Ledger meanwhile = stored->ledger;
  meanwhile.acceptances.push_back(hand_made::acceptance());
  save_ledger(stored->file, meanwhile);
  EXPECT_EQ(recorded(*stored, hand_made::step(2, 0.01), {0, "PASSED"}).code, 0);
  EXPECT_EQ(find_ledger(baselines, "smoke")->ledger.acceptances.size(), 1U);
  const Ending again = recorded(*stored, hand_made::step(2, 0.01), {0, "PASSED"});
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.text,
              AllOf(HasSubstr("PASSED, but no step was recorded"), HasSubstr("has c0ffee3 already")));
  EXPECT_EQ(find_ledger(baselines, "smoke")->ledger.steps.size(), 3U);
}

TEST_F(LedgerUse, RefusesToRecordAcrossAGapOrWithoutALedger) {
  const auto stored = find_ledger(baselines, "smoke");
  EXPECT_THAT([&] { require_recordable(stored, "suites/smoke.json", commit(5), commit(6)); },
              ThrowsMessage<Error>(HasSubstr("the ledger ends at c0ffee2")));
  EXPECT_THAT([&] { require_recordable(std::nullopt, "suites/smoke.json", commit(2), commit(3)); },
              ThrowsMessage<Error>(HasSubstr("assay record --suite suites/smoke.json --release")));
}

TEST_F(LedgerUse, RecordsNoStepThatEstimatesNothing) {
  Step step = hand_made::step(2, 0.01);
  step.rows.clear();
  EXPECT_EQ(recorded(*find_ledger(baselines, "smoke"), step, {0, "PASSED"}).code, 3);
  EXPECT_EQ(find_ledger(baselines, "smoke")->ledger.steps.size(), 2U);
}

}  // namespace
}  // namespace assay
