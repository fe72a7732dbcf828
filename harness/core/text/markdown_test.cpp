#include "core/text/markdown.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Escaped, LeavesNoMarkup) {
  EXPECT_EQ(escaped("a|b"), "a\\|b");
  EXPECT_EQ(escaped("`x`"), "\\`x\\`");
  EXPECT_EQ(escaped("<script>"), "&lt;script\\>");
  EXPECT_EQ(escaped("*bold* _it_"), "\\*bold\\* \\_it\\_");
  EXPECT_EQ(escaped("[a](b)"), "\\[a\\](b)");
}

TEST(Escaped, MentionsNobodyAndLinksNoIssue) {
  EXPECT_EQ(escaped("@team"), "@\u200bteam");
  EXPECT_EQ(escaped("fixes #12"), "fixes #\u200b12");
}

TEST(Escaped, KeepsATableRowOnOneLine) { EXPECT_EQ(escaped("a\nb"), "a b"); }

TEST(Code, FencesWhateverBackticksThereAre) {
  EXPECT_EQ(code("gemm/simd@avx2/m=1#1"), "`gemm/simd@avx2/m=1#1`");
  EXPECT_EQ(code("a`b"), "`` a`b ``");
}

TEST(Code, EndsNoTableCell) { EXPECT_EQ(code("a|b"), "`a\\|b`"); }

TEST(MarkdownTable, AlignsNumbersToTheRight) {
  EXPECT_EQ(markdown_table("lr", {"a", "b"}, {{"x", "1"}}), "| a | b |\n|---|---:|\n| x | 1 |");
}

TEST(Template, ReplacesPlaceholdersWhereTheyStand) {
  EXPECT_EQ(fill_template("t", "a {{x}} b {{y}} {{x}}", {{"x", "1"}, {"y", "{{z}}"}}), "a 1 b {{z}} 1");
}

TEST(Template, RefusesAnUnknownPlaceholder) {
  EXPECT_THAT([] { fill_template("t.md", "{{typo}}", {}); },
              ThrowsMessage<Error>(HasSubstr("t.md: unknown placeholder 'typo'")));
}

TEST(Template, RefusesToDropAValue) {
  EXPECT_THAT(
      [] {
        fill_template("t.md", "nothing", {{"x", "1"}});
      },
      ThrowsMessage<Error>(HasSubstr("placeholder 'x' is missing")));
}

TEST(Template, RefusesAnUnclosedPlaceholder) {
  EXPECT_THAT(
      [] {
        fill_template("t.md", "a {{x", {{"x", "1"}});
      },
      ThrowsMessage<Error>(HasSubstr("not closed")));
}

}  // namespace
}  // namespace assay
