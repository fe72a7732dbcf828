// Files that version 0.1.0 (1bc4ec639b36) wrote, and the verdicts that it reached on them. The files keep a
// row of each standing, five slices of a process start, and a few facts of the machine.
#include "assay/compare.hpp"
#include "assay/files.hpp"
#include "bench/gate/two_builds.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

namespace assay {
namespace {

using ::testing::ElementsAre;

const std::filesystem::path data = std::filesystem::path(ASSAY_TREE) / "harness/app/data";

std::vector<std::string> lines_of(const Comparison& comparison) {
  std::vector<std::string> out;
  for (const ComparedRow& one : comparison.rows) {
    out.push_back(fmt::format("{} {} {:.6f} [{:.6f}, {:.6f}]", one.key, to_string(one.standing),
                              one.ratio.middle, one.ratio.low, one.ratio.high));
  }
  return out;
}

Results stored_results() { return results_from_json(read_file(data / "results.json"), "results.json"); }
Baseline stored_baseline() { return load_baseline(data / "amd_epyc_25_17_2c_avx512/stored.json").value(); }
TwoBuilds stored_gate() { return two_builds_from_json(read_file(data / "gate.json"), "gate.json"); }

TEST(StoredFiles, OfAGateOfTwoBuildsGiveTheVerdictsOfTheirTime) {
  EXPECT_THAT(
      lines_of(findings_of(stored_gate()).comparison),
      ElementsAre("memory_pool_validate/naive/blocks=1000,plans=one#1 slower 1.105016 [1.097846, 1.118619]",
                  "gemm/packed/m=64,n=64,k=64#1 slower 1.101459 [1.101127, 1.105848]",
                  "gemm/simd@avx512/m=64,n=64,k=64#1 same 0.999375 [0.997111, 1.000598]"));
}

TEST(StoredFiles, OfResultsAndTheirBaselineGiveTheVerdictsOfTheirTime) {
  EXPECT_THAT(
      lines_of(compare(stored_results(), stored_baseline(), {})),
      ElementsAre(
          "memory_pool_validate/naive/blocks=1000,plans=one#1 undecided 1.023192 [0.965313, 1.055047]",
          "gemm/naive/m=64,n=64,k=64#1 not slower 0.977333 [0.947825, 1.035933]",
          "gemm/packed/m=64,n=64,k=64#1 slower 1.301444 [1.265204, 1.337347]",
          "gemm/simd@avx512/m=64,n=64,k=64#1 same 0.987049 [0.972222, 1.008537]"));
}

TEST(StoredFiles, GiveOtherVerdictsOnOtherTimes) {
  TwoBuilds other = stored_gate();
  for (PairedLaunch& launch : other.trials.back().launches) {
    for (double& seconds : launch.head) seconds *= 1.2;
  }
  EXPECT_NE(lines_of(findings_of(other).comparison), lines_of(findings_of(stored_gate()).comparison));
  Results slower = stored_results();
  for (Launch& launch : slower.trials.back().launches) {
    for (Slice& slice : launch) slice.seconds *= 1.2;
  }
  EXPECT_NE(lines_of(compare(slower, stored_baseline(), {})),
            lines_of(compare(stored_results(), stored_baseline(), {})));
}

}  // namespace
}  // namespace assay
