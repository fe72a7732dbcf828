// The idea: masks widen to numbers in registers, so that a byte is read for each and no branch is taken.

#include "team.hpp"
#include "tiers.hpp"

#include "assay/ops/embedding.hpp"

#define HWY_TARGET_INCLUDE "dropout/simd.cpp"
#include "vectors_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::dropout::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;

/// As many numbers as D has lanes. A number that is dropped and not finite is NaN: it is multiplied by 0.
template <class D>
HWY_INLINE void some(D d, const float* x, const std::uint8_t* keep, float factor, float* y) {
  const hn::Rebind<std::uint8_t, D> bytes;
  const auto mask = hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<D>(), hn::LoadU(bytes, keep)));
  hn::StoreU(hn::Mul(hn::Mul(hn::LoadU(d, x), mask), hn::Set(d, factor)), d, y);
}

/// The elements [i, last).
void drop(const float* x, const std::uint8_t* keep, float factor, float* y, Index i, Index last) {
  for (; i + lanes <= last; i += lanes) some(Floats(), x + i, keep + i, factor, y + i);
  for (; i < last; ++i) some(hn::CappedTag<float, 1>(), x + i, keep + i, factor, y + i);
}

}  // namespace assay::dropout::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::dropout {

HWY_EXPORT(drop);

namespace {

template <class Function>
auto kernel_of(Function* function, const Dropout::Problem& p, int threads) {
  return [=, factor = static_cast<float>(p.factor())](const Dropout::Input& in, Dropout::Output& out) {
    on_shares(threads, p.n, [&](Index first, Index last) {
      function(in.x.data(), in.keep.data(), factor, out.y.data(), first, last);
    });
  };
}

/// Elements below which a call is too short for a second thread. Chosen, not measured: that of the formulas
/// of `pointwise` without an exponential.
constexpr Index break_even = 131072;

const Register registered{[](Registry& r) {
  const auto tiers = tiers_in(HWY_DISPATCH_TABLE(drop));
  add_tiers<Dropout>(
      r, tiers, {.name = "simd", .summary = "masks widened in registers, vectors of {}"},
      [](const auto& tier, const auto& p, const auto&) { return kernel_of(tier.function, p, 1); });
  add_threaded<Dropout>(r, "the best SIMD tier on every thread, elements divided",
                        [best = best_of(tiers).function](const auto& p, const auto&, const Context& context) {
                          return kernel_of(best, p, started_team(context, p.n < break_even));
                        });
}};

}  // namespace
}  // namespace assay::dropout
#endif
