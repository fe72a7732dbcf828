/// The contract `small_products`: one layer over the samples of a batch, with a step that belongs to each
/// sample.
#pragma once

#include "assay/ops/matrix.hpp"
#include "assay/registry.hpp"

namespace assay {

/// y[s, r, j] = z[s, r, j] - (1 / rows) sum_r' z[s, r', j],  z[s, r, :] = x[s, r, :] w
/// for samples s of `rows` rows (the frames of an utterance), x[samples, rows, k], w[k, n] and y[samples,
/// rows, n], row-major f32: a dense layer whose outputs are centred over the rows of each sample.
///
/// The product knows no samples, so that one product of samples * rows rows serves them all. The mean does:
/// a loop over samples may be turned into one call on the batch only where every part of it is per sample.
///
/// Bound, with u = 2^-24 and g(r) = r u / (1 - r u):
///   |fl(y) - y| <= g(k + rows + 3) ((|x| |w|)[s, r, j] + mean over r' of (|x| |w|)[s, r', j]).
///
/// Source: cepstral mean normalization: Atal, Effectiveness of linear prediction characteristics of the
/// speech wave, J. Acoust. Soc. Am. 55, 1974; per sample on features: Ulyanov, Vedaldi and Lempitsky,
/// arXiv:1607.08022, 2016.
struct SmallProducts : FromParts<SmallProducts> {
  static constexpr std::string_view name = "small_products";
  static constexpr std::string_view about =
      "y = x w less its mean over the rows of each sample: a small product per sample, or one of all, f32";

  struct Problem {
    Index samples = 1, rows = 1, n = 1, k = 1;
    static constexpr auto fields() {
      return std::tuple{field("samples", &Problem::samples), field("rows", &Problem::rows),
                        field("n", &Problem::n), field("k", &Problem::k)};
    }
  };
  struct Input {
    Buffer<float> x, w;
    static constexpr auto parts() {
      return std::tuple{part("x", &Input::x, &Problem::samples, &Problem::rows, &Problem::k),
                        part("w", &Input::w, &Problem::k, &Problem::n)};
    }
  };
  struct Output {
    Buffer<float> y;
    static constexpr auto parts() {
      return std::tuple{part("y", &Output::y, &Problem::samples, &Problem::rows, &Problem::n)};
    }
  };
  static constexpr std::array fills{Fill::uniform};

  static std::vector<Problem> corner_cases();
  static Expected expect(const Problem&, const Input&, Setting&);
  static double flops(const Problem& p) { return 2 * product(p.samples * p.rows, p.n, p.k + 1); }
  /// A unit is an element of y.
  static Index units(const Problem& p) { return p.samples * p.rows * p.n; }
};

extern template class detail::TypedOperation<SmallProducts>;

}  // namespace assay
