#include "bench/compare/pull_request.hpp"
#include "core/json/json.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <string>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ComparedRow page_verdict(const std::string& key, Standing standing, double ratio) {
  return {.key = key,
          .standing = standing,
          .ratio = {ratio * 0.98, ratio, ratio * 1.02, 0.95},
          .limit = 1.05,
          .why = "because of " + key,
          .launches = 8};
}

PullRequest slower_and_faster() {
  PullRequest out{.outcome = "REGRESSION: 1 of 2 trials is slower than the base",
                  .command = "assay gate --base main",
                  .suite = "smoke",
                  .before_facts = {{"compiler", "gcc 12", true}},
                  .after_facts = {{"compiler", "gcc 13", true}}};
  out.comparison.rows = {page_verdict("gemm/simd/m=64#1", Standing::slower, 1.25),
                         page_verdict("im2col/rows/n=1#1", Standing::faster, 0.8)};
  out.trials = {{.before = 1e-3,
                 .after = 1.25e-3,
                 .cause = "kernels/gemm/simd.cpp",
                 .epochs = {{"lenet", {0.5, 1, 1.5, 0.95}}},
                 .samples = {{"before", {{1e-3, 1.01e-3}}}, {"now", {{1.25e-3, 1.26e-3}}}}},
                {.before = 1e-3, .after = 800e-6}};
  return out;
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin) + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

TEST(ComparisonPage, SaysWhatGotSlowerByHowMuchAndWhatToDo) {
  const Page page = pull_request_page(slower_and_faster());
  EXPECT_THAT(
      page.html,
      AllOf(HasSubstr("<h1 id=\"outcome\">REGRESSION: 1 of 2 trials is slower than the base</h1>"),
            HasSubstr("<code>kernels/gemm/simd.cpp</code>"), HasSubstr("1.25x slower"),
            HasSubstr("assay gate --base main -k"), HasSubstr("<td>compiler</td><td>gcc 12</td><td>gcc 13"),
            HasSubstr("<td>1.00 s [0.500, 1.50] longer</td>")));
  ASSERT_EQ(page.plots.size(), 3U);
  EXPECT_EQ(page.plots[0].first, "forest");
  EXPECT_EQ(page.plots[1].first, "epochs_plot");
  EXPECT_EQ(page.plots[2].first, "samples_1");
}

// The body between the style sheet and the script, without the picture of the epochs.
TEST(ComparisonPage, IsTheGoldenOne) {
  PullRequest change = slower_and_faster();
  change.trials[0].epochs.clear();
  std::ifstream stream(std::string(ASSAY_GOLDEN_DIR) + "/../compare/golden_page.html");
  const std::string golden{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ("<body>" + between(pull_request_page(change).html, "<body>", "</main>") + "</main>\n", golden);
}

TEST(ComparisonPage, HoldsItsVerdictsAndSamplesAsJson) {
  const std::string html = pull_request_page(slower_and_faster()).html;
  const Json verdicts = Json::parse(between(html, "id=\"assay-comparison\">", "</script>"));
  EXPECT_EQ(verdicts["verdicts"].size(), 2U);
  const Json samples = Json::parse(between(html, "id=\"assay-samples\">", "</script>"));
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples[0]["samples"]["now"][0][1].number(), 1.26e-3);
}

TEST(ComparisonPage, LetsNoNameBecomeMarkupNorEndItsData) {
  const std::string hostile =
      "</script></title><script>alert(1)</script><img onerror='x' src=\"y\">`|@me\n\x01\xff";
  PullRequest change = slower_and_faster();
  change.outcome += hostile;
  change.suite = hostile;
  change.remarks = change.notes = change.seen = {hostile};
  change.comparison.differences = {hostile};
  change.comparison.rows[0].key += hostile;
  change.comparison.rows[1].why = hostile;
  change.trials[0].cause = hostile;
  change.trials[0].pointers = {hostile};
  change.trials[0].epochs[0].suite = hostile;
  change.before_facts = {{hostile, hostile, true}};
  const Page page = pull_request_page(change);
  EXPECT_THAT(page.html, AllOf(Not(HasSubstr("<script>alert")), Not(HasSubstr("<img")),
                               Not(HasSubstr("\x01")), Not(HasSubstr("\xff"))));
  for (const auto& [name, plot] : page.plots) EXPECT_THAT(svg_file(plot), Not(HasSubstr("<script"))) << name;
  const Json verdicts = Json::parse(between(page.html, "id=\"assay-comparison\">", "</script>"));
  EXPECT_THAT(verdicts["verdicts"][0]["key"].text(), HasSubstr("</script>"));
}

TEST(ComparisonPage, OfNothingSaysSo) {
  EXPECT_THAT(pull_request_page({}).html, HasSubstr("No trial was compared."));
}

TEST(ComparisonPage, StandsWithoutNumbersThatAreNone) {
  PullRequest change = slower_and_faster();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  change.comparison.rows[0].ratio = {nan, nan, nan, 0.95};
  change.trials[0].samples[0].launches = {{nan, 0, 1}};
  change.trials[0].epochs[0].seconds = {nan, nan, nan, 0.95};
  const Page page = pull_request_page(change);
  for (const auto& [name, plot] : page.plots) EXPECT_THAT(svg_file(plot), Not(HasSubstr("nan%"))) << name;
}

TEST(ComparisonPage, ListsTenThousandTrialsAndDrawsTheFirst) {
  PullRequest change{.outcome = "PASSED"};
  for (int i = 0; i < 10'000; ++i) {
    change.comparison.rows.push_back(page_verdict(fmt::format("op/v/n={}#1", i), Standing::same, 1));
    change.trials.push_back({.samples = {{"now", {{1e-3}}}}});
  }
  const Page page = pull_request_page(change);
  EXPECT_THAT(page.html, AllOf(HasSubstr("<code>op/v/n=9999#1</code>"),
                               HasSubstr("The samples of 9960 more trials are in the data below.")));
}

}  // namespace
}  // namespace assay
