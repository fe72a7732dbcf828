// Tests each planner on hand-worked lists and on lists that break planners.

#include "memory_pool/trace_file_test.hpp"

#include "assay/ops/memory_pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace assay::memory_pool {
namespace {

using ::testing::StartsWith;

TEST(Planners, DifferAsWorkedByHand) {
  // a [0, 64) and b [64, 192) start together. a ends, and c of 128 bytes does not fit below b: in order of
  // start it goes to [192, 320). Largest first, b is at 0, c at 128 and a at 128, which c uses later: 256. No
  // two blocks of one size live apart, so equal sizes share nothing: 64 + 128 + 128.
  const TraceFile trace("a,0,1,64\nb,0,3,128\nc,1,3,128\n");
  EXPECT_THAT(trace.figures("memory_pool_plan/naive"),
              StartsWith("height 320 bytes, lower bound 256 bytes, gap 25.00 %"));
  EXPECT_THAT(trace.figures("memory_pool_plan/first_fit"), StartsWith("height 320 bytes"));
  EXPECT_THAT(trace.figures("memory_pool_plan/equal_size"), StartsWith("height 320 bytes"));
  for (const char* planner : {"by_size", "best_order", "offline_quick", "offline"}) {
    EXPECT_EQ(trace.figures(std::string("memory_pool_plan/") + planner + "$"),
              "height 256 bytes, lower bound 256 bytes, gap 0.00 %");
  }
}

TEST(Planners, UseAPlaceAgainForAnEqualSize) {
  // b and c fit in the place of a; only c has its size, rounded up to 64.
  const TraceFile trace("a,0,1,128\nb,1,2,64\nc,1,2,127\n");
  EXPECT_THAT(trace.figures("memory_pool_plan/equal_size"), StartsWith("height 192 bytes"));
  // b goes into the gap that a left, and c no longer fits there.
  EXPECT_THAT(trace.figures("memory_pool_plan/first_fit"), StartsWith("height 191 bytes"));
}

TEST(Planners, ShareNothingAmongLivesThatEndTogether) {
  const TraceFile trace("a,0,9,64\nb,1,9,64\nc,2,9,64\nd,3,9,64\ne,9,10,256\n");
  for (const CornerCheck& c : trace.checks("memory_pool_plan")) {
    EXPECT_TRUE(c.agreement.agrees) << c.variant << ": " << c.agreement.detail;
    EXPECT_THAT(in_words(c.agreement.figures),
                StartsWith(c.variant == "equal_size" ? "height 512 bytes" : "height 256 bytes"))
        << c.variant;
  }
}

TEST(Planners, TakeLivesAndSizesNearTheirLimits) {
  // Sizes of 2^60 and steps up to 2^61.
  const TraceFile trace(
      "a,0,2305843009213693952,1152921504606846976\nb,1,2,1152921504606846976\nc,2,2305843009213693952,3\n");
  for (const CornerCheck& c : trace.checks("memory_pool_plan")) {
    EXPECT_TRUE(c.agreement.agrees) << c.variant << ": " << c.agreement.detail;
  }
}

TEST(Planners, FirstFitIsThePlanOfNaiveFromATree) {
  const Registry registry = Registry::linked();
  const Operation& operation = registry.at("memory_pool_plan");
  std::map<std::string, std::size_t> variant;
  for (std::size_t v = 0; v < operation.variants().size(); ++v) variant[operation.variants()[v].name] = v;
  for (const std::string& problem : operation.corner_cases()) {
    const auto workload = operation.open(problem, {.rng = Rng(7)});
    const auto height = [&](const char* name) {
      return workload->check(variant.at(name), {}, Workload::no_rehearsal).figures.at(0).value;
    };
    EXPECT_EQ(height("first_fit"), height("naive")) << problem;
  }
}

}  // namespace
}  // namespace assay::memory_pool
