#include "bench/exchange/github.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

namespace assay {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

Verdict slower(const std::string& key, double ratio) {
  return {.key = key,
          .standing = Standing::slower,
          .ratio = {ratio - 0.03, ratio, ratio + 0.03, 0.9},
          .limit = 1.05,
          .why = "all three say so"};
}

Verdict wrong(const std::string& key, const std::string& why) {
  return {.key = key, .standing = Standing::wrong, .why = why};
}

Comparison sample_comparison() {
  return {.verdicts = {slower("gemm/packed/m=1#1", 1.11),
                       {.key = "gemm/naive/m=1#1", .standing = Standing::same, .ratio = {0.9, 1, 1.1, 0.9}},
                       slower("gemm/simd/m=1#1", 1.5),
                       wrong("gemm/odd/m=1#1", "disagrees with the oracle: c[0] is 1")}};
}

Comparison with_slower_rows(int count) {
  Comparison out;
  for (int i = 0; i < count; ++i) out.verdicts.push_back(slower(fmt::format("gemm/packed/m={}#1", i), 1.5));
  return out;
}

TEST(GithubAnnotations, AreTheGoldenOnes) {
  EXPECT_EQ(
      github_annotations(sample_comparison(), "tiny", "assay gate --suite tiny.json"),
      R"(::error title=disagreement in tiny::gemm/odd/m=1#1 disagrees with the oracle: c[0] is 1%0Aagain: assay gate --suite tiny.json -k '^gemm/odd/m=1#1$'
::error title=regression in tiny::gemm/simd/m=1#1 1.50x slower [1.47, 1.53], limit 1.05%0Aagain: assay gate --suite tiny.json -k '^gemm/simd/m=1#1$'
::error title=regression in tiny::gemm/packed/m=1#1 1.11x slower [1.08, 1.14], limit 1.05%0Aagain: assay gate --suite tiny.json -k '^gemm/packed/m=1#1$'
)");
}

TEST(GithubAnnotations, TellATimeThatCannotBe) {
  const Comparison found{
      .verdicts = {{.key = "gemm/idle/m=1#1", .standing = Standing::impossible, .why = "took 1 ns"}}};
  EXPECT_THAT(github_annotations(found, "tiny", "a"),
              StartsWith("::error title=impossible time in tiny::gemm/idle/m=1#1 took 1 ns%0Aagain: "));
  EXPECT_THAT(github_summary(found, {}, {}, "a", 0),
              HasSubstr("### 1 of 1 trials is faster than any kernel can be; "));
}

TEST(GithubAnnotations, SayWhichAcceptancesRanOut) {
  const Comparison expired{.objections = {"the acceptance of a/b#1 ran out on 2026-10-20"}};
  EXPECT_EQ(github_annotations(expired, "tiny", "a"),
            "::error title=expired acceptance in tiny::the acceptance of a/b#1 ran out on 2026-10-20\n");
}

TEST(GithubAnnotations, StayWithinTheTenThatGithubShows) {
  const auto lines = [](int count) {
    return std::ranges::count(github_annotations(with_slower_rows(count), "s", "a"), '\n');
  };
  EXPECT_EQ(lines(9), 9);
  EXPECT_EQ(lines(10), 10);
  EXPECT_EQ(lines(500), 10);
  EXPECT_THAT(github_annotations(with_slower_rows(500), "s", "a"),
              EndsWith("::error title=s::and 491 more\n"));
}

TEST(GithubAnnotations, AreNoneWhereNothingIsWrongOrSlower) {
  const Comparison fine{.verdicts = {{.key = "a/b#1", .standing = Standing::undecided}}};
  EXPECT_THAT(github_annotations(fine, "s", "a"), IsEmpty());
}

TEST(GithubAnnotations, GiveNoNameALineOfItsOwn) {
  const Comparison hostile{
      .verdicts = {wrong("a\n::stop-commands::x\r/b#1", "100%0A\n::set-env name=PATH::x")}};
  const std::string text = github_annotations(hostile, "s,file=x::y\n::error::", "assay gate");
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
  EXPECT_THAT(text, Not(HasSubstr("\r")));
  EXPECT_THAT(text, StartsWith("::error title=disagreement in s%2Cfile=x%3A%3Ay%0A%3A%3Aerror%3A%3A::a%0A"));
  EXPECT_THAT(text, HasSubstr("100%250A%0A::set-env"));
}

TEST(GithubSummary, HasTheVerdictTheTableAndTheCommands) {
  const std::string text = github_summary(sample_comparison(), {}, {}, "assay gate --suite <tiny>.json", 0);
  EXPECT_THAT(text, StartsWith("\n### 1 of 4 trials disagrees with the oracle; 2 of 4 trials are slower"));
  EXPECT_THAT(text, HasSubstr("| 1.50x slower | 1.47 to 1.53 (90 %) | 1.05 |"));
  EXPECT_THAT(text, EndsWith(R"(
<details><summary>Repeat</summary>

<pre>
assay gate --suite &lt;tiny&gt;.json -k '^gemm/odd/m=1#1$'
assay gate --suite &lt;tiny&gt;.json -k '^gemm/simd/m=1#1$'
assay gate --suite &lt;tiny&gt;.json -k '^gemm/packed/m=1#1$'
</pre>

</details>
)"));
}

TEST(GithubSummary, LetsNoNameFromOutsideBecomeMarkup) {
  const std::string key = "a/</pre><img src=x>/b#1";
  const Comparison hostile{.verdicts = {wrong(key, "</details>@me `x`")}};
  std::string text = github_summary(hostile, {}, {}, "assay gate", 0);
  // In code nothing is markup.
  const std::string in_code = "`" + key + "`";
  for (std::size_t at = 0; (at = text.find(in_code)) != std::string::npos;) text.erase(at, in_code.size());
  EXPECT_THAT(text, Not(HasSubstr("<img")));
  EXPECT_THAT(text, Not(HasSubstr("@me")));
  EXPECT_THAT(text, HasSubstr("&lt;/pre&gt;&lt;img src=x&gt;"));
}

TEST(GithubSummary, IsCutAtTheLimitWithANoteAndNothingLeftOpen) {
  Comparison large = with_slower_rows(100);
  for (Verdict& verdict : large.verdicts) verdict.why = std::string(30'000, 'x');
  for (const std::size_t there : {std::size_t{0}, std::size_t{500'000}, most_summary_bytes - 1000}) {
    const std::string text = github_summary(large, {}, {}, "assay gate", there);
    EXPECT_LE(text.size() + there, most_summary_bytes) << there;
    EXPECT_THAT(text, EndsWith("since a summary is limited in size: see the results.\n")) << there;
    const auto count = [&](const std::string& what) {
      std::size_t found = 0;
      for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++found;
      return found;
    };
    EXPECT_EQ(count("<details>"), count("</details>")) << there;
    EXPECT_EQ(count("<pre>"), count("</pre>")) << there;
  }
  EXPECT_THAT(github_summary(large, {}, {}, "assay gate", most_summary_bytes), IsEmpty());
  EXPECT_THAT(github_summary(large, {}, {}, "assay gate", 10 * most_summary_bytes), IsEmpty());
}

TEST(GithubComment, IsCutAtTheLimitWithANote) {
  EXPECT_EQ(github_comment("### fine\n"), "### fine\n");
  std::string rows;
  while (rows.size() <= most_comment_bytes) rows += "| a row |\n";
  const std::string text = github_comment(rows);
  EXPECT_LE(text.size(), most_comment_bytes);
  EXPECT_THAT(
      text,
      EndsWith("| a row |\n\nThe rest is cut off, since a comment is limited in size: see the results.\n"));
}

TEST(GithubOutputs, AreALineEach) {
  EXPECT_EQ(github_outputs(sample_comparison(), "wrong"), "verdict=wrong\nregressions=2\n");
}

}  // namespace
}  // namespace assay
