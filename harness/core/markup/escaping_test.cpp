#include "core/markup/escaping.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Escaped, LeavesNoMarkup) {
  EXPECT_EQ(escaped("a|b"), "a\\|b");
  EXPECT_EQ(escaped("`x`"), "\\`x\\`");
  EXPECT_EQ(escaped("<script>"), "&lt;script>");
  EXPECT_EQ(escaped("*bold* _it_"), "\\*bold\\* \\_it\\_");
  EXPECT_EQ(escaped("[a](b)"), "\\[a\\](b)");
  EXPECT_EQ(escaped("see [a][b] and [a]: b"), "see [a\\][b] and [a\\]: b");
  EXPECT_EQ(escaped("# a"), "\\# a");
  EXPECT_EQ(escaped("a\\|b"), "a\\\\\\|b") << "a backslash in front undoes no escape";
  EXPECT_EQ(escaped("&lt; a && b"), "&amp;\u200blt; a &amp;&amp; b");
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

TEST(Escaped, KeepsATableRowOnOneLine) { EXPECT_EQ(escaped("a\nb\tc\r\nd"), "a b c d"); }

TEST(Escaped, BeginsNoBlock) {
  for (const char* block : {"- a", "+ a", "> a", "=== a", "--- a", "[ ] a", "# a", "* a"}) {
    EXPECT_EQ(escaped(block).front(), '\\') << block;
  }
  EXPECT_EQ(escaped("12. a"), "12\\. a");
  EXPECT_EQ(escaped("-12 a"), "-12 a");
  EXPECT_EQ(escaped("=", Place::cell), "=") << "no block begins in a table";
}

TEST(Escaped, LeavesIntervalsAndNamesReadable) {
  for (const char* plain : {"3.31 µs [3.18, 4.19] (95 %)", "resnet18_cifar10", "1.0 -> 2.0"})
    EXPECT_EQ(escaped(plain), plain);
}

TEST(Escaped, ShowsWhatTerminalsObey) {
  EXPECT_EQ(escaped("a\u009b2Jb\x1b"), R"(a\\xc2\\x9b2Jb\\x1b)") << "a backslash of Markdown before each";
  EXPECT_EQ(escaped("a\x1b[2J\r`b`", Place::terminal), R"(a\x1b[2J\x0d`b`)");
  EXPECT_EQ(escaped("µ—é𝛼"), "µ—é𝛼");
}

TEST(Escaped, MentionsNobodyInHtmlWithinMarkdown) {
  EXPECT_EQ(escaped("<b>@team", Place::summary), "&lt;b&gt;@\u200bteam");
  EXPECT_EQ(escaped("<b>@team", Place::html), "&lt;b&gt;@team");
}

TEST(EscapedSpan, IsFencedWhateverBackticksThereAre) {
  EXPECT_EQ(escaped("gemm/simd@avx2/m=1#1", Place::span), "`gemm/simd@avx2/m=1#1`");
  EXPECT_EQ(escaped("a`b", Place::span), "`` a`b ``");
  EXPECT_EQ(escaped("a\r\nb\x1b", Place::span), R"(`a b\x1b`)");
}

TEST(EscapedSpan, EndsNoTableCell) {
  EXPECT_EQ(escaped("a|b", Place::cell_span), "`a\\|b`");
  EXPECT_EQ(escaped("a|b", Place::span), "`a|b`");
}

TEST(EscapedFence, IsEndedByNoLineOfIt) {
  EXPECT_EQ(escaped("a `b` ``", Place::fence), "a `b` ``");
  EXPECT_EQ(escaped("````\nb", Place::fence), "``\u200b`` b");
}

TEST(Escaped, HasNoCharacterThatXmlForbids) {
  EXPECT_EQ(escaped("a\xEF\xBF\xBF\x01", Place::html), R"(a\xef\xbf\xbf\x01)");
}

TEST(EscapedHtml, IsNoMarkupInContentAndAttributes) {
  EXPECT_EQ(escaped("<a href=\"x\">&'", Place::html), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
}

}  // namespace
}  // namespace assay
