/// The contracts of dense products: `gemm`, `gemv`, `batched_gemm`, `gemm_bf16`, `small_products` and
/// `mixed_precision`.
#pragma once

#include "assay/ops/arrays.hpp"
#include "assay/registry.hpp"

#include <bit>
#include <cstdint>

namespace assay {

/// C = alpha op(A) op(B) + beta C, where op is the identity or the transpose.
///
/// op(A)[m, k], op(B)[k, n], C[m, n], all row-major and dense: A is stored [m, k] or, transposed, [k, m];
/// B is stored [k, n] or, transposed, [n, k]. The first letter of `trans` speaks of A, the second of B.
/// C is updated in place; with beta = 0 it is not read: NaN in it stays out.
///
/// NaN and infinities go by IEEE 754, and any NaN is a NaN: 0 NaN and 0 inf are NaN, so that no term may be
/// left out because one of its factors is 0. With alpha = 0 A and B may be left unread, as BLAS has it, and
/// need to be finite. Subnormal numbers are numbers: flushing them to 0 is an error. Where a sum of
/// magnitudes exceeds the largest f32, the result depends on the order of summation and is undefined.
/// `values`: see matrix::value_words.
///
/// Bound:
///   |fl(c) - c| <= g(k + 2) (|alpha| |op(A)| |op(B)| + |beta| |C|).
/// Higham (2002), section 3.5, gives g(k) for the product; alpha, beta and their sum add two roundings. Where
/// `values` are tiny, underflow adds 2^-149 for each of the k + 2. Where a result is not finite, the bound is
/// 0: the same value. With the exact fill every partial result is an integer below 2^24 in magnitude, and the
/// bound is zero. Products too large to be expected element by element are compared in a sample and, with
/// that fill, as C w = alpha op(A) (op(B) w) + beta C w for drawn integers w, which takes part of every
/// element: Freivalds, Probabilistic machines can use less running time (1977).
///
/// Source: BLAS level 3, Dongarra et al., ACM TOMS 16(1), 1990.
struct Gemm : ByElement<Gemm> {
  static constexpr std::string_view name = "gemm";
  static constexpr std::string_view about = "C = alpha op(A) op(B) + beta C, row-major f32";

  struct Problem {
    Index m = 1, n = 1, k = 1;
    Index trans = 0;  ///< position in `matrix::transposes`
    Index alpha = 1, beta = 0;
    Index values = 0;  ///< position in `matrix::value_words`

    bool a_transposed() const { return matrix::a_transposed(trans); }
    bool b_transposed() const { return matrix::b_transposed(trans); }
    double multiply_adds() const { return product(m, n, k); }
    Index rows_read() const { return beta != 0 ? m : 0; }  ///< of C
    static constexpr Listed fields{field("m", &Problem::m),
                                   field("n", &Problem::n),
                                   field("k", &Problem::k),
                                   choice("trans", &Problem::trans, matrix::transposes),
                                   option("alpha", &Problem::alpha, 1, -4, 4),
                                   option("beta", &Problem::beta, 0, -4, 4),
                                   of_content(choice("values", &Problem::values, matrix::value_words))};
  };
  struct Input {
    Buffer<float> a, b;
    Buffer<float> c;  ///< what Output::c holds before the first call; empty when beta = 0
    static constexpr auto parts() {
      return std::tuple{part("a", &Input::a, &Problem::m, &Problem::k),
                        part("b", &Input::b, &Problem::k, &Problem::n),
                        start("c", &Input::c, &Output::c, &Problem::rows_read, &Problem::n)};
    }
  };
  struct Output {
    Buffer<float> c;
    static constexpr Listed parts{part("c", &Output::c, &Problem::m, &Problem::n)};
  };
  struct Expected : Expectation {
    /// Where only a sample of C is expected by itself and sums are exact: drawn integers, one for each
    /// column, and of each row the sum of its elements times them.
    std::vector<double> weights, weighted_sums;
  };
  static constexpr std::array fills{Fill::exact, Fill::uniform};

  static std::vector<Problem> corner_cases();
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&);
  static Cost cost(const Problem& p) {
    Cost out = FromParts::cost(p);
    if (p.alpha != 0) return out;
    out.avoidable_flops = out.flops;
    out.avoidable_bytes = 4 * (product(p.m, p.k) + product(p.k, p.n));
    return out;
  }
  static double flops(const Problem& p) { return 2 * p.multiply_adds(); }
  static double expected_bytes(const Problem& p) { return matrix::expected_bytes(p.multiply_adds()); }
  static void salt(const Problem& p, const Input&, std::string_view part, Index, float& element,
                   Setting& setting) {
    element = matrix::drawn_element(p.alpha == 0 ? 0 : p.values, part != "b", setting);
  }
  static Index terms(const Problem& p) { return p.k; }
};

extern template class detail::TypedOperation<Gemm>;

/// y = A x, or y = A^T x with `trans=t`.
///
/// A is stored the same way in both cases. It is `gemm` with one column, and an operation of its own because
/// nothing of A is used twice: two FLOPs for four bytes, so that memory is the limit in place of arithmetic.
///
/// NaN, infinities, subnormal and huge numbers: as in `gemm`; 0 NaN and 0 inf are NaN. `values`: see
/// matrix::value_words; x is the left operand.
///
/// Bound: |fl(y) - y| <= g(k) (|A| |x|), k the length of x (Higham (2002), section 3.5). With the exact fill
/// sums are integers below 2^24 for k < 2^24 / 9, and the bound is zero. Where `values` are tiny, underflow
/// adds 2^-149 for each term; where a result is not finite, the bound is 0.
///
/// Source: BLAS level 2, Dongarra et al., ACM TOMS 14(1), 1988.
struct Gemv : ByElement<Gemv> {
  static constexpr std::string_view name = "gemv";
  static constexpr std::string_view about = "y = A x or y = A^T x, row-major f32";

  static constexpr std::array<std::string_view, 2> transposes{"n", "t"};

  struct Problem {
    Index m = 1, n = 1;
    Index trans = 0;   ///< position in `transposes`
    Index values = 0;  ///< position in `matrix::value_words`

    bool transposed() const { return trans == 1; }
    Index terms() const { return transposed() ? m : n; }    ///< length of x
    Index results() const { return transposed() ? n : m; }  ///< length of y
    static constexpr Listed fields{field("m", &Problem::m), field("n", &Problem::n),
                                   choice("trans", &Problem::trans, transposes),
                                   of_content(choice("values", &Problem::values, matrix::value_words))};
  };
  struct Input {
    Buffer<float> a, x;
    static constexpr Listed parts{part("a", &Input::a, &Problem::m, &Problem::n),
                                  part("x", &Input::x, &Problem::terms)};
  };
  struct Output {
    Buffer<float> y;
    static constexpr Listed parts{part("y", &Output::y, &Problem::results)};
  };
  static constexpr std::array fills{Fill::exact, Fill::uniform};

  static const Corners corners;
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  static double flops(const Problem& p) { return 2 * product(p.m, p.n); }
  static void salt(const Problem& p, const Input&, std::string_view part, Index, float& element,
                   Setting& setting) {
    element = matrix::drawn_element(p.values, part == "x", setting);
  }
  static Index terms(const Problem& p) { return p.n; }
};

extern template class detail::TypedOperation<Gemv>;

/// C[i] = op(A[i]) op(B[i]) for each i in [0, batch), where op is the identity or the transpose.
///
/// Matrices lie behind each other, each stored as in `gemm`. Entries are finite, and sums of products do not
/// overflow. One B for the whole batch is not this operation: it is one `gemm` with batch * m rows.
///
/// Bound: |fl(c) - c| <= g(k) (|A| |B|) (Higham (2002), section 3.5). With the exact fill sums are integers
/// below 2^24 for k < 2^24 / 9, and the bound is zero.
///
/// Source: Dongarra, Hammarling, Higham, Relton, Valero-Lara and Zounon, The Design and Performance of
/// Batched BLAS on Modern High-Performance Computing Systems, ICCS 2017, section 2: fixed size, strided.
struct BatchedGemm : ByElement<BatchedGemm> {
  static constexpr std::string_view name = "batched_gemm";
  static constexpr std::string_view about = "C[i] = op(A[i]) op(B[i]), small products of one shape, f32";

  struct Problem {
    Index batch = 1, m = 1, n = 1, k = 1;
    Index trans = 0;  ///< position in matrix::transposes

    bool a_transposed() const { return matrix::a_transposed(trans); }
    bool b_transposed() const { return matrix::b_transposed(trans); }
    double multiply_adds() const { return product(batch, m, n, k); }
    static constexpr Listed fields{field("batch", &Problem::batch), field("m", &Problem::m),
                                   field("n", &Problem::n), field("k", &Problem::k),
                                   choice("trans", &Problem::trans, matrix::transposes)};
  };
  struct Input {
    Buffer<float> a, b;
    static constexpr Listed parts{part("a", &Input::a, &Problem::batch, &Problem::m, &Problem::k),
                                  part("b", &Input::b, &Problem::batch, &Problem::k, &Problem::n)};
  };
  struct Output {
    Buffer<float> c;
    static constexpr Listed parts{part("c", &Output::c, &Problem::batch, &Problem::m, &Problem::n)};
  };
  static constexpr std::array fills{Fill::exact, Fill::uniform};

  static const Corners corners;
  static Expected expect(const Problem&, const Input&, Setting&);
  static double flops(const Problem& p) { return 2 * p.multiply_adds(); }
  static double expected_bytes(const Problem& p) { return matrix::expected_bytes(p.multiply_adds()); }
  static Index terms(const Problem& p) { return p.k; }
};

extern template class detail::TypedOperation<BatchedGemm>;

namespace bf16 {

/// The nearest bf16, ties to even: the upper half of the bits of an f32. NaN stays NaN.
inline std::uint16_t round(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

inline float widen(std::uint16_t x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16); }
inline float rounded(float x) { return widen(round(x)); }

}  // namespace bf16

/// C = op(A) op(B), where op is the identity or the transpose.
///
/// A and B hold bf16, as std::uint16_t with the upper 16 bits of an f32, stored as in `gemm`. Inputs were
/// rounded to nearest even before the call. Entries are finite, and sums of products do not overflow.
///
/// Bound. A product of two bf16, with 8 significant bits each, is exact in f32. So only the sum rounds, and
/// for any order of summation |fl(c) - c| <= g(k) (|A| |B|) (Higham (2002), section 4.2), if sums are kept in
/// f32: in bf16 they would be off by 2^-9 in place of 2^-24 per term. The instruction VDPBF16PS adds the
/// products of two neighbouring terms to a sum at once, rounds to nearest even whatever the environment says,
/// reads denormal operands as zero and flushes denormal results (Intel SDM, volume 2, 2023). Allowed for:
///   |fl(c) - c| <= g(k) (|A| |B|) + 2^-126 sum_l (|a_il| + |b_lj| + 2).
/// With the exact fill sums are integers below 2^24 for k < 2^24 / 9, and the bound is zero.
///
/// Source: Kalamkar et al., A Study of BFLOAT16 for Deep Learning Training, arXiv:1905.12322 (2019), sections
/// 2 and 3.
struct GemmBf16 : ByElement<GemmBf16> {
  static constexpr std::string_view name = "gemm_bf16";
  static constexpr std::string_view about = "C = op(A) op(B), operands bf16, sums and C f32";

  struct Problem {
    Index m = 1, n = 1, k = 1;
    Index trans = 0;  ///< position in matrix::transposes

    bool a_transposed() const { return matrix::a_transposed(trans); }
    bool b_transposed() const { return matrix::b_transposed(trans); }
    double multiply_adds() const { return product(m, n, k); }
    static constexpr Listed fields{field("m", &Problem::m), field("n", &Problem::n), field("k", &Problem::k),
                                   choice("trans", &Problem::trans, matrix::transposes)};
  };
  struct Input {
    Buffer<std::uint16_t> a, b;
    static constexpr Listed parts{part("a", &Input::a, &Problem::m, &Problem::k),
                                  part("b", &Input::b, &Problem::k, &Problem::n)};
  };
  struct Output {
    Buffer<float> c;
    static constexpr Listed parts{part("c", &Output::c, &Problem::m, &Problem::n)};
  };
  static constexpr std::array fills{Fill::exact, Fill::uniform};

  static std::vector<Problem> corner_cases();
  static void draw(const Problem&, std::string_view, std::uint16_t& element, Setting& setting) {
    element = bf16::round(setting.draw());
  }
  static Expected expect(const Problem&, const Input&, Setting&);
  static constexpr bool f32 = false;
  static double flops(const Problem& p) { return 2 * p.multiply_adds(); }
  static double expected_bytes(const Problem& p) { return matrix::expected_bytes(p.multiply_adds()); }
  static void salt(const Problem& p, const Input&, std::string_view, Index, std::uint16_t& element,
                   Setting& setting) {
    element = bf16::round(setting.draw_that_shows(p.k));
  }
};

extern template class detail::TypedOperation<GemmBf16>;

/// y[s, r, j] = z[s, r, j] - (1 / rows) sum_r' z[s, r', j],  z[s, r, :] = x[s, r, :] w
/// for samples s of `rows` rows (the frames of an utterance): a dense layer whose outputs are centred over
/// the rows of each sample.
///
/// The product knows no samples, so that one product of samples * rows rows serves them all. The mean does:
/// a loop over samples may be turned into one call on the batch only where every part of it is per sample.
///
/// Bound:
///   |fl(y) - y| <= g(k + rows + 3) ((|x| |w|)[s, r, j] + mean over r' of (|x| |w|)[s, r', j]).
///
/// Source: cepstral mean normalization: Atal, Effectiveness of linear prediction characteristics of the
/// speech wave, J. Acoust. Soc. Am. 55, 1974; per sample on features: Ulyanov, Vedaldi and Lempitsky,
/// arXiv:1607.08022, 2016.
struct SmallProducts : ByElement<SmallProducts> {
  static constexpr std::string_view name = "small_products";
  static constexpr std::string_view about =
      "y = x w less its mean over the rows of each sample: a small product per sample, or one of all, f32";

  struct Problem {
    Index samples = 1, rows = 1, n = 1, k = 1;
    static constexpr Listed fields{field("samples", &Problem::samples), field("rows", &Problem::rows),
                                   field("n", &Problem::n), field("k", &Problem::k)};
  };
  struct Input {
    Buffer<float> x, w;
    static constexpr Listed parts{part("x", &Input::x, &Problem::samples, &Problem::rows, &Problem::k),
                                  part("w", &Input::w, &Problem::k, &Problem::n)};
  };
  struct Output {
    Buffer<float> y;
    static constexpr Listed parts{part("y", &Output::y, &Problem::samples, &Problem::rows, &Problem::n)};
  };

  static const Corners corners;
  static Expected expect(const Problem&, const Input&, Setting&);
  static double flops(const Problem& p) { return 2 * product(p.samples * p.rows, p.n, p.k + 1); }
  static void naive(const Problem&, const Input&, Output&);
};

extern template class detail::TypedOperation<SmallProducts>;

/// y = x w                                  [m, n], the forward product
/// w_next = w - rate x^T dy                 [k, n], the weight gradient and plain descent, rate = 1e-3
/// w_next is an array of its own, so that a second call finds the same weights; training updates them in
/// place.
///
/// x, w and dy hold numbers that bf16 holds (8 significant bits), as after a step that left them in it, so
/// that products of operands rounded to bf16 and products of f32 are of the same numbers. What differs is
/// their speed: a variant does not know, and has to round. w_next is no such number: an update of a
/// thousandth of a weight is less than half the distance from one bf16 to the next, which is between 2^-9 and
/// 2^-8 of it. Weights that are kept in bf16 stand still; w is their master copy.
///
/// Bound: products of two bf16 are exact, sums are kept in f32, and f is what the instruction VDPBF16PS
/// flushes, as in `gemm_bf16`. The gradient is summed before w meets it: products added to w one by one would
/// round w m times, and lose an update that is small beside w.
///   |fl(y) - y| <= g(k) |x| |w| + f
///   |fl(w_next) - w_next| <= rate (g(m + 2) |x|^T |dy| + f) + g(2) (|w| + rate |x|^T |dy|).
///
/// Source: Micikevicius et al., Mixed precision training, ICLR 2018, section 3.1; bf16: Kalamkar et al.,
/// arXiv:1905.12322, 2019.
struct MixedPrecision : ByElement<MixedPrecision> {
  static constexpr std::string_view name = "mixed_precision";
  static constexpr std::string_view about =
      "y = x w and w_next = w - rate x^T dy: products of bf16 or f32, weights f32";
  static constexpr double rate = 1e-3;

  struct Problem {
    Index m = 1, n = 1, k = 1;
    static constexpr Listed fields{field("m", &Problem::m), field("n", &Problem::n), field("k", &Problem::k)};
  };
  struct Input {
    Buffer<float> x, w, dy;
    static constexpr Listed parts{part("x", &Input::x, &Problem::m, &Problem::k),
                                  part("w", &Input::w, &Problem::k, &Problem::n),
                                  part("dy", &Input::dy, &Problem::m, &Problem::n)};
  };
  struct Output {
    Buffer<float> y, w_next;
    static constexpr Listed parts{part("y", &Output::y, &Problem::m, &Problem::n),
                                  part("w_next", &Output::w_next, &Problem::k, &Problem::n)};
  };
  struct Expected {
    Expectation y, w_next;
  };

  static std::vector<Problem> corner_cases();
  static void draw(const Problem&, std::string_view, float& element, Setting& setting) {
    element = bf16::rounded(setting.draw());
  }
  static Expected expect(const Problem&, const Input&, Setting&);
  static constexpr bool f32 = false;
  static double flops(const Problem& p) { return 4 * product(p.m, p.n, p.k) + 2 * product(p.k, p.n); }
  static void salt(const Problem& p, const Input&, std::string_view, Index, float& element,
                   Setting& setting) {
    element = bf16::rounded(setting.draw_that_shows(std::max(p.m, p.k)));
  }
};

extern template class detail::TypedOperation<MixedPrecision>;

}  // namespace assay
