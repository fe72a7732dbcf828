/// The common part of the contracts of activations, their gradients, fused chains and steps of SGD:
/// out[i] = f(in[i], …) over dense arrays, with the bound that each formula derives; and
/// `elementwise_channel_bias_backward`.
#pragma once

#include "assay/ops/arrays.hpp"
#include "assay/ops/pointwise_formula.hpp"
#include "assay/registry.hpp"

namespace assay {

/// outputs[j][i] = f_j(inputs[0][i], inputs[1][i], …; alpha), where `Formula` gives f, the names and the
/// order.
///
/// Arrays have n elements; where Formula::per_channel they are [n, c, h, w], but inputs[1], which is b[c] and
/// repeats over n, h and w.
///
/// `values` says what inputs[0] holds, according to Formula::domain: `near` the usual range, `wide` numbers
/// of every magnitude from 2^-30 to 2^7 and both signs (probabilities as near to 0 and 1), `special` every
/// third element a NaN, an infinity, a zero, a subnormal or a huge number, or one where an exponential over-
/// or underflows. In elementwise_relu_backward every fourth element of dz is special as well.
///
/// A NaN in inputs[0] gives a NaN, unless the formula says otherwise: of any sign and payload, which IEEE 754
/// leaves open. The other inputs are finite, but for dz of elementwise_relu_backward. Everything else is
/// judged by the bound in the docstring of the formula, in which u and g are as in arrays.hpp.
template <class Formula>
struct Pointwise : FromParts<Pointwise<Formula>> {
  static constexpr std::string_view name = Formula::name;
  static constexpr std::string_view about = Formula::about;
  static constexpr std::size_t inputs = Formula::inputs.size(), outputs = Formula::outputs.size();
  static constexpr std::array<std::string_view, 3> value_words{"near", "wide", "special"};

  struct Problem {
    Index n = 1;
    Index c = 1, h = 1, w = 1;  ///< 1 unless Formula::per_channel
    Index alpha = 1;            ///< 1 unless Formula::scaled
    Index values = 0;           ///< position in value_words

    Index size() const { return n * c * h * w; }
    Index plane() const { return h * w; }
    static constexpr auto fields() {
      const auto extents = [] {
        if constexpr (Formula::per_channel) {
          return std::tuple{field("n", &Problem::n), field("c", &Problem::c), field("h", &Problem::h),
                            field("w", &Problem::w)};
        } else {
          return std::tuple{field("n", &Problem::n)};
        }
      };
      const auto options = [] {
        const auto kinds = of_content(choice("values", &Problem::values, value_words));
        if constexpr (Formula::scaled) {
          return std::tuple{option("alpha", &Problem::alpha, 1, -4, 4), kinds};
        } else {
          return std::tuple{kinds};
        }
      };
      return std::tuple_cat(extents(), options());
    }
  };
  /// The part that `make` makes of its extents.
  template <bool is_vector = false>
  static constexpr auto with_extents(const auto& make) {
    if constexpr (!Formula::per_channel) {
      return make(&Problem::n);
    } else if constexpr (is_vector) {
      return make(&Problem::c);
    } else {
      return make(&Problem::n, &Problem::c, &Problem::h, &Problem::w);
    }
  }
  struct Input {
    std::array<Buffer<float>, inputs> in;
    static constexpr auto parts() {
      return []<std::size_t... k>(std::index_sequence<k...>) {
        return std::tuple{with_extents<k == 1>(
            [](auto... extents) { return part(Formula::inputs[k], &Input::in, k, extents...); })...};
      }
      (std::make_index_sequence<inputs>());
    }
  };
  struct Output {
    Buffer<float> first;
    Buffer<float> second;  ///< empty unless the formula has two outputs

    Buffer<float>& at(std::size_t i) { return i == 0 ? first : second; }
    const Buffer<float>& at(std::size_t i) const { return i == 0 ? first : second; }
    static constexpr auto parts() {
      const auto one = with_extents(
          [](auto... extents) { return part(Formula::outputs.front(), &Output::first, extents...); });
      if constexpr (outputs == 1) {
        return std::tuple{one};
      } else {
        return std::tuple{one, part(Formula::outputs.back(), &Output::second, &Problem::n)};
      }
    }
  };
  using Expected = std::array<Expectation, outputs>;
  static constexpr auto fills = pointwise::fills_of<Formula::domain>();

  // Out of line, for what calls them without the registry.
  __attribute__((noinline)) static std::vector<Problem> corner_cases();
  __attribute__((noinline)) static Input make_input(const Problem&, Setting&);
  __attribute__((noinline)) static Expected expect(const Problem&, const Input&, Setting&);
  static double flops(const Problem& p) { return static_cast<double>(p.size()) * Formula::flops; }
  __attribute__((noinline)) static void salt(const Problem&, const Input&, std::string_view part, Index at,
                                             float& element, Setting&);
  /// A unit is an element of every output.
  static Index units(const Problem& p) { return p.size(); }
};

namespace pointwise {

// Every formula, as the argument of a macro.
#define ASSAY_POINTWISE(each)                                                                             \
  each(Gelu) each(GeluTanh) each(Sigmoid) each(GeluBackward) each(GeluTanhBackward) each(SigmoidBackward) \
      each(ReluBackward) each(MultiplyBackward) each(AddBackward) each(ChannelBias) each(BiasGelu)        \
          each(ScaleAddRelu) each(Sgd) each(SgdNesterov)

template <class Visit>
void for_each_formula(const Visit& visit) {
#define ASSAY_VISIT(formula) visit(formula{});
  ASSAY_POINTWISE(ASSAY_VISIT)
#undef ASSAY_VISIT
}

}  // namespace pointwise

#define ASSAY_DECLARE(formula) extern template class detail::TypedOperation<Pointwise<pointwise::formula>>;
ASSAY_POINTWISE(ASSAY_DECLARE)
#undef ASSAY_DECLARE

/// db[c] = sum over n, h, w of dz[n, c, h, w]
/// db is written, not added to. The gradient of x is dz itself.
///
/// NaN and infinities go by IEEE 754: a channel with a NaN, or with infinities of both signs, is NaN, and any
/// NaN is a NaN. Subnormal numbers are numbers. Where sum |dz| exceeds the largest f32, the result is
/// undefined. `values`: `special` has a few elements that are not finite.
///
/// Bound. count = n h w terms are summed in any order: |fl(db) - db| <= g(count - 1) sum |dz|; Higham (2002),
/// section 4.2. With the exact fill all sums are integers below 2^24 for count < 2^22, and the bound is zero,
/// as it is where a sum is not finite. A term left out of a uniform sum is below the bound from about 4,000
/// terms on; the exact fill sees it at any length.
///
/// Source: the gradient of a broadcast sum; PyTorch (derivatives.yaml, convolution_backward).
struct ElementwiseChannelBiasBackward : ByElement<ElementwiseChannelBiasBackward> {
  static constexpr std::string_view name = "elementwise_channel_bias_backward";
  static constexpr std::string_view about = "db[c] = sum over n, h, w of dz, NCHW, f32";
  static constexpr std::array<std::string_view, 2> value_words{"usual", "special"};

  struct Problem {
    Index n = 1, c = 1, h = 1, w = 1;
    Index values = 0;  ///< position in `value_words`
    Index plane() const { return h * w; }
    static constexpr Listed fields{field("n", &Problem::n), field("c", &Problem::c), field("h", &Problem::h),
                                   field("w", &Problem::w),
                                   of_content(choice("values", &Problem::values, value_words))};
  };
  struct Input {
    Buffer<float> dz;
    static constexpr Listed parts{part("dz", &Input::dz, &Problem::n, &Problem::c, &Problem::h, &Problem::w)};
  };
  struct Output {
    Buffer<float> db;
    static constexpr Listed parts{part("db", &Output::db, &Problem::c)};
  };
  static constexpr std::array fills{Fill::exact, Fill::uniform};

  static std::vector<Problem> corner_cases();
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  static double flops(const Problem& p) { return product(p.n, p.c, p.plane()); }
  static Index terms(const Problem& p) { return p.n * p.h * p.w; }
};

extern template class detail::TypedOperation<ElementwiseChannelBiasBackward>;

}  // namespace assay
