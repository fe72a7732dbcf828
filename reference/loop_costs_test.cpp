// The contracts of what a loop does around its kernels, each on numbers worked by hand.

#include "assay/ops/small_products.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace assay {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

Buffer<float> numbers(std::initializer_list<float> values) {
  Buffer<float> out(static_cast<Index>(values.size()));
  std::ranges::copy(values, out.begin());
  return out;
}

// Two samples of two rows, one feature and w = 2: products 2, 6 and 20, 40; means 4 and 30.
TEST(SmallProducts, AreCentredPerSample) {
  Setting setting;
  const auto want =
      SmallProducts::expect({.samples = 2, .rows = 2}, {numbers({1, 3, 10, 20}), numbers({2})}, setting);
  EXPECT_THAT(want.value, ElementsAre(DoubleEq(-2), DoubleEq(2), DoubleEq(-10), DoubleEq(10)));
}

}  // namespace
}  // namespace assay
