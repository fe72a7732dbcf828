#include "core/markup/template.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

std::string markdown(const std::string& text, const Json& values) {
  return rendered("t.md", text, values, Escaping::markdown);
}

void refuses(const std::string& text, const std::string& first, const std::string& second) {
  const Json values{{"x", "1"}, {"rows", Json::array({Json{{"a", "2"}}})}, {"o", Json{{"a", "3"}}}};
  EXPECT_THAT([&] { markdown(text, values); },
              ThrowsMessage<Error>(AllOf(StartsWith(first), HasSubstr(second))))
      << text;
}

TEST(Template, EscapesByThePlaceThatATagStandsIn) {
  const Json values{{"key", "a|`b"}};
  EXPECT_EQ(markdown("{{key}} `{{key}}`", values), "a\\|\\`b `` a|`b ``");
  EXPECT_EQ(markdown("| {{key}} | `{{key}}` |", values), "| a\\|\\`b | `` a\\|`b `` |");
  EXPECT_EQ(markdown("```sh\n{{key}}\n```\n{{key}}", values), "```sh\na|`b\n```\na\\|\\`b");
  EXPECT_EQ(rendered("t.html", "<b title=\"{{x}}\">`{{x}}`</b>", Json{{"x", "<'"}}, Escaping::html),
            "<b title=\"&lt;&#39;\">`&lt;&#39;`</b>");
}

TEST(Template, DoesNotReadTagsInValues) {
  EXPECT_EQ(markdown("{{x}}", Json{{"x", "{{y}} {{{z}}}"}}), "{{y}} {{{z}}}");
}

TEST(Template, RepeatsASectionForEachItemAndSaysWhetherMoreFollow) {
  const Json values{{"rows", Json::array({Json{{"name", "a"}, {"calls", Json::array({"p", "q"})}},
                                          Json{{"name", "b"}, {"calls", Json::array()}}})}};
  EXPECT_EQ(markdown("{{#rows}}\n* {{name}}: {{#calls}}`{{.}}`{{#more?}}, {{/more?}}{{/calls}}"
                     "{{^calls}}nothing{{/calls}}\n{{/rows}}\n",
                     values),
            "* a: `p`, `q`\n* b: nothing\n");
  EXPECT_EQ(
      markdown("{{#rows?}}\nhead\n{{#rows}}\n{{name}}{{#more?}},{{/more?}}\n{{/rows}}\n{{/rows?}}\n", values),
      "head\na,\nb\n");
}

TEST(Template, HidesSectionsOfWhatIsEmpty) {
  for (const Json& empty : {Json(), Json(false), Json(""), Json::array(), Json::object()}) {
    EXPECT_EQ(markdown("{{#x}}yes{{/x}}{{^x}}no{{/x}} {{#x?}}yes{{/x?}}", Json{{"x", empty}}), "no ")
        << empty;
  }
  EXPECT_EQ(markdown("{{#x}}{{x}}{{/x}}", Json{{"x", 0}}), "0") << "zero is a value";
}

TEST(Template, LeavesNoLineOfASectionThatIsHidden) {
  const Json values{{"x", ""}, {"rows", Json::array({"1", "2"})}};
  EXPECT_EQ(markdown("```\na\n{{#x}}\nb\n{{/x}}\n```\n", values), "```\na\n```\n");
  EXPECT_EQ(markdown("a\n{{^rows}}\nb\n{{/rows}}\nc\n", values), "a\nc\n");
  EXPECT_EQ(markdown("{{#rows}}\n{{.}}\n{{/rows}}\n{{#x?}}\nb\n{{/x?}}\nc\n", values), "1\n2\nc\n");
}

TEST(Template, LeavesNoRunsOfBlankLines) {
  EXPECT_EQ(markdown("a\n\n{{#x}}\nb\n{{/x}}\n\nc\n", Json{{"x", ""}}), "a\n\nc\n");
}

TEST(Template, FindsMembersOfMembers) {
  EXPECT_EQ(markdown("{{a.b.c}} {{n}}", Json{{"a", Json{{"b", Json{{"c", "1"}}}}}, {"n", 1234567}}),
            "1 1234567");
}

TEST(Template, RefusesNamesWithoutAValue) {
  refuses("{{typo}}", "t.md: ", "'{{typo}}' has no value");
  refuses("{{#typo}}{{/typo}}", "t.md: ", "'{{typo}}' has no value");
  refuses("{{#typo?}}{{/typo?}}", "t.md: ", "'{{typo?}}' has no value");
  refuses("{{^typo}}{{/typo}}", "t.md: ", "has no value");
  refuses("{{#rows}}{{b}}{{/rows}}", "t.md: ", "'{{b}}' has no value");
  refuses("{{o.b}}", "t.md: ", "'{{o.b}}' has no value");
  refuses("{{> none.md}}", "t.md: ", "no template 'none.md'");
}

TEST(Template, RefusesAListOrAnObjectAsAValue) {
  refuses("{{rows}}", "t.md: ", "'{{rows}}' is no single value");
  refuses("{{o}}", "t.md: ", "is no single value");
}

TEST(Template, RefusesErrorsOfSyntaxAndNamesTheLine) {
  refuses("a\n{{x", "t.md:2: ", "not closed");
  refuses("a\n\n{{#x}} `{{x}}`", "t.md:3: ", "Unclosed section \"x\"");
  refuses("\n{{/x}}", "t.md:2: ", "Unopened section \"x\"");
  refuses("{{#x}}{{/y}}", "t.md:1: ", "Unclosed section");
  refuses("{{ }}", "t.md:1: ", "no name");
}

TEST(Template, RefusesWhatWouldLetAValueBecomeMarkup) {
  refuses("{{{x}}}", "t.md:1: ", "writes values as they are");
  refuses("{{&x}}", "t.md:1: ", "writes values as they are");
  refuses("{{=<% %>=}}", "t.md:1: ", "changes how tags are written");
  refuses("`a {{x}}`", "t.md:1: ", "shares its code span");
  refuses("{{x}}(y)", "t.md:1: ", "may become a link");
}

TEST(HtmlTemplate, WritesJsonThatEndsNoScript) {
  const std::string page = "<script type=\"application/json\">{{x}}</script><p>{{x}}</p>";
  EXPECT_EQ(rendered("t.html", page, Json{{"x", R"({"a":"</script>&"})"}}, Escaping::html),
            R"(<script type="application/json">{"a":"\u003c/script\u003e\u0026"}</script>)"
            "<p>{&quot;a&quot;:&quot;&lt;/script&gt;&amp;&quot;}</p>");
}

TEST(HtmlTemplate, RefusesPlacesThatNoEscapeMakesSafe) {
  for (const char* text : {"<script>var x = '{{x}}';</script>", "<style>p { color: {{x}} }</style>",
                           "<p title={{x}}></p>", "<script type=\"module\">{{x}}</script>"}) {
    EXPECT_THROW(rendered("t.html", text, Json{{"x", "1"}}, Escaping::html), Error) << text;
  }
}

TEST(Document, SaysThatAProgramHasNoSuchTemplate) {
  EXPECT_THAT([] { document("none.md", Json::object()); },
              ThrowsMessage<Error>(StartsWith("none.md: is no template")));
}

}  // namespace
}  // namespace assay
