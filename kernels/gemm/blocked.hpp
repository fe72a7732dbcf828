// The products behind `simd`, `small`, `threaded` and the operations that consist of products. A call
// computes one part of C.
//
// These declarations are in a header, although a variant usually is a single file: one thread and many
// threads must run the same machine code. Otherwise a comparison would measure two compilations.
#pragma once

#include "blocks.hpp"

#include "assay/ops/gemm.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::blocked {

/// C[m, n] = alpha op(A) op(B) + beta C for operands whose stored rows are lda, ldb and ldc floats apart.
struct Product {
  Index m = 0, n = 0, k = 0;
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
  Index lda = 0, ldb = 0, ldc = 0;
  bool a_transposed = false, b_transposed = false;
  float alpha = 1, beta = 0;
  bool filled_rows =
      false;  ///< whether rows of C are followed by room for a vector, which any numbers may fill
};

/// Whether a product has at most 128^3 multiply-adds. Its operands fit a second-level cache, and one block
/// holds them.
inline bool is_small(Index m, Index n, Index k) {
  return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) <= 0x1p21;
}

// Rows a multiple of 4096 bytes apart fall into few sets of the caches and evict each other.
constexpr bool rows_collide(Index distance) { return distance % 1024 == 0; }

/// Whether C^T = op(B)^T op(A)^T is computed faster and then transposed, for vectors of `lanes` numbers. Most
/// frameworks store weights as [outputs, inputs], so B alone is often transposed. As the transpose, it is
/// read where it lies, and A and C are transposed in its place. On a Zen 4, transposing an element took as
/// long as five multiply-adds, as did copying one for rows that collide, and the second write of C 3.5 % of
/// the product; empty lanes of a last vector are multiplied, too. If A alone is transposed, it pays where
/// columns are few: long rows of A fill vectors and need no copy in slices. Not where those columns fill
/// vectors, too: 1000 x 64 x 2000 took 1.36 times as long. With few steps it never pays.
inline bool is_better_turned(const Product& p, Index lanes) {
  if (p.k < 64) return false;
  if (!p.b_transposed) {
    const bool fills_vectors = p.n % lanes == 0 && p.n < 128 && !rows_collide(p.lda);
    return p.a_transposed && p.k >= 2 * p.n && p.m > 2 * p.n && !fills_vectors && !is_small(p.m, p.n, p.k);
  }
  // In units of the product, for an extent across which the operand is used.
  const auto copied = [](bool is, Index extent) { return is ? 5 / static_cast<double>(extent) : 0; };
  const auto empty = [&](Index extent) {
    return static_cast<double>(rounded_up(extent, lanes) - extent) / static_cast<double>(extent);
  };
  return copied(!p.a_transposed, p.n) + copied(true, p.k) + 0.035 + empty(p.m) +
             copied(rows_collide(p.ldb), p.m) <
         copied(true, p.m) + empty(p.n) + copied(p.a_transposed || rows_collide(p.lda), p.n);
}

/// Returns first + offset, or null for null: an operand without elements has no address, nor has a product of
/// which only the shape is needed.
template <class T>
T* moved(T* first, Index offset) {
  return first == nullptr ? nullptr : first + offset;
}

/// A matrix as an operand of a product: stored rows are `distance` floats apart.
struct Operand {
  const float* at = nullptr;
  Index distance = 0;
  bool transposed = false;
};

/// C[m, n] = alpha A B + beta C, where rows of C are ldc floats apart.
inline Product product(Operand a, Operand b, float* c, Index ldc, Index m, Index n, Index k, float alpha = 1,
                       float beta = 0) {
  return {.m = m,
          .n = n,
          .k = k,
          .a = a.at,
          .b = b.at,
          .c = c,
          .lda = a.distance,
          .ldb = b.distance,
          .ldc = ldc,
          .a_transposed = a.transposed,
          .b_transposed = b.transposed,
          .alpha = alpha,
          .beta = beta};
}

inline Product with(Product shape, const float* a, const float* b, float* c) {
  shape.a = a;
  shape.b = b;
  shape.c = c;
  return shape;
}

inline Product product_of(const Gemm::Problem& p, const Gemm::Input& in, float* c) {
  return product({in.a.data(), p.a_transposed() ? p.m : p.k, p.a_transposed()},
                 {in.b.data(), p.b_transposed() ? p.k : p.n, p.b_transposed()}, c, p.n, p.m, p.n, p.k,
                 static_cast<float>(p.alpha), static_cast<float>(p.beta));
}

struct Tier {
  std::string name;
  std::optional<std::string> unfit;  ///< why this processor cannot run it
  /// `space` has at least space_floats(product) floats, which do not depend on alpha and beta, and starts at
  /// a multiple of 64 bytes.
  void (*multiply)(const Product& product, float* space) = nullptr;
  Index (*space_floats)(const Product& product) = nullptr;
  /// Multiplies without blocks. For products that are is_small().
  void (*multiply_small)(const Product& product, float* space) = nullptr;
  Index (*small_space_floats)(const Product& product) = nullptr;
};

std::vector<Tier> tiers();

}  // namespace assay::blocked
