#include "bench/exchange/annotations.hpp"

#include "core/json/json.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

PullRequest page() {
  PullRequest out{.command = "assay gate"};
  out.comparison.rows = {
      {.key = "gemm/same/m=1#1", .standing = Standing::same, .ratio = {0.99, 1, 1.01, 0.95}},
      {.key = "gemm/simd/m=1#1", .standing = Standing::slower, .ratio = {1.1, 1.2, 1.3, 0.95}, .limit = 1.05},
      {.key = "a|\xff\n\"b", .standing = Standing::wrong, .why = "c[0] is 1"}};
  out.trials.resize(3);
  out.trials[1].cause = "kernels/gemm/simd.cpp";
  return out;
}

TEST(GitlabCodeQuality, HasTheFieldsThatGitlabAsksFor) {
  const Json found = Json::parse(gitlab_code_quality(page(), "suites/smoke.json"));
  ASSERT_EQ(found.size(), 2U) << "what is the same is no finding";
  EXPECT_EQ(found[0]["severity"], "critical");
  EXPECT_EQ(found[0]["location"]["path"], "suites/smoke.json");
  EXPECT_EQ(found[1]["severity"], "major");
  EXPECT_EQ(found[1]["check_name"], "assay: regression");
  EXPECT_EQ(found[1]["location"]["path"], "kernels/gemm/simd.cpp");
  EXPECT_EQ(found[1]["location"]["lines"]["begin"], 1);
  EXPECT_EQ(
      found[1]["description"],
      "gemm/simd/m=1#1 1.20x slower [1.10, 1.30], limit 1.05; again: assay gate -k '^gemm/simd/m=1#1$'");
}

TEST(GitlabCodeQuality, TellsAFindingByWhatItIsAboutAlone) {
  PullRequest later = page();
  later.comparison.rows[1].ratio.middle = 1.25;
  const Json before = Json::parse(gitlab_code_quality(page(), "s")),
             after = Json::parse(gitlab_code_quality(later, "s"));
  EXPECT_EQ(before[1]["fingerprint"], after[1]["fingerprint"]);
  EXPECT_FALSE(before[0]["fingerprint"] == before[1]["fingerprint"]);
}

TEST(GitlabCodeQuality, OfNothingIsAnEmptyList) { EXPECT_EQ(gitlab_code_quality({}, "s"), "[]\n"); }

}  // namespace
}  // namespace assay
