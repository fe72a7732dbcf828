#include "assay/error.hpp"
#include "bench/ledger/hand_made_ledger.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <iterator>

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Ledger sample() {
  Ledger out = hand_made::ledger();
  out.acceptances = {hand_made::acceptance(), hand_made::acceptance()};
  out.acceptances[1].key = "gemm/simd@avx2/m=64#1";
  return out;
}

class LedgerFile : public ::testing::Test {
 protected:
  LedgerFile() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder = fs::temp_directory_path() / ("assay_" + std::to_string(::getpid()) + "_" + test->name());
    file = ledger_path(folder, "smoke");
  }
  ~LedgerFile() override { fs::remove_all(folder); }

  void expect_refused(const std::string& from, const std::string& to, const std::string& message) {
    std::string text = to_json(sample());
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    fs::create_directories(folder);
    write_file(file, text.replace(at, from.size(), to));
    EXPECT_THAT([&] { load_ledger(file); },
                ThrowsMessage<Error>(AllOf(HasSubstr("smoke.ledger.json: "), HasSubstr(message))))
        << to;
  }
  fs::path folder, file;
};

TEST_F(LedgerFile, LiesBesideTheFoldersOfMachines) {
  EXPECT_EQ(ledger_path("baselines", "smoke"), fs::path("baselines/smoke.ledger.json"));
  EXPECT_EQ(ledger_path("b", "v1.2"), fs::path("b/v1.2.ledger.json"));
  EXPECT_THROW(ledger_path("b", "../x"), Error);
}

TEST_F(LedgerFile, GivesBackWhatWasSaved) {
  save_ledger(file, sample());
  const auto read = load_ledger(file);
  ASSERT_TRUE(read);
  EXPECT_EQ(to_json(*read), to_json(sample()));
  EXPECT_EQ(read->release_commit, "c0ffee0");
  EXPECT_EQ(date_text(read->released_on), "2026-03-01");
  EXPECT_EQ(read->acceptances[0].ratio, 1.08);
  EXPECT_EQ(date_text(read->acceptances[0].until), "2026-05-01");
  EXPECT_EQ(read->acceptances[0].reason, "exact tails");
  ASSERT_EQ(read->steps.size(), 2U);
  EXPECT_EQ(read->steps[1].rows.at(hand_made::packed).log_ratio, 0.01);
  EXPECT_EQ(read->steps[1].rows.at(hand_made::packed).deviation, 0.001);
  EXPECT_EQ(read->steps[1].rows.at(hand_made::packed).launches, 40U);
}

TEST_F(LedgerFile, UnderstandsFormerNamesOfTiers) {
  Ledger ledger = sample();
  ledger.acceptances[1].key = "gemm/simd@avx3/m=64#1";
  save_ledger(file, ledger);
  EXPECT_EQ(load_ledger(file).value().acceptances[1].key, "gemm/simd@avx512/m=64#1");
}

TEST_F(LedgerFile, HoldsAcceptancesOfFiguresWithAValueInPlaceOfARatio) {
  Ledger ledger = sample();
  ledger.acceptances.push_back(hand_made::acceptance_of_height());
  save_ledger(file, ledger);
  const std::string whole = to_json(ledger);
  EXPECT_EQ(to_json(load_ledger(file).value()), whole);
  EXPECT_EQ(load_ledger(file).value().acceptances[2].value, 1300);
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& message) {
    std::string changed = whole;
    ASSERT_NE(changed.find(from), std::string::npos) << from;
    write_file(file, changed.replace(changed.find(from), from.size(), to));
    EXPECT_THAT([&] { load_ledger(file); },
                ThrowsMessage<Error>(AllOf(HasSubstr("acceptances[2]"), HasSubstr(message))));
  };
  refused("\"value\":", "\"ratio\":", "has no \"value\"");
  refused("\"figure\":\"height\"", "\"figure\":\"it's\"", "holds a quotation mark, which no figure does");
  refused("\"value\":", "\"value\":\"high\",\"of\":", "value: is a string");
  ledger.acceptances.push_back(hand_made::acceptance_of_height());
  save_ledger(file, ledger);
  EXPECT_THAT(
      [&] { load_ledger(file); },
      ThrowsMessage<Error>(HasSubstr("acceptances[3]: is a second acceptance of height of memory_pool")));
}

TEST_F(LedgerFile, IsNothingWhenThereIsNone) { EXPECT_FALSE(load_ledger(file)); }

TEST_F(LedgerFile, MayHoldAcceptancesBeforeTheFirstRelease) {
  Ledger ledger{.suite = "smoke", .acceptances = {hand_made::acceptance()}};
  ledger.acceptances[0].release = "";
  save_ledger(file, ledger);
  EXPECT_EQ(to_json(load_ledger(file).value()), to_json(ledger));
}

TEST_F(LedgerFile, IsReplacedAsAWhole) {
  save_ledger(file, sample());
  Ledger shorter = sample();
  shorter.steps.clear();
  save_ledger(file, shorter);
  EXPECT_EQ(to_json(load_ledger(file).value()), to_json(shorter));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1) << "nothing temporary stays";
}

TEST_F(LedgerFile, IsUntouchedWhenItCannotBeSaved) {
  fs::create_directories(folder);
  write_file(folder / "in_the_way", "x");
  EXPECT_THAT([&] { save_ledger(folder / "in_the_way" / "smoke.ledger.json", sample()); },
              ThrowsMessage<Error>(HasSubstr("cannot make this folder")));
  EXPECT_EQ(read_file(folder / "in_the_way"), "x");
}

TEST_F(LedgerFile, IsRefusedWhenItIsNoLedgerOfThisSuite) {
  expect_refused("assay.ledger/1", "assay.ledger/2", "is of schema assay.ledger/2");
  expect_refused("\"suite\": \"smoke\"", "\"suite\": \"full\"",
                 "is of suite full, but lies where that of smoke");
  const std::string text = to_json(sample());
  expect_refused(text.substr(text.size() / 2), "", "ends in the middle");
  expect_refused(text, "", "is empty");
  expect_refused("\"acceptances\": [", "\"acceptances\": 3, \"x\": [", "acceptances: is a number");
}

TEST_F(LedgerFile, IsRefusedWithImpossibleDates) {
  expect_refused("2026-05-01", "2026-02-30", "acceptances[0].until: is \"2026-02-30\", which is no day");
  expect_refused("2026-05-01", "2026-03-01",
                 "acceptances[0].until: of gemm/packed/m=64#1 is before it was accepted, on 2026-03-02");
  expect_refused("\"released_on\": \"2026-03-01\"", "\"released_on\": \"1st of March\"", "released_on: is");
  expect_refused("\"date\": \"2026-03-01\"", "\"date\": \"2026-3-1\"", "steps[0].date: is");
}

TEST_F(LedgerFile, IsRefusedWithDuplicates) {
  expect_refused("gemm/simd@avx2", "gemm/packed", "acceptances[1]: is a second acceptance of gemm/packed");
  expect_refused("gemm/naive/m=64#1", hand_made::packed,
                 "steps[0].rows[1]: is a second row of gemm/packed/m=64#1");
}

TEST_F(LedgerFile, IsRefusedWithNumbersThatCannotBe) {
  expect_refused("\"ratio\":1.08", "\"ratio\":-1.08",
                 "acceptances[0].ratio: is -1.08, must be a number above 1");
  expect_refused("\"ratio\":1.08", "\"ratio\":\"inf\"", "acceptances[0].ratio");
  expect_refused("\"ratio\":1.08", "\"ratio\":\"nan\"", "acceptances[0].ratio");
  expect_refused("\"deviation\":0.001", "\"deviation\":-0.001",
                 "steps[0].rows[0].deviation: is -0.001, must be a number from 0");
  expect_refused("\"launches\":40", "\"launches\":-40", "steps[0].rows[0].launches: is -40");
  expect_refused("\"launches\":40", "\"launches\":1", "fewer than 2 show no deviation");
  expect_refused("\"log_ratio\":0.01", "\"log_ratio\":\"nan\"", "steps[0].rows[1].log_ratio");
}

TEST_F(LedgerFile, IsRefusedWhenAStepIsMissing) {
  expect_refused("\"base\": \"c0ffee1\"", "\"base\": \"c0ffee5\"",
                 "steps[1].base: is c0ffee5, but what comes before ends at c0ffee1: a step is missing");
  expect_refused("\"release_commit\": \"c0ffee0\"", "\"release_commit\": \"deadbeef\"",
                 "steps[0].base: is c0ffee0, but what comes before ends at deadbeef");
  expect_refused("\"release\": \"v1\"", "\"release\": \"\"", "ends at no release");
  expect_refused("\"head\": \"c0ffee2\"", "\"head\": \"c0ffee2+changes\"", "steps[1].head: is");
}

TEST_F(LedgerFile, IsRefusedWithTextThatMovesTheCursor) {
  expect_refused("exact tails", "\\u001b[2J", "acceptances[0].reason: holds a control character");
  expect_refused("exact tails", "", "acceptances[0].reason: is empty");
  expect_refused("gemm/simd@avx2", "'; reboot; '", "acceptances[1].key: holds a quotation mark");
}

}  // namespace
}  // namespace assay
