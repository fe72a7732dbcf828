#include "assay/measure.hpp"
#include "assay/report.hpp"

#include "bench/report/hand_made_test.hpp"

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
TEST(RunTable, HasOneBlockPerCaseWithTimesSpeedupsAndRoof) {
  EXPECT_EQ(to_table(network()),
            R"(             time                  vs naive               of roof  preparation
gemm/m=64,n=64,k=64
  naive       102 µs   [100, 104]                          5.14 %
  packed     51.0 µs [50.0, 52.0]   2.00x   [2.00, 2.00]   10.3 %      1.00 ms
elementwise_add/n=1,c=1,h=1,w=1000
  naive      10.0 µs [10.0, 10.0]                          1.20 %
  simd@avx2  12.5 µs [12.5, 12.5]  0.800x [0.800, 0.800]  0.960 %
)");
}

TEST(RunTable, HasAColumnForAFigureThatIsNotTheSameEverywhere) {
  Results results = network();
  for (TrialResult& trial : results.trials)
    trial.figures = {{"allocations_per_call", 2}, {"workspace_bytes", 0}};
  EXPECT_THAT(to_table(results), HasSubstr("\nIn all 4 rows: allocations 2; workspace 0 B.\n"));
  results.trials[1].figures["workspace_bytes"] = 4096;
  EXPECT_THAT(to_table(results), HasSubstr("[2.00, 2.00]   10.3 %   4.00 KiB\n"));
}

TEST(RunTable, SaysWhatATrialWithoutATimeHasInstead) {
  Results results = hand_made::network_with_a_disagreement();
  results.trials[3].launches.clear();
  results.trials[3].skipped = "needs AVX2";

  const std::string table = to_table(results);

  EXPECT_THAT(table, HasSubstr("  packed\n      DISAGREES: c[1, 32] is 0.5, expected 0.25"));
  EXPECT_THAT(table, HasSubstr("\n1 trial did not run here: needs AVX2\n"));
  EXPECT_THAT(table, Not(HasSubstr("simd@avx2"))) << "one line per reason";

  Results idle = network();
  idle.trials[1].impossible = "took 5 ns a call";
  EXPECT_THAT(to_table(idle), HasSubstr("\n  packed\n      IMPOSSIBLE: took 5 ns a call\n"));
  EXPECT_THAT(to_table(idle), Not(HasSubstr("2.00x")));
}

TEST(RunTable, ShowsRatiosButNoTimesOfMixedMachines) {
  Results results = network();
  results.mixed_machines = "the shards ran on machines that differ in cores";
  const std::string table = to_table(results);
  EXPECT_THAT(table, Not(HasSubstr("µs")));
  EXPECT_THAT(table, HasSubstr("packed     withheld"));
  EXPECT_THAT(table, HasSubstr("2.00x"));
  EXPECT_THAT(table,
              HasSubstr("times and roofs are withheld: the shards ran on machines that differ in cores"));
}

TEST(RunTable, StaysWithinEightyColumns) {
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
