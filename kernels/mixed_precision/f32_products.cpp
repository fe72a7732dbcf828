// The idea: the products of `gemm`, all in f32. The gain of `bf16_master` over this variant comes from bf16
// alone.

#include "gemm/products.hpp"

#include "assay/ops/gemm.hpp"

#include <utility>

namespace assay::mixed_precision {

const Register registered{[](Registry& r) {
  const auto prepare = [](const MixedPrecision::Problem& p, const auto&, const Context&) {
    const blocked::Product forward{.m = p.m, .n = p.n, .k = p.k, .lda = p.k, .ldb = p.n, .ldc = p.n};
    const blocked::Product gradient{
        .m = p.k, .n = p.n, .k = p.m, .lda = p.k, .ldb = p.n, .ldc = p.n, .a_transposed = true};
    blocked::Products products;
    for (const blocked::Product& each : {forward, gradient}) products.plan(each);
    return [=, products = std::move(products)](const auto& in, auto& out) mutable {
      products.run(blocked::with(forward, in.x.data(), in.w.data(), out.y.data()));
      // The gradient is complete before it meets w: a product added to w rounds all of w, and with one row m
      // products would be added one by one.
      products.run(blocked::with(gradient, in.x.data(), in.dy.data(), out.w_next.data()));
      constexpr auto rate = static_cast<float>(MixedPrecision::rate);
      for (Index i = 0; i < in.w.size(); ++i) out.w_next[i] = in.w[i] - rate * out.w_next[i];
    };
  };
  r.add<MixedPrecision>(
      {.name = "f32_products", .summary = "the best tier's products of f32", .prepare = prepare});
}};

}  // namespace assay::mixed_precision
