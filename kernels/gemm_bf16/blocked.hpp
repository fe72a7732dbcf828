// The products behind the variants of gemm_bf16. A call computes one part of C.
#pragma once

#include "assay/ops/gemm.hpp"
#include "gemm/blocked.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay::gemm_bf16 {

/// C[m, n] = op(A) op(B) for operands whose stored rows are lda, ldb and ldc elements apart.
struct Product {
  Index m = 0, n = 0, k = 0;
  const std::uint16_t* a = nullptr;
  const std::uint16_t* b = nullptr;
  float* c = nullptr;
  Index lda = 0, ldb = 0, ldc = 0;
  bool a_transposed = false, b_transposed = false;
};

inline Product product_of(const GemmBf16::Problem& p, const GemmBf16::Input& in, float* c) {
  return {.m = p.m,
          .n = p.n,
          .k = p.k,
          .a = in.a.data(),
          .b = in.b.data(),
          .c = c,
          .lda = p.a_transposed() ? p.m : p.k,
          .ldb = p.b_transposed() ? p.k : p.n,
          .ldc = p.n,
          .a_transposed = p.a_transposed(),
          .b_transposed = p.b_transposed()};
}

/// The product for one kind of processor.
struct Tier {
  std::string name;
  std::optional<std::string> unfit;  ///< why this processor cannot run it
  /// `space` holds at least space_floats(product) floats and starts at a multiple of 64 bytes.
  std::function<void(const Product& product, float* space)> multiply;
  std::function<Index(const Product& product)> space_floats;
};

/// The tier with VDPBF16PS; absent where the compiler has no such instruction.
std::optional<Tier> avx512_bf16();

std::vector<Tier> tiers();

}  // namespace assay::gemm_bf16
