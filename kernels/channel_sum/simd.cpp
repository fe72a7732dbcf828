// The idea: the widest vectors of the processor, eight sums per plane. An addition takes two to four cycles
// and two start in each, so fewer sums would wait for each other while dz is in a cache.

#include "channel_sum/planes.hpp"

#define HWY_TARGET_INCLUDE "channel_sum/simd.cpp"
#include "vectors_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::channel_sum::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;

HWY_INLINE float plane_sum(const float* dz, Index count) {
  const Floats d;
  constexpr int parts = 8;
  Vector sums[parts];
  for (int k = 0; k < parts; ++k) sums[k] = hn::Zero(d);
  Index i = 0;
  for (; i + parts * lanes <= count; i += parts * lanes) {
    for (int k = 0; k < parts; ++k) sums[k] = hn::Add(sums[k], hn::LoadU(d, dz + i + k * lanes));
  }
  for (; i + lanes <= count; i += lanes) sums[0] = hn::Add(sums[0], hn::LoadU(d, dz + i));
  if (i < count) sums[1] = hn::Add(sums[1], load_some(d, dz + i, count - i));
  for (int stride = parts / 2; stride > 0; stride /= 2) {
    for (int k = 0; k < stride; ++k) sums[k] = hn::Add(sums[k], sums[k + stride]);
  }
  return hn::GetLane(hn::SumOfLanes(d, sums[0]));
}

void channels(const Arrays& at, Index first, Index last) {
  for (Index n = 0; n < at.images; ++n) {
    for (Index c = first; c < last; ++c) {
      const float sum = plane_sum(at.dz + (n * at.channels + c) * at.plane, at.plane);
      at.db[c] = n == 0 ? sum : at.db[c] + sum;
    }
  }
}

}  // namespace assay::channel_sum::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::channel_sum {

HWY_EXPORT(channels);

std::vector<Tier> tiers() { return tiers_in(HWY_DISPATCH_TABLE(channels)); }

const Register registered{[](Registry& r) {
  add_tiers<ElementwiseChannelBiasBackward>(
      r, tiers(), {.name = "simd", .summary = "vectors of {}, eight sums to a plane"},
      [](const Tier& tier, const auto& p, const auto&) {
        return [p, function = tier.function](const auto& in, auto& out) {
          function(arrays(p, in, out), 0, p.c);
        };
      });
}};

}  // namespace assay::channel_sum
#endif
