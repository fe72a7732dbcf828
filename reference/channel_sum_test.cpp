#include "assay/ops/pointwise.hpp"

#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace assay::channel_sum_test {
namespace {

using Op = ElementwiseChannelBiasBackward;
using ::testing::ElementsAre;

TEST(ElementwiseChannelBiasBackward, MatchesSumsWorkedByHand) {
  // n = 2, c = 2, h = 1, w = 2: db[0] = 1 + 2 + 10 + 20, db[1] = 3 + 4 + 30 + 40.
  const Op::Problem p{.n = 2, .c = 2, .h = 1, .w = 2};
  Op::Input in{Buffer<float>(8)};
  std::ranges::copy(std::array{1.0F, 2.0F, 3.0F, 4.0F, 10.0F, 20.0F, 30.0F, 40.0F}, in.dz.begin());
  Setting setting;
  EXPECT_THAT(Op::expect(p, in, setting).value, ElementsAre(33, 77));
}

TEST(ElementwiseChannelBiasBackward, IsTheSlopeOfTheLossAlongTheBias) {
  // loss(b) = sum dz (x + b[c]) is linear in b, so that its slope is the difference of two values of b.
  const Op::Problem p{.n = 3, .c = 2, .h = 2, .w = 3};
  Setting setting{.fill = Fill::uniform, .rng = Rng(3)};
  const auto in = Op::make_input(p, setting);
  const auto loss = [&](const std::array<double, 2>& b) {
    double sum = 0;
    for (Index i = 0; i < in.dz.size(); ++i) {
      const double x = static_cast<double>(i % 5);
      sum += in.dz[i] * (x + b[static_cast<std::size_t>(i / p.plane() % p.c)]);
    }
    return sum;
  };
  const auto want = Op::expect(p, in, setting);
  EXPECT_NEAR(want.value[0], loss({1, 0}) - loss({0, 0}), 1e-12);
  EXPECT_NEAR(want.value[1], loss({0, 1}) - loss({0, 0}), 1e-12);
}

Agreement check(void (*run)(const Op::Problem&, const Op::Input&, Op::Output&), const char* problem,
                Fill fill) {
  Registry registry;
  registry.add<Op>({.name = "naive", .run = run});
  return registry.at(Op::name).open(problem, {.fill = fill, .rng = Rng(5)})->check(0, {});
}

/// Sums the elements of channel c for which keep(n, i) holds, into what db holds or into 0.
template <class Keep>
void sums(const Op::Problem& p, const Op::Input& in, Op::Output& out, bool adding, const Keep& keep) {
  for (Index c = 0; c < p.c; ++c) {
    float sum = adding ? out.db[c] : 0;
    for (Index n = 0; n < p.n; ++n) {
      for (Index i = 0; i < p.plane(); ++i) {
        if (keep(n, i)) sum += in.dz[(n * p.c + c) * p.plane() + i];
      }
    }
    out.db[c] = sum;
  }
}

TEST(ElementwiseChannelBiasBackwardJudge, ObjectsToATermLeftOut) {
  const auto faulty = [](const Op::Problem& p, const Op::Input& in, Op::Output& out) {
    sums(p, in, out, false, [&](Index n, Index i) { return n + 1 < p.n || i + 1 < p.plane(); });
  };
  EXPECT_FALSE(check(faulty, "n=3,c=5,h=71,w=70", Fill::exact).agrees);
  EXPECT_FALSE(check(faulty, "n=2,c=3,h=5,w=7", Fill::uniform).agrees);
}

TEST(ElementwiseChannelBiasBackwardJudge, ObjectsToTheLastImageAlone) {
  const auto faulty = [](const Op::Problem& p, const Op::Input& in, Op::Output& out) {
    sums(p, in, out, false, [&](Index n, Index) { return n + 1 == p.n; });
  };
  EXPECT_FALSE(check(faulty, "n=2,c=3,h=5,w=7", Fill::exact).agrees);
  EXPECT_TRUE(check(faulty, "n=1,c=3,h=5,w=7", Fill::exact).agrees);
}

TEST(ElementwiseChannelBiasBackwardJudge, ObjectsToAddingToWhatWasThere) {
  const auto faulty = [](const Op::Problem& p, const Op::Input& in, Op::Output& out) {
    sums(p, in, out, true, [](Index, Index) { return true; });
  };
  EXPECT_FALSE(check(faulty, "n=2,c=3,h=5,w=7", Fill::exact).agrees);
}

TEST(ElementwiseChannelBiasBackwardJudge, ObjectsToNanLeftOut) {
  const auto without_nan = [](const Op::Problem& p, const Op::Input& in, Op::Output& out) {
    std::ranges::fill(out.db, 0.0F);
    for (Index i = 0; i < p.n * p.c * p.plane(); ++i) {
      if (in.dz[i] == in.dz[i]) out.db[i / p.plane() % p.c] += in.dz[i];
    }
  };
  EXPECT_TRUE(check(without_nan, "n=3,c=7,h=5,w=13", Fill::exact).agrees);
  EXPECT_FALSE(check(without_nan, "n=3,c=7,h=5,w=13,values=special", Fill::exact).agrees);
}

}  // namespace
}  // namespace assay::channel_sum_test
