/// The contract `gemv`: a matrix times a vector.
#pragma once

#include "assay/ops/matrix.hpp"
#include "assay/registry.hpp"

namespace assay {

/// y = A x, or y = A^T x with `trans=t`.
///
/// A[m, n], dense and row-major, stored the same way in both cases. x[n] and y[m], or transposed x[m] and
/// y[n]. y is not read and overlaps neither A nor x. It is `gemm` with one column, and an operation of its
/// own because nothing of A is used twice: two FLOPs for four bytes, so that memory is the limit in place of
/// arithmetic.
///
/// NaN, infinities, subnormal and huge numbers: as in `gemm`; 0 NaN and 0 inf are NaN. `values`: see
/// matrix::value_words; x is the left operand.
///
/// Bound, element-wise, for any order of summation, with or without FMA: |fl(y) - y| <= g(k) (|A| |x|), k the
/// length of x, g(n) = n u / (1 - n u), u = 2^-24 (Higham, Accuracy and Stability of Numerical Algorithms,
/// 2nd ed. (2002), section 3.5). With the exact fill sums are integers below 2^24 for k < 2^24 / 9, and the
/// bound is zero. Where `values` are tiny, underflow adds 2^-149 for each term; where a result is not finite,
/// the bound is 0.
///
/// Source: BLAS level 2, Dongarra et al., ACM TOMS 14(1), 1988.
struct Gemv : FromParts<Gemv> {
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
    static constexpr auto fields() {
      return std::tuple{field("m", &Problem::m), field("n", &Problem::n),
                        choice("trans", &Problem::trans, transposes),
                        choice("values", &Problem::values, matrix::value_words)};
    }
  };
  struct Input {
    Buffer<float> a, x;
    static constexpr auto parts() {
      return std::tuple{part("a", &Input::a, &Problem::m, &Problem::n),
                        part("x", &Input::x, &Problem::terms)};
    }
  };
  struct Output {
    Buffer<float> y;
    static constexpr auto parts() { return std::tuple{part("y", &Output::y, &Problem::results)}; }
  };
  static constexpr std::array fills{Fill::exact, Fill::uniform};

  static std::vector<Problem> corner_cases();
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  static double flops(const Problem& p) { return 2 * product(p.m, p.n); }
  static void salt(const Problem&, const Input&, std::string_view part, Index at, float& element, Setting&);
  static Index terms(const Problem& p) { return p.n; }
  /// A unit is an element of y.
  static Index units(const Problem& p) { return p.results(); }
};

extern template class detail::TypedOperation<Gemv>;

}  // namespace assay
