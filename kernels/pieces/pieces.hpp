// The frame of operations whose output falls into units that are computed apart, as Op::units() counts them:
// rows, channels or elements. A file has one function per SIMD tier for the units [first, last): `simd` calls
// it once, pieces/threaded.cpp on every thread.
#pragma once

#include "tiers.hpp"

#include "assay/registry.hpp"

#include <tuple>
#include <vector>

namespace assay {

/// A call: its problem, and its arrays in the order of the parts.
template <class Op>
struct Call {
  typename Op::Problem p;
  const float* in[std::tuple_size_v<decltype(Op::Input::parts())>];
  float* out[std::tuple_size_v<decltype(Op::Output::parts())>];
};

template <class Op>
Call<Op> call_of(const typename Op::Problem& p, const typename Op::Input& in, typename Op::Output& out) {
  const auto with_inputs = [&](const auto&... from) {
    const auto with_outputs = [&](const auto&... to) {
      return Call<Op>{p, {from.of(in).data()...}, {to.of(out).data()...}};
    };
    return std::apply(with_outputs, Op::Output::parts());
  };
  return std::apply(with_inputs, Op::Input::parts());
}

template <class Op>
using Tiers = std::vector<Tier<void(const Call<Op>&, Index first, Index last)>>;

/// Every tier of an operation, best first. Specialized beside its code.
template <class Op>
Tiers<Op> tiers_of();

/// Registers a variant for each tier, which computes all units in one call.
template <class Op>
void add_tiers_of(Registry& r, const TierWords& words) {
  add_tiers<Op>(r, tiers_of<Op>(), words, [](const auto& tier, const auto& p, const auto&) {
    return [p, function = tier.function](const auto& in, auto& out) {
      function(call_of<Op>(p, in, out), 0, Op::units(p));
    };
  });
}

}  // namespace assay
