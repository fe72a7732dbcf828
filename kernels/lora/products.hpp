// The matrix products of a low-rank adapter, in the order in which they depend on each other.
#pragma once

#include "gemm/blocked.hpp"
#include "gemm/grid.hpp"

#include "assay/ops/lora.hpp"
#include "assay/registry.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>

namespace assay::lora {

/// One matrix as an operand of a product: rows are `distance` floats apart.
struct Operand {
  const float* at = nullptr;
  Index distance = 0;
  bool transposed = false;
};

/// C[m, n] = alpha A B + beta C.
inline blocked::Product product(Operand a, Operand b, float* c, Index m, Index n, Index k, float alpha,
                                float beta) {
  return {.m = m,
          .n = n,
          .k = k,
          .a = a.at,
          .b = b.at,
          .c = c,
          .lda = a.distance,
          .ldb = b.distance,
          .ldc = n,
          .a_transposed = a.transposed,
          .b_transposed = b.transposed,
          .alpha = alpha,
          .beta = beta};
}

/// A part of a product; null addresses stay null.
inline blocked::Product part_of(blocked::Product p, const blocked::Rectangle& r) {
  if (p.a != nullptr) p.a += p.a_transposed ? r.row : r.row * p.lda;
  if (p.b != nullptr) p.b += p.b_transposed ? r.column * p.ldb : r.column;
  if (p.c != nullptr) p.c += r.row * p.ldc + r.column;
  p.m = r.rows;
  p.n = r.columns;
  return p;
}

/// Products of which none reads what another one writes, except that a product with beta = 1 adds to the C of
/// the one before it: both are cut alike, so that each thread adds to its own part.
struct Phase {
  std::array<blocked::Product, 4> products;
  std::size_t count = 0;
  explicit Phase(std::initializer_list<blocked::Product> list) : count(list.size()) {
    std::ranges::copy(list, products.begin());
  }
};
/// The phases run one after the other.
using Phases = std::array<Phase, 2>;

/// Y = X W + (s X A) B. `thin` is [m, r].
inline Phases forward(const Problem& p, const float* x, const float* w, const float* a, const float* b,
                      float* y, float* thin) {
  const float s = static_cast<float>(p.scale);
  return {Phase{product({x, p.k}, {a, p.r}, thin, p.m, p.r, p.k, s, 0)},
          Phase{product({x, p.k}, {w, p.n}, y, p.m, p.n, p.k, 1, 0),
                product({thin, p.r}, {b, p.n}, y, p.m, p.n, p.r, 1, 1)}};
}

/// The gradients. `thin_dy` is s dY B^T and `thin_x` is s X A, both [m, r]: each gradient has one factor that
/// is scaled while it is thin.
inline Phases backward(const Problem& p, const float* x, const float* w, const float* a, const float* b,
                       const float* dy, float* dx, float* da, float* db, float* thin_dy, float* thin_x) {
  const float s = static_cast<float>(p.scale);
  return {Phase{product({dy, p.n}, {b, p.n, true}, thin_dy, p.m, p.r, p.n, s, 0),
                product({x, p.k}, {a, p.r}, thin_x, p.m, p.r, p.k, s, 0)},
          Phase{product({dy, p.n}, {w, p.n, true}, dx, p.m, p.k, p.n, 1, 0),
                product({thin_dy, p.r}, {a, p.r, true}, dx, p.m, p.k, p.r, 1, 1),
                product({x, p.k, true}, {thin_dy, p.r}, da, p.k, p.r, p.m, 1, 0),
                product({thin_x, p.r, true}, {dy, p.n}, db, p.r, p.n, p.m, 1, 0)}};
}

/// `thin` holds thin_floats(problem) floats.
inline Phases products(const Problem& p, const Lora::Input& in, Lora::Output& out, float* thin) {
  return forward(p, in.x.data(), in.w.data(), in.a.data(), in.b.data(), out.y.data(), thin);
}
inline Phases products(const Problem& p, const LoraBackward::Input& in, LoraBackward::Output& out,
                       float* thin) {
  return backward(p, in.x.data(), in.w.data(), in.a.data(), in.b.data(), in.dy.data(), out.dx.data(),
                  out.da.data(), out.db.data(), thin, blocked::moved(thin, p.m * p.r));
}

inline Index thin_floats(const Problem& p, const Lora::Input&) { return p.m * p.r; }
inline Index thin_floats(const Problem& p, const LoraBackward::Input&) { return 2 * p.m * p.r; }

/// Registers the peer `library` for both contracts. It calls multiply(product, threads) for each of the
/// products, one after the other.
template <class Multiply>
void add_peer(Registry& r, const std::string& library, const std::string& summary, Multiply multiply) {
  const auto add = [&]<class Op>(std::type_identity<Op>) {
    r.add<Op>({.name = library,
               .summary = summary,
               .libraries = {library},
               .threaded = true,
               .prepare = [multiply](const Problem& p, const typename Op::Input& in, const Context& context) {
                 auto thin = std::make_shared<Buffer<float>>(thin_floats(p, in));
                 return [p, thin, multiply, threads = context.threads](const typename Op::Input& now,
                                                                       typename Op::Output& out) {
                   for (const Phase& phase : products(p, now, out, thin->data())) {
                     for (std::size_t i = 0; i < phase.count; ++i) multiply(phase.products[i], threads);
                   }
                 };
               }});
  };
  add(std::type_identity<Lora>());
  add(std::type_identity<LoraBackward>());
}

}  // namespace assay::lora
