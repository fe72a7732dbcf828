/// The contracts `lora` and `lora_backward`: a dense layer with a low-rank adapter, and its gradients.
#pragma once

#include "assay/ops/arrays.hpp"
#include "assay/registry.hpp"

namespace assay {
namespace lora {

/// The shape of both contracts: m rows of k features become m rows of n, with an adapter of rank r.
struct Problem {
  Index m = 1, n = 1, k = 1, r = 1;
  Index scale = 2;  ///< s
  static constexpr Listed fields{field("m", &Problem::m), field("n", &Problem::n), field("k", &Problem::k),
                                 field("r", &Problem::r), option("scale", &Problem::scale, 2, -4, 4)};
};

}  // namespace lora

/// Y = X W + s (X A) B.
///
/// s is the integer `scale` (alpha / r in the paper). Entries are finite, and sums of products do not
/// overflow. W + s A B is not formed: the cost counts X A and its product with B.
///
/// Bound. Each term of Y is x w or x a s b. Summed in any order, with s applied anywhere, it meets at most
/// k roundings in X A, one for s, r in the product with B, and k more where the terms of X W are added to it
/// one by one; a term of X W meets fewer. So, for each element (Higham (2002), lemma 3.1),
///   |fl(Y) - Y| <= g(2 k + r + 1) (|X| |W| + |s| |X| |A| |B|).
/// With the exact fill every partial result is an integer, and the bound is zero while 27 |s| k r + 9 k,
/// which none exceeds, is below 2^24.
///
/// Source: Hu et al., LoRA: Low-Rank Adaptation of Large Language Models, ICLR 2022, equation 3.
struct Lora : ByElement<Lora> {
  static constexpr std::string_view name = "lora";
  static constexpr std::string_view about = "Y = X W + s (X A) B, row-major f32";

  using Problem = lora::Problem;
  struct Input {
    Buffer<float> x, w, a, b;
    static constexpr Listed parts{
        part("x", &Input::x, &Problem::m, &Problem::k), constant("w", &Input::w, &Problem::k, &Problem::n),
        part("a", &Input::a, &Problem::k, &Problem::r), part("b", &Input::b, &Problem::r, &Problem::n)};
  };
  struct Output {
    Buffer<float> y;
    static constexpr Listed parts{part("y", &Output::y, &Problem::m, &Problem::n)};
  };
  static constexpr std::array fills{Fill::exact, Fill::uniform};

  static std::vector<Problem> corner_cases();
  static Expected expect(const Problem&, const Input&, Setting&);
  static Cost cost(const Problem&);
  static Index terms(const Problem& p) { return 2 * p.k + p.r; }
};

/// dX = dY W^T + s (dY B^T) A^T
/// dA = s X^T (dY B^T)
/// dB = s (X A)^T dY
/// the gradients of `lora` for the gradient dY of its output; W is frozen and has none.
///
/// Entries are finite, and sums of products do not overflow.
///
/// Bound, as in Lora and for any order of the sums, with s applied anywhere:
///   |fl(dX) - dX| <= g(2 n + r + 1) (|dY| |W|^T + |s| |dY| |B|^T |A|^T)
///   |fl(dA) - dA| <= g(n + m + 1) |s| |X|^T |dY| |B|^T
///   |fl(dB) - dB| <= g(k + m + 1) |s| |A|^T |X|^T |dY|
/// With the exact fill the bounds are zero while 27 |s| n r + 9 n, 27 |s| n m and 27 |s| k m, which no
/// partial result exceeds, are below 2^24.
///
/// Source: the chain rule on Hu et al., LoRA, ICLR 2022, equation 3.
struct LoraBackward : ByElement<LoraBackward> {
  static constexpr std::string_view name = "lora_backward";
  static constexpr std::string_view about =
      "dX = dY W^T + s (dY B^T) A^T, dA = s X^T (dY B^T), dB = s (X A)^T dY";

  using Problem = lora::Problem;
  struct Input {
    Buffer<float> x, w, a, b, dy;
    static constexpr Listed parts{
        part("x", &Input::x, &Problem::m, &Problem::k), constant("w", &Input::w, &Problem::k, &Problem::n),
        part("a", &Input::a, &Problem::k, &Problem::r), part("b", &Input::b, &Problem::r, &Problem::n),
        part("dy", &Input::dy, &Problem::m, &Problem::n)};
  };
  struct Output {
    Buffer<float> dx, da, db;
    static constexpr Listed parts{part("dx", &Output::dx, &Problem::m, &Problem::k),
                                  part("da", &Output::da, &Problem::k, &Problem::r),
                                  part("db", &Output::db, &Problem::r, &Problem::n)};
  };
  struct Expected {
    Expectation dx, da, db;
  };
  static constexpr std::array fills{Fill::exact, Fill::uniform};

  static const Corners corners;
  static Expected expect(const Problem&, const Input&, Setting&);
  static Cost cost(const Problem&);
  static Index terms(const Problem& p) { return 2 * std::max({p.k, p.m, p.n}); }
};

extern template class detail::TypedOperation<Lora>;
extern template class detail::TypedOperation<LoraBackward>;

}  // namespace assay
