#include "core/markup/document.hpp"

#include "core/text/utf8.hpp"

#include <gmock/gmock.h>

#include <sstream>

namespace assay::doc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Interval about_two{.low = 1.5, .middle = 2, .high = 2.5, .coverage = 0.95};
/// Markup of every format, a mention, a control, and a turn of the line.
const std::string hostile = "a|`b <i>&\"' *x* @you \x1b[2J \u202e,\n{{c}}";

Table times() {
  return {.tag = "times",
          .columns = {{.tag = "variant"},
                      {.tag = "seconds", .name = "time", .unit = "s", .about = "Of a call."},
                      {.tag = "threads"},
                      {.tag = "samples", .data_only = true}},
          .rows = {{code("naive"), seconds(about_two), count(1), "1;2"},
                   {code("packed"), seconds(0.5), count(1), "3"}}};
}

TEST(Amount, IsSpelledByItsUnit) {
  EXPECT_EQ(amount_text(seconds(about_two)), "2.00 s [1.50, 2.50]");
  EXPECT_EQ(amount_text(seconds(412e-6)), "412 µs");
  EXPECT_EQ(amount_text(fine_seconds({.low = 1281.9, .middle = 1283.4, .high = 1284.9, .coverage = 0.9})),
            "1,283.4 s [1,281.9, 1,284.9]");
  EXPECT_EQ(amount_text(bytes(65536)), "64.0 KiB");
  EXPECT_EQ(amount_text(share(0.713)), "71.3 %");
  EXPECT_EQ(amount_text(speedup(about_two)), "2.00x [1.50, 2.50]");
  EXPECT_EQ(amount_text(amount(1.05, "times")), "1.05x");
  EXPECT_EQ(amount_text(faster(about_two)), "2.00x faster [1.50, 2.50]");
  EXPECT_EQ(amount_text(faster({.low = 0.25, .middle = 0.5, .high = 0.8, .coverage = 0.9})),
            "2.00x slower [1.25, 4.00]");
  EXPECT_EQ(amount_text(faster(1.0)), "1.00x as fast");
  EXPECT_EQ(amount_text(throughput(7.86e9, 1e9)), "7.86 GFLOP/s");
  EXPECT_EQ(amount_text(throughput(1e9, 38.2e9)), "38.2 GB/s");
  EXPECT_EQ(amount_text(count(1048576)), "1,048,576");
  EXPECT_EQ(amount_text(amount(320, "tasks")), "320 tasks");
}

TEST(Columns, AreReadFromALine) {
  const std::vector<Column> found =
      columns("key = trial; !seconds = time [s]: Of a call.; <mean [faster]; -raw");
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].tag, "key");
  EXPECT_EQ(found[0].name, "trial");
  EXPECT_TRUE(found[0].folds);
  EXPECT_EQ(found[1].tag, "seconds");
  EXPECT_EQ(found[1].name, "time");
  EXPECT_EQ(found[1].unit, "s");
  EXPECT_EQ(found[1].about, "Of a call.");
  EXPECT_FALSE(found[1].folds);
  EXPECT_EQ(found[2].tag, "mean");
  EXPECT_EQ(found[2].name, "");
  EXPECT_TRUE(found[2].left);
  EXPECT_EQ(found[3].tag, "raw");
  EXPECT_TRUE(found[3].data_only);
}

TEST(Table, StandsInMarkdownWithNumbersOnTheRight) {
  EXPECT_EQ(to_markdown({Block(times())}),
            "| variant | time |\n|---|---:|\n| `naive` | 2.00 s [1.50, 2.50] |\n| `packed` | 500 ms |\n\n"
            "In all 2 rows: threads 1.\n\ntime: Of a call.\n");
}

TEST(Table, StandsOnATerminalWithIntervalsBelowAnother) {
  EXPECT_EQ(to_text({Block(times())}),
            "variant  time\nnaive    2.00 s [1.50, 2.50]\npacked   500 ms\nIn all 2 rows: threads 1.\n");
}

TEST(Table, GivesProgramsNumbersInTheUnitOfTheColumn) {
  const Json value = to_value(Document{.schema = "assay.x/1", .sections = {{.blocks = {times()}}}});
  EXPECT_EQ(value["schema"].text(), "assay.x/1");
  const Json& table = value["times"];
  EXPECT_EQ(table["columns"][1],
            (Json{{"tag", "seconds"}, {"name", "time"}, {"unit", "s"}, {"about", "Of a call."}}));
  EXPECT_EQ(table["rows"][0]["seconds"],
            (Json{{"low", 1.5}, {"middle", 2}, {"high", 2.5}, {"coverage", 0.95}}));
  EXPECT_EQ(table["rows"][1],
            (Json{{"variant", "packed"}, {"seconds", 0.5}, {"threads", 1}, {"samples", "3"}}));
}

TEST(Table, HasACellForEachEndOfAnIntervalInCsv) {
  EXPECT_EQ(
      to_csv(times()),
      "variant,seconds,seconds_low,seconds_high,threads,samples\nnaive,2,1.5,2.5,1,1;2\npacked,0.5,,,1,3\n");
  EXPECT_EQ(to_csv({.columns = {{.tag = "a"}}, .rows = {{"x,\"y\""}}}), "a\n\"x,\"\"y\"\"\"\n");
}

TEST(Table, SortsByValueOnAPage) {
  Table table = times();
  table.sorts = true;
  EXPECT_THAT(to_page({.sections = {{.blocks = {table}}}}).html,
              AllOf(HasSubstr("<table class=\"sorted\">"),
                    HasSubstr("<td class=\"key\"><code>naive</code></td><td class=\"n\" data-value=\"2\">"),
                    HasSubstr("<th class=\"n\" title=\"Of a call.\">time</th>"),
                    HasSubstr("In all 2 rows: threads 1."), Not(HasSubstr("1;2"))));
}

TEST(Table, KeepsAColumnThatIsTheSameWhereItSaysSoAndInASingleRow) {
  Table table = times();
  table.columns[2].folds = false;
  EXPECT_THAT(to_markdown({Block(table)}), AllOf(HasSubstr("threads"), Not(HasSubstr("In all"))));
  table = times();
  table.rows.pop_back();
  EXPECT_THAT(to_markdown({Block(table)}), AllOf(HasSubstr("| threads |"), Not(HasSubstr("In all"))));
}

TEST(Table, DropsAColumnOfEmptyCellsWithoutAWord) {
  Table table = times();
  for (auto& row : table.rows) row[2] = "";
  EXPECT_THAT(to_markdown({Block(table)}), Not(HasSubstr("threads")));
}

TEST(Table, SaysWhyItIsEmptyOrNothing) {
  const Table empty{.tag = "t", .columns = {{.tag = "a"}}, .instead = "Nothing was timed."};
  EXPECT_EQ(to_markdown({Block(empty)}), "Nothing was timed.\n");
  EXPECT_EQ(to_text({Block(empty)}), "Nothing was timed.\n");
  EXPECT_THAT(to_page({.sections = {{.blocks = {empty}}}}).html, HasSubstr("<p>Nothing was timed.</p>"));
  EXPECT_EQ(to_markdown({Block(Table{.columns = {{.tag = "a"}}})}), "");
  EXPECT_EQ(to_value(Document{.sections = {{.blocks = {empty}}}})["t"]["rows"], Json::array());
}

TEST(Table, CountsRowsBeyondTheMostAndFoldsManyAway) {
  Table table{.columns = {{.tag = "a"}}};
  for (int i = 0; i < 41; ++i) table.rows.push_back({"row"});
  EXPECT_THAT(to_markdown({Block(table)}), HasSubstr("<details><summary>41 rows</summary>"));
  EXPECT_THAT(to_page({.sections = {{.blocks = {table}}}}).html,
              HasSubstr("<details><summary>41 rows</summary>"));
  // Within details once is enough.
  EXPECT_THAT(to_markdown({Block(Details{"all", {table}})}), Not(HasSubstr("41 rows")));
  table.most = 2;
  EXPECT_EQ(to_markdown({Block(table)}), "| a |\n|---|\n| row |\n| row |\n\nand 39 more\n");
  EXPECT_EQ(to_text({Block(table)}), "a\nrow\nrow\nand 39 more\n");
}

TEST(Table, NamesCellsBelowARowThatIsWiderThanATerminal) {
  Table table{.columns = {{.tag = "key"}, {.tag = "one"}, {.tag = "two"}, {.tag = "three"}},
              .rows = {{std::string(50, 'k'), std::string(30, 'a'), seconds(about_two), count(0)}}};
  EXPECT_EQ(to_text({Block(table)}), "key\n" + std::string(50, 'k') + "\n    one " + std::string(30, 'a') +
                                         ", two 2.00 s [1.50, 2.50]\n");
  table.rows[0][1] = std::string(70, 'a') + " and more";
  std::istringstream lines(to_text({Block(table)}));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80U) << line;
}

TEST(Table, HasHeadingsAndLongTextsBelowRowsOnATerminal) {
  const Table table{
      .columns = {{.tag = "case", .heads = true}, {.tag = "variant"}, {.tag = "why", .wraps = true}},
      .rows = {{"a", "naive", ""}, {"a", "packed", "it disagrees"}, {"b", "naive", ""}}};
  EXPECT_EQ(to_text({Block(table)}), "  variant\na\n  naive\n  packed\n      it disagrees\nb\n  naive\n");
}

TEST(List, CountsItemsBeyondTheMostAndIndentsLinesBelow) {
  const List list{.tag = "l", .items = {{"a", {"b"}}, Text("c"), Text("d")}, .most = 2};
  EXPECT_EQ(to_markdown({Block(list)}), "* a\n  * b\n* c\n* and 1 more\n");
  EXPECT_EQ(to_text({Block(list)}), "  a\n    b\n  c\n  and 1 more\n");
  EXPECT_THAT(to_page({.sections = {{.blocks = {list}}}}).html,
              HasSubstr("<ul>\n<li>a\n<ul>\n<li>b</li>\n</ul></li>\n<li>c</li>\n<li>and 1 more</li>\n</ul>"));
  EXPECT_EQ(to_value(Document{.sections = {{.blocks = {list}}}})["l"], Json::array({"a", "c", "d"}));
}

TEST(Fence, KeepsLinesWhole) {
  const Fence fence{.tag = "reproduce", .lines = {"cmake --preset release", "a```b"}};
  EXPECT_EQ(to_markdown({Block(fence)}), "```sh\ncmake --preset release\na``\u200b`b\n```\n");
  EXPECT_EQ(to_text({Block(fence)}), "  cmake --preset release\n  a```b\n");
  EXPECT_EQ(to_value(Document{.sections = {{.blocks = {fence}}}})["reproduce"][0].text(),
            "cmake --preset release");
}

TEST(Details, FoldBlocksAndAreLeftOutOfATerminal) {
  const Block block(Details{"All " + code("times"), {Block("body")}});
  EXPECT_EQ(to_markdown({block}),
            "<details><summary>All <code>times</code></summary>\n\nbody\n\n</details>\n");
  EXPECT_EQ(to_text({block}), "");
  EXPECT_THAT(to_page({.sections = {{.blocks = {block}}}}).html,
              HasSubstr("<details><summary>All <code>times</code></summary>\n<p>body</p>\n</details>"));
  EXPECT_EQ(to_markdown({Block(Details{"nothing", {}})}), "");
  EXPECT_THAT(to_markdown({Block(Details{"outer", {block}})}), HasSubstr("**All `times`**\n\nbody\n"));
}

TEST(Picture, StandsInPagesAlone) {
  const Plot plot = strip_plot("a label", {{"s", {{1, 2}}}}, PlotScale::seconds);
  const Block block(Picture{"samples", plot});
  const Page page = to_page({.sections = {{.blocks = {block}}}});
  EXPECT_THAT(page.html, HasSubstr("aria-label=\"a label\""));
  ASSERT_EQ(page.plots.size(), 1U);
  EXPECT_EQ(page.plots[0].first, "samples");
  EXPECT_EQ(to_markdown({block}) + to_text({block}), "");
}

TEST(Document, LeadsWithItsAnswerAndEndsWithItOnATerminal) {
  const Document document{
      .title = "Suite " + code("tiny"),
      .facts = {{"commit", "abc"}},
      .kicker = "a run",
      .outcome = "PASS: all agree",
      .sections = {{.tag = "times", .title = "Times", .blocks = {Block("t")}},
                   {.tag = "none", .title = "Empty"},
                   {.title = "Wide", .blocks = {Block("w")}, .in = Section::In::pages},
                   {.title = "Narrow", .blocks = {Block("n")}, .in = Section::In::texts},
                   {.tag = "more", .title = "More", .blocks = {Block("m")}, .folded = true}}};
  EXPECT_EQ(to_markdown(document),
            "# Suite `tiny`\n\n**PASS: all agree**\n\na run\n\n## Times\n\nt\n\n## Narrow\n\nn\n\n"
            "<details><summary>More</summary>\n\nm\n\n</details>\n");
  EXPECT_EQ(to_text(document), "Times\nt\n\nNarrow\nn\n\nPASS: all agree\n");
  EXPECT_EQ(to_value(document), (Json{{"commit", "abc"}, {"outcome", "PASS: all agree"}}));
  const std::string page = to_page(document).html;
  EXPECT_THAT(page, AllOf(HasSubstr("<title>Suite tiny</title>"),
                          HasSubstr("<p class=\"soft\">a run</p>\n<h1 id=\"outcome\">PASS: all agree"),
                          HasSubstr("<a href=\"#times\">Times</a>\n<a href=\"#more\">More</a>\n</nav>"),
                          HasSubstr("<h2 id=\"times\">Times</h2>"), HasSubstr("Wide"),
                          Not(HasSubstr("Empty")), Not(HasSubstr("Narrow"))));
}

TEST(Document, MakesTextsFromOutsideHarmlessInMarkdown) {
  const Document document{
      .schema = "assay.x/1",
      .title = hostile,
      .facts = {{"name", hostile}},
      .kicker = hostile,
      .outcome = hostile,
      .sections = {{.tag = "s",
                    .title = hostile,
                    .blocks = {Block(hostile), List{.items = {Text(hostile), code(hostile)}},
                               Table{.columns = {{.tag = "c", .name = hostile}, {.tag = "d"}},
                                     .rows = {{code(hostile), hostile}}},
                               Details{hostile, {Block(hostile)}}, Fence{.lines = {hostile}}}}}};
  const std::string markdown = to_markdown(document);
  EXPECT_THAT(markdown, AllOf(HasSubstr("# a\\|\\`b &lt;i>&amp;"), HasSubstr("* `` a|`b <i>&"),
                              HasSubstr("| `` a\\|`b <i>&"), HasSubstr("<summary>a|`b &lt;i&gt;&amp;"),
                              HasSubstr("\\*x\\* @\u200byou")));
  EXPECT_THAT(markdown, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\u202e"))));
}

TEST(Document, MakesTextsFromOutsideHarmlessOnAPageAndATerminal) {
  const Document document{.schema = "assay.x/1",
                          .title = hostile,
                          .facts = {{"name", hostile + "</script>"}},
                          .outcome = code(hostile),
                          .sections = {{.tag = "s", .title = hostile, .blocks = {Block(hostile)}}}};
  const std::string page = to_page(document).html;
  EXPECT_THAT(page,
              AllOf(Not(HasSubstr("<i>")), Not(HasSubstr("\x1b")), HasSubstr("&lt;i&gt;&amp;&quot;&#39;"),
                    HasSubstr("{{c}}"), HasSubstr("id=\"assay-x\""), HasSubstr("\\u003c/script\\u003e")));
  EXPECT_THAT(to_text(document), AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\u202e"))));
}

TEST(Document, EndsNoFormatEarlyWhereATextIsLong) {
  const Document document{.sections = {{.title = "T", .blocks = {Block(std::string(5000, 'x') + " end")}}}};
  EXPECT_THAT(to_markdown(document), HasSubstr("x end"));
  EXPECT_LT(to_page(document).html.find("</main>"), to_page({.sections = {}}).html.size() + 800);
  EXPECT_LE(to_text(document).size(), 500U);
}

}  // namespace
}  // namespace assay::doc
