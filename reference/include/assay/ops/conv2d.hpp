/// The contracts of convolution: `conv2d`, and its gradients `conv2d_data_gradient`,
/// `conv2d_weight_gradient`.
#pragma once

#include "assay/ops/arrays.hpp"
#include "assay/ops/window.hpp"
#include "assay/registry.hpp"

namespace assay {
namespace conv2d {

/// The shape that the three contracts share: n images of c channels, f filters, and the window.
struct Layer : WindowFields {
  Index n = 1, c = 1, f = 1;

  /// Terms of a sum over the window: extent of a row of the weights.
  Index depth() const { return c * window().taps(); }
  Index pixels() const { return h * w; }
  Index out_pixels() const { return out_h() * out_w(); }
  Index x_size() const { return n * c * pixels(); }
  Index y_size() const { return n * f * out_pixels(); }
  Index w_size() const { return f * depth(); }

  template <class Problem>
  static constexpr auto layer_fields() {
    return std::tuple_cat(std::tuple{field<Problem>("n", &Problem::n), field<Problem>("c", &Problem::c),
                                     field<Problem>("f", &Problem::f)},
                          window_fields<Problem>());
  }
};

inline constexpr std::array<std::string_view, 2> biases{"none", "per_filter"};

/// A layer with or without a bias. Without, as before a batch normalization, is the fallback.
struct Problem : Layer {
  Index bias = 0;  ///< position in `biases`
  bool has_bias() const { return bias == 1; }
  Index bias_size() const { return has_bias() ? f : 0; }
  static constexpr auto fields() {
    return std::tuple_cat(layer_fields<Problem>(), std::tuple{choice("bias", &Problem::bias, biases)});
  }
};

/// The gradient with respect to x does not know of a bias.
struct DataProblem : Layer {
  static constexpr auto fields() { return layer_fields<DataProblem>(); }
};

/// Throws Error naming `where` when the window does not fit into the padded image.
void demand_a_window_that_fits(std::string_view where, const Layer& layer);

/// Problems of these shapes, and where `biased` every other one with a bias, too, so that each way of adding
/// it meets each kind of window.
template <class P>
std::vector<P> corners(std::span<const std::string_view> shapes, bool biased) {
  std::vector<P> out;
  for (const std::string_view shape : shapes) out.push_back(parse_problem<P>("a corner case", shape));
  for (std::size_t i = 0; biased && i < shapes.size(); i += 2) {
    out.push_back(parse_problem<P>("a corner case", std::string(shapes[i]) + ",bias=per_filter"));
  }
  return out;
}

/// Above this many products the oracle computes a sample of outputs.
inline constexpr double full_oracle_limit = 0x1p25;

/// The functions that the three contracts have in common.
template <class Op>
struct Convolution : FromParts<Op> {
  static constexpr std::array fills{Fill::exact, Fill::uniform};
  /// A product and a sum per tap, those in the padding included, as is the custom.
  static double flops(const Layer& p) { return 2 * product(p.y_size(), p.depth()); }
  template <class O = Op>
  static double expected_bytes(const typename O::Problem& p) {
    return product(O::units(p), O::terms(p)) > full_oracle_limit ? 0 : 16;
  }
  template <class O = Op>
  static typename O::Input make_input(const typename O::Problem& p, Setting& setting) {
    demand_a_window_that_fits(O::name, p);
    return FromParts<O>::make_input(p, setting);
  }
};

}  // namespace conv2d

/// y[n, f, i, j] = bias[f] + sum over c, k, l of w[f, c, k, l] x[n, c, r, s],   r = i stride - top + k
/// dilation, s = j stride - left + l dilation, and x = 0 outside the image. That is the cross-correlation
/// that frameworks call convolution: the kernel is not flipped.  x[n, c, h, w], w[f, c, kernel, kernel_w],
/// bias[f], y[n, f, out_h, out_w], all f32, dense and row-major (NCHW), with out_h = floor((h + top + bottom
/// - ((kernel - 1) dilation + 1)) / stride) + 1, out_w likewise. Without bias the array is empty. A window
/// that does not fit into the padded image is an error. No two arrays overlap. The effect of numbers in x or
/// w that are not finite is undefined: 0 times infinity may or may not be formed in the padding.
///
/// Bound, element-wise, for any order of summation, with or without FMA: with K = c kernel kernel_w,
///   |fl(y) - y| <= g(K + 1) (|w| * |x| + |bias|),  g(r) = r u / (1 - r u), u = 2^-24,
/// where * is the same sum over magnitudes. A product meets its own rounding and those of at most K - 1
/// additions, and that of the bias; terms in the padding are zero and exact. Higham, Accuracy and Stability
/// of Numerical Algorithms, 2nd ed. (2002), section 3.5. With the exact fill every partial result is an
/// integer below 2^24, and the bound is zero.
///
/// Algorithms that mix the pixels of a tile before they multiply, Winograd's and Fourier's, have no such
/// bound: their error in one element of y scales with all pixels of its tile, and the interpolation points
/// of F(4 x 4, 3 x 3) are not exact in binary. Their bound is normwise (Barabasz, Anderson, Soodhalter and
/// Gregg, Error analysis and improving the accuracy of Winograd convolution, ACM TOMS 46(4), 2020), and in a
/// dark corner of a bright image it would let a direct variant lose a tap. They have another contract,
/// conv2d_winograd, and not a looser one.
///
/// Source: LeCun, Bottou, Bengio and Haffner, Gradient-based learning applied to document recognition,
/// Proceedings of the IEEE 86(11), 1998, section II.A; dilation as in Yu and Koltun, ICLR 2016, equation 2.
struct Conv2d : conv2d::Convolution<Conv2d> {
  static constexpr std::string_view name = "conv2d";
  static constexpr std::string_view about = "y = bias + w * x, cross-correlation, NCHW f32";

  using Problem = conv2d::Problem;
  struct Input {
    Buffer<float> x, w, bias;
    static constexpr auto parts() {
      return std::tuple{
          part("x", &Input::x, &Problem::n, &Problem::c, &Problem::h, &Problem::w),
          part("w", &Input::w, &Problem::f, &Problem::c, &Problem::kernel_rows, &Problem::kernel_columns),
          part("bias", &Input::bias, &Problem::bias_size)};
    }
  };
  struct Output {
    Buffer<float> y;
    static constexpr auto parts() {
      return std::tuple{part("y", &Output::y, &Problem::n, &Problem::f, &Problem::out_h, &Problem::out_w)};
    }
  };

  static std::vector<Problem> corner_cases();
  static Expected expect(const Problem&, const Input&, Setting&);
  static Cost cost(const Problem&);
  static Index terms(const Problem& p) { return p.depth(); }
  /// A unit is an element of y.
  static Index units(const Problem& p) { return p.y_size(); }
};

/// dx[n, c, r, s] = sum over f, k, l, i, j of w[f, c, k, l] dy[n, f, i, j], of those with
///   i stride - top + k dilation = r and j stride - left + l dilation = s.
/// Pixels that no window reaches get 0; dx is overwritten. Shapes and layout as in conv2d. What is not finite
/// is undefined in effect.
///
/// Bound: a pixel has at most one i per k and one j per l, so K = f kernel kernel_w terms, and
///   |fl(dx) - dx| <= g(K) (|w| * |dy|),
/// a rounding for the product and K - 1 for sums. It holds for sums in two stages too, over f and then over
/// taps, which meet f + kernel kernel_w - 1 <= K roundings. With the exact fill the bound is zero.
///
/// Source: the transpose of the linear map x -> y of conv2d; Dumoulin and Visin, A guide to convolution
/// arithmetic for deep learning, arXiv:1603.07285 (2016), section 4.1.
struct Conv2dDataGradient : conv2d::Convolution<Conv2dDataGradient> {
  static constexpr std::string_view name = "conv2d_data_gradient";
  static constexpr std::string_view about = "dx = transpose of (x -> w * x) applied to dy, NCHW f32";

  using Problem = conv2d::DataProblem;
  struct Input {
    Buffer<float> dy, w;
    static constexpr auto parts() {
      return std::tuple{
          part("dy", &Input::dy, &Problem::n, &Problem::f, &Problem::out_h, &Problem::out_w),
          part("w", &Input::w, &Problem::f, &Problem::c, &Problem::kernel_rows, &Problem::kernel_columns)};
    }
  };
  struct Output {
    Buffer<float> dx;
    static constexpr auto parts() {
      return std::tuple{part("dx", &Output::dx, &Problem::n, &Problem::c, &Problem::h, &Problem::w)};
    }
  };

  static std::vector<Problem> corner_cases();
  static Expected expect(const Problem&, const Input&, Setting&);
  static Cost cost(const Problem&);
  static Index terms(const Problem& p) { return p.f * p.window().taps(); }
  /// A unit is an element of dx.
  static Index units(const Problem& p) { return p.x_size(); }
};

/// dw[f, c, k, l] = sum over n, i, j of dy[n, f, i, j] x[n, c, r, s], r and s as in conv2d, x = 0 outside.
/// dbias[f] = sum over n, i, j of dy[n, f, i, j]; without bias the array is empty.
/// Both are overwritten and sum over the whole batch. Shapes and layout as in conv2d. What is not finite is
/// undefined in effect.
///
/// Bound: with K = n out_h out_w terms, |fl(dw) - dw| <= g(K) (|dy| * |x|) and
/// |fl(dbias) - dbias| <= g(K) sum |dy|, for any order of summation. With the exact fill the bound is zero.
///
/// Source: the transpose of the linear map w -> y of conv2d; Chellapilla, Puri and Simard, High performance
/// convolutional neural networks for document processing (2006), which writes all three as matrix products.
struct Conv2dWeightGradient : conv2d::Convolution<Conv2dWeightGradient> {
  static constexpr std::string_view name = "conv2d_weight_gradient";
  static constexpr std::string_view about =
      "dw = dy correlated with x over all images, dbias = sum dy, NCHW f32";

  using Problem = conv2d::Problem;
  struct Input {
    Buffer<float> x, dy;
    static constexpr auto parts() {
      return std::tuple{part("x", &Input::x, &Problem::n, &Problem::c, &Problem::h, &Problem::w),
                        part("dy", &Input::dy, &Problem::n, &Problem::f, &Problem::out_h, &Problem::out_w)};
    }
  };
  struct Output {
    Buffer<float> dw, dbias;
    static constexpr auto parts() {
      return std::tuple{
          part("dw", &Output::dw, &Problem::f, &Problem::c, &Problem::kernel_rows, &Problem::kernel_columns),
          part("dbias", &Output::dbias, &Problem::bias_size)};
    }
  };
  struct Expected {
    Expectation dw, dbias;
  };

  static std::vector<Problem> corner_cases();
  static Expected expect(const Problem&, const Input&, Setting&);
  static Cost cost(const Problem&);
  static Index terms(const Problem& p) { return p.n * p.out_pixels(); }
  /// A unit is an element of dw, or after them one of dbias.
  static Index units(const Problem& p) { return p.w_size() + p.bias_size(); }
};

extern template class detail::TypedOperation<Conv2d>;
extern template class detail::TypedOperation<Conv2dDataGradient>;
extern template class detail::TypedOperation<Conv2dWeightGradient>;

}  // namespace assay
