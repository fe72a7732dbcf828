// The products behind `simd`, `small`, `threaded` and the operations that consist of products. A call
// computes one part of C.
//
// These declarations are in a header, although a variant usually is a single file: one thread and many
// threads must run the same machine code. Otherwise a comparison would measure two compilations.
#pragma once

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

/// Whether C^T = op(B)^T op(A)^T is computed faster and then transposed. If B alone is transposed, this pays
/// where it transposes fewer elements: A and C in place of B. Most frameworks store weights as [outputs,
/// inputs], so a layer with fewer rows than inputs and outputs is such a product. If both are transposed, B
/// is read where it lies and C is transposed. If A alone is transposed, it pays where columns are few: long
/// rows of A fill vectors and need no copy in slices. With few steps the second write of C costs more than it
/// saves.
inline bool is_better_turned(const Product& p) {
  if (p.k < 64) return false;
  if (!p.b_transposed) {
    return p.a_transposed && p.k >= 2 * p.n && p.m > 2 * p.n && !is_small(p.m, p.n, p.k);
  }
  const double m = static_cast<double>(p.m), n = static_cast<double>(p.n), k = static_cast<double>(p.k);
  return p.a_transposed ? k >= m : n * k > m * n + m * k;
}

/// Returns first + offset, or null for null: an operand without elements has no address, nor has a product of
/// which only the shape is needed.
template <class T>
T* moved(T* first, Index offset) {
  return first == nullptr ? nullptr : first + offset;
}

/// A product of this shape.
inline Product with(Product shape, const float* a, const float* b, float* c) {
  shape.a = a;
  shape.b = b;
  shape.c = c;
  return shape;
}

/// The rows [row, row + m) and columns [column, column + n) of a problem.
inline Product part_of(const Gemm::Problem& p, const Gemm::Input& in, float* c, Index row, Index m,
                       Index column, Index n) {
  const Index lda = p.a_transposed() ? p.m : p.k, ldb = p.b_transposed() ? p.k : p.n;
  return {.m = m,
          .n = n,
          .k = p.k,
          .a = moved(in.a.data(), p.a_transposed() ? row : row * lda),
          .b = moved(in.b.data(), p.b_transposed() ? column * ldb : column),
          .c = moved(c, row * p.n + column),
          .lda = lda,
          .ldb = ldb,
          .ldc = p.n,
          .a_transposed = p.a_transposed(),
          .b_transposed = p.b_transposed(),
          .alpha = static_cast<float>(p.alpha),
          .beta = static_cast<float>(p.beta)};
}

/// The product compiled for one SIMD target.
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

/// Every target that was built, best first.
std::vector<Tier> tiers();

}  // namespace assay::blocked
