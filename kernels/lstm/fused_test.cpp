// The tanh of every tier over numbers of every magnitude, through the gate g of a row.

#include "lstm/cells.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace assay::lstm {
namespace {

/// g of a row whose sums before activation are x for every gate.
std::vector<float> tanh_of(const Tier& tier, const std::vector<float>& x) {
  const std::size_t n = x.size();
  std::vector<float> gates, zeros(4 * n), c(n), y(n);
  for (int k = 0; k < 4; ++k) gates.insert(gates.end(), x.begin(), x.end());
  tier.row(zeros.data(), zeros.data(), static_cast<Index>(n), gates.data(), c.data(), y.data());
  const auto g = gates.begin() + static_cast<std::ptrdiff_t>(2 * n);
  return {g, g + static_cast<std::ptrdiff_t>(n)};
}

TEST(LstmTanh, KeepsItsDigitsAtEveryMagnitude) {
  std::vector<float> x;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 79'999) {
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  x.insert(x.end(), {infinity, -infinity, 0.0F, 9.01F, -9.01F, 10, -10, 1e-30F});
  for (const Tier& tier : tiers()) {
    if (tier.unfit) continue;
    const std::vector<float> found = tanh_of(tier, x);
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double at = x[i], right = std::tanh(at);
      if (std::isnan(x[i])) {
        EXPECT_TRUE(std::isnan(found[i])) << tier.name;
        continue;
      }
      // The roundings that the contract allows.
      const double slope = std::isinf(at) ? 0 : std::abs(at) * (1 - right * right);
      const double bound = 0x1p-24 * (8 * std::abs(right) + 2 * slope) + 0x1p-126;
      worst = std::max(worst, std::abs(static_cast<double>(found[i]) - right) / bound);
    }
    EXPECT_LE(worst, 1) << tier.name;
    RecordProperty(tier.name, std::to_string(worst));
  }
}

}  // namespace
}  // namespace assay::lstm
