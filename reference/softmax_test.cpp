#include "assay/ops/attention.hpp"

#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

namespace assay {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsNan;

constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<double> shares(std::initializer_list<float> row) {
  Softmax::Input in{Buffer<float>(static_cast<Index>(row.size()))};
  std::ranges::copy(row, in.x.begin());
  Setting setting;
  return Softmax::expect({.rows = 1, .cols = in.x.size()}, in, setting).value;
}

// exp(0) : exp(log 3) = 1 : 3, and a number that is masked has no share.
TEST(Softmax, MatchesRowsWorkedByHand) {
  EXPECT_THAT(shares({0, std::log(3.0F)}), ElementsAre(DoubleNear(0.25, 1e-7), DoubleNear(0.75, 1e-7)));
  EXPECT_THAT(shares({-infinity, 5, 5}), ElementsAre(0, 0.5, 0.5));
  EXPECT_THAT(shares({1000, 0}), ElementsAre(1, 0));
  EXPECT_THAT(shares({7}), ElementsAre(1));
}

TEST(Softmax, IsNanInRowsThatHaveNoShares) {
  EXPECT_THAT(shares({-infinity, -infinity}), Each(IsNan()));
  EXPECT_THAT(shares({infinity, 0}), Each(IsNan()));
  EXPECT_THAT(shares({0, std::nanf(""), 0}), Each(IsNan()));
}

/// The verdict on rows y = power(x - largest) / sum, where rows without a share get `nothing`.
template <auto power>
Agreement check(const char* problem, float nothing = std::numeric_limits<float>::quiet_NaN()) {
  Registry registry;
  registry.add<Softmax>({.name = "naive", .prepare = [nothing](const auto& p, const auto&, const Context&) {
                           return [=](const Softmax::Input& in, Softmax::Output& out) {
                             for (Index i = 0; i < p.rows; ++i) {
                               const float* x = in.x.data() + i * p.cols;
                               float* y = out.y.data() + i * p.cols;
                               const float largest = *std::max_element(x, x + p.cols);
                               float sum = 0;
                               for (Index j = 0; j < p.cols; ++j) sum += y[j] = power(x[j], largest);
                               for (Index j = 0; j < p.cols; ++j) y[j] = sum > 0 ? y[j] / sum : nothing;
                             }
                           };
                         }});
  return registry.at("softmax").open(problem, {.fill = Fill::uniform, .rng = Rng(5)})->check(0, {});
}

constexpr auto right = [](float x, float largest) { return std::exp(x - largest); };

TEST(SoftmaxJudge, TakesRightRows) {
  for (const char* problem :
       {"rows=17,cols=33", "rows=17,cols=33,logits=large", "rows=17,cols=33,logits=huge",
        "rows=17,cols=33,logits=special", "rows=17,cols=3,logits=masked"}) {
    const Agreement found = check<right>(problem);
    EXPECT_TRUE(found.agrees) << problem << ": " << found.detail;
  }
}

TEST(SoftmaxJudge, ObjectsToPowersThatOverflow) {
  constexpr auto plain = [](float x, float) { return std::exp(x); };
  EXPECT_TRUE(check<plain>("rows=17,cols=33").agrees);
  EXPECT_FALSE(check<plain>("rows=17,cols=33,logits=large").agrees);
}

TEST(SoftmaxJudge, ObjectsToPowersOfHalfTheDigits) {
  // (1 + d / 2^10)^(2^10) is within d^2 / 2^11 of the power.
  constexpr auto coarse = [](float x, float largest) {
    double power = 1 + static_cast<double>(x - largest) / 1024;
    for (int i = 0; i < 10; ++i) power *= power;
    return static_cast<float>(power);
  };
  EXPECT_FALSE(check<coarse>("rows=17,cols=33").agrees);
}

TEST(SoftmaxJudge, ObjectsToZerosInRowsThatAreMaskedWhole) {
  EXPECT_FALSE(check<right>("rows=17,cols=3,logits=masked", 0).agrees);
  EXPECT_FALSE(check<right>("rows=17,cols=33,logits=special", 0).agrees);
}

}  // namespace
}  // namespace assay
