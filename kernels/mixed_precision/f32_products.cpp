// The idea: the products of `gemm`, all in f32. The gain of `bf16_master` over this variant comes from bf16
// alone.

#include "gemm/blocked.hpp"
#include "tiers.hpp"

#include "assay/ops/mixed_precision.hpp"
#include "assay/registry.hpp"

#include <algorithm>
#include <memory>

namespace assay::mixed_precision {
namespace {

const Register registered{[](Registry& r) {
  const auto prepare = [](const MixedPrecision::Problem& p, const auto&, const Context&) {
    const blocked::Tier tier = best_of(blocked::tiers());
    const blocked::Product forward{.m = p.m, .n = p.n, .k = p.k, .lda = p.k, .ldb = p.n, .ldc = p.n};
    // w_next starts as w, and the product is added with the rate.
    const blocked::Product update{.m = p.k,
                                  .n = p.n,
                                  .k = p.m,
                                  .lda = p.k,
                                  .ldb = p.n,
                                  .ldc = p.n,
                                  .a_transposed = true,
                                  .alpha = static_cast<float>(-MixedPrecision::rate),
                                  .beta = 1};
    const auto space =
        std::make_shared<Buffer<float>>(std::max(tier.space_floats(forward), tier.space_floats(update)));
    return [=](const MixedPrecision::Input& in, MixedPrecision::Output& out) {
      tier.multiply(blocked::with(forward, in.x.data(), in.w.data(), out.y.data()), space->data());
      std::copy(in.w.begin(), in.w.end(), out.w_next.begin());
      tier.multiply(blocked::with(update, in.x.data(), in.dy.data(), out.w_next.data()), space->data());
    };
  };
  r.add<MixedPrecision>(
      {.name = "f32_products", .summary = "the best tier's products of f32", .prepare = prepare});
}};

}  // namespace
}  // namespace assay::mixed_precision
