// A stored gate of two builds is read with every sample doubted.
#include "assay/error.hpp"
#include "bench/gate/two_builds.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::ThrowsMessage;

PairedTrial gemm_trial(const std::string& key, const std::string& variant) {
  PairedTrial out;
  out.trial = {.key = key, .operation = "gemm", .variant = variant, .problem = "m=1", .threads = 1};
  out.launches = {{.base = {1e-3, 2e-3}, .head = {1e-3, 2e-3}, .control = {1e-3, 2e-3}}};
  return out;
}

TwoBuilds run_of(std::vector<PairedTrial> trials) {
  TwoBuilds out{.suite = "tiny", .base = {.name = "v1"}, .head = {.name = "v2"}};
  out.machine.cores = 1;
  out.trials = std::move(trials);
  return out;
}

auto reading(const TwoBuilds& run) {
  return [text = to_json(run)] { two_builds_from_json(text, "run.json"); };
}

TEST(TwoBuildsJson, UnderstandsFormerNamesOfTiers) {
  TwoBuilds run = run_of({gemm_trial("gemm/simd@avx3/m=1#1", "simd@avx3")});
  run.planted = {{"gemm/simd@avx3/m=1#1", 0.03}};
  const TwoBuilds read = two_builds_from_json(to_json(run), "run.json");
  EXPECT_EQ(read.trials[0].trial.key, "gemm/simd@avx512/m=1#1");
  EXPECT_EQ(read.trials[0].trial.variant, "simd@avx512");
  EXPECT_THAT(read.planted, ElementsAre(Pair("gemm/simd@avx512/m=1#1", 0.03)));
}

TEST(TwoBuildsJson, KeepsWhatWasFoundImpossible) {
  PairedTrial idle = gemm_trial("gemm/a/m=1#1", "a");
  idle.left_out = {Standing::impossible, "took 1 ns"};
  const TwoBuilds read = two_builds_from_json(to_json(run_of({idle})), "run.json");
  EXPECT_EQ(read.trials[0].left_out.standing, Standing::impossible);
  EXPECT_EQ(read.trials[0].left_out.why, "took 1 ns");
  EXPECT_EQ(read.trials[0].launches.size(), 1U) << "its samples are kept";
}

TEST(TwoBuildsJson, RefusesATrialThatIsThereTwice) {
  EXPECT_THAT(reading(run_of({gemm_trial("gemm/a/m=1#1", "a"), gemm_trial("gemm/a/m=1#1", "a")})),
              ThrowsMessage<Error>(HasSubstr("run.json: trials[1]: repeats the trial gemm/a/m=1#1")));
}

TEST(TwoBuildsJson, TakesSidesThatTookOtherTurnsWhereTheyMay) {
  auto trial = gemm_trial("gemm/a/m=1#1", "a");
  trial.launches[0].control.clear();
  EXPECT_NO_THROW(reading(run_of({trial}))()) << "a launch may have no control";
  trial.launches[0].head.pop_back();
  trial.trial.variant.clear();
  EXPECT_NO_THROW(reading(run_of({trial}))()) << "foreign programs time themselves";
}

}  // namespace
}  // namespace assay
