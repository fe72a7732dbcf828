/// The contracts `attention`, full or causal, with padding, `softmax_cross_entropy` and `softmax` alone.
#pragma once

#include "assay/ops/arrays.hpp"
#include "assay/registry.hpp"

namespace assay {

/// y[h, i, :] = sum_j p_ij v[h, j, :],  p_i = softmax over j of (q[h, i, :] . k[h, j, :]) / sqrt(d)
/// where j runs over the keys that row i sees: those from `padding` on, and with the causal mask none after
/// i. Padding is on the left, as batches of sequences of unequal length have it. A row that sees no key has
/// y = 0: there is nothing to normalize, and 0 is what no gradient flows through.
///
/// Heads are those of all sequences of a batch.
///
/// `scores`: around 0, or around 200 in some rows and -200 in others, whose exponentials are infinite or all
/// 0 unless the largest of the row is subtracted first.
///
/// Bound, with n keys in a row, s_j their scores, R the largest less the least of them and m the largest. The
/// shares may be normalized at once or be rescaled as the largest grows, at most once per 16 keys:
///   r_j = g(d + 3) sum_c |q_c k_jc| / sqrt(d) + u (2 (m - s_j) + 3 R + 16 + n / 2)    relative, of exp(s_j -
///   m) |fl(y) - y| <= sum_j p_j |v_j| (r_j + sum_l p_l r_l + g(2 n + 4)) + n 2^-120.
///
/// Source: Vaswani et al., Attention is all you need, NeurIPS 2017, section 3.2.1; online normalization:
/// Milakov and Gimelshein, arXiv:1805.02867, 2018; in tiles: Dao et al., FlashAttention, NeurIPS 2022.
struct Attention : FromParts<Attention> {
  static constexpr std::string_view name = "attention";
  static constexpr std::string_view about =
      "y = softmax(q k^T / sqrt(d)) v by heads, full or causal, padding on the left, f32";
  static constexpr std::array<std::string_view, 2> mask_words{"none", "causal"};
  static constexpr std::array<std::string_view, 2> score_words{"usual", "large"};

  struct Problem {
    Index heads = 1, tokens = 1;
    Index d = 1;        ///< width of a head
    Index mask = 0;     ///< position in `mask_words`
    Index padding = 0;  ///< keys at the start that no row sees; more than there are counts as all
    Index scores = 0;   ///< position in `score_words`
    static constexpr Listed fields{field("heads", &Problem::heads),
                                   field("tokens", &Problem::tokens),
                                   field("d", &Problem::d),
                                   choice("mask", &Problem::mask, mask_words),
                                   option("padding", &Problem::padding, 0, 0, largest_extent),
                                   of_content(choice("scores", &Problem::scores, score_words))};
    /// The keys that row i sees are [first_key(), keys_end(i)), none where that is empty.
    Index first_key() const { return padding < tokens ? padding : tokens; }
    Index keys_end(Index i) const { return mask == 0 ? tokens : i + 1; }
  };
  struct Input {
    Buffer<float> q, k, v;
    static constexpr Listed parts{part("q", &Input::q, &Problem::heads, &Problem::tokens, &Problem::d),
                                  part("k", &Input::k, &Problem::heads, &Problem::tokens, &Problem::d),
                                  part("v", &Input::v, &Problem::heads, &Problem::tokens, &Problem::d)};
  };
  struct Output {
    Buffer<float> y;
    static constexpr Listed parts{part("y", &Output::y, &Problem::heads, &Problem::tokens, &Problem::d)};
  };

  static const Corners corners;
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  /// Two products of d terms for each pair of a row and a key that it sees; exponentials count nothing.
  static Cost cost(const Problem&);
  /// A unit is a row of y.
  static Index units(const Problem& p) { return p.heads * p.tokens; }
};

extern template class detail::TypedOperation<Attention>;

/// loss[i] = -sum_j t_ij log p_ij
/// dx[i, j] = (p_ij - t_ij) / rows
/// with p_i = softmax(x_i) = exp(x_ij) / sum_l exp(x_il), t_ij = (1 - e) [j = label_i] + e / cols and e the
/// label smoothing. Labels are in [0, cols). dx is the gradient of the mean loss.
///
/// A row with a NaN or +inf has loss and gradient NaN, as frameworks compute it, and any NaN is a NaN. A
/// class at -inf, as of a mask, has the share 0; the loss is +inf if the target has a part of it, and else
/// does not count it. Rows of nothing but -inf are NaN. Huge numbers are numbers like others, since the
/// largest is subtracted; in a row of equal ones every share is 1 / cols.
///
/// `smoothing`: e in hundredths. `logits`: numbers around 0, or a part of them around 1,000, whose
/// exponential is infinite unless the largest of the row is subtracted first, or up to 1e30, or with a few
/// that are not finite, or half of them -inf.
///
/// Bound, with d_ij = x_ij - max_j x_ij and S_i = sum_j exp(d_ij) >= 1. An exponential answers to an error of
/// its argument with the same relative error, and is itself within 8 u:
///   rS = u (2 sum_j p_j |d_j| + 8) + g(cols)                                   relative, of S
///   |fl(p_j) - p_j| <= p_j (u (4 |d_j| + 3 log S + 8) + rS) + 2^-126           through log p or not
///   |fl(dx_j) - dx_j| <= (that + 4 u (p_j + t_j)) / rows
///   |fl(loss) - loss| <= rS + 4 u log S + g(c + 6) sum_j t_j (|d_j| + log S),  c = cols if e > 0, else 1
///
/// Source: Bridle, Probabilistic interpretation of feedforward classification network outputs, 1990; label
/// smoothing: Szegedy et al., Rethinking the Inception architecture, CVPR 2016, section 7; the bound:
/// Blanchard, Higham and Higham, Accurately computing the log-sum-exp and softmax functions, IMA J. Numer.
/// Anal. 41, 2021.
struct SoftmaxCrossEntropy : FromParts<SoftmaxCrossEntropy> {
  static constexpr std::string_view name = "softmax_cross_entropy";
  static constexpr std::string_view about =
      "loss = -sum_j t_j log softmax(x)_j by rows and dx = (softmax(x) - t) / rows, labels smoothed, f32";
  static constexpr std::array<std::string_view, 5> logits_words{"usual", "large", "huge", "special",
                                                                "masked"};

  struct Problem {
    Index rows = 1, cols = 1;
    Index smoothing = 0;  ///< hundredths
    Index logits = 0;     ///< position in `logits_words`
    static constexpr Listed fields{field("rows", &Problem::rows), field("cols", &Problem::cols),
                                   option("smoothing", &Problem::smoothing, 0, 0, 99),
                                   of_content(choice("logits", &Problem::logits, logits_words))};
    /// The share of every class in the target, and the further share of the label.
    double everywhere() const { return 0.01 * static_cast<double>(smoothing) / static_cast<double>(cols); }
    double at_label() const { return 1 - 0.01 * static_cast<double>(smoothing); }
  };
  struct Input {
    Buffer<float> x;
    Buffer<Index> label;
    static constexpr Listed parts{part("x", &Input::x, &Problem::rows, &Problem::cols),
                                  part("label", &Input::label, &Problem::rows)};
  };
  struct Output {
    Buffer<float> loss, dx;
    static constexpr Listed parts{part("loss", &Output::loss, &Problem::rows),
                                  part("dx", &Output::dx, &Problem::rows, &Problem::cols)};
  };
  struct Expected {
    Expectation loss, dx;
  };

  static const Corners corners;
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  /// Of the operations those around the exponential.
  static double flops(const Problem& p) { return 4 * product(p.rows, p.cols); }
  static Index units(const Problem& p) { return p.rows; }
};

extern template class detail::TypedOperation<SoftmaxCrossEntropy>;

/// y[i, j] = exp(x[i, j]) / sum_l exp(x[i, l])
///
/// Numbers that are not finite, or huge, go as in the shares of `softmax_cross_entropy`: a row with a NaN or
/// +inf, or of nothing but -inf, is NaN, any NaN; a number at -inf has the share 0. `logits` as there.
///
/// Bound, with d_j = x_j - max_j x_j and rS, the relative error of the sum of the powers, as there. The
/// argument of the power meets a difference, a product and the constant log2 e, and the share two more
/// roundings, where a reciprocal takes the place of the division:
///   |fl(y_j) - y_j| <= y_j (u (3 |d_j| + 10) + rS) + 2^-126
///
/// Source: Bridle (1990); the bound: Blanchard, Higham and Higham (2021), both as above.
struct Softmax : FromParts<Softmax> {
  static constexpr std::string_view name = "softmax";
  static constexpr std::string_view about = "y = exp(x) / sum(exp(x)) by rows, f32";

  struct Problem {
    Index rows = 1, cols = 1;
    Index logits = 0;  ///< position in SoftmaxCrossEntropy::logits_words
    static constexpr Listed fields{
        field("rows", &Problem::rows), field("cols", &Problem::cols),
        of_content(choice("logits", &Problem::logits, SoftmaxCrossEntropy::logits_words))};
  };
  struct Input {
    Buffer<float> x;
    static constexpr Listed parts{part("x", &Input::x, &Problem::rows, &Problem::cols)};
  };
  struct Output {
    Buffer<float> y;
    static constexpr Listed parts{part("y", &Output::y, &Problem::rows, &Problem::cols)};
  };

  static const Corners corners;
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  /// A difference, a sum and a quotient, beside the exponential.
  static double flops(const Problem& p) { return 3 * product(p.rows, p.cols); }
  static Index units(const Problem& p) { return p.rows; }
};

extern template class detail::TypedOperation<Softmax>;

}  // namespace assay
