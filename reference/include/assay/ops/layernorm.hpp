/// The contracts `layernorm` and `rmsnorm`: rows of x scaled to unit spread, with the statistics of each row;
/// the same of a sum x + r, `layernorm_residual` and `rmsnorm_residual`; the gradients of x, gamma and beta
/// from that of y, `layernorm_backward` and `rmsnorm_backward`; and `batch_norm` and its gradients, whose
/// rows are channels.
#pragma once

#include "assay/ops/arrays.hpp"
#include "assay/registry.hpp"

namespace assay {
namespace layernorm {

/// Added to the variance, or to the mean square, so that a constant row has a finite scale.
inline constexpr double epsilon = 1e-5;

/// Rows around 0, or as the fill has them; of equal numbers; up to 1e15; up to 1e20; from 1e-30 to 1e-18; and
/// of which some have a NaN or an infinity.
inline constexpr std::array<std::string_view, 6> value_words{"usual", "equal", "large",
                                                             "huge",  "tiny",  "special"};

struct Problem {
  Index rows = 1, cols = 1;
  Index values = 0;  ///< position in `value_words`
  static constexpr Listed fields{field("rows", &Problem::rows), field("cols", &Problem::cols),
                                 of_content(choice("values", &Problem::values, value_words))};
};

/// The expected values of one number per row that is expected. The bound depends on the side: a mean that is
/// off only ever makes the spread around it larger.
struct Statistic {
  std::vector<double> value, below, above;
};

struct Expected : Positions {  ///< rows
  Statistic rstd, mean;        ///< no mean of rmsnorm
};

extern const Corners corners;

template <class Op>
struct Rows : FromParts<Op> {
  using Problem = layernorm::Problem;
  using Expected = layernorm::Expected;
  static constexpr const Corners& corners = layernorm::corners;
  // Out of line, for what calls them without the registry.
  template <class O = Op>
  __attribute__((noinline)) static typename O::Input make_input(const Problem&, Setting&);
  template <class O = Op>
  __attribute__((noinline)) static Expected expect(const Problem&, const typename O::Input&, Setting&);
  template <class O = Op>
  __attribute__((noinline)) static Agreement judge(const Problem&, const typename O::Input&, const Expected&,
                                                   const typename O::Output&);
  static Index units(const Problem& p) { return p.rows; }
};

}  // namespace layernorm

/// mean[r] = sum_j x[r, j] / cols
/// rstd[r] = 1 / sqrt(sum_j (x[r, j] - mean[r])^2 / cols + epsilon)
/// y[r, j] = (x[r, j] - mean[r]) rstd[r] gamma[j] + beta[j]
/// The statistics are outputs because the backward pass needs them.
///
/// A row of equal numbers has the variance 0, rstd = 1 / sqrt(epsilon) and y about beta. Subnormal numbers
/// may be taken for 0, which nothing depends on beside epsilon. A row with a NaN or an infinity has rstd and
/// y NaN, and no other row has; its mean is NaN, or with infinities of one sign that infinity or NaN:
/// Welford's algorithm subtracts it from itself. Where the sum of the squares exceeds the largest f32, for
/// numbers above some 1e18, rstd may be anything from 0 to the right value, and y follows from it: sums in
/// f32 overflow to rstd = 0 and y = beta, in oneDNN and PyTorch as well. They are never NaN.
///
/// Bound. Let n = cols, A = sum_j |x_j| / n, V the true variance of a row.
/// * The mean is one sum: |fl(mean) - mean| <= D = g(n + 1) A, for any order of summation.
/// * The variance is summed around fl(mean). As sum (x - mean - d)^2 / n = V + d^2, what is summed lies in
///   [V, S] with S = V + D^2, and each term meets at most n + 5 roundings, so that
///     fl(V) <= S (1 + h),  h = g(n + 5).
///   The two-pass algorithm has fl(V) >= V (1 - h). The corrected two-pass algorithm subtracts
///   (sum (x - fl(mean)) / n)^2, whose root is off by at most h sqrt(S), and so it has
///     fl(V) >= V - h S - 2 D h sqrt(S) - h^2 S >= V - 4 h S.
///   Chan, Golub and LeVeque, The American Statistician 37(3), 1983, sections 2 and 3; Higham (2002),
///   sections 1.9 and 4.2. The one-pass formula
///   sum x^2 / n - mean^2 is wrong by up to g(n) (V + mean^2) instead, and is rejected with the fill
///   `offset`.
/// * rstd meets three more roundings: the sum with epsilon, the root, the division.
/// * y is judged by the mean m and the rstd s that were written with it, which have passed by then:
///     |fl(y) - y| <= g(5) (|(x - m) s gamma| + |beta|) + u |m s gamma|,
///   a rounding for each of the four operations, one for s, and one for m, since a variant may have kept both
///   in more digits than it wrote. That bound does not grow with n or with D, and so y has to be right even
///   where the statistics may be poor. x (s gamma) + (beta - m s gamma) is rejected: it cancels.
///   Numbers that were taken for 0 add 2^-126 to the mean and (1 + |s|) (1 + |gamma|) 2^-126 to y.
/// A term left out of a sum shows for cols up to about 4,000, where 1 / n is n u.
///
/// Source: Ba, Kiros and Hinton, Layer Normalization, arXiv:1607.06450 (2016), equations 3 and 4.
struct LayerNorm : layernorm::Rows<LayerNorm> {
  static constexpr std::string_view name = "layernorm";
  static constexpr std::string_view about =
      "y = (x - mean) / sqrt(variance + 1e-5) gamma + beta for each row, f32, with mean and 1 / sqrt";

  struct Input {
    Buffer<float> x, gamma, beta;
    static constexpr Listed parts{part("x", &Input::x, &Problem::rows, &Problem::cols),
                                  part("gamma", &Input::gamma, &Problem::cols),
                                  part("beta", &Input::beta, &Problem::cols)};
  };
  struct Output {
    Buffer<float> y, mean, rstd;
    static constexpr Listed parts{part("y", &Output::y, &Problem::rows, &Problem::cols),
                                  part("mean", &Output::mean, &Problem::rows),
                                  part("rstd", &Output::rstd, &Problem::rows)};
  };
  static constexpr std::array fills{Fill::offset, Fill::uniform};

  /// Per element the sum, a difference, a square and its sum, then a difference, two products and a sum.
  static double flops(const Problem& p) { return 8 * product(p.rows, p.cols); }
};

/// rstd[r] = 1 / sqrt(sum_j x[r, j]^2 / cols + epsilon)
/// y[r, j] = x[r, j] rstd[r] gamma[j]
///
/// Equal and tiny numbers are numbers like others: y of a row of 1e-20 is 316 x gamma. A row with
/// a NaN has rstd and y NaN; with an infinity rstd = 0, and y NaN there and 0 elsewhere. Where the sum of the
/// squares exceeds the largest f32, for numbers above some 1e18, rstd may be anything from 0 to the right
/// value, and y follows from it, as in `layernorm` and for its reason; neither is NaN.
///
/// Bound. All terms of the sum are positive, so that the mean square is off by the factor 1 + g(n + 2), and
/// its root by half of that: |fl(rstd) - rstd| <= g(n / 2 + 5) rstd. With the exact fill the sum is exact for
/// n < 2^24 / 9, and the bound g(5) rstd at any length. y is judged by the rstd s written with it:
/// |fl(y) - y| <= g(3) |x s gamma| + (1 + |s|) (1 + |gamma|) 2^-126, two products and a rounding for s; in
/// the second term subnormal numbers that were taken for 0. Higham (2002), lemma 3.1.
///
/// Source: Zhang and Sennrich, Root Mean Square Layer Normalization, NeurIPS 2019, equation 4; epsilon as in
/// LLaMA (Touvron et al., arXiv:2302.13971).
struct RmsNorm : layernorm::Rows<RmsNorm> {
  static constexpr std::string_view name = "rmsnorm";
  static constexpr std::string_view about =
      "y = x / sqrt(mean(x^2) + 1e-5) gamma for each row, f32, with 1 / sqrt";

  struct Input {
    Buffer<float> x, gamma;
    static constexpr Listed parts{part("x", &Input::x, &Problem::rows, &Problem::cols),
                                  part("gamma", &Input::gamma, &Problem::cols)};
  };
  struct Output {
    Buffer<float> y, rstd;
    static constexpr Listed parts{part("y", &Output::y, &Problem::rows, &Problem::cols),
                                  part("rstd", &Output::rstd, &Problem::rows)};
  };
  static constexpr std::array fills{Fill::exact, Fill::uniform};

  /// Per element a square and its sum, then two products.
  static double flops(const Problem& p) { return 4 * product(p.rows, p.cols); }
};

/// s[r, j] = x[r, j] + r[r, j]
/// y, mean, rstd = those of `layernorm` with s in place of x
/// s is an output because the next residual connection adds to it.
///
/// Bound. s is one correctly rounded addition (IEEE 754, section 4.3.1): the same value. Everything else is
/// judged as in `layernorm`, from the rounded s.
///
/// Source: the transformer block, Vaswani et al., Attention Is All You Need, NeurIPS 2017, section 3.1, in
/// the order of GPT-2, where the sum is kept: Radford et al., Language Models are Unsupervised Multitask
/// Learners (2019), section 2.3.
struct LayerNormResidual : layernorm::Rows<LayerNormResidual> {
  static constexpr std::string_view name = "layernorm_residual";
  static constexpr std::string_view about =
      "s = x + r and y = (s - mean) / sqrt(variance + 1e-5) gamma + beta for each row, f32";

  struct Input {
    Buffer<float> x, r, gamma, beta;
    static constexpr Listed parts{part("x", &Input::x, &Problem::rows, &Problem::cols),
                                  part("r", &Input::r, &Problem::rows, &Problem::cols),
                                  part("gamma", &Input::gamma, &Problem::cols),
                                  part("beta", &Input::beta, &Problem::cols)};
  };
  struct Output {
    Buffer<float> s, y, mean, rstd;
    static constexpr Listed parts{part("s", &Output::s, &Problem::rows, &Problem::cols),
                                  part("y", &Output::y, &Problem::rows, &Problem::cols),
                                  part("mean", &Output::mean, &Problem::rows),
                                  part("rstd", &Output::rstd, &Problem::rows)};
  };
  static constexpr std::array fills{Fill::offset, Fill::uniform};

  /// Per element as in layernorm, and the sum of x and r.
  static double flops(const Problem& p) { return 9 * product(p.rows, p.cols); }
};

/// s[r, j] = x[r, j] + r[r, j]
/// y, rstd = those of `rmsnorm` with s in place of x
///
/// Bound. s has the same value (IEEE 754, section 4.3.1), the others are judged as in `rmsnorm`, from the
/// rounded s. In the exact fill s is a small integer other than 0, as x is there.
///
/// Source: LLaMA, Touvron et al., arXiv:2302.13971 (2023), section 2.2, on Zhang and Sennrich (2019).
struct RmsNormResidual : layernorm::Rows<RmsNormResidual> {
  static constexpr std::string_view name = "rmsnorm_residual";
  static constexpr std::string_view about =
      "s = x + r and y = s / sqrt(mean(s^2) + 1e-5) gamma for each row, f32";

  struct Input {
    Buffer<float> x, r, gamma;
    static constexpr Listed parts{part("x", &Input::x, &Problem::rows, &Problem::cols),
                                  part("r", &Input::r, &Problem::rows, &Problem::cols),
                                  part("gamma", &Input::gamma, &Problem::cols)};
  };
  struct Output {
    Buffer<float> s, y, rstd;
    static constexpr Listed parts{part("s", &Output::s, &Problem::rows, &Problem::cols),
                                  part("y", &Output::y, &Problem::rows, &Problem::cols),
                                  part("rstd", &Output::rstd, &Problem::rows)};
  };
  static constexpr std::array fills{Fill::exact, Fill::uniform};

  /// Per element as in rmsnorm, and the sum of x and r.
  static double flops(const Problem& p) { return 5 * product(p.rows, p.cols); }
};

extern template class detail::TypedOperation<LayerNorm>;
extern template class detail::TypedOperation<RmsNorm>;
extern template class detail::TypedOperation<LayerNormResidual>;
extern template class detail::TypedOperation<RmsNormResidual>;

namespace layernorm {

struct BackwardProblem {
  Index rows = 1, cols = 1;
  static constexpr Listed fields{field("rows", &BackwardProblem::rows),
                                 field("cols", &BackwardProblem::cols)};
};

struct RowsAndColumns {
  using Problem = BackwardProblem;
  static std::vector<Problem> corner_cases();
  static void draw(const Problem&, std::string_view part, float& element, Setting&);
  /// A unit is a row of dx, or after them a column with its sums over rows.
  static Index units(const Problem& p) { return p.rows + p.cols; }
};

}  // namespace layernorm

/// xhat[r, j] = (x[r, j] - mean[r]) rstd[r]
/// w[r, j] = dy[r, j] gamma[j]
/// dx[r, j] = rstd[r] (w[r, j] - sum_k w[r, k] / cols - xhat[r, j] sum_k w[r, k] xhat[r, k] / cols)
/// dgamma[j] = sum_r dy[r, j] xhat[r, j]
/// dbeta[j] = sum_r dy[r, j]
/// dgamma and dbeta are written, not added to. mean and rstd are taken as given: those that the forward pass
/// wrote in a network, numbers that do not belong to x in the fills, so that a variant which computes its own
/// is caught.
///
/// Bound. Let n = cols, m = rows. In any order of evaluation that forms x - mean first, a product with one
/// term of a sum meets
/// * w: one rounding for dy gamma, one for rstd, two for the subtractions;
/// * the mean of w: one for w, n - 1 of the sum, two for the division, or the product with a rounded 1 / n,
///   one for rstd, two for the subtractions;
/// * the mean of w xhat: one for w, two for xhat, one for their product, n - 1, two; then two for xhat, one
///   for the product, one for rstd, two for the subtractions.
/// With Higham (2002), lemma 3.1 and section 3.1:
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
    static constexpr Listed parts{
        part("dy", &Input::dy, &Problem::rows, &Problem::cols),
        part("x", &Input::x, &Problem::rows, &Problem::cols), permuted("mean", &Input::mean, &Problem::rows),
        permuted("rstd", &Input::rstd, &Problem::rows), part("gamma", &Input::gamma, &Problem::cols)};
  };
  struct Output {
    Buffer<float> dx, dgamma, dbeta;
    static constexpr Listed parts{part("dx", &Output::dx, &Problem::rows, &Problem::cols),
                                  part("dgamma", &Output::dgamma, &Problem::cols),
                                  part("dbeta", &Output::dbeta, &Problem::cols)};
  };
  struct Expected {
    Expectation dx, dgamma, dbeta;
  };
  static constexpr std::array fills{Fill::exact, Fill::offset, Fill::uniform};

  using RowsAndColumns::corner_cases;
  static Expected expect(const Problem&, const Input&, Setting&);
  static double flops(const Problem& p) { return 13 * product(p.rows, p.cols); }
};

/// xhat[r, j] = x[r, j] rstd[r]
/// w[r, j] = dy[r, j] gamma[j]
/// dx[r, j] = rstd[r] (w[r, j] - xhat[r, j] sum_k w[r, k] xhat[r, k] / cols)
/// dgamma[j] = sum_r dy[r, j] xhat[r, j]
/// dgamma is written, not added to. rstd is taken as given, as in `layernorm_backward`.
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
    static constexpr Listed parts{part("dy", &Input::dy, &Problem::rows, &Problem::cols),
                                  part("x", &Input::x, &Problem::rows, &Problem::cols),
                                  permuted("rstd", &Input::rstd, &Problem::rows),
                                  part("gamma", &Input::gamma, &Problem::cols)};
  };
  struct Output {
    Buffer<float> dx, dgamma;
    static constexpr Listed parts{part("dx", &Output::dx, &Problem::rows, &Problem::cols),
                                  part("dgamma", &Output::dgamma, &Problem::cols)};
  };
  struct Expected {
    Expectation dx, dgamma;
  };
  static constexpr std::array fills{Fill::exact, Fill::uniform};

  using RowsAndColumns::corner_cases;
  static Expected expect(const Problem&, const Input&, Setting&);
  static double flops(const Problem& p) { return 9 * product(p.rows, p.cols); }
};

extern template class detail::TypedOperation<LayerNormBackward>;
extern template class detail::TypedOperation<RmsNormBackward>;

namespace batch_norm {

/// Extents of arrays [n, c, h, w], and of those with a number for each channel, [c].
struct Extents {
  Index n = 1, c = 1, h = 1, w = 1;
  Index plane() const { return h * w; }
  Index count() const { return n * plane(); }  ///< elements of a channel
  static constexpr Listed fields{field("n", &Extents::n), field("c", &Extents::c), field("h", &Extents::h),
                                 field("w", &Extents::w)};
};
struct Problem : Extents {
  Index values = 0;  ///< position in layernorm::value_words
  static constexpr auto fields() {
    return std::tuple_cat(Extents::fields(),
                          std::tuple{of_content(choice("values", &Problem::values, layernorm::value_words))});
  }
};

/// Calls visit(position) for each element of channel c of an array [n, c, h, w].
template <class Visit>
void each_in_channel(const Extents& p, Index c, const Visit& visit) {
  for (Index n = 0; n < p.n; ++n) {
    const Index begin = (n * p.c + c) * p.plane();
    for (Index at = begin; at < begin + p.plane(); ++at) visit(at);
  }
}

constexpr auto image(std::string_view name, auto member) {
  return part(name, member, &Extents::n, &Extents::c, &Extents::h, &Extents::w);
}

}  // namespace batch_norm

/// mean[c] = sum x[n, c, h, w] / N over n, h, w,  N = n h w
/// rstd[c] = 1 / sqrt(sum (x[n, c, h, w] - mean[c])^2 / N + epsilon)
/// y[n, c, h, w] = (x[n, c, h, w] - mean[c]) rstd[c] gamma[c] + beta[c]
/// The statistics are those of a training step, with the biased variance, and are outputs because the
/// backward pass needs them. Running averages of them are left out.
///
/// Channels of equal, tiny or huge numbers, and those with a NaN or an infinity, go as rows of `layernorm`
/// do, and touch no other channel.
///
/// Bound. mean and rstd as in `layernorm`, with N in place of cols. y is judged by the mean m and the rstd s
/// that were written with it. Frameworks fold it into x a + b, a = s gamma and b = beta - m a: a has two
/// roundings, one for s, in both products alike; m has one; m a, b, x a and y have one each, where |x| <= |x
/// - m| + |m|:
///   |fl(y) - y| <= g(6) (|(x - m) s gamma| + |beta|) + g(4) |m s gamma|,
/// which holds without folding as well, and what underflows in `layernorm`. The variance as sum x^2 / N -
/// mean^2 is rejected with the fill `offset`, and the unbiased one where N is small.
///
/// Source: Ioffe and Szegedy, Batch Normalization, arXiv:1502.03167 (2015), algorithm 1.
struct BatchNorm : FromParts<BatchNorm> {
  static constexpr std::string_view name = "batch_norm";
  static constexpr std::string_view about =
      "y = (x - mean) / sqrt(variance + 1e-5) gamma + beta by channels, NCHW, f32, with mean and 1 / sqrt";
  using Problem = batch_norm::Problem;

  struct Input {
    Buffer<float> x, gamma, beta;
    static constexpr Listed parts{batch_norm::image("x", &Input::x),
                                  part("gamma", &Input::gamma, &Problem::c),
                                  part("beta", &Input::beta, &Problem::c)};
  };
  struct Output {
    Buffer<float> y, mean, rstd;
    static constexpr Listed parts{batch_norm::image("y", &Output::y),
                                  part("mean", &Output::mean, &Problem::c),
                                  part("rstd", &Output::rstd, &Problem::c)};
  };
  using Expected = layernorm::Expected;  ///< of channels
  static constexpr std::array fills{Fill::offset, Fill::uniform};

  static const Corners corners;
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&);
  /// As in layernorm.
  static double flops(const Problem& p) { return 8 * product(p.count(), p.c); }
  static Index units(const Problem& p) { return p.c; }
};

/// xhat[n, c, h, w] = (x[n, c, h, w] - mean[c]) rstd[c]
/// dbeta[c] = sum dy[n, c, h, w],  dgamma[c] = sum dy[n, c, h, w] xhat[n, c, h, w] over n, h, w
/// dx[n, c, h, w] = rstd[c] gamma[c] (dy[n, c, h, w] - dbeta[c] / N - xhat[n, c, h, w] dgamma[c] / N)
/// dgamma and dbeta are written, not added to. mean and rstd are taken as given, as in `layernorm_backward`.
///
/// Bound. A term meets the roundings of `layernorm_backward`, since a channel has the sums of a row there:
///   |fl(dx) - dx| <= rstd |gamma| (g(4) |dy| + g(N + 5) sum |dy| / N + g(N + 11) |xhat| sum |dy xhat| / N),
///   |fl(dgamma) - dgamma| <= g(N + 2) sum |dy xhat|,  |fl(dbeta) - dbeta| <= g(N - 1) sum |dy|.
/// With the exact fill and N < 2^24 / 294 sums are exact: N leaves the bounds as there, and those of dgamma
/// and dbeta are zero.
///
/// Source: Ioffe and Szegedy (2015), section 3.
struct BatchNormBackward : FromParts<BatchNormBackward> {
  static constexpr std::string_view name = "batch_norm_backward";
  static constexpr std::string_view about =
      "dx = rstd gamma (dy - mean(dy) - xhat mean(dy xhat)) by channels, NCHW, f32, with dgamma and dbeta";
  using Problem = batch_norm::Extents;

  struct Input {
    Buffer<float> dy, x, mean, rstd, gamma;
    static constexpr Listed parts{batch_norm::image("dy", &Input::dy), batch_norm::image("x", &Input::x),
                                  permuted("mean", &Input::mean, &Problem::c),
                                  permuted("rstd", &Input::rstd, &Problem::c),
                                  part("gamma", &Input::gamma, &Problem::c)};
  };
  struct Output {
    Buffer<float> dx, dgamma, dbeta;
    static constexpr Listed parts{batch_norm::image("dx", &Output::dx),
                                  part("dgamma", &Output::dgamma, &Problem::c),
                                  part("dbeta", &Output::dbeta, &Problem::c)};
  };
  using Expected = LayerNormBackward::Expected;
  static constexpr std::array fills = LayerNormBackward::fills;

  static const Corners corners;
  static void draw(const Problem&, std::string_view part, float& element, Setting& setting) {
    layernorm::RowsAndColumns::draw({}, part, element, setting);
  }
  static Expected expect(const Problem&, const Input&, Setting&);
  static double flops(const Problem& p) { return 9 * product(p.count(), p.c); }
  static Index units(const Problem& p) { return p.c; }
};

extern template class detail::TypedOperation<BatchNorm>;
extern template class detail::TypedOperation<BatchNormBackward>;

}  // namespace assay
