#include "bench/exchange/annotations.hpp"

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

ComparedRow slower(const std::string& key, double ratio) {
  return {.key = key,
          .standing = Standing::slower,
          .ratio = {ratio - 0.03, ratio, ratio + 0.03, 0.9},
          .limit = 1.05,
          .why = "all three say so"};
}

ComparedRow wrong(const std::string& key, const std::string& why) {
  return {.key = key, .standing = Standing::wrong, .why = why};
}

Comparison sample_comparison() {
  return {.rows = {slower("gemm/packed/m=1#1", 1.11),
                   {.key = "gemm/naive/m=1#1", .standing = Standing::same, .ratio = {0.9, 1, 1.1, 0.9}},
                   slower("gemm/simd/m=1#1", 1.5),
                   wrong("gemm/odd/m=1#1", "disagrees with the oracle: c[0] is 1")}};
}

Comparison with_slower_rows(int count) {
  Comparison out;
  for (int i = 0; i < count; ++i) out.rows.push_back(slower(fmt::format("gemm/packed/m={}#1", i), 1.5));
  return out;
}

std::string annotations(const Comparison& comparison, const std::string& suite, const std::string& command) {
  return github_annotations({.command = command, .comparison = comparison}, suite);
}

TEST(GithubAnnotations, AreTheGoldenOnes) {
  EXPECT_EQ(
      annotations(sample_comparison(), "tiny", "assay gate --suite tiny.json"),
      R"(::error title=disagreement in tiny::gemm/odd/m=1#1 disagrees with the oracle: c[0] is 1%0Aagain: assay gate --suite tiny.json -k '^gemm/odd/m=1#1$'
::error title=regression in tiny::gemm/simd/m=1#1 1.50x slower [1.47, 1.53], limit 1.05%0Aagain: assay gate --suite tiny.json -k '^gemm/simd/m=1#1$'
::error title=regression in tiny::gemm/packed/m=1#1 1.11x slower [1.08, 1.14], limit 1.05%0Aagain: assay gate --suite tiny.json -k '^gemm/packed/m=1#1$'
)");
}

TEST(GithubAnnotations, TellAWorseFigure) {
  Comparison found{.rows = {{.key = "plan/a/n=1#1", .standing = Standing::same}}};
  const Figure low{.name = "height", .value = 1234, .unit = "bytes", .better = Figure::Better::lower};
  Figure high = low;
  high.value = 1300;
  found.rows[0].figures = {{low, high}};
  EXPECT_THAT(annotations(found, "tiny", "a"),
              StartsWith("::error title=regression in tiny::plan/a/n=1#1 height 1,234 → 1,300 bytes (5.3 %25 "
                         "more)%0Aagain: "));
  EXPECT_THAT(github_outputs(found, "regression"), HasSubstr("regressions=1\n"));
  found.rows[0].figures = {{low, low}};
  EXPECT_EQ(annotations(found, "tiny", "a"), "");
}

TEST(GithubAnnotations, TellATimeThatCannotBe) {
  const Comparison found{
      .rows = {{.key = "gemm/idle/m=1#1", .standing = Standing::impossible, .why = "took 1 ns"}}};
  EXPECT_THAT(annotations(found, "tiny", "a"),
              StartsWith("::error title=impossible time in tiny::gemm/idle/m=1#1 took 1 ns%0Aagain: "));
}

TEST(GithubAnnotations, StandAtTheFileThatChangedWithTheWorstOfItsTrials) {
  PullRequest page{.command = "a", .comparison = with_slower_rows(3)};
  page.comparison.rows[1].ratio.middle = 1.7;
  page.trials.resize(3);
  for (ChangedTrial& one : page.trials) one.cause = "kernels/gemm/simd.cpp";
  EXPECT_EQ(github_annotations(page, "s"),
            "::error file=kernels/gemm/simd.cpp,title=regression in s::gemm/packed/m=1#1 1.70x slower [1.47, "
            "1.53], "
            "limit 1.05, and 2 more by this file%0Aagain: a -k '^gemm/packed/m=1#1$'\n");
  for (ChangedTrial& one : page.trials) one.cause = "f(int)";
  EXPECT_THAT(github_annotations(page, "s"), Not(HasSubstr("file=")));
}

TEST(GithubAnnotations, SayWhichAcceptancesRanOut) {
  const Comparison expired{.objections = {"the acceptance of a/b#1 ran out on 2026-10-20"}};
  EXPECT_EQ(annotations(expired, "tiny", "a"),
            "::error title=expired acceptance in tiny::the acceptance of a/b#1 ran out on 2026-10-20\n");
}

TEST(GithubAnnotations, StayWithinTheTenThatGithubShows) {
  const auto lines = [](int count) {
    return std::ranges::count(annotations(with_slower_rows(count), "s", "a"), '\n');
  };
  EXPECT_EQ(lines(9), 9);
  EXPECT_EQ(lines(10), 10);
  EXPECT_EQ(lines(500), 10);
  EXPECT_THAT(annotations(with_slower_rows(500), "s", "a"), EndsWith("::error title=s::and 491 more\n"));
}

TEST(GithubAnnotations, AreNoneWhereNothingIsWrongOrSlower) {
  const Comparison fine{.rows = {{.key = "a/b#1", .standing = Standing::undecided}}};
  EXPECT_THAT(annotations(fine, "s", "a"), IsEmpty());
}

TEST(GithubAnnotations, GiveNoNameALineOfItsOwn) {
  const Comparison hostile{.rows = {wrong("a\n::stop-commands::x\r/b#1", "100%0A\n::set-env name=PATH::x")}};
  const std::string text = annotations(hostile, "s,file=x::y\n::error::", "assay gate");
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
  EXPECT_THAT(text, Not(HasSubstr("\r")));
  EXPECT_THAT(text, StartsWith("::error title=disagreement in s%2Cfile=x%3A%3Ay%0A%3A%3Aerror%3A%3A::a%0A"));
  EXPECT_THAT(text, HasSubstr("100%250A%0A::set-env"));
}

TEST(GithubOutputs, AreALineEach) {
  EXPECT_EQ(github_outputs(sample_comparison(), "wrong"), "verdict=wrong\nregressions=2\n");
}

}  // namespace
}  // namespace assay
