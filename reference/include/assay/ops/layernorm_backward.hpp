/// The contracts `layernorm_backward` and `rmsnorm_backward`: gradients of x, gamma and beta from that of y.
#pragma once

#include "assay/ops/layernorm.hpp"
#include "assay/registry.hpp"

namespace assay {
namespace layernorm {

struct BackwardProblem {
  Index rows = 1, cols = 1;
  static constexpr auto fields() {
    return std::tuple{field("rows", &BackwardProblem::rows), field("cols", &BackwardProblem::cols)};
  }
};

/// The functions that both contracts have in common.
struct RowsAndColumns {
  using Problem = BackwardProblem;
  static std::vector<Problem> corner_cases();
  /// A unit is a row of dx, or after them a column with its sums over rows.
  static Index units(const Problem& p) { return p.rows + p.cols; }
};

}  // namespace layernorm
/// xhat[r, j] = (x[r, j] - mean[r]) rstd[r]
/// w[r, j] = dy[r, j] gamma[j]
/// dx[r, j] = rstd[r] (w[r, j] - sum_k w[r, k] / cols - xhat[r, j] sum_k w[r, k] xhat[r, k] / cols)
/// dgamma[j] = sum_r dy[r, j] xhat[r, j]
/// dbeta[j] = sum_r dy[r, j]
/// with dy, x, dx[rows, cols], mean, rstd[rows], gamma, dgamma, dbeta[cols], all f32 and row-major. dgamma
/// and dbeta are written, not added to. No two arrays overlap. mean and rstd are taken as given: those that
/// the forward pass wrote in a network, numbers that do not belong to x in the fills, so that a variant which
/// computes its own is caught.
///
/// Bound. Let g(r) = r u / (1 - r u), u = 2^-24, n = cols, m = rows. In any order of evaluation that forms
/// x - mean first, a product with one term of a sum meets
/// * w: one rounding for dy gamma, one for rstd, two for the subtractions;
/// * the mean of w: one for w, n - 1 of the sum, two for the division, or the product with a rounded 1 / n,
///   one for rstd, two for the subtractions;
/// * the mean of w xhat: one for w, two for xhat, one for their product, n - 1, two; then two for xhat, one
///   for the product, one for rstd, two for the subtractions.
/// With Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (2002), lemma 3.1 and section 3.1:
///   |fl(dx) - dx| <= rstd (g(4) |w| + g(n + 5) sum_k |w_k| / n + g(n + 11) |xhat| sum_k |w_k xhat_k| / n),
///   |fl(dgamma) - dgamma| <= g(m + 2) sum_r |dy xhat|,  |fl(dbeta) - dbeta| <= g(m - 1) sum_r |dy|.
/// In the exact fill, mean is an integer and 1/8 and rstd 1/2 or 1, so that the sums are exact as long as
/// their terms are few, n < 2^24 / 882 and m < 2^24 / 294: then n and m leave the bounds, the sums stand in
/// place of the sums of absolute values, and dgamma and dbeta have the same value in any order. With the fill
/// `offset`, x and mean are around 10,000: b x + c with b and c folded out of all three terms cancels, and is
/// rejected.
///
/// Source: the chain rule on Ba, Kiros and Hinton, Layer Normalization, arXiv:1607.06450 (2016), equations 3
/// and 4, with the statistics as functions of x; the same sums as in batch normalization, Ioffe and Szegedy,
/// arXiv:1502.03167 (2015), section 3.
struct LayerNormBackward : layernorm::RowsAndColumns, FromParts<LayerNormBackward> {
  static constexpr std::string_view name = "layernorm_backward";
  static constexpr std::string_view about =
      "dx = rstd (dy gamma - mean(dy gamma) - xhat mean(dy gamma xhat)) by rows, f32, with dgamma and dbeta";

  struct Input {
    Buffer<float> dy, x, mean, rstd, gamma;
    static constexpr auto parts() {
      return std::tuple{part("dy", &Input::dy, &Problem::rows, &Problem::cols),
                        part("x", &Input::x, &Problem::rows, &Problem::cols),
                        permuted("mean", &Input::mean, &Problem::rows),
                        permuted("rstd", &Input::rstd, &Problem::rows),
                        part("gamma", &Input::gamma, &Problem::cols)};
    }
  };
  struct Output {
    Buffer<float> dx, dgamma, dbeta;
    static constexpr auto parts() {
      return std::tuple{part("dx", &Output::dx, &Problem::rows, &Problem::cols),
                        part("dgamma", &Output::dgamma, &Problem::cols),
                        part("dbeta", &Output::dbeta, &Problem::cols)};
    }
  };
  struct Expected {
    Expectation dx, dgamma, dbeta;
  };
  static constexpr std::array fills{Fill::exact, Fill::offset, Fill::uniform};

  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  static double flops(const Problem& p) { return 13 * product(p.rows, p.cols); }
};

/// xhat[r, j] = x[r, j] rstd[r]
/// w[r, j] = dy[r, j] gamma[j]
/// dx[r, j] = rstd[r] (w[r, j] - xhat[r, j] sum_k w[r, k] xhat[r, k] / cols)
/// dgamma[j] = sum_r dy[r, j] xhat[r, j]
/// with dy, x, dx[rows, cols], rstd[rows], gamma, dgamma[cols], all f32 and row-major. dgamma is written, not
/// added to. No two arrays overlap. rstd is taken as given, as in `layernorm_backward`.
///
/// Bound. That of `layernorm_backward` without the mean of w, with one rounding less for each xhat:
///   |fl(dx) - dx| <= rstd (g(3) |w| + g(n + 8) |xhat| sum_k |w_k xhat_k| / n),
///   |fl(dgamma) - dgamma| <= g(m + 1) sum_r |dy xhat|;
/// in the exact fill as there. Higham (2002), lemma 3.1 and section 3.1.
///
/// Source: the chain rule on Zhang and Sennrich, Root Mean Square Layer Normalization, NeurIPS 2019,
/// equation 4.
struct RmsNormBackward : layernorm::RowsAndColumns, FromParts<RmsNormBackward> {
  static constexpr std::string_view name = "rmsnorm_backward";
  static constexpr std::string_view about =
      "dx = rstd (dy gamma - xhat mean(dy gamma xhat)) by rows, xhat = x rstd, f32, with dgamma";

  struct Input {
    Buffer<float> dy, x, rstd, gamma;
    static constexpr auto parts() {
      return std::tuple{part("dy", &Input::dy, &Problem::rows, &Problem::cols),
                        part("x", &Input::x, &Problem::rows, &Problem::cols),
                        permuted("rstd", &Input::rstd, &Problem::rows),
                        part("gamma", &Input::gamma, &Problem::cols)};
    }
  };
  struct Output {
    Buffer<float> dx, dgamma;
    static constexpr auto parts() {
      return std::tuple{part("dx", &Output::dx, &Problem::rows, &Problem::cols),
                        part("dgamma", &Output::dgamma, &Problem::cols)};
    }
  };
  struct Expected {
    Expectation dx, dgamma;
  };
  static constexpr std::array fills{Fill::exact, Fill::uniform};

  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  static double flops(const Problem& p) { return 9 * product(p.rows, p.cols); }
};

extern template class detail::TypedOperation<LayerNormBackward>;
extern template class detail::TypedOperation<RmsNormBackward>;

}  // namespace assay
