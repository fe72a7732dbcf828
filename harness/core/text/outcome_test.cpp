#include "assay/outcome.hpp"

#include <gmock/gmock.h>

#include <set>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Outcome, IsTheHeaviestFindingInWhateverOrderTheyCome) {
  Outcome one{Word::passed, "all well"};
  one.add(Word::regression, "a is slower");
  one.add(Word::wrong, "b disagrees");
  Outcome other{Word::passed, "all well"};
  other.add(Word::wrong, "b disagrees");
  other.add(Word::regression, "a is slower");
  for (const Outcome& outcome : {one, other}) {
    EXPECT_EQ(outcome.word, Word::wrong);
    EXPECT_EQ(outcome.text(), "REGRESSION: a is slower\nWRONG: b disagrees\n");
  }
}

TEST(Outcome, TellsOfLighterFindingsOnlyWhatFails) {
  Outcome outcome{Word::undecided, "too few launches"};
  outcome.add(Word::unfit, "a copy moved");
  EXPECT_EQ(outcome.text(), "MACHINE UNFIT: a copy moved\n");
  outcome.add(Word::recorded, "as a baseline");
  EXPECT_EQ(outcome.word, Word::unfit);
  EXPECT_THAT(outcome.besides, IsEmpty());
  outcome.add(Word::interrupted, "after 2 of 3");
  outcome.add(Word::crashed, "c");
  EXPECT_THAT(outcome.besides, ElementsAre("CRASHED: c"));
}

TEST(Outcome, HasTheExitCodeOfItsWord) {
  const auto code = [](Word word) { return Outcome{word, ""}.exit_code(); };
  for (const Word word : {Word::nothing_to_do, Word::agree, Word::measured, Word::recorded, Word::passed})
    EXPECT_EQ(code(word), 0);
  for (const Word word : {Word::expired, Word::regression, Word::impossible, Word::wrong})
    EXPECT_EQ(code(word), 1);
  EXPECT_EQ(code(Word::not_recorded), 2);
  for (const Word word : {Word::undecided, Word::not_comparable, Word::not_measured, Word::unfit})
    EXPECT_EQ(code(word), 3);
  EXPECT_EQ(code(Word::crashed), 4);
  EXPECT_EQ(code(Word::skipped), 77);
  EXPECT_EQ(code(Word::interrupted), 130);
}

TEST(Outcome, HasACodeWithAMeaningForEveryWord) {
  std::set<int> codes, used;
  for (const ExitCode& one : exit_codes()) {
    EXPECT_TRUE(codes.insert(one.code).second) << one.code;
    EXPECT_FALSE(one.meaning.empty()) << one.code;
  }
  for (int i = 0; i <= static_cast<int>(Word::interrupted); ++i)
    used.insert(Outcome{static_cast<Word>(i)}.exit_code());
  EXPECT_EQ(used, codes);
}

// A heavier word must not hide that a lighter one fails.
TEST(Outcome, FailsAtLeastAsMuchAsWhatItWeighsMoreThan) {
  bool failing = false;
  std::set<std::string_view> words;
  for (int i = 0; i <= static_cast<int>(Word::interrupted); ++i) {
    const auto word = static_cast<Word>(i);
    EXPECT_TRUE(words.insert(to_string(word)).second) << to_string(word);
    EXPECT_TRUE(!failing || fails(word) || word == Word::interrupted) << to_string(word);
    failing = failing || fails(word);
  }
}

}  // namespace
}  // namespace assay
