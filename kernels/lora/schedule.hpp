// Runs both contracts of the adapter as products, on one thread for `fused` and on many for `threaded`.
#pragma once

#include "gemm/divided.hpp"
#include "lora/products.hpp"

#include <utility>

namespace assay::lora {

template <class Op>
typename Variant<Op>::Kernel scheduled(const Problem& p, const typename Op::Input& in,
                                       const blocked::Tier& tier, int threads) {
  typename Op::Output nothing;
  blocked::Divided divided(tier, threads);
  for (const blocked::Product& each : products(p, in, nothing, nullptr)) divided.plan(each);
  return [p, divided = std::move(divided), thin = Buffer<float>(thin_floats(p, in))](
             const auto& now, auto& out) mutable { divided.run(products(p, now, out, thin.data())); };
}

}  // namespace assay::lora
