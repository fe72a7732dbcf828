// The idea: the widest vectors of the processor, eight sums per plane. An addition takes two to four cycles
// and two start in each, so fewer sums would wait for each other while dz is in a cache.

#include "channel_sum/planes.hpp"

#define HWY_TARGET_INCLUDE "channel_sum/simd.cpp"
#include "vectors_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::channel_sum::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;

void channels(const Arrays& at, Index first, Index last) {
  for (Index n = 0; n < at.images; ++n) {
    for (Index c = first; c < last; ++c) {
      const float sum = sum_of(at.dz + (n * at.channels + c) * at.plane, at.plane);
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
