#include "assay/ops/layernorm.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace assay::layernorm_backward_test {
namespace {

using Problem = layernorm::BackwardProblem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Buffer<float> numbers(std::initializer_list<float> values) {
  Buffer<float> out(static_cast<Index>(values.size()));
  std::ranges::copy(values, out.begin());
  return out;
}

TEST(LayerNormBackward, MatchesTwoRowsWorkedByHand) {
  const Problem p{.rows = 2, .cols = 4};
  LayerNormBackward::Input in;
  in.dy = numbers({2, 1, -1, 2, 1, 1, 1, 1});
  in.x = numbers({1, 2, 3, 6, 3, 3, 5, 1});
  in.mean = numbers({3, 3});
  in.rstd = numbers({0.5, 1});
  in.gamma = numbers({1, 2, 1, -1});
  Setting setting;
  const auto want = LayerNormBackward::expect(p, in, setting);
  // Row 0: xhat -1 -1/2 0 3/2, w 2 2 -1 -2 with mean 1/4, w xhat -2 -1 0 -3 with mean -3/2;
  // row 1: xhat 0 0 2 -2, w 1 2 1 -1 with mean 3/4, w xhat 0 0 2 2 with mean 1.
  EXPECT_THAT(want.dx.value, ElementsAre(0.125, 0.5, -0.625, 0, 0.25, 1.25, -1.75, 0.25));
  EXPECT_THAT(want.dgamma.value, ElementsAre(-2 + 0, -0.5 + 0, 0 + 2, 3 - 2));
  EXPECT_THAT(want.dbeta.value, ElementsAre(3, 2, 0, 3));
}

TEST(RmsNormBackward, MatchesARowWorkedByHand) {
  const Problem p{.rows = 1, .cols = 4};
  const RmsNormBackward::Input in{numbers({2, 1, -2, 1}), numbers({1, 2, 3, -2}), numbers({0.5}),
                                  numbers({1, 2, 1, -1})};
  Setting setting;
  const auto want = RmsNormBackward::expect(p, in, setting);
  // xhat 1/2 1 3/2 -1, w 2 2 -2 -1, w xhat 1 2 -3 1 with mean 1/4.
  EXPECT_THAT(want.dx.value, ElementsAre(0.9375, 0.875, -1.1875, -0.375));
  EXPECT_THAT(want.dgamma.value, ElementsAre(1, 1, -3, -1));
}

/// sum dy y of a forward pass in double. Without `centred` it is rmsnorm, whose beta counts as 0.
struct Loss {
  Problem p;
  bool centred;
  std::vector<double> dy, x, gamma, beta;

  struct Statistics {
    double mean, rstd;
  };
  Statistics statistics(Index r) const {
    const auto row = x.begin() + r * p.cols;
    double mean = 0, squares = 0;
    for (Index j = 0; centred && j < p.cols; ++j) mean += row[j] / static_cast<double>(p.cols);
    for (Index j = 0; j < p.cols; ++j) squares += (row[j] - mean) * (row[j] - mean);
    return {mean, 1 / std::sqrt(squares / static_cast<double>(p.cols) + layernorm::epsilon)};
  }
  double value() const {
    double sum = 0;
    for (Index r = 0; r < p.rows; ++r) {
      const auto [mean, rstd] = statistics(r);
      for (Index j = 0; j < p.cols; ++j) {
        const auto at = static_cast<std::size_t>(r * p.cols + j), k = static_cast<std::size_t>(j);
        sum += dy[at] * ((x[at] - mean) * rstd * gamma[k] + beta[k]);
      }
    }
    return sum;
  }
  /// The central difference, whose error is of the order of the step squared.
  double slope(std::vector<double> Loss::*of, std::size_t at) {
    constexpr double step = 1e-5;
    double& value_there = (this->*of)[at];
    const double before = value_there;
    value_there = before + step;
    const double above = value();
    value_there = before - step;
    const double below = value();
    value_there = before;
    return (above - below) / (2 * step);
  }
};

Loss random_loss(const Problem& p, bool centred) {
  Rng rng(7);
  const auto draw = [&](Index count) {
    std::vector<double> out(static_cast<std::size_t>(count));
    // Numbers in single precision, so that the contract sees the same.
    for (double& v : out) v = static_cast<double>(static_cast<float>(rng.uniform(-1, 1)));
    return out;
  };
  Loss loss{p, centred, draw(p.rows * p.cols), draw(p.rows * p.cols), draw(p.cols), draw(p.cols)};
  if (!centred) std::ranges::fill(loss.beta, 0);
  return loss;
}

Buffer<float> rounded(const std::vector<double>& values) {
  Buffer<float> out(static_cast<Index>(values.size()));
  std::ranges::transform(values, out.begin(), [](double v) { return static_cast<float>(v); });
  return out;
}

Buffer<float> statistic(const Loss& loss, double Loss::Statistics::*which) {
  Buffer<float> out(loss.p.rows);
  for (Index r = 0; r < loss.p.rows; ++r) out[r] = static_cast<float>(loss.statistics(r).*which);
  return out;
}

/// The mean and rstd of the contract are rounded to 2^-24 of themselves, gradients here are below 10.
constexpr double rounding_of_statistics = 1e-6;

void expect_slopes(Loss& loss, std::vector<double> Loss::*of, const std::vector<double>& gradient) {
  ASSERT_EQ((loss.*of).size(), gradient.size());
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    EXPECT_NEAR(gradient[i], loss.slope(of, i), rounding_of_statistics) << i;
  }
}

TEST(LayerNormBackward, IsTheSlopeOfTheForwardPass) {
  for (const Index cols : {2, 5, 33}) {
    Loss loss = random_loss({.rows = 3, .cols = cols}, true);
    LayerNormBackward::Input in;
    in.dy = rounded(loss.dy);
    in.x = rounded(loss.x);
    in.mean = statistic(loss, &Loss::Statistics::mean);
    in.rstd = statistic(loss, &Loss::Statistics::rstd);
    in.gamma = rounded(loss.gamma);
    Setting setting;
    const auto want = LayerNormBackward::expect(loss.p, in, setting);
    expect_slopes(loss, &Loss::x, want.dx.value);
    expect_slopes(loss, &Loss::gamma, want.dgamma.value);
    expect_slopes(loss, &Loss::beta, want.dbeta.value);
  }
}

TEST(RmsNormBackward, IsTheSlopeOfTheForwardPass) {
  for (const Index cols : {1, 5, 33}) {
    Loss loss = random_loss({.rows = 3, .cols = cols}, false);
    const RmsNormBackward::Input in{rounded(loss.dy), rounded(loss.x),
                                    statistic(loss, &Loss::Statistics::rstd), rounded(loss.gamma)};
    Setting setting;
    const auto want = RmsNormBackward::expect(loss.p, in, setting);
    expect_slopes(loss, &Loss::x, want.dx.value);
    expect_slopes(loss, &Loss::gamma, want.dgamma.value);
  }
}

/// A backward pass whose steps a test may replace.
struct Steps {
  std::function<float(float sum, float n)> mean_of_w = [](float sum, float n) { return sum / n; };
  std::function<float(float sum, float n)> mean_of_w_xhat = [](float sum, float n) { return sum / n; };
  bool reduces_rows = true;
  bool last_row_first = false;
};

void backward(const Steps& steps, const Problem& p, const LayerNormBackward::Input& in,
              LayerNormBackward::Output& out) {
  const auto n = static_cast<float>(p.cols);
  std::ranges::fill(out.dgamma, 0.0F);
  std::ranges::fill(out.dbeta, 0.0F);
  for (Index i = 0; i < p.rows; ++i) {
    const Index r = steps.last_row_first ? p.rows - 1 - i : i;
    const auto xhat = [&](Index j) { return (in.x[r * p.cols + j] - in.mean[r]) * in.rstd[r]; };
    float of_w = 0, of_w_xhat = 0;
    for (Index j = 0; j < p.cols; ++j) {
      const float w = in.dy[r * p.cols + j] * in.gamma[j];
      of_w += w;
      of_w_xhat += w * xhat(j);
    }
    of_w = steps.mean_of_w(of_w, n);
    of_w_xhat = steps.mean_of_w_xhat(of_w_xhat, n);
    for (Index j = 0; j < p.cols; ++j) {
      const float dy = in.dy[r * p.cols + j];
      out.dx[r * p.cols + j] = in.rstd[r] * (dy * in.gamma[j] - of_w - xhat(j) * of_w_xhat);
      out.dgamma[j] = dy * xhat(j) + (steps.reduces_rows ? out.dgamma[j] : 0);
      out.dbeta[j] += dy;
    }
  }
}

Agreement check(const Steps& steps, const std::string& problem, Fill fill) {
  Registry registry;
  registry.add<LayerNormBackward>(
      {.name = "naive", .prepare = [&](const Problem& p, const auto&, const Context&) {
         return [&steps, p](const LayerNormBackward::Input& in, LayerNormBackward::Output& out) {
           backward(steps, p, in, out);
         };
       }});
  return registry.at(LayerNormBackward::name).open(problem, {.fill = fill, .rng = Rng(5)})->check(0, {});
}

const std::vector<std::string> shapes{"rows=3,cols=1",   "rows=3,cols=2",    "rows=7,cols=17",
                                      "rows=3,cols=257", "rows=67,cols=768", "rows=2,cols=4099"};

void expect_objection(const Steps& steps, const std::string& where) {
  for (const std::string& shape : shapes) {
    for (const Fill fill : LayerNormBackward::fills) {
      const Agreement outcome = check(steps, shape, fill);
      EXPECT_FALSE(outcome.agrees) << shape << ' ' << to_string(fill);
      EXPECT_THAT(outcome.detail, HasSubstr(where)) << shape << ' ' << to_string(fill);
    }
  }
}

TEST(LayerNormBackwardJudge, AcceptsSumsOverRowsInAnyOrder) {
  for (const bool last_row_first : {false, true}) {
    for (const std::string& shape : shapes) {
      for (const Fill fill : LayerNormBackward::fills) {
        const Agreement outcome = check({.last_row_first = last_row_first}, shape, fill);
        EXPECT_TRUE(outcome.agrees) << shape << ' ' << to_string(fill) << ": " << outcome.detail;
      }
    }
  }
}

TEST(LayerNormBackwardJudge, ObjectsWithoutTheMeanOfW) {
  expect_objection({.mean_of_w = [](float, float) { return 0.0F; }}, "dx[");
}

TEST(LayerNormBackwardJudge, ObjectsWithoutTheTermOfXhat) {
  expect_objection({.mean_of_w_xhat = [](float, float) { return 0.0F; }}, "dx[");
}

TEST(LayerNormBackwardJudge, ObjectsToSumsInPlaceOfMeans) {
  const Steps steps{.mean_of_w = [](float sum, float) { return sum; }};
  EXPECT_FALSE(check(steps, "rows=3,cols=2", Fill::uniform).agrees);
  EXPECT_FALSE(check(steps, "rows=2,cols=4099", Fill::uniform).agrees);
}

TEST(LayerNormBackwardJudge, ObjectsToDgammaThatIsNotReducedOverRows) {
  expect_objection({.reduces_rows = false}, "dgamma[");
}

/// dx = a dy gamma + b x + c, with b and c of the whole row, as libraries write it.
void folded(const Problem& p, const LayerNormBackward::Input& in, LayerNormBackward::Output& out) {
  backward({}, p, in, out);
  const auto n = static_cast<float>(p.cols);
  for (Index r = 0; r < p.rows; ++r) {
    float of_w = 0, of_w_x = 0;
    for (Index j = 0; j < p.cols; ++j) {
      const float w = in.dy[r * p.cols + j] * in.gamma[j];
      of_w += w;
      of_w_x += w * in.x[r * p.cols + j];
    }
    const float a = in.rstd[r], b = (of_w * in.mean[r] - of_w_x) * a * a * a / n;
    const float c = -b * in.mean[r] - of_w * a / n;
    for (Index j = 0; j < p.cols; ++j) {
      const Index at = r * p.cols + j;
      out.dx[at] = a * in.dy[at] * in.gamma[j] + b * in.x[at] + c;
    }
  }
}

TEST(LayerNormBackwardJudge, ObjectsToOneLineInXWhereTheMeanIsLarge) {
  Registry registry;
  registry.add<LayerNormBackward>({.name = "naive", .run = folded});
  for (const std::string& shape : shapes) {
    if (shape == "rows=2,cols=4099") continue;  // n u is as large there as what cancels
    const auto outcome =
        registry.at(LayerNormBackward::name).open(shape, {.fill = Fill::offset, .rng = Rng(5)})->check(0, {});
    EXPECT_THAT(outcome.detail, HasSubstr("dx[")) << shape;
  }
}

TEST(LayerNormBackward, ExactFillAsksForTheSameSumsOverRows) {
  Registry registry;
  registry.add<LayerNormBackward>({.name = "naive", .run = [](const Problem& p, const auto& in, auto& out) {
                                     backward({}, p, in, out);
                                     out.dgamma[0] = std::nextafter(out.dgamma[0], 1e9F);
                                   }});
  const auto outcome = registry.at(LayerNormBackward::name)
                           .open("rows=67,cols=3", {.fill = Fill::exact, .rng = Rng(5)})
                           ->check(0, {});
  EXPECT_THAT(outcome.detail, HasSubstr("dgamma[0]"));
}

TEST(LayerNormBackward, CostCountsEachArrayOnce) {
  const Cost cost = LayerNormBackward::cost({.rows = 3, .cols = 5});
  EXPECT_EQ(cost.bytes_read, 4 * (15 + 15 + 3 + 3 + 5));
  EXPECT_EQ(cost.bytes_written, 4 * (15 + 5 + 5));
  EXPECT_EQ(cost.flops, 13 * 15);
}

TEST(RmsNormBackward, CostCountsEachArrayOnce) {
  const Cost cost = RmsNormBackward::cost({.rows = 3, .cols = 5});
  EXPECT_EQ(cost.bytes_read, 4 * (15 + 15 + 3 + 5));
  EXPECT_EQ(cost.bytes_written, 4 * (15 + 5));
  EXPECT_EQ(cost.flops, 9 * 15);
}

}  // namespace
}  // namespace assay::layernorm_backward_test
