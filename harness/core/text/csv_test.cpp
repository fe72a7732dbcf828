#include "assay/csv.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace assay {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> cells(std::string_view line, char separator = ',') {
  std::vector<std::string> out;
  const Index count = csv::each_cell(line, separator, [&](Index position, std::string_view cell) {
    EXPECT_EQ(position, static_cast<Index>(out.size()));
    out.emplace_back(cell);
  });
  EXPECT_EQ(count, static_cast<Index>(out.size()));
  return out;
}

TEST(Csv, HasCellsWithoutTheBlanksAroundThem) {
  EXPECT_THAT(cells("a, b c\t,d\r"), ElementsAre("a", "b c", "d"));
  EXPECT_THAT(cells("1,5;2", ';'), ElementsAre("1,5", "2"));
}

TEST(Csv, HasEmptyCells) {
  EXPECT_THAT(cells(""), ElementsAre(""));
  EXPECT_THAT(cells(",a,"), ElementsAre("", "a", ""));
}

TEST(Csv, HasNoMarkOfItsEncoding) {
  EXPECT_EQ(csv::without_mark("\xef\xbb\xbf"
                              "a"),
            "a");
  EXPECT_EQ(csv::without_mark("a"), "a");
}

}  // namespace
}  // namespace assay
