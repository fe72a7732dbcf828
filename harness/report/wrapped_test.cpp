#include "report/wrapped.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

TEST(Wrapped, BreaksAfterWords) { EXPECT_EQ(wrapped("one two three", "  ", 8), "one two\n  three\n"); }

TEST(Wrapped, LeavesWhatFits) {
  EXPECT_EQ(wrapped("one two", "  ", 7), "one two\n");
  EXPECT_EQ(wrapped("", "  ", 7), "\n");
}

TEST(Wrapped, BreaksAWordThatFitsNowhere) { EXPECT_EQ(wrapped("abcdefghij", " ", 4), "abcd\n efg\n hij\n"); }

// Each µ has two bytes; no break comes between them.
TEST(Wrapped, CountsCharacters) {
  EXPECT_EQ(display_width("5 µs"), 4U);
  EXPECT_EQ(wrapped("µµµµ µµ", "", 4), "µµµµ\nµµ\n");
  EXPECT_EQ(wrapped("µµµµ", "", 3), "µµµ\nµ\n");
}

TEST(Wrapped, KeepsTheIndentOfTheFirstLine) {
  EXPECT_EQ(wrapped("  ab cd", "    ", 5), "  ab\n    c\n    d\n");
}

}  // namespace
}  // namespace assay
