#include "assay/ops/layernorm.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <string>

namespace assay::layernorm_residual_test {
namespace {

using layernorm::Problem;
using ::testing::HasSubstr;

Buffer<float> numbers(std::initializer_list<float> values) {
  Buffer<float> out(static_cast<Index>(values.size()));
  std::ranges::copy(values, out.begin());
  return out;
}

TEST(LayerNormResidual, MatchesARowWorkedByHand) {
  // s = 1 2 3 6, the row worked by hand in layernorm_test.cpp.
  const Problem p{.rows = 1, .cols = 4};
  const LayerNormResidual::Input in{numbers({0.5, 4, 0, -1}), numbers({0.5, -2, 3, 7}),
                                    numbers({1, 2, 0.5, -1}), numbers({0, 1, -1, 0.5})};
  Setting setting;
  const auto want = LayerNormResidual::expect(p, in, setting);
  EXPECT_EQ(want.mean.value.front(), 3);
  EXPECT_NEAR(1 / (want.rstd.value.front() * want.rstd.value.front()), 3.50001, 1e-12);
  const LayerNormResidual::Output out{numbers({1, 2, 3, 6}),
                                      numbers({-1.06904344F, -0.06904344F, -1, -1.10356516F}), numbers({3}),
                                      numbers({0.53452172F})};
  const Agreement outcome = LayerNormResidual::judge(p, in, want, out);
  EXPECT_TRUE(outcome.agrees) << outcome.detail;
}

TEST(RmsNormResidual, MatchesARowWorkedByHand) {
  // s = 1 -1 3 5; squares 1 1 9 25 over 4 are 9; 1 / sqrt(9.00001) = 0.33333315.
  const Problem p{.rows = 1, .cols = 4};
  const RmsNormResidual::Input in{numbers({3, 1, 1, 2}), numbers({-2, -2, 2, 3}), numbers({3, 1, -1, 2})};
  Setting setting;
  const auto want = RmsNormResidual::expect(p, in, setting);
  const RmsNormResidual::Output out{numbers({1, -1, 3, 5}),
                                    numbers({0.99999944F, -0.33333315F, -0.99999944F, 3.3333315F}),
                                    numbers({0.33333315F})};
  const Agreement outcome = RmsNormResidual::judge(p, in, want, out);
  EXPECT_TRUE(outcome.agrees) << outcome.detail;
}

/// Judges a variant of layernorm_residual under test on 3 rows.
Agreement check(void (*run)(const Problem&, const LayerNormResidual::Input&, LayerNormResidual::Output&),
                Index cols, Fill fill) {
  Registry registry;
  registry.add<LayerNormResidual>({.name = "naive", .run = run});
  return registry.at(LayerNormResidual::name)
      .open("rows=3,cols=" + std::to_string(cols), {.fill = fill, .rng = Rng(5)})
      ->check(0, {});
}

/// Two-pass rows of what `source(in, out, at)` gives; s is x + r as it should be.
template <class Source>
void normalise(const Problem& p, const LayerNormResidual::Input& in, LayerNormResidual::Output& out,
               const Source& source) {
  const auto n = static_cast<float>(p.cols);
  for (Index r = 0; r < p.rows; ++r) {
    float sum = 0, squares = 0;
    for (Index j = 0; j < p.cols; ++j) {
      const Index at = r * p.cols + j;
      out.s[at] = in.x[at] + in.r[at];
      sum += source(in, out, at);
    }
    const float mean = out.mean[r] = sum / n;
    for (Index j = 0; j < p.cols; ++j) {
      const float deviation = source(in, out, r * p.cols + j) - mean;
      squares += deviation * deviation;
    }
    const float rstd = out.rstd[r] = 1 / std::sqrt(squares / n + static_cast<float>(layernorm::epsilon));
    for (Index j = 0; j < p.cols; ++j) {
      out.y[r * p.cols + j] = (source(in, out, r * p.cols + j) - mean) * rstd * in.gamma[j] + in.beta[j];
    }
  }
}

TEST(LayerNormResidualJudge, AcceptsRowsOfTheSum) {
  const auto right = [](const Problem& p, const LayerNormResidual::Input& in,
                        LayerNormResidual::Output& out) {
    normalise(p, in, out, [](const auto&, const auto& o, Index at) { return o.s[at]; });
  };
  for (const Index cols : {1, 2, 17, 257, 4099}) {
    for (const Fill fill : LayerNormResidual::fills) {
      const Agreement outcome = check(right, cols, fill);
      EXPECT_TRUE(outcome.agrees) << cols << ' ' << to_string(fill) << ": " << outcome.detail;
    }
  }
}

TEST(LayerNormResidualJudge, ObjectsToRowsOfXAlone) {
  const auto faulty = [](const Problem& p, const LayerNormResidual::Input& in,
                         LayerNormResidual::Output& out) {
    normalise(p, in, out, [](const auto& i, const auto&, Index at) { return i.x[at]; });
  };
  for (const Fill fill : LayerNormResidual::fills) {
    EXPECT_THAT(check(faulty, 33, fill).detail, HasSubstr("mean[")) << to_string(fill);
  }
}

TEST(LayerNormResidualJudge, ObjectsToASumThatIsNotWritten) {
  // The next block would add to x instead.
  const auto faulty = [](const Problem& p, const LayerNormResidual::Input& in,
                         LayerNormResidual::Output& out) {
    normalise(p, in, out, [](const auto&, const auto& o, Index at) { return o.s[at]; });
    std::ranges::copy(in.x, out.s.begin());
  };
  EXPECT_THAT(check(faulty, 33, Fill::uniform).detail, HasSubstr("s["));
}

TEST(LayerNormResidualJudge, ObjectsToASumOffByItsLastBit) {
  const auto faulty = [](const Problem& p, const LayerNormResidual::Input& in,
                         LayerNormResidual::Output& out) {
    normalise(p, in, out, [](const auto&, const auto& o, Index at) { return o.s[at]; });
    out.s[1] = std::nextafter(out.s[1], 2.0F);
  };
  EXPECT_THAT(check(faulty, 33, Fill::uniform).detail, HasSubstr("s[0, 1]"));
}

TEST(LayerNormResidual, CostCountsEachArrayOnce) {
  const Cost cost = LayerNormResidual::cost({.rows = 3, .cols = 5});
  EXPECT_EQ(cost.bytes_read, 4 * (15 + 15 + 5 + 5));
  EXPECT_EQ(cost.bytes_written, 4 * (15 + 15 + 3 + 3));
  EXPECT_EQ(cost.flops, 9 * 15);
}

TEST(RmsNormResidual, CostCountsEachArrayOnce) {
  const Cost cost = RmsNormResidual::cost({.rows = 3, .cols = 5});
  EXPECT_EQ(cost.bytes_read, 4 * (15 + 15 + 5));
  EXPECT_EQ(cost.bytes_written, 4 * (15 + 15 + 3));
  EXPECT_EQ(cost.flops, 5 * 15);
}

}  // namespace
}  // namespace assay::layernorm_residual_test
