#include "assay/report.hpp"

#include "bench/report/hand_made.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace assay {
namespace {

using hand_made::network;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::size_t width = 0;
    for (const char c : line) width += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1U : 0U;
    longest = std::max(longest, width);
  }
  return longest;
}

// 524,288 operations in 102 µs are 5.14 % of 100 GFLOP/s. 12,000 bytes take 0.12 µs at 100 GB/s:
// 1.20 % of 10 µs.
TEST(Table, HasOneBlockPerCaseWithTimesSpeedupsRoofAndAllocations) {
  EXPECT_EQ(to_table(network()),
            R"(                time   [interval]  vs naive     [interval]  of roof  allocs
gemm/m=64,n=64,k=64
  naive       102 µs   [100, 104]                            5.14 %       0
  packed     51.0 µs [50.0, 52.0]     2.00x   [2.00, 2.00]   10.3 %       0
elementwise_add/n=1,c=1,h=1,w=1000
  naive      10.0 µs [10.0, 10.0]                            1.20 %       0
  simd@avx2  12.5 µs [12.5, 12.5]    0.800x [0.800, 0.800]  0.960 %       0
)");
}

TEST(Table, SaysWhatATrialWithoutATimeHasInstead) {
  Results results = hand_made::network_with_a_disagreement();
  results.trials[3].launches.clear();
  results.trials[3].skipped = "needs AVX2";

  const std::string table = to_table(results);

  EXPECT_THAT(table, HasSubstr("packed  DISAGREES: c[1, 32] is 0.5, expected 0.25"));
  EXPECT_THAT(table, HasSubstr("simd@avx2  skipped: needs AVX2"));

  Results idle = network();
  idle.trials[1].impossible = "took 5 ns a call";
  EXPECT_THAT(to_table(idle), HasSubstr("\n  packed  IMPOSSIBLE: took 5 ns a call\n"));
  EXPECT_THAT(to_table(idle), Not(HasSubstr("2.00x")));
}

TEST(Table, ShowsRatiosButNoTimesOfMixedMachines) {
  Results results = network();
  results.mixed_machines = "the shards ran on machines that differ in cores";
  const std::string table = to_table(results);
  EXPECT_THAT(table, Not(HasSubstr("µs")));
  EXPECT_THAT(table, HasSubstr("packed     withheld"));
  EXPECT_THAT(table, HasSubstr("2.00x"));
  EXPECT_THAT(table,
              HasSubstr("times and roofs are withheld: the shards ran on machines that differ in cores"));
}

TEST(Table, StaysWithinEightyColumns) {
  Results results = hand_made::network_with_a_disagreement();
  for (TrialResult& trial : results.trials) {
    trial.problem +=
        std::string(",values=special,layout=per_channel_last,alpha=-4,beta=-4,another=12345678901");
  }
  results.trials[1].agreement.detail = std::string(70, 'x') + ", " + std::string(70, 'y');

  EXPECT_LE(longest_line(to_table(results)), 80U);
}

}  // namespace
}  // namespace assay
