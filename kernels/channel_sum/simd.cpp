// The idea: the widest vectors, eight sums per plane: an addition takes two to four cycles, and two start in
// each. Planes of one element, as of a linear layer, are rows of channels, and added as vectors.

#include "pieces/pieces.hpp"

#include "assay/ops/pointwise.hpp"

#define HWY_TARGET_INCLUDE "channel_sum/simd.cpp"
#include "vectors_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::channel_sum::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;

/// The sums of a few vectors of channels, of which the first is `c`.
template <std::size_t vectors, class At>
HWY_INLINE void sum_rows(const At& at, const Call<ElementwiseChannelBiasBackward>& call, Index c) {
  Vector sums[vectors];
  for (Vector& sum : sums) sum = hn::Zero(Floats());
  for (Index n = 0; n < call.p.n; ++n) {
    const float* row = call.in[0] + n * call.p.c + c;
    for (std::size_t k = 0; k < vectors; ++k, row += lanes) sums[k] = hn::Add(sums[k], at.load(row));
  }
  for (std::size_t k = 0; k < vectors; ++k)
    at.store(sums[k], call.out[0] + c + static_cast<Index>(k) * lanes);
}

void channels(const Call<ElementwiseChannelBiasBackward>& call, Index first, Index last) {
  const Index plane = call.p.plane();
  float* const db = call.out[0];
  if (plane == 1) {
    for (; first + 8 * lanes <= last; first += 8 * lanes) sum_rows<8>(Whole(), call, first);
    for (; first + lanes <= last; first += lanes) sum_rows<1>(Whole(), call, first);
    if (first < last) sum_rows<1>(Some{last - first}, call, first);
    return;
  }
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
