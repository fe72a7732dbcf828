#include "core/text/utf8.hpp"
#include "assay/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Visible, ShowsControls) {
  EXPECT_EQ(visible("a\x1b[31m\x07\x7f"), R"(a\x1b[31m\x07\x7f)");
  EXPECT_EQ(visible(std::string_view("a\0b", 3)), R"(a\x00b)");
  EXPECT_EQ(visible("a\u009b31m\u0080"), R"(a\xc2\x9b31m\xc2\x80)") << "U+0080 to U+009F";
  EXPECT_EQ(visible("\u00a0"), "\u00a0") << "the first character beyond them";
}

TEST(Visible, ShowsBytesThatAreNoText) {
  EXPECT_EQ(visible("a\x9b\xff\xc3(b\xe2\x80"), R"(a\x9b\xff\xc3(b\xe2\x80)");
  EXPECT_EQ(visible("\xed\xa0\x80"), R"(\xed\xa0\x80)") << "half of a pair of UTF-16";
}

TEST(Visible, ShowsWhatTurnsTheLine) {
  for (const char* turn : {"\u202a", "\u202e", "\u2066", "\u2069"})
    EXPECT_EQ(visible(turn).size(), 12) << turn;
  for (const char* other : {"\u2029", "\u202f", "\u2065", "\u206a"}) EXPECT_EQ(visible(other), other);
}

TEST(Visible, HasNoCharacterThatXmlForbids) {
  EXPECT_EQ(visible("\uFFFE\uFFFF"), R"(\xef\xbf\xbe\xef\xbf\xbf)");
}

TEST(Visible, KeepsLinesWhereThereAreSeveral) {
  EXPECT_EQ(visible("a\n\tb\r\n"), "a\n\tb\n");
  EXPECT_EQ(visible("a\n\tb\r\n", Lines::one), "a  b ");
  EXPECT_EQ(visible("safe\rforged"), R"(safe\x0dforged)");
}

TEST(Visible, LeavesTextAlone) {
  for (const char* plain : {"", "1.05x slower, 3 % of 2 ms", "µ—é𝛼", "\u200b", R"(\x1b)"})
    EXPECT_EQ(visible(plain), plain);
}

TEST(Error, HoldsNothingThatATerminalObeys) {
  const Error fault("a\x1b.json", "is \u009b2J", "name\nanother \xff");
  EXPECT_STREQ(fault.what(), "a\\x1b.json: is \\xc2\\x9b2J\n  name\nanother \\xff");
}

TEST(Wrapped, BreaksAfterWords) { EXPECT_EQ(wrapped("one two three", 8, "  "), "one two\n  three"); }

TEST(Wrapped, LeavesWhatFits) {
  EXPECT_EQ(wrapped("one two", 7), "one two");
  EXPECT_EQ(wrapped("", 7), "");
}

TEST(Wrapped, BreaksAfterCommasWhereThereIsNoSpace) {
  EXPECT_EQ(wrapped("m=1,n=2,k=3 #1", 8, " "), "m=1,n=2,\n k=3 #1");
}

TEST(Wrapped, LeavesAWordThatFitsNowhereWhole) {
  EXPECT_EQ(wrapped("abcdefghij", 4), "abcdefghij");
  EXPECT_EQ(wrapped("a bcdefghij k", 4), "a\nbcdefghij\nk");
}

// Each µ has two bytes; no break comes between them.
TEST(Wrapped, CountsCharacters) {
  EXPECT_EQ(display_width("5 µs"), 4U);
  EXPECT_EQ(wrapped("µµµµ µµ", 4), "µµµµ\nµµ");
}

TEST(Wrapped, KeepsTheIndentOfTheFirstLine) { EXPECT_EQ(wrapped("  ab cd", 6, "   "), "  ab\n   cd"); }

}  // namespace

}  // namespace assay
