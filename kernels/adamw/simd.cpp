// The idea: the widest vectors the processor has, with fused products and sums. Divisions and square roots
// are those of the hardware, correctly rounded, because estimates are outside the contract's bound; two
// vectors to a turn let one compute its moments while the other divides.
//
// One source for all SIMD targets; tiers() hands them to the variant `threaded`. Stores are ordinary: p, m
// and v are read before they are written, so that their lines are in the cache anyway.

#include "adamw/step.hpp"
#include "tiers.hpp"

#include "assay/registry.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "adamw/simd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first, since it chooses the target that highway.h is read for.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::adamw {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// A step of the parameters i, i + 1, … as many as D has lanes.
template <class D>
HWY_INLINE void vector(D d, const StepConstants& k, const Arrays& at, Index i) {
  const auto g = hn::LoadU(d, at.g + i);
  const auto p = hn::LoadU(d, at.p + i);
  const auto m =
      hn::MulAdd(hn::Set(d, k.first_keep), hn::LoadU(d, at.m + i), hn::Mul(hn::Set(d, k.first_gain), g));
  const auto v = hn::MulAdd(hn::Set(d, k.second_keep), hn::LoadU(d, at.v + i),
                            hn::Mul(hn::Set(d, k.second_gain), hn::Mul(g, g)));
  const auto update = hn::Div(hn::Mul(hn::Set(d, k.rate), m), hn::Add(hn::Sqrt(v), hn::Set(d, k.epsilon)));
  hn::StoreU(m, d, at.m + i);
  hn::StoreU(v, d, at.v + i);
  hn::StoreU(hn::Sub(hn::NegMulAdd(hn::Set(d, k.decay), p, p), update), d, at.p + i);
}

void steps(const StepConstants& constants, const Arrays& arrays, Index first, Index last) {
  // Copies, which no store through a pointer to float can change.
  const StepConstants k = constants;
  const Arrays at = arrays;
  const hn::ScalableTag<float> d;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(hn::ScalableTag<float>()));
  Index i = first;
  for (; i + 2 * lanes <= last; i += 2 * lanes) {
    vector(d, k, at, i);
    vector(d, k, at, i + lanes);
  }
  if (i + lanes <= last) {
    vector(d, k, at, i);
    i += lanes;
  }
  // One by one: unlike reading an operand twice, a step may not be taken twice by overlapping vectors.
  for (; i < last; ++i) vector(hn::CappedTag<float, 1>(), k, at, i);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::adamw
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::adamw {
namespace {
HWY_EXPORT(steps);
}  // namespace

std::vector<Tier> tiers() {
  std::vector<Tier> out;
  for_each_tier(HWY_DISPATCH_TABLE(steps),
                [&](const std::string& name, StepFunction* function, const auto& unfit) {
                  out.push_back({name, function, unfit});
                });
  return out;
}

namespace {

const Register registered{[](Registry& r) {
  for_each_formula([&]<class Formula>(Formula) {
    using Problem = typename AdamW<Formula>::Problem;
    for (const Tier& tier : tiers()) {
      const auto prepare = [function = tier.function](const Problem& problem, const auto&, const Context&) {
        return [=, k = step_constants<Formula>(problem.t), n = problem.n](const auto& in, auto& out) {
          function(k, arrays(in, out), 0, n);
        };
      };
      r.add<AdamW<Formula>>({.name = "simd@" + tier.name,
                             .summary = "vectors of " + tier.name + ", hardware division and square root",
                             .prepare = prepare,
                             .unfit = [why = tier.unfit](const Problem&, const Context&) { return why; }});
    }
  });
}};

}  // namespace
}  // namespace assay::adamw
#endif
