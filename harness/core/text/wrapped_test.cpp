#include "core/text/wrapped.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

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
