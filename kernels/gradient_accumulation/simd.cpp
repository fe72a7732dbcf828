// The idea: the widest vectors with fused products and sums; the first micro-batch is written, as in
// `assigned`.

#include "gradient_accumulation/sweeps.hpp"

#define HWY_TARGET_INCLUDE "gradient_accumulation/simd.cpp"
#include "vectors_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::gradient_accumulation::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;

template <class D>
HWY_INLINE void sweep_vector(D d, float weight, bool is_first, const float* g, float* sum) {
  const auto w = hn::Set(d, weight);
  const auto fresh = hn::LoadU(d, g);
  hn::StoreU(is_first ? hn::Mul(w, fresh) : hn::MulAdd(w, fresh, hn::LoadU(d, sum)), d, sum);
}

void sweep(float weight, bool is_first, const float* g, float* sum, Index first, Index last) {
  const Floats d;
  Index i = first;
  for (; i + 2 * lanes <= last; i += 2 * lanes) {
    sweep_vector(d, weight, is_first, g + i, sum + i);
    sweep_vector(d, weight, is_first, g + i + lanes, sum + i + lanes);
  }
  for (; i < last; ++i) sweep_vector(hn::CappedTag<float, 1>(), weight, is_first, g + i, sum + i);
}

}  // namespace assay::gradient_accumulation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::gradient_accumulation {

HWY_EXPORT(sweep);

std::vector<Tier> tiers() { return tiers_in(HWY_DISPATCH_TABLE(sweep)); }

const Register registered{[](Registry& r) {
  add_tiers<GradientAccumulation>(
      r, tiers(), {.name = "simd", .summary = "vectors of {}, the first micro-batch written"},
      [](const Tier& tier, const auto& p, const auto&) {
        return [function = tier.function, n = p.n, weights = rounded_weights(p)](const auto& in, auto& out) {
          for (std::size_t j = 0; j < weights.size(); ++j) {
            function(weights[j], j == 0, in.g.data() + static_cast<Index>(j) * n, out.sum.data(), 0, n);
          }
        };
      });
}};

}  // namespace assay::gradient_accumulation
#endif
