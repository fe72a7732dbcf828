#include "assay/ops/layernorm.hpp"

#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <vector>

namespace assay {
namespace {

using batch_norm::Extents;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Problem>
Problem shape(Index n, Index c, Index h, Index w) {
  Problem p;
  p.n = n, p.c = c, p.h = h, p.w = w;
  return p;
}

Buffer<float> numbers(std::initializer_list<float> values) {
  Buffer<float> out(static_cast<Index>(values.size()));
  std::ranges::copy(values, out.begin());
  return out;
}

// Two images of two channels of two pixels. Channel 0: 1 2 3 6, mean 3, squares 4 1 0 9, variance 3.5.
// Channel 1: 1 1 -1 -1, mean 0, variance 1.
TEST(BatchNorm, MatchesTwoChannelsWorkedByHand) {
  const auto p = shape<BatchNorm::Problem>(2, 2, 1, 2);
  const BatchNorm::Input in{numbers({1, 2, 1, 1, 3, 6, -1, -1}), numbers({1, 2}), numbers({0, 0.5})};
  Setting setting;
  const auto want = BatchNorm::expect(p, in, setting);
  EXPECT_THAT(want.mean.value, ElementsAre(3, 0));
  EXPECT_NEAR(1 / (want.rstd.value[0] * want.rstd.value[0]), 3.50001, 1e-12);
  EXPECT_NEAR(1 / (want.rstd.value[1] * want.rstd.value[1]), 1.00001, 1e-12);

  // 1 / sqrt(3.50001) = 0.53452172, 1 / sqrt(1.00001) = 0.999995; y = -2 s, -s, 0, 3 s; 2 s + 1/2, -2 s +
  // 1/2.
  const BatchNorm::Output out{
      numbers({-1.06904344F, -0.53452172F, 2.49999F, 2.49999F, 0, 1.60356516F, -1.49999F, -1.49999F}),
      numbers({3, 0}), numbers({0.53452172F, 0.999995F})};
  const Agreement outcome = BatchNorm::judge(p, in, want, out);
  EXPECT_TRUE(outcome.agrees) << outcome.detail;
}

// Channel 0: xhat = (x - 3) / 2 = -1 -1/2 0 3/2, dy 2 1 -1 2: dbeta 4, dgamma -2 - 1/2 + 0 + 3 = 1/2; with
// rstd gamma = 1/2: dx = (dy - 1 - xhat / 8) / 2. Channel 1: xhat = x = 1 1 -1 -1, dy 1 1 1 1: dbeta 4,
// dgamma 0, dx = 2 (1 - 1 - 0) = 0.
TEST(BatchNormBackward, MatchesTwoChannelsWorkedByHand) {
  const auto p = shape<Extents>(2, 2, 1, 2);
  const BatchNormBackward::Input in{numbers({2, 1, 1, 1, -1, 2, 1, 1}), numbers({1, 2, 1, 1, 3, 6, -1, -1}),
                                    numbers({3, 0}), numbers({0.5, 1}), numbers({1, 2})};
  Setting setting;
  const auto want = BatchNormBackward::expect(p, in, setting);
  EXPECT_THAT(want.dbeta.value, ElementsAre(4, 4));
  EXPECT_THAT(want.dgamma.value, ElementsAre(0.5, 0));
  EXPECT_THAT(want.dx.value, ElementsAre(0.5625, 0.03125, 0, 0, -1, 0.40625, 0, 0));
}

// L = sum dy y, of the forward pass in double.
TEST(BatchNormBackward, HasTheSlopesOfTheForwardPass) {
  const auto p = shape<Extents>(3, 2, 1, 2);
  Rng rng(7);
  const auto draw = [&](Index count) {
    std::vector<double> out(static_cast<std::size_t>(count));
    for (double& v : out) v = static_cast<double>(static_cast<float>(rng.uniform(-1, 1)));
    return out;
  };
  std::vector<double> x = draw(12), dy = draw(12), gamma = draw(2), beta = draw(2), mean(2), rstd(2);
  const auto loss = [&] {
    double sum = 0;
    for (std::size_t c = 0; c < 2; ++c) {
      const auto at = [&](std::size_t i) { return (i / 2 * 2 + c) * 2 + i % 2; };
      double squares = 0;
      mean[c] = 0;
      for (std::size_t i = 0; i < 6; ++i) mean[c] += x[at(i)] / 6;
      for (std::size_t i = 0; i < 6; ++i) squares += (x[at(i)] - mean[c]) * (x[at(i)] - mean[c]) / 6;
      rstd[c] = 1 / std::sqrt(squares + layernorm::epsilon);
      for (std::size_t i = 0; i < 6; ++i)
        sum += dy[at(i)] * ((x[at(i)] - mean[c]) * rstd[c] * gamma[c] + beta[c]);
    }
    return sum;
  };
  const auto slope = [&](double& value) {
    constexpr double step = 1e-5;
    const double before = value;
    value = before + step;
    const double above = loss();
    value = before - step;
    const double below = loss();
    value = before;
    return (above - below) / (2 * step);
  };
  const auto rounded = [](const std::vector<double>& values) {
    Buffer<float> out(static_cast<Index>(values.size()));
    std::ranges::transform(values, out.begin(), [](double v) { return static_cast<float>(v); });
    return out;
  };
  loss();  // mean and rstd
  const BatchNormBackward::Input in{rounded(dy), rounded(x), rounded(mean), rounded(rstd), rounded(gamma)};
  Setting setting;
  const auto want = BatchNormBackward::expect(p, in, setting);
  // The statistics of the contract are rounded to 2^-24 of themselves.
  for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(want.dx.value[i], slope(x[i]), 1e-6) << i;
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_NEAR(want.dgamma.value[c], slope(gamma[c]), 1e-6) << c;
    EXPECT_NEAR(want.dbeta.value[c], slope(beta[c]), 1e-6) << c;
  }
}

/// The verdict on a variant that is alone.
template <class Op>
Agreement check(void (*run)(const typename Op::Problem&, const typename Op::Input&, typename Op::Output&),
                const char* problem, Fill fill) {
  Registry registry;
  registry.add<Op>({.name = "naive", .run = run});
  return registry.at(Op::name).open(problem, {.fill = fill, .rng = Rng(5)})->check(0, {});
}

/// How a variant for the tests below comes to its statistics and results.
enum class Form { right, folded, unbiased, sum_of_squares, one_image };

template <Form form>
void normalize(const BatchNorm::Problem& p, const BatchNorm::Input& in, BatchNorm::Output& out) {
  const Index images = form == Form::one_image ? 1 : p.n;
  const auto count = static_cast<float>(images * p.plane());
  for (Index c = 0; c < p.c; ++c) {
    const auto sum = [&](const auto& term) {
      float all = 0;
      for (Index i = 0; i < images * p.plane(); ++i)
        all += term(in.x[(i / p.plane() * p.c + c) * p.plane() + i % p.plane()]);
      return all;
    };
    const float mean = out.mean[c] = sum([](float x) { return x; }) / count;
    float variance = sum([&](float x) { return (x - mean) * (x - mean); }) /
                     (form == Form::unbiased ? std::max(count - 1, 1.0F) : count);
    if (form == Form::sum_of_squares)
      variance = std::max(sum([](float x) { return x * x; }) / count - mean * mean, 0.0F);
    const float rstd = out.rstd[c] = 1 / std::sqrt(variance + static_cast<float>(layernorm::epsilon));
    const float scale = rstd * in.gamma[c], shift = in.beta[c] - mean * scale;
    for (Index n = 0; n < p.n; ++n) {
      for (Index at = (n * p.c + c) * p.plane(), end = at + p.plane(); at < end; ++at) {
        out.y[at] = form == Form::folded ? in.x[at] * scale + shift
                                         : (in.x[at] - mean) * rstd * in.gamma[c] + in.beta[c];
      }
    }
  }
}

constexpr const char* shapes[] = {"n=3,c=2,h=1,w=5", "n=2,c=5,h=8,w=9", "n=9,c=3,h=7,w=7"};

TEST(BatchNormJudge, TakesBothFormsOfTheResult) {
  for (const char* problem : shapes) {
    for (const Fill fill : {Fill::uniform, Fill::offset}) {
      EXPECT_TRUE(check<BatchNorm>(normalize<Form::right>, problem, fill).agrees) << problem;
      EXPECT_TRUE(check<BatchNorm>(normalize<Form::folded>, problem, fill).agrees) << problem;
    }
  }
}

TEST(BatchNormJudge, ObjectsToTheUnbiasedVariance) {
  for (const char* problem : shapes) {
    const Agreement found = check<BatchNorm>(normalize<Form::unbiased>, problem, Fill::uniform);
    EXPECT_THAT(found.detail, HasSubstr("rstd[")) << problem;
  }
}

TEST(BatchNormJudge, ObjectsToASumOfSquaresFarFromZero) {
  for (const char* problem : shapes) {
    EXPECT_FALSE(check<BatchNorm>(normalize<Form::sum_of_squares>, problem, Fill::offset).agrees) << problem;
  }
}

TEST(BatchNormJudge, ObjectsToStatisticsOfOneImage) {
  for (const char* problem : shapes) {
    EXPECT_FALSE(check<BatchNorm>(normalize<Form::one_image>, problem, Fill::uniform).agrees) << problem;
  }
}

/// dx with the means of dy and of dy xhat, or without them.
template <bool mean_of_dy, bool mean_of_dy_xhat>
void gradients(const Extents& p, const BatchNormBackward::Input& in, BatchNormBackward::Output& out) {
  for (Index c = 0; c < p.c; ++c) out.dgamma[c] = out.dbeta[c] = 0;
  const auto each = [&](const auto& visit) {
    for (Index at = 0; at < in.x.size(); ++at) {
      const Index c = at / p.plane() % p.c;
      visit(at, c, (in.x[at] - in.mean[c]) * in.rstd[c]);
    }
  };
  each([&](Index at, Index c, float xhat) {
    out.dgamma[c] += in.dy[at] * xhat;
    out.dbeta[c] += in.dy[at];
  });
  const auto count = static_cast<float>(p.count());
  each([&](Index at, Index c, float xhat) {
    const float of_dy = mean_of_dy ? out.dbeta[c] / count : 0,
                of_xhat = mean_of_dy_xhat ? out.dgamma[c] / count : 0;
    out.dx[at] = in.rstd[c] * in.gamma[c] * (in.dy[at] - of_dy - xhat * of_xhat);
  });
}

TEST(BatchNormBackwardJudge, ObjectsToEitherMeanLeftOut) {
  for (const Fill fill : BatchNormBackward::fills) {
    EXPECT_TRUE((check<BatchNormBackward>(gradients<true, true>, "n=2,c=5,h=8,w=9", fill).agrees));
    EXPECT_FALSE((check<BatchNormBackward>(gradients<false, true>, "n=2,c=5,h=8,w=9", fill).agrees));
    EXPECT_FALSE((check<BatchNormBackward>(gradients<true, false>, "n=2,c=5,h=8,w=9", fill).agrees));
  }
}

}  // namespace
}  // namespace assay
