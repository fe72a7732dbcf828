#include "assay/error.hpp"
#include "bench/ledger/hand_made_ledger_test.hpp"

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

}  // namespace
}  // namespace assay
