/// The contract `batched_gemm`: many small matrix products of one shape.
#pragma once

#include "assay/ops/matrix.hpp"
#include "assay/registry.hpp"

namespace assay {

/// C[i] = op(A[i]) op(B[i]) for each i in [0, batch), where op is the identity or the transpose.
///
/// op(A)[batch, m, k], op(B)[batch, k, n], C[batch, m, n]: dense row-major matrices behind each other, those
/// of a transposed operand stored [k, m] or [n, k] as in `gemm`. C is not read and aliases neither A nor B.
/// Entries are finite, and sums of products do not overflow. One B for the whole batch is not this
/// operation: it is one `gemm` with batch * m rows.
///
/// Bound, element-wise, for any order of summation, with or without FMA: |fl(c) - c| <= g(k) (|A| |B|),
/// g(n) = n u / (1 - n u), u = 2^-24 (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (2002),
/// section 3.5). With the exact fill sums are integers below 2^24 for k < 2^24 / 9, and the bound is zero.
///
/// Source: Dongarra, Hammarling, Higham, Relton, Valero-Lara and Zounon, The Design and Performance of
/// Batched BLAS on Modern High-Performance Computing Systems, ICCS 2017, section 2: fixed size, strided.
struct BatchedGemm {
  static constexpr std::string_view name = "batched_gemm";
  static constexpr std::string_view about = "C[i] = op(A[i]) op(B[i]), small products of one shape, f32";
  static constexpr int version = 1;

  struct Problem {
    Index batch = 1, m = 1, n = 1, k = 1;
    Index trans = 0;  ///< position in matrix::transposes

    bool a_transposed() const { return matrix::a_transposed(trans); }
    bool b_transposed() const { return matrix::b_transposed(trans); }
    static constexpr auto fields() {
      return std::tuple{field("batch", &Problem::batch), field("m", &Problem::m), field("n", &Problem::n),
                        field("k", &Problem::k), choice("trans", &Problem::trans, matrix::transposes)};
    }
  };
  struct Input {
    Buffer<float> a, b;
    static constexpr auto parts() { return std::tuple{part("a", &Input::a), part("b", &Input::b)}; }
  };
  struct Output {
    Buffer<float> c;
    static constexpr auto parts() { return std::tuple{part("c", &Output::c)}; }
  };
  using Expected = Expectation;
  static constexpr std::array fills{Fill::exact, Fill::uniform};

  static std::vector<Problem> corner_cases();
  static double footprint(const Problem&);
  static Input make_input(const Problem&, Setting&);
  static Output make_output(const Problem&, const Input&, const Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&);
  static Cost cost(const Problem&);
  static Index terms(const Problem&);
  /// A unit is an element of C.
  static Index units(const Problem&);
};

extern template class detail::TypedOperation<BatchedGemm>;

}  // namespace assay
