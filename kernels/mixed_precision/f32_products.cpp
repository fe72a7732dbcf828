// The idea: the products of `gemm`, all in f32. The gain of `bf16_master` over this variant comes from bf16
// alone.

#include "gemm/blocked.hpp"
#include "tiers.hpp"

#include "assay/ops/gemm.hpp"

#include <algorithm>

namespace assay::mixed_precision {

const Register registered{[](Registry& r) {
  const auto prepare = [](const MixedPrecision::Problem& p, const auto&, const Context&) {
    const blocked::Tier tier = best_of(blocked::tiers());
    const blocked::Product forward{.m = p.m, .n = p.n, .k = p.k, .lda = p.k, .ldb = p.n, .ldc = p.n};
    const blocked::Product gradient{
        .m = p.k, .n = p.n, .k = p.m, .lda = p.k, .ldb = p.n, .ldc = p.n, .a_transposed = true};
    const Index floats = std::max(tier.space_floats(forward), tier.space_floats(gradient));
    return [=, space = Buffer<float>(floats)](const auto& in, auto& out) mutable {
      tier.multiply(blocked::with(forward, in.x.data(), in.w.data(), out.y.data()), space.data());
      // The gradient is complete before it meets w: a product added to w rounds all of w, and with one row m
      // products would be added one by one.
      tier.multiply(blocked::with(gradient, in.x.data(), in.dy.data(), out.w_next.data()), space.data());
      constexpr auto rate = static_cast<float>(MixedPrecision::rate);
      for (Index i = 0; i < in.w.size(); ++i) out.w_next[i] = in.w[i] - rate * out.w_next[i];
    };
  };
  r.add<MixedPrecision>(
      {.name = "f32_products", .summary = "the best tier's products of f32", .prepare = prepare});
}};

}  // namespace assay::mixed_precision
