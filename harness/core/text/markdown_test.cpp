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
  EXPECT_EQ(escaped("# a"), "\\# a");
  EXPECT_EQ(escaped("a\\|b"), "a\\\\\\|b") << "a backslash in front undoes no escape";
  EXPECT_EQ(escaped("&lt; a && b"), "&amp;\u200blt; a &amp;\u200b&amp; b");
  EXPECT_EQ(escaped("$x$ y"), "&#36;\u200bx&#36; y");
}

TEST(Escaped, MentionsNobodyAndLinksNoIssue) {
  EXPECT_EQ(escaped("@team"), "@\u200bteam");
  EXPECT_EQ(escaped("a@b.org"), "a@\u200bb.org");
  EXPECT_EQ(escaped("fixes #12"), "fixes \\#\u200b12");
  EXPECT_EQ(escaped("owner/name#12"), "owner/name\\#\u200b12");
  EXPECT_EQ(escaped("GH-12, gh-1"), "GH\u200b-12, gh\u200b-1");
  EXPECT_EQ(escaped("!12 %3 ~bug"), "!\u200b12 %\u200b3 \\~\u200bbug") << "as GitLab has them";
}

TEST(Escaped, MakesNoLinkOfAnAddress) {
  EXPECT_EQ(escaped("https://a.org"), "https:\u200b//a.org");
  EXPECT_EQ(escaped("WWW.a.org"), "WWW\u200b.a.org");
}

TEST(Escaped, LeavesPlainTextAlone) {
  for (const char* plain : {"1.05x slower, 3 % of 2 ms: more!", "assay::Gemm", "x86-64 with GH-a", "", "w.x"})
    EXPECT_EQ(escaped(plain), plain);
}

TEST(Escaped, KeepsATableRowOnOneLine) { EXPECT_EQ(escaped("a\nb\x1b\x7f"), "a b  "); }

TEST(Code, FencesWhateverBackticksThereAre) {
  EXPECT_EQ(code("gemm/simd@avx2/m=1#1"), "`gemm/simd@avx2/m=1#1`");
  EXPECT_EQ(code("a`b"), "`` a`b ``");
}

TEST(Code, EndsNoTableCell) {
  EXPECT_EQ(code("a|b"), "`a\\|b`");
  EXPECT_EQ(code("a\r\nb\x1b"), "`a  b `");
}

TEST(CodeBlock, IsEndedByNoLineOfIt) {
  EXPECT_EQ(code_block("sh", {"a `b`", "c"}), "```sh\na `b`\nc\n```");
  EXPECT_EQ(code_block("", {"a\n```\nb"}), "````\na ``` b\n````");
}

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
