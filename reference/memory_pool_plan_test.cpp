#include "assay/ops/memory_pool.hpp"

#include "assay/check.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>

namespace assay::memory_pool_plan_test {
namespace {

using memory_pool::Request;
using ::testing::HasSubstr;
using Problem = MemoryPoolPlan::Problem;
using Input = MemoryPoolPlan::Input;
using Output = MemoryPoolPlan::Output;

Input requests(std::initializer_list<Request> list) {
  Input in{Buffer<Request>(static_cast<Index>(list.size()))};
  std::ranges::copy(list, in.requests.begin());
  return in;
}

/// A plan with the height and the ends that follow from its offsets.
Output placed(const Input& in, std::initializer_list<Index> lower) {
  Output out{Buffer<Index>(in.requests.size()), Buffer<Index>(in.requests.size()), Buffer<Index>(1)};
  std::ranges::copy(lower, out.lower.begin());
  out.height[0] = 0;
  for (Index i = 0; i < in.requests.size(); ++i) {
    out.upper[i] = out.lower[i] + in.requests[i].bytes;
    out.height[0] = std::max(out.height[0], out.upper[i]);
  }
  return out;
}

Agreement judged(const Input& in, const Output& out) {
  Setting setting;
  const Problem p{.blocks = in.requests.size()};
  return MemoryPoolPlan::judge(p, in, MemoryPoolPlan::expect(p, in, setting), out);
}

// Three blocks: the first and the last may share bytes, the one between overlaps both.
Input chain() { return requests({{100, 0, 2}, {64, 1, 4}, {50, 3, 5}}); }

TEST(MemoryPoolPlan, AcceptsAnyValidPlan) {
  const Input in = chain();
  EXPECT_TRUE(judged(in, placed(in, {0, 128, 0})).agrees);
  EXPECT_TRUE(judged(in, placed(in, {64, 0, 64})).agrees);
  EXPECT_TRUE(judged(in, placed(in, {0, 128, 192})).agrees);
}

TEST(MemoryPoolPlan, RejectsAnOverlapAndNamesBothBlocks) {
  const Input in = chain();
  const Agreement outcome = judged(in, placed(in, {0, 64, 128}));
  EXPECT_FALSE(outcome.agrees);
  EXPECT_THAT(outcome.detail, HasSubstr("block 0 (100 B at 0, steps [0, 2)) and block 1 (64 B at 64"));
}

TEST(MemoryPoolPlan, RejectsOffsetsThatAreNotAligned) {
  const Input in = chain();
  EXPECT_THAT(judged(in, placed(in, {0, 100, 0})).detail, HasSubstr("multiple of 64"));
}

TEST(MemoryPoolPlan, RejectsAPlanThatSharesNothingAndPadsBesides) {
  const Input in = chain();
  EXPECT_THAT(judged(in, placed(in, {0, 128, 256})).detail, HasSubstr("more than all requests"));
}

TEST(MemoryPoolPlan, RejectsAHeightThatIsNotTheTop) {
  const Input in = chain();
  for (const Index off : {-64, -1, 1}) {
    Output out = placed(in, {0, 128, 0});
    out.height[0] += off;
    EXPECT_FALSE(judged(in, out).agrees) << off;
  }
  Output out = placed(in, {0, 128, 0});
  out.height[0] = 163;
  EXPECT_THAT(judged(in, out).detail, HasSubstr("less than the bytes alive"));
}

TEST(MemoryPoolPlan, RejectsAnUpperEndThatIsNotThatOfTheBlock) {
  const Input in = chain();
  Output out = placed(in, {0, 128, 0});
  out.upper[2] += 1;
  EXPECT_THAT(judged(in, out).detail, HasSubstr("upper[2] is 51, expected lower + bytes = 50"));
}

TEST(MemoryPoolPlan, TellsItsHeightBesideTheLowerBound) {
  // At step 1 blocks of 100 and 64 bytes are alive: 164 bytes when the one of 100 is on top. 28 more
  // are 17.07 %.
  const Input in = chain();
  Setting setting;
  const auto want = MemoryPoolPlan::expect({}, in, setting);
  EXPECT_EQ(in_words(MemoryPoolPlan::figures({}, in, want, placed(in, {0, 128, 0}))),
            "height 192 bytes, lower bound 164 bytes, gap 17.07 %");
  const Input large = requests({{1048576, 0, 1}});
  const auto bound = MemoryPoolPlan::expect({}, large, setting);
  EXPECT_EQ(in_words(MemoryPoolPlan::figures({}, large, bound, placed(large, {0}))),
            "height 1,048,576 bytes, lower bound 1,048,576 bytes, gap 0.00 %");
}

TEST(MemoryPoolPlan, IsFirstFitInOrderOfStartWhereNaive) {
  // Worked by hand: a at 0 and b at 128 fill [0, 192); c starts when a has ended and takes [0, 50); d takes
  // the gap [64, 128) between c and b; e goes on top, to 257. At step 5 b to e live: 64 + 64 + 64 and 65 on
  // top.
  const auto file = std::filesystem::temp_directory_path() / "assay_first_fit_worked_by_hand.csv";
  std::ofstream(file) << "id,lower,upper,size\na,0,2,100\nb,1,9,64\nc,3,9,50\nd,4,9,64\ne,5,9,65\n";
  const Registry registry = Registry::linked();
  const auto checks = check_file(registry, "memory_pool_plan/naive", file, 1, {});
  std::filesystem::remove(file);
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_TRUE(checks[0].agreement.agrees) << checks[0].agreement.detail;
  EXPECT_EQ(in_words(checks[0].agreement.figures), "height 257 bytes, lower bound 257 bytes, gap 0.00 %");
}

TEST(MemoryPoolPlan, SharesNoBytesAmongGradientsThatAreClippedTogether) {
  // Every block lives at the last step: any plan is as high as their sum, and two at one place are an
  // overlap.
  const Input in = requests({{64, 3, 8}, {64, 4, 8}, {64, 5, 8}});
  EXPECT_TRUE(judged(in, placed(in, {0, 64, 128})).agrees);
  EXPECT_FALSE(judged(in, placed(in, {0, 64, 0})).agrees);
}

}  // namespace
}  // namespace assay::memory_pool_plan_test
