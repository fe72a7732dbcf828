// The idea: the widest vectors of the processor, with fused products and sums. Divisions and square roots are
// those of the hardware, correctly rounded, since estimates exceed the contract's bound. With two vectors per
// iteration, one computes its moments while the other divides.
//
// All variants but `streaming` store through the caches: p, m and v are read before they are written, so
// their lines are in the cache.

#include "adamw/step.hpp"

#include <cstdint>

#define HWY_TARGET_INCLUDE "adamw/simd.cpp"
#include "vectors_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::adamw::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;

/// A step of the parameters i, i + 1, … as many as D has lanes. `past_caches` needs addresses that are
/// multiples of a vector.
template <bool past_caches, class D>
HWY_INLINE void vector(D d, const StepConstants& k, const Arrays& at, Index i) {
  const auto store = [d](auto value, float* to) HWY_ATTR {
    if constexpr (past_caches) {
      hn::Stream(value, d, to);
    } else {
      hn::StoreU(value, d, to);
    }
  };
  const auto g = hn::LoadU(d, at.g + i);
  const auto p = hn::LoadU(d, at.p + i);
  const auto m =
      hn::MulAdd(hn::Set(d, k.first_keep), hn::LoadU(d, at.m + i), hn::Mul(hn::Set(d, k.first_gain), g));
  const auto v = hn::MulAdd(hn::Set(d, k.second_keep), hn::LoadU(d, at.v + i),
                            hn::Mul(hn::Set(d, k.second_gain), hn::Mul(g, g)));
  const auto root = hn::Sqrt(hn::Add(v, hn::Set(d, k.inner)));
  const auto update = hn::Div(hn::Mul(hn::Set(d, k.rate), m), hn::Add(root, hn::Set(d, k.outer)));
  store(m, at.m + i);
  store(v, at.v + i);
  store(hn::Sub(hn::NegMulAdd(hn::Set(d, k.decay), p, p), update), at.p + i);
}

void steps(const StepConstants& constants, const Arrays& arrays, Index first, Index last) {
  // Local copies, which no store through a pointer to float can change.
  const StepConstants k = constants;
  const Arrays at = arrays;
  const Floats d;
  Index i = first;
  for (; i + 2 * lanes <= last; i += 2 * lanes) {
    vector<false>(d, k, at, i);
    vector<false>(d, k, at, i + lanes);
  }
  if (i + lanes <= last) {
    vector<false>(d, k, at, i);
    i += lanes;
  }
  // One by one: overlapping vectors would take a step twice.
  for (; i < last; ++i) vector<false>(hn::CappedTag<float, 1>(), k, at, i);
}

/// The number of parameters up to the next address that is a multiple of a vector.
Index up_to_boundary(const float* at) {
  const auto past = static_cast<Index>(reinterpret_cast<std::uintptr_t>(at) / sizeof(float)) % lanes;
  return past == 0 ? 0 : lanes - past;
}

void stream_steps(const StepConstants& constants, const Arrays& arrays, Index first, Index last) {
  const StepConstants k = constants;
  const Arrays at = arrays;
  const Floats d;
  const hn::CappedTag<float, 1> one;
  const Index head = up_to_boundary(at.p + first);
  if (up_to_boundary(at.m + first) != head || up_to_boundary(at.v + first) != head) {
    steps(constants, arrays, first, last);
    return;
  }
  Index i = first;
  for (; i < last && i < first + head; ++i) vector<false>(one, k, at, i);
  for (; i + lanes <= last; i += lanes) vector<true>(d, k, at, i);
  hwy::FlushStream();
  for (; i < last; ++i) vector<false>(one, k, at, i);
}

}  // namespace assay::adamw::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::adamw {

HWY_EXPORT(steps);
HWY_EXPORT(stream_steps);

std::vector<Tier> tiers() { return tiers_in(HWY_DISPATCH_TABLE(steps), HWY_DISPATCH_TABLE(stream_steps)); }

const Register registered{[](Registry& r) {
  for_each_formula([&]<class Formula>(Formula) {
    add_tiers<AdamW<Formula>>(
        r, tiers(), {.name = "simd", .summary = "vectors of {}, hardware division and square root"},
        [](const Tier& tier, const auto& p, const auto&) { return kernel_of<Formula>(tier.function, p); });
  });
}};

}  // namespace assay::adamw
#endif
