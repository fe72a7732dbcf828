/// The contract `elementwise_channel_bias_backward`: the gradient of a bias that repeats over images and
/// pixels.
#pragma once

#include "assay/ops/arrays.hpp"
#include "assay/registry.hpp"

namespace assay {

/// db[c] = sum over n, h, w of dz[n, c, h, w]
/// with dz[n, c, h, w] and db[c], f32 and row-major. db is written, not added to. The gradient of x is dz
/// itself.
///
/// NaN and infinities go by IEEE 754: a channel with a NaN, or with infinities of both signs, is NaN, and any
/// NaN is a NaN. Subnormal numbers are numbers. Where sum |dz| exceeds the largest f32, the result is
/// undefined. `values`: `special` has a few elements that are not finite.
///
/// Bound. count = n h w terms are summed in any order: |fl(db) - db| <= g(count - 1) sum |dz|, g(r) = r u /
/// (1 - r u), u = 2^-24; Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (2002), section 4.2.
/// With the exact fill all sums are integers below 2^24 for count < 2^22, and the bound is zero, as it is
/// where a sum is not finite. A term left out of a uniform sum is below the bound from about 4,000 terms on;
/// the exact fill sees it at any length.
///
/// Source: the gradient of a broadcast sum; PyTorch (derivatives.yaml, convolution_backward).
struct ElementwiseChannelBiasBackward : FromParts<ElementwiseChannelBiasBackward> {
  static constexpr std::string_view name = "elementwise_channel_bias_backward";
  static constexpr std::string_view about = "db[c] = sum over n, h, w of dz, NCHW, f32";
  static constexpr std::array<std::string_view, 2> value_words{"usual", "special"};

  struct Problem {
    Index n = 1, c = 1, h = 1, w = 1;
    Index values = 0;  ///< position in `value_words`
    Index plane() const { return h * w; }
    static constexpr auto fields() {
      return std::tuple{field("n", &Problem::n), field("c", &Problem::c), field("h", &Problem::h),
                        field("w", &Problem::w), choice("values", &Problem::values, value_words)};
    }
  };
  struct Input {
    Buffer<float> dz;
    static constexpr auto parts() {
      return std::tuple{part("dz", &Input::dz, &Problem::n, &Problem::c, &Problem::h, &Problem::w)};
    }
  };
  struct Output {
    Buffer<float> db;
    static constexpr auto parts() { return std::tuple{part("db", &Output::db, &Problem::c)}; }
  };
  static constexpr std::array fills{Fill::exact, Fill::uniform};

  static std::vector<Problem> corner_cases();
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  static double flops(const Problem& p) { return product(p.n, p.c, p.plane()); }
  static Index terms(const Problem& p) { return p.n * p.h * p.w; }
  /// A unit is a channel.
  static Index units(const Problem& p) { return p.c; }
};

extern template class detail::TypedOperation<ElementwiseChannelBiasBackward>;

}  // namespace assay
