// The arrays of a call and the SIMD tiers that the variants of activations, gradients and chains share:
// `simd`, `streaming`, `fused` and `threaded` run the same machine code.
#pragma once

#include "tiers.hpp"

#include "assay/ops/pointwise.hpp"

#include <vector>

namespace assay::pointwise {

/// Plain arrays, since code of a SIMD target must not instantiate the standard library (tiers.hpp).
struct Operands {
  const float* in[3] = {};
  float* out[2] = {};
  Index plane = 1, channels = 1;  ///< extents of in[1] where the formula is per channel
  float alpha = 1;
};

template <class Formula>
Operands operands(const typename Pointwise<Formula>::Problem& p,
                  const typename Pointwise<Formula>::Input& input,
                  typename Pointwise<Formula>::Output& output) {
  Operands on{.plane = p.plane(), .channels = p.c, .alpha = static_cast<float>(p.alpha)};
  for (std::size_t k = 0; k < input.in.size(); ++k) on.in[k] = input.in[k].data();
  on.out[0] = output.first.data();
  on.out[1] = output.second.data();
  return on;
}

/// One tier's code for one formula: the elements [first, last) of all arrays.
using RangeFunction = void(const Operands&, Index first, Index last);

template <class Formula>
auto kernel_of(RangeFunction* function, const typename Pointwise<Formula>::Problem& p) {
  return [function, p](const auto& in, auto& out) { function(operands<Formula>(p, in, out), 0, p.size()); };
}

/// The same code with ordinary stores and with stores past the caches.
struct Functions {
  RangeFunction* plain = nullptr;
  RangeFunction* streaming = nullptr;
};

template <class... Formula>
struct List {
  static constexpr int size = sizeof...(Formula);
  template <class Wanted>
  static constexpr int index() {
    int at = 0;
    bool found = false;
    ((found = found || std::is_same_v<Wanted, Formula>, at += found ? 0 : 1), ...);
    return at;
  }
  template <class Wanted>
  static constexpr bool contains() {
    return index<Wanted>() < size;
  }
};
/// Every formula with machine code: those of the contracts, and the operations of the chains.
using Kernels = List<Gelu, GeluTanh, Sigmoid, GeluBackward, GeluTanhBackward, SigmoidBackward, ReluBackward,
                     MultiplyBackward, AddBackward, ChannelBias, BiasGelu, ScaleAddRelu, ScaledSum,
                     PositivePart, Sgd, SgdNesterov>;

struct Tier : NamedTier {
  Functions of[Kernels::size];

  template <class Formula>
  Functions functions() const {
    return of[Kernels::index<Formula>()];
  }
};
const std::vector<Tier>& tiers();

/// Whether a formula costs so much that a thread pays sooner: formulas with the tail of the normal
/// distribution, or with a slope beside an exponential. The sigmoid, one exponential and a quotient, is not
/// among them.
template <class Formula>
inline constexpr bool long_formula =
    List<Gelu, GeluBackward, GeluTanhBackward, BiasGelu>::contains<Formula>();

}  // namespace assay::pointwise
