// The idea: bf16 is the upper half of an f32, so operands are widened once and the f32 tiles of `gemm` do the
// rest. The widened operands, m k + k n elements, are few beside m n k multiply-adds, but take as much memory
// as f32 operands. avx512_bf16.cpp has a tier for processors that multiply bf16.

#include "gemm_bf16/blocked.hpp"

#include "blocks.hpp"
#include "tiers.hpp"

#include <utility>

namespace assay::gemm_bf16 {
namespace {

void widen(const std::uint16_t* from, Index distance, Index rows, Index columns, float* to) {
  for (Index i = 0; i < rows; ++i, from += distance, to += columns) {
    for (Index j = 0; j < columns; ++j) to[j] = bf16::widen(from[j]);
  }
}

Index whole_lines(Index floats) { return rounded_up(floats, 16); }

// The product in f32, with its operands in `space`.
blocked::Product widened(const Product& p, float* space) {
  return blocked::product(
      {space, p.a_transposed ? p.m : p.k, p.a_transposed},
      {blocked::moved(space, whole_lines(p.m * p.k)), p.b_transposed ? p.k : p.n, p.b_transposed}, p.c, p.ldc,
      p.m, p.n, p.k);
}

Tier widening(const blocked::Tier& tier) {
  const auto operands = [](const Product& p) { return whole_lines(p.m * p.k) + whole_lines(p.k * p.n); };
  return {
      .name = tier.name,
      .unfit = tier.unfit,
      .multiply =
          [tier, operands](const Product& p, float* space) {
            const blocked::Product product = widened(p, space);
            const Index a_rows = p.a_transposed ? p.k : p.m, b_rows = p.b_transposed ? p.n : p.k;
            widen(p.a, p.lda, a_rows, product.lda, space);
            widen(p.b, p.ldb, b_rows, product.ldb, space + whole_lines(p.m * p.k));
            tier.multiply(product, space + operands(p));
          },
      .space_floats = [tier, operands](
                          const Product& p) { return operands(p) + tier.space_floats(widened(p, nullptr)); }};
}

const Register registered{[](Registry& r) {
  for (const Tier& each : tiers()) {
    add_tiers<GemmBf16>(
        r, std::vector{each},
        {.name = "simd",
         .summary = each.name == "avx512_bf16" ? "register tile of VDPBF16PS over copied pairs"
                                               : "operands widened to f32, tiles compiled for {}"},
        [](const Tier& tier, const GemmBf16::Problem& p, const GemmBf16::Input& in) {
          const Index floats = tier.space_floats(product_of(p, in, nullptr));
          return [tier, p, space = Buffer<float>(floats)](const auto& now, auto& out) mutable {
            tier.multiply(product_of(p, now, out.c.data()), space.data());
          };
        });
  }
}};

}  // namespace

std::vector<Tier> tiers() {
  std::vector<Tier> all;
  if (std::optional<Tier> native = avx512_bf16()) all.push_back(*std::move(native));
  for (const blocked::Tier& tier : blocked::tiers()) all.push_back(widening(tier));
  return all;
}

}  // namespace assay::gemm_bf16
