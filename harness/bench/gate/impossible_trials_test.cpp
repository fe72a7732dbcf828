#include "bench/gate/rejected_trials.hpp"

#include "core/check/doubling_test.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// 4,096 operations and 32,768 bytes a call: 10.2 ns at four times 100 GFLOP/s, 16.4 ns at twice 1 TB/s.
constexpr const char* problem = "rows=64,columns=64";
constexpr double honest = 1e-6, impossible = 1e-9, suspect = 1e-7;

PairedTrial trial(double base, double head, int threads = 1) {
  PairedTrial out;
  out.trial = {.key = "doubling/naive/" + std::string(problem) + "#1",
               .operation = "doubling",
               .variant = "naive",
               .problem = problem,
               .threads = threads};
  for (int launch = 0; launch < 8; ++launch) {
    out.launches.push_back({.base = {base, base}, .head = {head, head}, .control = {base, base}});
  }
  return out;
}

class Floor : public ::testing::Test {
 protected:
  void judge(std::vector<PairedTrial> trials) {
    run_.trials = std::move(trials);
    leave_out_impossible(run_, roofs_, registry_, [this] {
      ++measured_;
      return Roof{.flops_per_second = 1e11,
                  .bandwidth = {{"L1", 32768, measured_ == 1 ? 1e12 : of_later_measurements_}}};
    });
  }
  Registry registry_ = testing::doubling_registry();
  TwoBuilds run_;
  std::vector<Roof> roofs_;
  int measured_ = 0;
  double of_later_measurements_ = 1e12;
};

TEST_F(Floor, AsksForNoRoofWhereNoTimeIsNearAny) {
  judge({trial(1e-3, 1e-3)});
  EXPECT_EQ(measured_, 0);
  EXPECT_TRUE(run_.trials[0].tested());
}

TEST_F(Floor, MeasuresOneRoofForATimeThatMayBeBelowIt) {
  judge({trial(suspect, suspect)});
  EXPECT_EQ(measured_, 1);
  EXPECT_TRUE(run_.trials[0].tested());
}

TEST_F(Floor, LeavesOutAHeadThatIsFasterThanAnyKernelCanBe) {
  judge({trial(honest, impossible), trial(honest, honest)});
  EXPECT_EQ(measured_, 4) << "a roof that is beaten is measured again";
  EXPECT_EQ(run_.trials[0].left_out.standing, Standing::impossible);
  EXPECT_THAT(run_.trials[0].left_out.why, HasSubstr("its bytes take 16.4 ns at twice the bandwidth of L1"));
  EXPECT_THAT(run_.trials[0].launches, SizeIs(8)) << "the samples stay";
  EXPECT_TRUE(run_.trials[1].tested());

  const GateFindings findings = findings_of(run_);
  EXPECT_EQ(findings.comparison.rows[0].standing, Standing::impossible);
  EXPECT_EQ(findings.comparison.rows[0].ratio.middle, 0);
  EXPECT_THAT(pull_request_text(pull_request_of(run_, findings)),
              HasSubstr("‼ doubling/naive/rows=64,columns=64#1\n"));
  EXPECT_THAT(pull_request_markdown(pull_request_of(run_, findings)),
              HasSubstr("1 of 2 trials is faster than any kernel can be"));
}

TEST_F(Floor, ComparesNothingWithABaseThatIs) {
  judge({trial(impossible, honest)});
  EXPECT_EQ(run_.trials[0].left_out.standing, Standing::not_comparable);
  EXPECT_THAT(run_.trials[0].left_out.why, HasSubstr("the base took 1.00 ns"));
}

TEST_F(Floor, FallsWithARoofThatComesOutHigherLater) {
  of_later_measurements_ = 1e14;
  judge({trial(1.2e-8, 1.2e-8)});
  EXPECT_EQ(measured_, 2);
  EXPECT_TRUE(run_.trials[0].tested());
}

TEST_F(Floor, KeepsTheRoofOfAGateBefore) {
  judge({trial(honest, impossible)});
  judge({trial(honest, impossible)});
  EXPECT_EQ(measured_, 4);
  EXPECT_THAT(roofs_, SizeIs(1));
  EXPECT_EQ(run_.trials[0].left_out.standing, Standing::impossible);
}

TEST_F(Floor, OfMoreThreadsIsAsMuchLower) {
  judge({trial(1.2e-8, 1.2e-8), trial(1.2e-8, 1.2e-8, 2)});
  EXPECT_EQ(run_.trials[0].left_out.standing, Standing::impossible);
  EXPECT_TRUE(run_.trials[1].tested()) << "8.2 ns for two";
}

TEST_F(Floor, LooksAtWholeIntervalsAndAtTestedTrialsAlone) {
  PairedTrial wide = trial(honest, impossible);
  for (std::size_t i = 0; i < 5; ++i) wide.launches[i].head = {honest, honest};
  PairedTrial wrong = trial(honest, impossible), unsampled = trial(honest, impossible);
  wrong.left_out = {Standing::wrong, "disagrees with the oracle"};
  unsampled.launches.clear();
  judge({wide, wrong, unsampled});
  EXPECT_TRUE(run_.trials[0].tested());
  EXPECT_EQ(run_.trials[1].left_out.standing, Standing::wrong);
  EXPECT_TRUE(run_.trials[2].tested());
}

}  // namespace
}  // namespace assay
