// The polynomials of the fast variants over the whole range of floats. Corner cases hold some thousands of
// numbers.

#include "pointwise/arrays.hpp"

#include "assay/registry.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace assay::pointwise {
namespace {

/// Every `step`-th bit pattern that is a number, an infinity or a quiet NaN; a signalling NaN would change
/// its bits. The step is odd, so the last bits of the significands vary. More numbers near -10 and -13 come
/// first, where the exponentials of the GELU forms leave the normal range.
Buffer<float> bit_patterns(std::uint32_t step) {
  std::vector<float> kept;
  for (auto bits = std::bit_cast<std::uint32_t>(-9.5F); bits < std::bit_cast<std::uint32_t>(-15.0F);
       bits += step / 64) {
    kept.push_back(std::bit_cast<float>(bits));
  }
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += step) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isnan(x) || (bits & 0x400000U) != 0) kept.push_back(x);
  }
  Buffer<float> out(static_cast<Index>(kept.size()));
  std::ranges::copy(kept, out.begin());
  return out;
}

template <class Formula>
class EveryMagnitude : public ::testing::Test {};
using Activations = ::testing::Types<Gelu, GeluTanh, Sigmoid, GeluBackward, GeluTanhBackward>;
TYPED_TEST_SUITE(EveryMagnitude, Activations);

TYPED_TEST(EveryMagnitude, IsWithinTheBoundInEveryVariant) {
  using Op = Pointwise<TypeParam>;
  typename Op::Input in;
  in.in[0] = bit_patterns(79'999);
  const typename Op::Problem p{.n = in.in[0].size()};
  Setting setting{.fill = Fill::uniform, .rng = Rng(17)};
  for (std::size_t k = 1; k < Op::inputs; ++k) {
    in.in[k] = setting.buffer<float>(p.n);
    for (float& dz : in.in[k]) dz = setting.draw();
  }
  const auto want = Op::expect(p, in, setting);

  const auto check = [&](const std::string& name, const auto& kernel) {
    auto out = Op::make_output(p, in, setting);
    kernel(in, out);
    const Agreement outcome = Op::judge(p, in, want, out);
    EXPECT_TRUE(outcome.agrees) << name << ": " << outcome.detail;
    this->RecordProperty(name, std::to_string(outcome.worst_error));
  };
  for (const Tier& tier : tiers()) {
    if (tier.unfit) continue;
    check(tier.name, [&](const auto& from, auto& to) {
      tier.functions<TypeParam>().plain(operands<TypeParam>(p, from, to), 0, p.n);
    });
  }
}

}  // namespace
}  // namespace assay::pointwise
