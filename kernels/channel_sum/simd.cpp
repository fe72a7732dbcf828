// The idea: the widest vectors of the processor, eight sums per plane. An addition takes two to four cycles
// and two start in each, so fewer sums would wait for each other while dz is in a cache.

#include "pieces/pieces.hpp"

#include "assay/ops/pointwise.hpp"

#define HWY_TARGET_INCLUDE "channel_sum/simd.cpp"
#include "vectors_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::channel_sum::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;

void channels(const Call<ElementwiseChannelBiasBackward>& call, Index first, Index last) {
  const Index plane = call.p.plane();
  float* const db = call.out[0];
  for (Index n = 0; n < call.p.n; ++n) {
    for (Index c = first; c < last; ++c) {
      const float sum = sum_of(call.in[0] + (n * call.p.c + c) * plane, plane);
      db[c] = n == 0 ? sum : db[c] + sum;
    }
  }
}

}  // namespace assay::channel_sum::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::channel_sum {
HWY_EXPORT(channels);
}  // namespace assay::channel_sum

template <>
assay::Tiers<assay::ElementwiseChannelBiasBackward> assay::tiers_of<assay::ElementwiseChannelBiasBackward>() {
  return tiers_in(channel_sum::HWY_DISPATCH_TABLE(channels));
}

namespace assay::channel_sum {

const Register registered{[](Registry& r) {
  add_tiers_of<ElementwiseChannelBiasBackward>(
      r, {.name = "simd", .summary = "vectors of {}, eight sums to a plane"});
}};

}  // namespace assay::channel_sum
#endif
