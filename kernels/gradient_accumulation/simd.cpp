// The idea: the widest vectors with fused products and sums; the first micro-batch is written, as in
// `assigned`. One source for all SIMD targets; `threaded` runs the same code by tiers().

#include "gradient_accumulation/sweeps.hpp"
#include "tiers.hpp"

#include "assay/registry.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gradient_accumulation/simd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first, since it chooses the target that highway.h is read for.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::gradient_accumulation {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE void sweep_vector(D d, float weight, bool is_first, const float* g, float* sum) {
  const auto w = hn::Set(d, weight);
  const auto fresh = hn::LoadU(d, g);
  hn::StoreU(is_first ? hn::Mul(w, fresh) : hn::MulAdd(w, fresh, hn::LoadU(d, sum)), d, sum);
}

void sweep(float weight, bool is_first, const float* g, float* sum, Index first, Index last) {
  const hn::ScalableTag<float> d;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(hn::ScalableTag<float>()));
  Index i = first;
  for (; i + 2 * lanes <= last; i += 2 * lanes) {
    sweep_vector(d, weight, is_first, g + i, sum + i);
    sweep_vector(d, weight, is_first, g + i + lanes, sum + i + lanes);
  }
  for (; i < last; ++i) sweep_vector(hn::CappedTag<float, 1>(), weight, is_first, g + i, sum + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::gradient_accumulation
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::gradient_accumulation {
namespace {
HWY_EXPORT(sweep);
}  // namespace

std::vector<Tier> tiers() { return tiers_in(HWY_DISPATCH_TABLE(sweep)); }

namespace {

const Register registered{[](Registry& r) {
  for (const Tier& tier : tiers()) {
    const auto prepare = [function = tier.function](const GradientAccumulation::Problem& p, const auto&,
                                                    const Context&) {
      return [=, n = p.n, weights = rounded_weights(p)](const auto& in, auto& out) {
        for (std::size_t j = 0; j < weights.size(); ++j) {
          function(weights[j], j == 0, in.g.data() + static_cast<Index>(j) * n, out.sum.data(), 0, n);
        }
      };
    };
    r.add<GradientAccumulation>({.name = "simd@" + tier.name,
                                 .summary = "vectors of " + tier.name + ", the first micro-batch written",
                                 .prepare = prepare,
                                 .unfit = [why = tier.unfit](const auto&, const Context&) { return why; }});
  }
}};

}  // namespace
}  // namespace assay::gradient_accumulation
#endif
