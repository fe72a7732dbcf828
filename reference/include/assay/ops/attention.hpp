/// The contract `attention`: scaled dot-product attention of several heads, full or causal, with padding.
#pragma once

#include "assay/ops/arrays.hpp"
#include "assay/registry.hpp"

namespace assay {

/// y[h, i, :] = sum_j p_ij v[h, j, :],  p_i = softmax over j of (q[h, i, :] . k[h, j, :]) / sqrt(d)
/// where j runs over the keys that row i sees: those from `padding` on, and with the causal mask none after
/// i. Padding is on the left, as batches of sequences of unequal length have it. A row that sees no key has
/// y = 0: there is nothing to normalize, and 0 is what no gradient flows through.
///
/// q, k, v and y are [heads, tokens, d], row-major f32; heads are those of all sequences of a batch.
///
/// `scores`: around 0, or around 200 in some rows and -200 in others, whose exponentials are infinite or all
/// 0 unless the largest of the row is subtracted first.
///
/// Bound, with u = 2^-24, g(r) = r u / (1 - r u), n keys in a row, s_j their scores, R the largest less the
/// least of them and m the largest. The shares may be normalized at once or be rescaled as the largest grows,
/// at most once per 16 keys:
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
    static constexpr auto fields() {
      return std::tuple{field("heads", &Problem::heads),
                        field("tokens", &Problem::tokens),
                        field("d", &Problem::d),
                        choice("mask", &Problem::mask, mask_words),
                        option("padding", &Problem::padding, 0, 0, largest_extent),
                        choice("scores", &Problem::scores, score_words)};
    }
    /// The keys that row i sees are [first_key(), keys_end(i)), none where that is empty.
    Index first_key() const { return padding < tokens ? padding : tokens; }
    Index keys_end(Index i) const { return mask == 0 ? tokens : i + 1; }
  };
  struct Input {
    Buffer<float> q, k, v;
    static constexpr auto parts() {
      return std::tuple{part("q", &Input::q, &Problem::heads, &Problem::tokens, &Problem::d),
                        part("k", &Input::k, &Problem::heads, &Problem::tokens, &Problem::d),
                        part("v", &Input::v, &Problem::heads, &Problem::tokens, &Problem::d)};
    }
  };
  struct Output {
    Buffer<float> y;
    static constexpr auto parts() {
      return std::tuple{part("y", &Output::y, &Problem::heads, &Problem::tokens, &Problem::d)};
    }
  };
  static constexpr std::array fills{Fill::uniform};

  static std::vector<Problem> corner_cases();
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  /// Two products of d terms for each pair of a row and a key that it sees; exponentials count nothing.
  static Cost cost(const Problem&);
  /// A unit is a row of y.
  static Index units(const Problem& p) { return p.heads * p.tokens; }
};

extern template class detail::TypedOperation<Attention>;

}  // namespace assay
