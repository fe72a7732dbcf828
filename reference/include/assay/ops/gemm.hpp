/// The GEMM contract: dense matrix product with both transposes, alpha and beta.
#pragma once

#include "assay/ops/matrix.hpp"
#include "assay/registry.hpp"

namespace assay {

/// C = alpha op(A) op(B) + beta C, where op is the identity or the transpose.
///
/// op(A)[m, k], op(B)[k, n], C[m, n], all row-major and dense: A is stored [m, k] or, transposed, [k, m];
/// B is stored [k, n] or, transposed, [n, k]. The first letter of `trans` speaks of A, the second of B.
/// C is updated in place; with beta = 0 it is not read: NaN in it stays out. C aliases neither A nor B.
///
/// NaN and infinities go by IEEE 754, and any NaN is a NaN: 0 NaN and 0 inf are NaN, so that no term may be
/// left out because one of its factors is 0. With alpha = 0 A and B may be left unread, as BLAS has it, and
/// need to be finite. Subnormal numbers are numbers: flushing them to 0 is an error. Where a sum of
/// magnitudes exceeds the largest f32, the result depends on the order of summation and is undefined.
/// `values`: see matrix::value_words.
///
/// Bound, element-wise, for any order of summation, with or without FMA:
///   |fl(c) - c| <= g(k + 2) (|alpha| |op(A)| |op(B)| + |beta| |C|),  g(n) = n u / (1 - n u),  u = 2^-24.
/// Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (2002), section 3.5, gives g(k) for the
/// product; alpha, beta and their sum add two roundings. Where `values` are tiny, underflow adds 2^-149 for
/// each of the k + 2. Where a result is not finite, the bound is 0: the same value. With the exact fill every
/// partial result is an integer below 2^24 in magnitude, and the bound is zero. Products too large to be
/// expected element by element are compared in a sample and, with that fill, as C w = alpha op(A) (op(B) w) +
/// beta C w for drawn integers w, which takes part of every element: Freivalds, Probabilistic machines can
/// use less running time (1977).
///
/// Source: BLAS level 3, Dongarra et al., ACM TOMS 16(1), 1990.
struct Gemm : FromParts<Gemm> {
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
    static constexpr auto fields() {
      return std::tuple{field("m", &Problem::m),
                        field("n", &Problem::n),
                        field("k", &Problem::k),
                        choice("trans", &Problem::trans, matrix::transposes),
                        option("alpha", &Problem::alpha, 1, -4, 4),
                        option("beta", &Problem::beta, 0, -4, 4),
                        choice("values", &Problem::values, matrix::value_words)};
    }
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
    static constexpr auto parts() { return std::tuple{part("c", &Output::c, &Problem::m, &Problem::n)}; }
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
  static Cost cost(const Problem&);
  static double flops(const Problem& p) { return 2 * p.multiply_adds(); }
  static double expected_bytes(const Problem& p) { return matrix::expected_bytes(p.multiply_adds()); }
  static void salt(const Problem&, const Input&, std::string_view part, Index at, float& element, Setting&);
  static Index terms(const Problem& p) { return p.k; }
  /// A unit is an element of C.
  static Index units(const Problem& p) { return p.m * p.n; }
};

extern template class detail::TypedOperation<Gemm>;

}  // namespace assay
