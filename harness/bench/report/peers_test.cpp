#include "bench/report/content.hpp"
#include "bench/report/hand_made_test.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using hand_made::trial;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Ours takes 20 µs where OpenBLAS takes 10, and 10 where it takes 20; 40 µs with two threads where oneDNN
/// takes 50. Slower variants stand beside the fastest.
Results beside_libraries() {
  Results out;
  out.trials = {trial("gemm", "naive", "m=1", {5}),
                trial("gemm", "packed", "m=1", {20, 20, 20}),
                trial("gemm", "simd", "m=1", {30, 30, 30}),
                trial("gemm", "openblas", "m=1", {10, 10, 10}),
                trial("gemm", "onednn", "m=1", {11, 11, 11}),
                trial("gemm", "simd", "m=2", {10, 10, 10}),
                trial("gemm", "openblas", "m=2", {20, 20, 20}),
                trial("gemm", "packed", "m=1", {40, 40, 40}),
                trial("gemm", "onednn", "m=1", {50, 50, 50}),
                trial("lone", "openblas", "m=1", {1, 1, 1})};
  out.trials[7].threads = out.trials[8].threads = 2;
  return out;
}

TEST(Peers, AreTheFastestLibraryOfEachCaseAndThreadCount) {
  const std::vector<PeerRow> rows = peers(beside_libraries());
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].operation, "gemm");
  EXPECT_EQ(rows[0].threads, 1);
  ASSERT_THAT(rows[0].ratios, SizeIs(2));
  EXPECT_THAT(rows[0].libraries, ElementsAre("openblas"));
  EXPECT_NEAR(rows[0].mean, 1, 1e-12) << "half as fast and twice as fast";
  EXPECT_NEAR(rows[0].ratios[0].ratio.middle, 0.5, 1e-12) << "the worst first";
  EXPECT_EQ(rows[0].ratios[0].problem, "m=1");
  EXPECT_EQ(rows[0].ratios[0].ours, "packed");
  EXPECT_NEAR(rows[0].ratios[1].ratio.middle, 2, 1e-12);
  EXPECT_EQ(rows[1].threads, 2);
  EXPECT_NEAR(rows[1].mean, 1.25, 1e-12);
}

TEST(Peers, AreWhatTheirCodeCallsByName) {
  Results results;
  results.trials = {trial("gemm", "packed", "m=1", {20, 20, 20}), trial("gemm", "mkl", "m=1", {10, 10, 10})};
  EXPECT_THAT(peers(results), IsEmpty());
  results.calls = {{.variant = "gemm/mkl", .calls = {{"mkl", {"sgemm"}}}}};
  EXPECT_THAT(peers(results), SizeIs(1));
}

TEST(Peers, StandInAReportInWords) {
  const Report report = make_report(beside_libraries(), std::nullopt, std::nullopt, {});
  EXPECT_THAT(to_markdown(report),
              AllOf(HasSubstr("| `gemm` | 1 | 2 | `openblas` | 1.00x as fast | 2.00x slower [2.00, 2.00] at "
                              "`m=1` | 2.00x faster [2.00, 2.00] at `m=2` |"),
                    HasSubstr("| `gemm/m=1` | 1 | `packed` | `openblas` | 2.00x slower [2.00, 2.00] |\n"
                              "| `gemm/m=2` | 1 | `simd` | `openblas` | 2.00x faster [2.00, 2.00] |\n"),
                    HasSubstr("| `gemm/m=1` | 2 | `packed` | `onednn` | 1.25x faster [1.25, 1.25] |\n")));
}

}  // namespace
}  // namespace assay
