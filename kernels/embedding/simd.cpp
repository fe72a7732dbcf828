// Dropout. The idea: masks widen to numbers in registers, so that a byte is read for each and no branch is
// taken.

#include "embedding/divided.hpp"
#include "team.hpp"
#include "tiers.hpp"

#define HWY_TARGET_INCLUDE "embedding/simd.cpp"
#include "vectors_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::embedding::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;

/// As many numbers as D has lanes. A number that is dropped and not finite is NaN: it is multiplied by 0.
template <class D>
HWY_INLINE void some(D d, const float* x, const std::uint8_t* keep, float factor, float* y) {
  const hn::Rebind<std::uint8_t, D> bytes;
  const auto mask = hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<D>(), hn::LoadU(bytes, keep)));
  hn::StoreU(hn::Mul(hn::Mul(hn::LoadU(d, x), mask), hn::Set(d, factor)), d, y);
}

void drop(const float* x, const std::uint8_t* keep, float factor, float* y, Index i, Index last) {
  for (; i + lanes <= last; i += lanes) some(Floats(), x + i, keep + i, factor, y + i);
  for (; i < last; ++i) some(hn::CappedTag<float, 1>(), x + i, keep + i, factor, y + i);
}

}  // namespace assay::embedding::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::embedding {

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

}  // namespace

Variant<Dropout>::Kernel dropped(const Dropout::Problem& p, int threads) {
  return kernel_of(best_of(tiers_in(HWY_DISPATCH_TABLE(drop))).function, p, threads);
}

const Register registered{[](Registry& r) {
  add_tiers<Dropout>(
      r, tiers_in(HWY_DISPATCH_TABLE(drop)),
      {.name = "simd", .summary = "masks widened in registers, vectors of {}"},
      [](const auto& tier, const auto& p, const auto&) { return kernel_of(tier.function, p, 1); });
}};

}  // namespace assay::embedding
#endif
