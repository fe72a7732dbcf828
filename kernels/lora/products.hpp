// The matrix products of a low-rank adapter, in the order in which they depend on each other, and the kernels
// that run them.
#pragma once

#include "gemm/divided.hpp"

#include "assay/ops/lora.hpp"

#include <array>
#include <string>
#include <utility>

namespace assay::lora {

using blocked::Operand, blocked::product;

/// Y = X W + (s X A) B, in this order. `thin` is [m, r].
inline std::array<blocked::Product, 3> products(const Problem& p, const Lora::Input& in, Lora::Output& out,
                                                float* thin) {
  const float s = static_cast<float>(p.scale);
  const Operand x{in.x.data(), p.k}, w{in.w.data(), p.n}, a{in.a.data(), p.r}, b{in.b.data(), p.n};
  float* const y = out.y.data();
  return {product(x, a, thin, p.r, p.m, p.r, p.k, s), product(x, w, y, p.n, p.m, p.n, p.k),
          product({thin, p.r}, b, y, p.n, p.m, p.n, p.r, 1, 1)};
}

/// The gradients, in this order. `thin` holds s dY B^T and then s X A, both [m, r]: each gradient has one
/// factor that is scaled while it is thin.
inline std::array<blocked::Product, 6> products(const Problem& p, const LoraBackward::Input& in,
                                                LoraBackward::Output& out, float* thin) {
  const float s = static_cast<float>(p.scale);
  const auto transposed = [](Operand of) { return Operand{of.at, of.distance, true}; };
  const Operand x{in.x.data(), p.k}, w{in.w.data(), p.n}, a{in.a.data(), p.r}, b{in.b.data(), p.n};
  const Operand dy{in.dy.data(), p.n};
  float *const thin_dy = thin, *const thin_x = blocked::moved(thin, p.m * p.r), *const dx = out.dx.data();
  return {product(dy, transposed(b), thin_dy, p.r, p.m, p.r, p.n, s),
          product(x, a, thin_x, p.r, p.m, p.r, p.k, s),
          product(dy, transposed(w), dx, p.k, p.m, p.k, p.n),
          product({thin_dy, p.r}, transposed(a), dx, p.k, p.m, p.k, p.r, 1, 1),
          product(transposed(x), {thin_dy, p.r}, out.da.data(), p.r, p.k, p.r, p.m),
          product({thin_x, p.r, true}, dy, out.db.data(), p.n, p.r, p.n, p.m)};
}

inline Index thin_floats(const Problem& p, const Lora::Input&) { return p.m * p.r; }
inline Index thin_floats(const Problem& p, const LoraBackward::Input&) { return 2 * p.m * p.r; }

template <class Visit>
void for_each_contract(const Visit& visit) {
  visit.template operator()<Lora>();
  visit.template operator()<LoraBackward>();
}

/// The kernel on one thread for `fused`, on many for `threaded`.
template <class Op>
typename Variant<Op>::Kernel scheduled(const Problem& p, const typename Op::Input& in,
                                       const blocked::Tier& tier, int threads) {
  typename Op::Output nothing;
  blocked::Divided divided(tier, threads);
  for (const blocked::Product& each : products(p, in, nothing, nullptr)) divided.plan(each);
  return [p, divided = std::move(divided), thin = Buffer<float>(thin_floats(p, in))](
             const auto& now, auto& out) mutable { divided.run(products(p, now, out, thin.data())); };
}

/// Registers the peer `library` for both contracts. It calls multiply(product, threads) for each of the
/// products, one after the other.
template <class Multiply>
void add_peer(Registry& r, const std::string& library, const std::string& summary, Multiply multiply) {
  for_each_contract([&]<class Op>() {
    r.add<Op>({.name = library,
               .summary = summary,
               .libraries = {library},
               .threaded = true,
               .prepare = [multiply](const Problem& p, const typename Op::Input& in, const Context& context) {
                 return [p, thin = Buffer<float>(thin_floats(p, in)), multiply, threads = context.threads](
                            const auto& now, auto& out) mutable {
                   for (const blocked::Product& each : products(p, now, out, thin.data()))
                     multiply(each, threads);
                 };
               }});
  });
}

}  // namespace assay::lora
