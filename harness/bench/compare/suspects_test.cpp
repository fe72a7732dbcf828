#include "bench/compare/roofs.hpp"

#include "bench/report/hand_made_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// A namespace of its own: builds join test files, and these names are short.
namespace assay::suspects_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// hand_made::network() with gemm/packed at 1.75 times its roof, measured again alone by `sample`.
Results after(const std::function<void(TrialSample&)>& sample, std::vector<std::string>* asked = nullptr) {
  Results out = hand_made::network();
  for (Launch& launch : out.trials[1].launches) launch[0].seconds = 3e-6;
  const Sample alone = [&](const LaunchRequest& launch, const Hooks&) {
    EXPECT_TRUE(launch.policy.judge_every);
    std::vector<TrialSample> samples;
    for (const TrialRequest& trial : launch.trials) {
      if (asked != nullptr) asked->push_back(trial.key);
      sample(samples.emplace_back(TrialSample{.key = trial.key}));
    }
    return samples;
  };
  measure_suspects_alone(out, {.launches = 2}, alone, {});
  return out;
}

TEST(Suspect, IsMeasuredAgainAloneAndSoAreNoOthers) {
  std::vector<std::string> asked;
  const Results found = after([](TrialSample& one) { one.slices = {{.seconds = 3e-6}}; }, &asked);
  const std::string key = "gemm/packed/m=64,n=64,k=64#1";
  EXPECT_THAT(asked, ElementsAre(key, key)) << "in two launches";
  EXPECT_EQ(found.trials[1].remark,
            "above the roof of arithmetic: 1.75x, also alone with every slice judged; suspect");
  EXPECT_EQ(found.trials[1].launches.size(), 2U);
  EXPECT_EQ(found.trials[0].launches.size(), 3U);
}

TEST(Suspect, KeepsTheTimesThatItHasAlone) {
  const Results found = after([](TrialSample& one) { one.slices = {{.seconds = 50e-6}}; });
  EXPECT_THAT(found.trials[1].remark, HasSubstr("was 1.75x the roof of arithmetic beside others"));
  EXPECT_EQ(found.trials[1].launches[0][0].seconds, 50e-6);
}

TEST(Suspect, IsWrongWhereASliceThatIsJudgedIs) {
  const Results found = after([](TrialSample& one) { one.audit.fault = "c[0] is 1, expected 2"; });
  EXPECT_FALSE(found.trials[1].agreement.agrees);
  EXPECT_THAT(found.trials[1].launches, IsEmpty());
}

}  // namespace
}  // namespace assay::suspects_test
