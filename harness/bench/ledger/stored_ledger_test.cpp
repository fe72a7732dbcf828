#include "bench/ledger/ledger.hpp"

#include "assay/error.hpp"
#include "bench/ledger/hand_made_ledger_test.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

namespace assay {
namespace {

namespace fs = std::filesystem;
using hand_made::commit;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const Outcome passed{Word::passed, "3 trials"};

class StoredLedgers : public ::testing::Test {
 protected:
  StoredLedgers() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder = fs::temp_directory_path() / ("assay_" + std::to_string(::getpid()) + "_" + test->name());
    baselines = {folder / "none", folder / "some"};
    fs::create_directories(folder / "none");
    save_ledger(ledger_path(folder / "some", "smoke"), hand_made::ledger());
  }
  ~StoredLedgers() override { fs::remove_all(folder); }
  fs::path folder;
  Folders baselines;
};

TEST_F(StoredLedgers, TakesTheFirstLedgerThatThereIs) {
  const auto found = find_ledger(baselines, "smoke");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->file, folder / "some" / "smoke.ledger.json");
  EXPECT_FALSE(find_ledger(baselines, "full"));
}

TEST_F(StoredLedgers, RefusesAFolderOfBaselinesThatIsNotThere) {
  baselines = {folder / "mistyped"};
  EXPECT_THAT([&] { find_ledger(baselines, "smoke"); },
              ThrowsMessage<Error>(HasSubstr("mistyped: is no folder")));
  EXPECT_FALSE(find_ledger(baselines, "smoke", folder / "mistyped")) << "that one is made when it is needed";
  baselines = {"baselines"};
  EXPECT_NO_THROW(find_ledger(baselines, "smoke")) << "nobody named it";
}

TEST_F(StoredLedgers, NamesTheFolderInCommandsUnlessItIsTheUsualOne) {
  EXPECT_EQ(suite_in_commands("suites/smoke.json", baselines, find_ledger(baselines, "smoke")),
            "suites/smoke.json --baselines " + (folder / "some").string());
  baselines = {"baselines"};
  EXPECT_EQ(suite_in_commands("suites/smoke.json", baselines, std::nullopt), "suites/smoke.json");
}

TEST_F(StoredLedgers, RecordsAStepThatContinuesIt) {
  const auto stored = find_ledger(baselines, "smoke");
  require_recordable(stored, "suites/smoke.json", commit(2), commit(3));
  const Outcome outcome = recorded(*stored, hand_made::step(2, 0.01), passed);
  EXPECT_EQ(outcome.word, Word::passed);
  EXPECT_THAT(outcome.text(), AllOf(HasSubstr("c0ffee2 to c0ffee3, 2 trials"), HasSubstr("PASSED")));
  const auto after = find_ledger(baselines, "smoke");
  ASSERT_EQ(after->ledger.steps.size(), 3U);
  EXPECT_EQ(after->ledger.steps[2].head, "c0ffee3");
}

TEST_F(StoredLedgers, KeepsWhatAnotherJobWroteWhileThisOneMeasured) {
  const auto stored = find_ledger(baselines, "smoke");
  Ledger meanwhile = stored->ledger;
  meanwhile.acceptances.push_back(hand_made::acceptance());
  save_ledger(stored->file, meanwhile);
  EXPECT_EQ(recorded(*stored, hand_made::step(2, 0.01), passed).word, Word::passed);
  EXPECT_EQ(find_ledger(baselines, "smoke")->ledger.acceptances.size(), 1U);
  const Outcome again = recorded(*stored, hand_made::step(2, 0.01), passed);
  EXPECT_EQ(again.exit_code(), exit_code::unusable);
  EXPECT_THAT(again.text(), AllOf(HasSubstr("NOT RECORDED: 3 trials, but no step was recorded"),
                                  HasSubstr("has c0ffee3 already")));
  EXPECT_EQ(find_ledger(baselines, "smoke")->ledger.steps.size(), 3U);
}

TEST_F(StoredLedgers, RefusesToRecordAcrossAGapOrWithoutALedger) {
  const auto stored = find_ledger(baselines, "smoke");
  EXPECT_THAT([&] { require_recordable(stored, "suites/smoke.json", commit(5), commit(6)); },
              ThrowsMessage<Error>(HasSubstr("the ledger ends at c0ffee2")));
  EXPECT_THAT([&] { require_recordable(std::nullopt, "suites/smoke.json", commit(2), commit(3)); },
              ThrowsMessage<Error>(HasSubstr("assay record --suite suites/smoke.json --release")));
}

TEST_F(StoredLedgers, RecordsNoStepThatEstimatesNothing) {
  Step step = hand_made::step(2, 0.01);
  step.rows.clear();
  EXPECT_EQ(recorded(*find_ledger(baselines, "smoke"), step, passed).word, Word::undecided);
  EXPECT_EQ(find_ledger(baselines, "smoke")->ledger.steps.size(), 2U);
}

}  // namespace
}  // namespace assay
