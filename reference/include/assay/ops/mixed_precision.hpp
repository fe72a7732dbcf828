/// The contract `mixed_precision`: a step of a dense layer whose products may be of bf16, but whose weights
/// may not.
#pragma once

#include "assay/ops/matrix.hpp"
#include "assay/registry.hpp"

namespace assay {

/// y = x w                                  [m, n], the forward product
/// w_next = w - rate x^T dy                 [k, n], the weight gradient and plain descent, rate = 1e-3
/// for x[m, k], w[k, n] and dy[m, n], row-major f32. w_next is an array of its own, so that a second call
/// finds the same weights; training updates them in place.
///
/// x, w and dy hold numbers that bf16 holds (8 significant bits), as after a step that left them in it, so
/// that products of operands rounded to bf16 and products of f32 are of the same numbers. What differs is
/// their speed: a variant does not know, and has to round. w_next is no such number: an update of a
/// thousandth of a weight is less than half the distance from one bf16 to the next, which is between 2^-9 and
/// 2^-8 of it. Weights that are kept in bf16 stand still; w is their master copy.
///
/// Bound, with u = 2^-24 and g(r) = r u / (1 - r u): products of two bf16 are exact, sums are kept in f32,
/// and f is what the instruction VDPBF16PS flushes, as in `gemm_bf16`. The gradient is summed before w meets
/// it: products added to w one by one would round w m times, and lose an update that is small beside w.
///   |fl(y) - y| <= g(k) |x| |w| + f
///   |fl(w_next) - w_next| <= rate (g(m + 2) |x|^T |dy| + f) + g(2) (|w| + rate |x|^T |dy|).
///
/// Source: Micikevicius et al., Mixed precision training, ICLR 2018, section 3.1; bf16: Kalamkar et al.,
/// arXiv:1905.12322, 2019.
struct MixedPrecision : FromParts<MixedPrecision> {
  static constexpr std::string_view name = "mixed_precision";
  static constexpr std::string_view about =
      "y = x w and w_next = w - rate x^T dy: products of bf16 or f32, weights f32";
  static constexpr double rate = 1e-3;

  struct Problem {
    Index m = 1, n = 1, k = 1;
    static constexpr auto fields() {
      return std::tuple{field("m", &Problem::m), field("n", &Problem::n), field("k", &Problem::k)};
    }
  };
  struct Input {
    Buffer<float> x, w, dy;
    static constexpr auto parts() {
      return std::tuple{part("x", &Input::x, &Problem::m, &Problem::k),
                        part("w", &Input::w, &Problem::k, &Problem::n),
                        part("dy", &Input::dy, &Problem::m, &Problem::n)};
    }
  };
  struct Output {
    Buffer<float> y, w_next;
    static constexpr auto parts() {
      return std::tuple{part("y", &Output::y, &Problem::m, &Problem::n),
                        part("w_next", &Output::w_next, &Problem::k, &Problem::n)};
    }
  };
  struct Expected {
    Expectation y, w_next;
  };
  static constexpr std::array fills{Fill::uniform};

  static std::vector<Problem> corner_cases();
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  static constexpr bool f32 = false;
  static double flops(const Problem& p) { return 4 * product(p.m, p.n, p.k) + 2 * product(p.k, p.n); }
  /// Another number that bf16 holds.
  static void salt(const Problem&, const Input&, std::string_view part, Index at, float& element, Setting&);
  /// A unit is an element of y, or, from m n on, of w_next.
  static Index units(const Problem& p) { return p.m * p.n + p.k * p.n; }
};

extern template class detail::TypedOperation<MixedPrecision>;

}  // namespace assay
