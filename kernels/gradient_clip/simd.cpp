// The idea: the widest vectors, four sums at a time so that none waits for the one before, each of 64 squares
// before it is added to a sum in double.

#include "gradient_clip/passes.hpp"

#define HWY_TARGET_INCLUDE "gradient_clip/simd.cpp"
#include "vectors_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::gradient_clip::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;

double squares(const float* g, Index first, Index last) {
  const Floats d;
  // Each lane of a sum takes 16 squares. Adding the other three sums makes 64 squares per lane, before the
  // lanes are added up.
  constexpr Index steps = 16, block = 4 * lanes * steps;
  double total = 0;
  Index i = first;
  for (; i + 4 * lanes <= last;) {
    const Index end = i + block <= last ? i + block : last;
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    for (; i + 4 * lanes <= end; i += 4 * lanes) {
      const auto a = hn::LoadU(d, g + i), b = hn::LoadU(d, g + i + lanes);
      const auto c = hn::LoadU(d, g + i + 2 * lanes), e = hn::LoadU(d, g + i + 3 * lanes);
      s0 = hn::MulAdd(a, a, s0);
      s1 = hn::MulAdd(b, b, s1);
      s2 = hn::MulAdd(c, c, s2);
      s3 = hn::MulAdd(e, e, s3);
    }
    const auto sum = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
    // 64 squares of 1e18 in each of sixteen lanes overflow when the lanes are added up, unless they are made
    // smaller.
    constexpr float smaller = 0x1p-6F;
    const float of_lanes = hn::GetLane(hn::SumOfLanes(d, hn::Mul(sum, hn::Set(d, smaller))));
    total += static_cast<double>(of_lanes) / static_cast<double>(smaller);
  }
  for (; i < last; ++i) total += static_cast<double>(g[i]) * static_cast<double>(g[i]);
  return total;
}

void scale(float kept, const float* g, float* y, Index first, Index last) {
  const Floats d;
  const auto factor = hn::Set(d, kept);
  Index i = first;
  for (; i + 2 * lanes <= last; i += 2 * lanes) {
    hn::StoreU(hn::Mul(factor, hn::LoadU(d, g + i)), d, y + i);
    hn::StoreU(hn::Mul(factor, hn::LoadU(d, g + i + lanes)), d, y + i + lanes);
  }
  for (; i < last; ++i) y[i] = kept * g[i];
}

}  // namespace assay::gradient_clip::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::gradient_clip {

HWY_EXPORT(squares);
HWY_EXPORT(scale);

std::vector<Tier> tiers() {
  return tiers_in(&Tier::squares, HWY_DISPATCH_TABLE(squares), &Tier::scale, HWY_DISPATCH_TABLE(scale));
}

const Register registered{[](Registry& r) {
  add_tiers<GradientClip>(r, tiers(), {.name = "simd", .summary = "vectors of {}, four sums at a time"},
                          [](const Tier& tier, const auto& p, const auto&) {
                            return [tier, n = p.n](const auto& in, auto& out) {
                              const float norm = norm_of(tier.squares(in.g.data(), 0, n));
                              tier.scale(GradientClip::kept(norm), in.g.data(), out.y.data(), 0, n);
                              out.norm[0] = norm;
                            };
                          });
}};

}  // namespace assay::gradient_clip
#endif
