#include "assay/ops/layernorm.hpp"

#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>

namespace assay::layernorm_test {
namespace {

using layernorm::Problem;
using ::testing::HasSubstr;

Buffer<float> numbers(std::initializer_list<float> values) {
  Buffer<float> out(static_cast<Index>(values.size()));
  std::ranges::copy(values, out.begin());
  return out;
}

template <class Op>
using Run = void (*)(const Problem&, const typename Op::Input&, typename Op::Output&);

/// A variant of `Op` under test, alone with its planted fault, on 3 rows of `cols`.
template <class Op>
Agreement check(Run<Op> run, Index cols, Fill fill, bool once = false) {
  Registry registry;
  registry.add<Op>({.name = "naive", .run = run});
  const auto workload =
      registry.at(Op::name).open("rows=3,cols=" + std::to_string(cols), {.fill = fill, .rng = Rng(5)});
  return workload->check(0, {}, once ? Workload::no_rehearsal : Workload::short_rehearsal);
}

const std::initializer_list<Index> lengths{2, 3, 5, 17, 63, 257, 768, 1023, 4099};

/// Rows normalised by the mean and rstd that `statistics(x, cols)` returns as a pair.
template <class Statistics>
void normalise(const Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out,
               const Statistics& statistics) {
  for (Index r = 0; r < p.rows; ++r) {
    const float* x = in.x.data() + r * p.cols;
    const auto [mean, rstd] = statistics(x, p.cols);
    for (Index j = 0; j < p.cols; ++j)
      out.y[r * p.cols + j] = (x[j] - mean) * rstd * in.gamma[j] + in.beta[j];
    out.mean[r] = mean;
    out.rstd[r] = rstd;
  }
}

constexpr float eps = 1e-5F;

float mean_of(const float* x, Index cols) {
  float sum = 0;
  for (Index j = 0; j < cols; ++j) sum += x[j];
  return sum / static_cast<float>(cols);
}

float squares_around(float mean, const float* x, Index cols) {
  float sum = 0;
  for (Index j = 0; j < cols; ++j) sum += (x[j] - mean) * (x[j] - mean);
  return sum;
}

TEST(LayerNorm, MatchesARowWorkedByHand) {
  // Mean 3, deviations -2 -1 0 3, squares 4 1 0 9, variance 14 / 4 = 3.5.
  const Problem p{.rows = 1, .cols = 4};
  const LayerNorm::Input in{numbers({1, 2, 3, 6}), numbers({1, 2, 0.5, -1}), numbers({0, 1, -1, 0.5})};
  Setting setting;
  const auto want = LayerNorm::expect(p, in, setting);
  EXPECT_EQ(want.mean.value.front(), 3);
  EXPECT_NEAR(1 / (want.rstd.value.front() * want.rstd.value.front()), 3.50001, 1e-12);

  // 1 / sqrt(3.50001) = 0.53452172; y = -2 s, -2 s + 1, -1, -3 s + 0.5.
  const LayerNorm::Output out{numbers({-1.06904344F, -0.06904344F, -1, -1.10356516F}), numbers({3}),
                              numbers({0.53452172F})};
  const Agreement outcome = LayerNorm::judge(p, in, want, out);
  EXPECT_TRUE(outcome.agrees) << outcome.detail;
}

TEST(RmsNorm, MatchesARowWorkedByHand) {
  // Squares 1 1 9 25 over 4 are 9; 1 / sqrt(9.00001) = 0.33333315.
  const Problem p{.rows = 1, .cols = 4};
  const RmsNorm::Input in{numbers({1, -1, 3, 5}), numbers({3, 1, -1, 2})};
  Setting setting;
  const auto want = RmsNorm::expect(p, in, setting);
  EXPECT_NEAR(1 / (want.rstd.value.front() * want.rstd.value.front()), 9.00001, 1e-12);
  const RmsNorm::Output out{numbers({0.99999944F, -0.33333315F, -0.99999944F, 3.3333315F}),
                            numbers({0.33333315F})};
  const Agreement outcome = RmsNorm::judge(p, in, want, out);
  EXPECT_TRUE(outcome.agrees) << outcome.detail;
}

/// The verdict on a variant that is alone, on rows of the kind that the problem names.
template <class Op>
Agreement check_values(Run<Op> run, const std::string& values) {
  Registry registry;
  registry.add<Op>({.name = "naive", .run = run});
  return registry.at(Op::name)
      .open("rows=9,cols=67,values=" + values, {.fill = Fill::uniform, .rng = Rng(5)})
      ->check(0, {}, Workload::no_rehearsal);
}

float variance_of(float mean, const float* x, Index cols) {
  return squares_around(mean, x, cols) / static_cast<float>(cols);
}

/// Computes 1 / sqrt of the variance as `rstd_of(variance)` has it. The mean is summed in double.
template <auto rstd_of>
void rows_with(const Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  normalise(p, in, out, [](const float* x, Index cols) {
    double sum = 0;
    for (Index j = 0; j < cols; ++j) sum += x[j];
    const auto mean = static_cast<float>(sum / static_cast<double>(cols));
    return std::pair{mean, rstd_of(variance_of(mean, x, cols))};
  });
}

TEST(LayerNormJudge, ObjectsToWhatFailsOnRowsOfEachKind) {
  constexpr auto right = [](float variance) { return 1 / std::sqrt(variance + eps); };
  for (const std::string_view values : layernorm::value_words) {
    const Agreement found = check_values<LayerNorm>(rows_with<right>, std::string(values));
    EXPECT_TRUE(found.agrees) << values << ": " << found.detail;
  }
  constexpr auto divides_by_zero = [](float variance) {
    return 1 / std::sqrt(variance > 0 ? variance + eps : 0.0F);
  };
  EXPECT_TRUE(check_values<LayerNorm>(rows_with<divides_by_zero>, "usual").agrees);
  EXPECT_FALSE(check_values<LayerNorm>(rows_with<divides_by_zero>, "equal").agrees);
  // The square of the variance overflows.
  constexpr auto overflows = [](float variance) {
    return 1 / std::sqrt(std::sqrt((variance + eps) * (variance + eps)));
  };
  EXPECT_TRUE(check_values<LayerNorm>(rows_with<overflows>, "usual").agrees);
  EXPECT_FALSE(check_values<LayerNorm>(rows_with<overflows>, "large").agrees);
  // inf 0, where the sum of squares overflows.
  constexpr auto by_product = [](float variance) {
    return std::sqrt(variance + eps) * (1 / (variance + eps));
  };
  EXPECT_TRUE(check_values<LayerNorm>(rows_with<by_product>, "usual").agrees);
  EXPECT_FALSE(check_values<LayerNorm>(rows_with<by_product>, "huge").agrees);
  constexpr auto hides_nan = [](float variance) { return 1 / std::sqrt(std::max(0.0F, variance) + eps); };
  EXPECT_TRUE(check_values<LayerNorm>(rows_with<hides_nan>, "usual").agrees);
  EXPECT_FALSE(check_values<LayerNorm>(rows_with<hides_nan>, "special").agrees);
}

/// Scales rows by what `kept(x)` leaves of each number.
template <auto kept>
void scaled_rows(const Problem& p, const RmsNorm::Input& in, RmsNorm::Output& out) {
  for (Index r = 0; r < p.rows; ++r) {
    const float* x = in.x.data() + r * p.cols;
    float sum = 0;
    for (Index j = 0; j < p.cols; ++j) sum += kept(x[j]) * kept(x[j]);
    out.rstd[r] = 1 / std::sqrt(sum / static_cast<float>(p.cols) + eps);
    for (Index j = 0; j < p.cols; ++j) out.y[r * p.cols + j] = kept(x[j]) * out.rstd[r] * in.gamma[j];
  }
}

TEST(RmsNormJudge, ObjectsToWhatFailsOnRowsOfEachKind) {
  constexpr auto all = [](float x) { return x; };
  for (const std::string_view values : layernorm::value_words) {
    const Agreement found = check_values<RmsNorm>(scaled_rows<all>, std::string(values));
    EXPECT_TRUE(found.agrees) << values << ": " << found.detail;
  }
  constexpr auto loses_tiny = [](float x) { return std::abs(x) < 1e-15F ? 0.0F : x; };
  EXPECT_TRUE(check_values<RmsNorm>(scaled_rows<loses_tiny>, "usual").agrees);
  EXPECT_FALSE(check_values<RmsNorm>(scaled_rows<loses_tiny>, "tiny").agrees);
  constexpr auto clamps = [](float x) { return std::clamp(x, -1e10F, 1e10F); };
  EXPECT_TRUE(check_values<RmsNorm>(scaled_rows<clamps>, "usual").agrees);
  EXPECT_FALSE(check_values<RmsNorm>(scaled_rows<clamps>, "large").agrees);
  constexpr auto hides_nan = [](float x) { return x == x ? x : 0.0F; };
  EXPECT_TRUE(check_values<RmsNorm>(scaled_rows<hides_nan>, "usual").agrees);
  EXPECT_FALSE(check_values<RmsNorm>(scaled_rows<hides_nan>, "special").agrees);
}

TEST(LayerNorm, GivesAConstantRowTheScaleOfEpsilonAlone) {
  const Problem p{.rows = 1, .cols = 3};
  const LayerNorm::Input in{numbers({7, 7, 7}), numbers({1, 1, 1}), numbers({0, 0, 0})};
  Setting setting;
  EXPECT_NEAR(LayerNorm::expect(p, in, setting).rstd.value.front(), 1 / std::sqrt(1e-5), 1e-9);
}

TEST(LayerNormJudge, AcceptsTheCorrectedTwoPassAlgorithm) {
  const auto corrected = [](const Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
    normalise(p, in, out, [](const float* x, Index cols) {
      const auto n = static_cast<float>(cols);
      const float mean = mean_of(x, cols);
      float left = 0;
      for (Index j = 0; j < cols; ++j) left += x[j] - mean;
      const float variance = (squares_around(mean, x, cols) - left * left / n) / n;
      return std::pair{mean, 1 / std::sqrt(variance + eps)};
    });
  };
  for (const Index cols : lengths) {
    for (const Fill fill : LayerNorm::fills) {
      const Agreement outcome = check<LayerNorm>(corrected, cols, fill);
      EXPECT_TRUE(outcome.agrees) << cols << ' ' << to_string(fill) << ": " << outcome.detail;
    }
  }
}

/// E[x^2] - mean^2, made safe for the root as implementations in use do.
void sum_of_squares(const Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  normalise(p, in, out, [](const float* x, Index cols) {
    const float mean = mean_of(x, cols);
    const float variance = squares_around(0, x, cols) / static_cast<float>(cols) - mean * mean;
    return std::pair{mean, 1 / std::sqrt(std::max(variance, 0.0F) + eps)};
  });
}

TEST(LayerNormJudge, ObjectsToASumOfSquaresWhereTheMeanIsLarge) {
  for (const Index cols : lengths) {
    const Agreement outcome = check<LayerNorm>(sum_of_squares, cols, Fill::offset);
    EXPECT_FALSE(outcome.agrees) << cols;
    EXPECT_THAT(outcome.detail, HasSubstr("rstd[")) << cols;
  }
}

TEST(LayerNormJudge, MissesASumOfSquaresWhereTheMeanIsSmall) {
  // Why there is a fill `offset`: numbers around zero do not tell the formulas apart.
  EXPECT_TRUE(check<LayerNorm>(sum_of_squares, 257, Fill::uniform).agrees);
}

TEST(LayerNormJudge, ObjectsToTheUnbiasedVariance) {
  const auto faulty = [](const Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
    normalise(p, in, out, [](const float* x, Index cols) {
      const float mean = mean_of(x, cols);
      const float variance = squares_around(mean, x, cols) / static_cast<float>(cols - 1);
      return std::pair{mean, 1 / std::sqrt(variance + eps)};
    });
  };
  for (const Index cols : {2, 17, 257, 768, 1023}) {
    EXPECT_FALSE(check<LayerNorm>(faulty, cols, Fill::uniform).agrees) << cols;
  }
}

TEST(LayerNormJudge, ObjectsToEpsilonOutsideTheRoot) {
  const auto faulty = [](const Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
    normalise(p, in, out, [](const float* x, Index cols) {
      const float mean = mean_of(x, cols);
      const float variance = squares_around(mean, x, cols) / static_cast<float>(cols);
      return std::pair{mean, 1 / (std::sqrt(variance) + eps)};
    });
  };
  // 1e-5 beside a root of 0.58 in place of 0.5e-5 / 0.58: a change of 2.6e-6, which 2 n u hides from n = 22.
  for (const Index cols : {2, 3, 5}) {
    EXPECT_FALSE(check<LayerNorm>(faulty, cols, Fill::uniform).agrees) << cols;
  }
  EXPECT_FALSE(check<LayerNorm>(faulty, 1, Fill::uniform).agrees);
}

TEST(LayerNormJudge, ObjectsToATermLeftOut) {
  const auto faulty = [](const Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
    normalise(p, in, out, [](const float* x, Index cols) {
      const float n = static_cast<float>(cols);
      const float mean = mean_of(x, cols);
      return std::pair{mean, 1 / std::sqrt(squares_around(mean, x, cols - 1) / n + eps)};
    });
  };
  for (const Index cols : {2, 17, 257, 768, 1023}) {
    EXPECT_FALSE(check<LayerNorm>(faulty, cols, Fill::uniform).agrees) << cols;
  }
}

TEST(LayerNormJudge, ObjectsToOneFusedMultiplyAddWhereItCancels) {
  const auto faulty = [](const Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
    const float* x = in.x.data();
    for (Index r = 0; r < p.rows; ++r) {
      const float mean = out.mean[r] = mean_of(x + r * p.cols, p.cols);
      const float variance = squares_around(mean, x + r * p.cols, p.cols) / static_cast<float>(p.cols);
      const float rstd = out.rstd[r] = 1 / std::sqrt(variance + eps);
      for (Index j = 0; j < p.cols; ++j) {
        const float scale = rstd * in.gamma[j];
        out.y[r * p.cols + j] = std::fma(x[r * p.cols + j], scale, in.beta[j] - mean * scale);
      }
    }
  };
  // On this input alone: inputs that follow in a second call cancel, too.
  EXPECT_TRUE(check<LayerNorm>(faulty, 1, Fill::uniform, true).agrees);
  for (const Index cols : {17, 257, 1023}) {
    const Agreement outcome = check<LayerNorm>(faulty, cols, Fill::offset);
    EXPECT_FALSE(outcome.agrees) << cols;
    EXPECT_THAT(outcome.detail, HasSubstr("y[")) << cols;
  }
}

TEST(LayerNormJudge, ObjectsToYThatDoesNotFollowFromItsStatistics) {
  // Right statistics, but y made with those of the first row.
  const auto faulty = [](const Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
    for (Index r = 0; r < p.rows; ++r) {
      const float* x = in.x.data() + r * p.cols;
      out.mean[r] = mean_of(x, p.cols);
      out.rstd[r] = 1 / std::sqrt(squares_around(out.mean[r], x, p.cols) / static_cast<float>(p.cols) + eps);
      for (Index j = 0; j < p.cols; ++j) {
        out.y[r * p.cols + j] = (x[j] - out.mean[0]) * out.rstd[0] * in.gamma[j] + in.beta[j];
      }
    }
  };
  EXPECT_THAT(check<LayerNorm>(faulty, 33, Fill::uniform).detail, HasSubstr("y[1..2, any]"));
}

TEST(RmsNormJudge, ObjectsToATermLeftOutAtAnyLength) {
  const auto faulty = [](const Problem& p, const RmsNorm::Input& in, RmsNorm::Output& out) {
    for (Index r = 0; r < p.rows; ++r) {
      const float* x = in.x.data() + r * p.cols;
      out.rstd[r] = 1 / std::sqrt(squares_around(0, x, p.cols - 1) / static_cast<float>(p.cols) + eps);
      for (Index j = 0; j < p.cols; ++j) out.y[r * p.cols + j] = x[j] * out.rstd[r] * in.gamma[j];
    }
  };
  for (const Index cols : {2, 257, 4099, 50021}) {
    EXPECT_FALSE(check<RmsNorm>(faulty, cols, Fill::exact).agrees) << cols;
  }
}

TEST(RmsNormJudge, ObjectsToEpsilonOutsideTheRoot) {
  const auto faulty = [](const Problem& p, const RmsNorm::Input& in, RmsNorm::Output& out) {
    for (Index r = 0; r < p.rows; ++r) {
      const float* x = in.x.data() + r * p.cols;
      out.rstd[r] = 1 / (std::sqrt(squares_around(0, x, p.cols) / static_cast<float>(p.cols)) + eps);
      for (Index j = 0; j < p.cols; ++j) out.y[r * p.cols + j] = x[j] * out.rstd[r] * in.gamma[j];
    }
  };
  for (const Index cols : {2, 257, 4099}) {
    EXPECT_FALSE(check<RmsNorm>(faulty, cols, Fill::exact).agrees) << cols;
  }
}

TEST(LayerNorm, CostCountsEachArrayOnce) {
  const Cost cost = LayerNorm::cost({.rows = 3, .cols = 5});
  EXPECT_EQ(cost.bytes_read, 4 * (15 + 5 + 5));
  EXPECT_EQ(cost.bytes_written, 4 * (15 + 3 + 3));
  EXPECT_EQ(cost.flops, 8 * 15);
}

TEST(RmsNorm, CostCountsEachArrayOnce) {
  const Cost cost = RmsNorm::cost({.rows = 3, .cols = 5});
  EXPECT_EQ(cost.bytes_read, 4 * (15 + 5));
  EXPECT_EQ(cost.bytes_written, 4 * (15 + 3));
  EXPECT_EQ(cost.flops, 4 * 15);
}

}  // namespace
}  // namespace assay::layernorm_test
