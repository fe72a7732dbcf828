#include "core/machine/text_fields.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TextFields, FindsAWholeFieldNameOnly) {
  const std::string text = "isa-ext: wrong\nisa : rv64\nMemAvailable:   24337368 kB\ninactive_file 4096\n";
  EXPECT_EQ(field_of(text, "isa"), "rv64");
  EXPECT_EQ(field_of(text, "MemAvailable"), "24337368 kB");
  EXPECT_EQ(field_of(text, "inactive_file"), "4096");
  EXPECT_EQ(field_of(text, "inactive"), "");
  EXPECT_EQ(field_of("", "isa"), "");
}

TEST(TextFields, SplitsWordsAtAnyBlank) {
  EXPECT_THAT(words(" a\tb  c\r\n"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(words(" \n "), IsEmpty());
}

TEST(TextFields, ReadsSizesAsSysfsWritesThem) {
  EXPECT_EQ(size_in_bytes("48K\n"), 48.0 * 1024);
  EXPECT_EQ(size_in_bytes("32M"), 32.0 * 1024 * 1024);
  EXPECT_EQ(size_in_bytes("1 GiB"), 1024.0 * 1024 * 1024);
  EXPECT_EQ(size_in_bytes("512"), 512.0);
}

TEST(TextFields, RefusesWhatIsNoSize) {
  for (const char* text : {"", "K", "x", "-1K", "32 Q", "1K1", "nan", "inf"}) {
    EXPECT_FALSE(size_in_bytes(text)) << text;
  }
}

TEST(TextFields, RefusesNumbersWithAnythingBehindThem) {
  EXPECT_EQ(number("1.5"), 1.5);
  for (const char* text : {"", "max", "1.5x", " 1", "inf"}) EXPECT_FALSE(number(text)) << text;
}

TEST(TextFields, CountsTheProcessorsOfAList) {
  EXPECT_EQ(count_in_list("0\n"), 1);
  EXPECT_EQ(count_in_list("0-3,8,10-11\n"), 7);
  for (const char* text : {"", "3-0", "a", "0-", "-1", "0-3,x"}) EXPECT_EQ(count_in_list(text), 0) << text;
}

TEST(TextFields, TreatsAMissingFileAsNothing) {
  EXPECT_FALSE(try_read("/no/such/file"));
  EXPECT_EQ(first_line("/no/such/file"), "");
}

}  // namespace
}  // namespace assay
