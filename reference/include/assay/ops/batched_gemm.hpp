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
struct BatchedGemm : FromParts<BatchedGemm> {
  static constexpr std::string_view name = "batched_gemm";
  static constexpr std::string_view about = "C[i] = op(A[i]) op(B[i]), small products of one shape, f32";

  struct Problem {
    Index batch = 1, m = 1, n = 1, k = 1;
    Index trans = 0;  ///< position in matrix::transposes

    bool a_transposed() const { return matrix::a_transposed(trans); }
    bool b_transposed() const { return matrix::b_transposed(trans); }
    double multiply_adds() const { return product(batch, m, n, k); }
    static constexpr auto fields() {
      return std::tuple{field("batch", &Problem::batch), field("m", &Problem::m), field("n", &Problem::n),
                        field("k", &Problem::k), choice("trans", &Problem::trans, matrix::transposes)};
    }
  };
  struct Input {
    Buffer<float> a, b;
    static constexpr auto parts() {
      return std::tuple{part("a", &Input::a, &Problem::batch, &Problem::m, &Problem::k),
                        part("b", &Input::b, &Problem::batch, &Problem::k, &Problem::n)};
    }
  };
  struct Output {
    Buffer<float> c;
    static constexpr auto parts() {
      return std::tuple{part("c", &Output::c, &Problem::batch, &Problem::m, &Problem::n)};
    }
  };
  static constexpr std::array fills{Fill::exact, Fill::uniform};

  static std::vector<Problem> corner_cases();
  static Expected expect(const Problem&, const Input&, Setting&);
  static double flops(const Problem& p) { return 2 * p.multiply_adds(); }
  static double expected_bytes(const Problem& p) { return matrix::expected_bytes(p.multiply_adds()); }
  static Index terms(const Problem& p) { return p.k; }
  /// A unit is an element of C.
  static Index units(const Problem& p) { return p.batch * p.m * p.n; }
};

extern template class detail::TypedOperation<BatchedGemm>;

}  // namespace assay
