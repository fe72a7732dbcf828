/// The contract `gemm_bf16`: operands of half the size, summed in f32.
#pragma once

#include "assay/ops/matrix.hpp"
#include "assay/registry.hpp"

#include <bit>
#include <cstdint>

namespace assay {
namespace bf16 {

/// The nearest bf16, ties to even: the upper half of the bits of an f32. NaN stays NaN.
inline std::uint16_t round(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

/// Returns the same number as f32.
inline float widen(std::uint16_t x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16); }

}  // namespace bf16

/// C = op(A) op(B), where op is the identity or the transpose.
///
/// op(A)[m, k] and op(B)[k, n] hold bf16, as std::uint16_t with the upper 16 bits of an f32; C[m, n] holds
/// f32. All are row-major and dense: A is stored [m, k] or, transposed, [k, m]; B is stored [k, n] or,
/// transposed, [n, k]. C is not read and aliases neither A nor B. Inputs were rounded to nearest even before
/// the call. Entries are finite, and sums of products do not overflow.
///
/// Bound. A product of two bf16, with 8 significant bits each, is exact in f32. So only the sum rounds, and
/// for any order of summation |fl(c) - c| <= g(k) (|A| |B|), g(n) = n u / (1 - n u), u = 2^-24 (Higham,
/// Accuracy and Stability of Numerical Algorithms, 2nd ed. (2002), section 4.2), if sums are kept in f32: in
/// bf16 they would be off by 2^-9 in place of 2^-24 per term. The instruction VDPBF16PS adds the products of
/// two neighbouring terms to a sum at once, rounds to nearest even whatever the environment says, reads
/// denormal operands as zero and flushes denormal results (Intel SDM, volume 2, 2023). That is allowed for:
///   |fl(c) - c| <= g(k) (|A| |B|) + 2^-126 sum_l (|a_il| + |b_lj| + 2).
/// With the exact fill sums are integers below 2^24 for k < 2^24 / 9, and the bound is zero.
///
/// Source: Kalamkar et al., A Study of BFLOAT16 for Deep Learning Training, arXiv:1905.12322 (2019), sections
/// 2 and 3.
struct GemmBf16 : FromParts<GemmBf16> {
  static constexpr std::string_view name = "gemm_bf16";
  static constexpr std::string_view about = "C = op(A) op(B), operands bf16, sums and C f32";

  struct Problem {
    Index m = 1, n = 1, k = 1;
    Index trans = 0;  ///< position in matrix::transposes

    bool a_transposed() const { return matrix::a_transposed(trans); }
    bool b_transposed() const { return matrix::b_transposed(trans); }
    double multiply_adds() const { return product(m, n, k); }
    static constexpr auto fields() {
      return std::tuple{field("m", &Problem::m), field("n", &Problem::n), field("k", &Problem::k),
                        choice("trans", &Problem::trans, matrix::transposes)};
    }
  };
  struct Input {
    Buffer<std::uint16_t> a, b;
    static constexpr auto parts() {
      return std::tuple{part("a", &Input::a, &Problem::m, &Problem::k),
                        part("b", &Input::b, &Problem::k, &Problem::n)};
    }
  };
  struct Output {
    Buffer<float> c;
    static constexpr auto parts() { return std::tuple{part("c", &Output::c, &Problem::m, &Problem::n)}; }
  };
  static constexpr std::array fills{Fill::exact, Fill::uniform};

  static std::vector<Problem> corner_cases();
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  static constexpr bool f32 = false;
  static double flops(const Problem& p) { return 2 * p.multiply_adds(); }
  static double expected_bytes(const Problem& p) { return matrix::expected_bytes(p.multiply_adds()); }
  static void salt(const Problem&, const Input&, std::string_view part, Index at, std::uint16_t& element,
                   Setting&);
  /// A unit is an element of C.
  static Index units(const Problem& p) { return p.m * p.n; }
};

extern template class detail::TypedOperation<GemmBf16>;

}  // namespace assay
