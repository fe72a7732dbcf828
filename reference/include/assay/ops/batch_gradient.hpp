/// The contracts of the gradients of a batch between the backward pass and the optimiser:
/// `gradient_accumulation` over micro-batches, and `gradient_clip` by the global norm.
#pragma once

#include "assay/ops/arrays.hpp"
#include "assay/registry.hpp"

#include <span>
#include <vector>

namespace assay {

/// sum[i] = sum_j w_j g[j, i], w_j = samples_j / batch: the gradient of the mean loss of a batch from those
/// of its micro-batches, g[j, n] the gradient of the mean loss of micro-batch j. All hold `micro` samples but
/// the last, which holds the rest: weights of 1 / count for all would favour its samples.
///
/// Variants take the micro-batches one after the other, since in training only one exists at a time.
///
/// Bound: a term meets the rounding of its weight, a product, and at most one sum per micro-batch, or the
/// same with the division at the end: |fl(sum) - sum| <= g(count + 2) sum_j w_j |g_j| (Higham (2002), section
/// 4.2). Nothing underflows: uniform inputs are 0 or at least 2^-53.
///
/// Source: linearity of the mean; the use: Ott et al., Scaling Neural Machine Translation, WMT 2018,
/// section 3.
struct GradientAccumulation : ByElement<GradientAccumulation> {
  static constexpr std::string_view name = "gradient_accumulation";
  static constexpr std::string_view about =
      "sum = sum_j w_j g_j over micro-batches, weighted by their samples, f32";

  struct Problem {
    Index n = 1;      ///< parameters
    Index batch = 1;  ///< samples
    Index micro = 1;  ///< samples of a micro-batch, but for the last
    static constexpr Listed fields{field("n", &Problem::n), field("batch", &Problem::batch),
                                   field("micro", &Problem::micro)};
    Index micro_batches() const { return (batch + micro - 1) / micro; }
  };
  /// Samples of micro-batch j over those of the batch, for every j.
  static std::vector<double> weights(const Problem& problem);

  struct Input {
    Buffer<float> g;
    static constexpr Listed parts{part("g", &Input::g, &Problem::micro_batches, &Problem::n)};
  };
  struct Output {
    Buffer<float> sum;
    static constexpr Listed parts{part("sum", &Output::sum, &Problem::n)};
  };

  static const Corners corners;
  static Expected expect(const Problem&, const Input&, Setting&);
  /// Variants that follow the micro-batches move more than is counted.
  static double flops(const Problem& p) { return 2 * product(p.n, p.micro_batches()); }
};

/// norm = sqrt(sum_i g[i]^2)
/// y[i] = c g[i],  c = min(1, limit / (norm + 1e-6)),  limit = 1
/// y is an array of its own, so that a second call finds the same gradients; frameworks scale in place. Where
/// c = 1, y holds the numbers of g, subnormal ones included. Defined for |g| <= 1e18, and for what is not
/// finite: a NaN in g makes the norm and all of y NaN, since min(1, NaN) is NaN here, and clipping must not
/// hide it; an infinity makes the norm infinite, c = 0, its own y NaN and the others 0. Any NaN is a NaN.
///
/// `size`: gradients whose norm is above the limit (from n = 16 on); about 0.3; with one NaN, or one
/// infinity; up to 1e18; or from 1e-44 to 1e-15.
///
/// Bound. The norm may be summed in f32 over at most 64 terms at a time and in double from there on: a square
/// and 64 sums, halved by the root, then root and rounding:
///   |fl(norm) - norm| <= g(36) norm + 2^-72 sqrt(n),
/// where the second term yields to squares in f32 that underflow: a norm of 2e-22 sqrt(n) may be 0 beside
/// 1e-6. y is judged with the norm w that was written with it, which has passed by then: w, the sum, the
/// quotient and the product are rounded, and w once more since a variant may have kept more digits than it
/// wrote:
///   |fl(y) - y| <= g(5) |y|, and 0 where w + 1e-6 <= limit (1 - 8 u).
/// One float accumulator for all is wrong from about 10^5 parameters on, and stands still at 2^24 equal ones.
///
/// Source: Pascanu, Mikolov and Bengio, On the difficulty of training recurrent neural networks, ICML 2013,
/// algorithm 1; the 1e-6: PyTorch, torch.nn.utils.clip_grad_norm_.
struct GradientClip : FromParts<GradientClip> {
  static constexpr std::string_view name = "gradient_clip";
  static constexpr std::string_view about = "y = min(1, 1 / (|g| + 1e-6)) g with the norm |g| of all, f32";

  static constexpr double limit = 1, floor = 1e-6;
  static constexpr std::array<std::string_view, 6> size_words{"above",    "below", "nan",
                                                              "infinite", "huge",  "tiny"};

  struct Problem {
    Index n = 1;     ///< parameters
    Index size = 0;  ///< position in `size_words`
    static constexpr Listed fields{field("n", &Problem::n),
                                   of_content(choice("size", &Problem::size, size_words))};
  };
  struct Input {
    Buffer<float> g;
    static constexpr Listed parts{part("g", &Input::g, &Problem::n)};
  };
  struct Output {
    Buffer<float> y, norm;
    static constexpr Listed parts{part("y", &Output::y, &Problem::n), part("norm", &Output::norm, 1)};
  };
  struct Expected {
    double norm = 0;
    std::vector<Index> units;  ///< as in Setting
  };

  static const Corners corners;
  /// Sums in double for both precisions, as frameworks do it on a CPU: one float does not hold the sum of
  /// many squares.
  static double norm_of(std::span<const float> gradients);
  /// Returns the factor c for a rounded norm: NaN where the norm is.
  template <class Real>
  static Real kept(Real norm) {
    const Real factor = static_cast<Real>(limit) / (norm + static_cast<Real>(floor));
    return factor >= 1 ? Real{1} : factor;
  }
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input& in, Setting& setting) {
    return {norm_of(in.g), setting.units};
  }
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&);
  /// g read once and y written once; past the caches g is read twice.
  static Cost cost(const Problem& p) {
    const auto n = static_cast<double>(p.n);
    return {.flops = 3 * n, .bytes_read = 4 * n, .bytes_written = 4 * n};
  }
  /// A unit is an element of y; the norm is always judged.
  static Index units(const Problem& p) { return p.n; }
};

extern template class detail::TypedOperation<GradientAccumulation>;
extern template class detail::TypedOperation<GradientClip>;

}  // namespace assay
