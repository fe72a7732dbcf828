/// The contracts of convolution: `conv2d`, and its gradients `conv2d_data_gradient`,
/// `conv2d_weight_gradient`; and those by Winograd's algorithm, `conv2d_winograd` and
/// `conv2d_winograd_data_gradient`, which ask for the same, of windows of 3 x 3, with a bound that holds for
/// algorithms which mix the pixels of a tile.
#pragma once

#include "assay/ops/arrays.hpp"
#include "assay/ops/window.hpp"
#include "assay/registry.hpp"

#include <cstddef>

namespace assay {
namespace conv2d {

/// The shape that the three contracts share: n images of c channels, f filters, and the window. Channels and
/// filters form `groups` of equal size, one after the other; a filter sees the channels of its own group
/// alone. A group per channel is a depthwise convolution.
struct Layer : WindowFields {
  Index n = 1, c = 1, f = 1, groups = 1;

  Index group_c() const { return c / groups; }
  Index group_f() const { return f / groups; }
  /// Terms of a sum over the window: extent of a row of the weights.
  Index depth() const { return group_c() * window().taps(); }
  /// Weights of a group.
  Index group_w() const { return group_f() * depth(); }
  Index pixels() const { return h * w; }
  Index out_pixels() const { return out_h() * out_w(); }
  Index x_size() const { return n * c * pixels(); }
  Index y_size() const { return n * f * out_pixels(); }

  template <class Problem>
  static constexpr auto layer_fields() {
    return std::tuple_cat(std::tuple{field<Problem>("n", &Problem::n), field<Problem>("c", &Problem::c),
                                     field<Problem>("f", &Problem::f)},
                          window_fields<Problem>(),
                          std::tuple{option<Problem>("groups", &Problem::groups, 1, 1, largest_extent)});
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

/// Throws Error naming `where` when the window does not fit into the padded image, or channels or filters do
/// not fill groups.
void demand_a_layer_that_fits(std::string_view where, const Layer& layer);

/// Problems of these shapes, and where they may have a bias every other one with it, too, so that each way of
/// adding it meets each kind of window.
template <class P>
std::vector<P> corners(std::span<const std::string_view> shapes) {
  std::vector<std::string> texts(shapes.begin(), shapes.end());
  for (std::size_t i = 0; std::is_base_of_v<Problem, P> && i < shapes.size(); i += 2) {
    texts.push_back(std::string(shapes[i]) + ",bias=per_filter");
  }
  return problems<P>(texts);
}

/// Above this many products the oracle computes a sample of outputs.
inline constexpr double full_oracle_limit = 0x1p25;

template <class Op>
struct Convolution : ByElement<Op> {
  static constexpr std::array fills{Fill::exact, Fill::uniform};
  /// A product and a sum per tap, those in the padding included, as is the custom.
  static double flops(const Layer& p) { return 2 * product(p.y_size(), p.depth()); }
  template <class O = Op>
  static double expected_bytes(const typename O::Problem& p) {
    return product(O::units(p), O::terms(p)) > full_oracle_limit ? 0 : 16;
  }
  template <class O = Op>
  static typename O::Input make_input(const typename O::Problem& p, Setting& setting) {
    demand_a_layer_that_fits(O::name, p);
    return FromParts<O>::make_input(p, setting);
  }
};

}  // namespace conv2d

/// y[n, f, i, j] = bias[f] + sum over c, k, l of w[f, c, k, l] x[n, first + c, r, s],   r = i stride - top +
/// k dilation, s = j stride - left + l dilation, and x = 0 outside the image. That is the cross-correlation
/// that frameworks call convolution: the kernel is not flipped. Arrays are NCHW, with out_h = floor((h + top
/// + bottom - ((kernel - 1) dilation + 1)) / stride) + 1, out_w likewise; w is [f, c / groups, kernel,
/// kernel_w], and first = floor(f / (filters / groups)) (channels / groups) is the first channel of the group
/// of filter f. Without bias the array is empty. A window that does not fit into the padded image is an
/// error, and so are groups that do not divide c and f. The effect of numbers in x or w that are not finite
/// is undefined: 0 times infinity may or may not be formed in the padding.
///
/// Bound, with K = c / groups kernel kernel_w,
///   |fl(y) - y| <= g(K + 1) (|w| * |x| + |bias|),
/// where * is the same sum over magnitudes. A product meets its own rounding and those of at most K - 1
/// additions, and that of the bias; terms in the padding are zero and exact. Higham (2002), section 3.5. With
/// the exact fill every partial result is an integer below 2^24, and the bound is zero.
///
/// Algorithms that mix the pixels of a tile before they multiply, Winograd's and Fourier's, have no such
/// bound, but a normwise one, which in a dark corner of a bright image would let a direct variant lose a tap.
/// They have another contract, conv2d_winograd, and not a looser one.
///
/// Source: LeCun, Bottou, Bengio and Haffner, Gradient-based learning applied to document recognition,
/// Proceedings of the IEEE 86(11), 1998, section II.A; dilation as in Yu and Koltun, ICLR 2016, equation 2;
/// groups as in Krizhevsky, Sutskever and Hinton, NIPS 2012, section 3.5.
struct Conv2d : conv2d::Convolution<Conv2d> {
  static constexpr std::string_view name = "conv2d";
  static constexpr std::string_view about = "y = bias + w * x, cross-correlation, NCHW f32";

  using Problem = conv2d::Problem;
  struct Input {
    Buffer<float> x, w, bias;
    static constexpr Listed parts{
        part("x", &Input::x, &Problem::n, &Problem::c, &Problem::h, &Problem::w),
        part("w", &Input::w, &Problem::f, &Problem::group_c, &Problem::kernel_rows, &Problem::kernel_columns),
        part("bias", &Input::bias, &Problem::bias_size)};
  };
  struct Output {
    Buffer<float> y;
    static constexpr Listed parts{
        part("y", &Output::y, &Problem::n, &Problem::f, &Problem::out_h, &Problem::out_w)};
  };

  static std::vector<Problem> corner_cases();
  static Expected expect(const Problem&, const Input&, Setting&);
  static Cost cost(const Problem&);
  static Index terms(const Problem& p) { return p.depth(); }
};

/// dx[n, c, r, s] = sum over f, k, l, i, j of w[f, c - first, k, l] dy[n, f, i, j], of those with
///   i stride - top + k dilation = r and j stride - left + l dilation = s,
/// over the filters of the group of channel c, whose first channel is `first`; layout and groups as in
/// conv2d. Pixels that no window reaches get 0; dx is overwritten. What is not finite is undefined in effect.
///
/// Bound: a pixel has at most one i per k and one j per l, so K = f / groups kernel kernel_w terms, and
///   |fl(dx) - dx| <= g(K) (|w| * |dy|),
/// a rounding for the product and K - 1 for sums. It holds for sums in two stages too, over f and then over
/// taps, which meet f / groups + kernel kernel_w - 1 <= K roundings. With the exact fill the bound is zero.
///
/// Source: the transpose of the linear map x -> y of conv2d; Dumoulin and Visin, A guide to convolution
/// arithmetic for deep learning, arXiv:1603.07285 (2016), section 4.1.
struct Conv2dDataGradient : conv2d::Convolution<Conv2dDataGradient> {
  static constexpr std::string_view name = "conv2d_data_gradient";
  static constexpr std::string_view about = "dx = transpose of (x -> w * x) applied to dy, NCHW f32";

  using Problem = conv2d::DataProblem;
  struct Input {
    Buffer<float> dy, w;
    static constexpr Listed parts{
        part("dy", &Input::dy, &Problem::n, &Problem::f, &Problem::out_h, &Problem::out_w),
        part("w", &Input::w, &Problem::f, &Problem::group_c, &Problem::kernel_rows,
             &Problem::kernel_columns)};
  };
  struct Output {
    Buffer<float> dx;
    static constexpr Listed parts{
        part("dx", &Output::dx, &Problem::n, &Problem::c, &Problem::h, &Problem::w)};
  };

  static std::vector<Problem> corner_cases();
  static Expected expect(const Problem&, const Input&, Setting&);
  static Cost cost(const Problem&);
  static Index terms(const Problem& p) { return p.group_f() * p.window().taps(); }
};

/// dw[f, c, k, l] = sum over n, i, j of dy[n, f, i, j] x[n, first + c, r, s], r, s and `first` as in conv2d,
/// x = 0 outside.
/// dbias[f] = sum over n, i, j of dy[n, f, i, j]; without bias the array is empty.
/// Both are overwritten and sum over the whole batch. What is not finite is undefined in effect.
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
    static constexpr Listed parts{
        part("x", &Input::x, &Problem::n, &Problem::c, &Problem::h, &Problem::w),
        part("dy", &Input::dy, &Problem::n, &Problem::f, &Problem::out_h, &Problem::out_w)};
  };
  struct Output {
    Buffer<float> dw, dbias;
    static constexpr Listed parts{part("dw", &Output::dw, &Problem::f, &Problem::group_c,
                                       &Problem::kernel_rows, &Problem::kernel_columns),
                                  part("dbias", &Output::dbias, &Problem::bias_size)};
  };
  struct Expected {
    Expectation dw, dbias;
  };

  static std::vector<Problem> corner_cases();
  static Expected expect(const Problem&, const Input&, Setting&);
  static Cost cost(const Problem&);
  static Index terms(const Problem& p) { return p.n * p.out_pixels(); }
};

extern template class detail::TypedOperation<Conv2d>;
extern template class detail::TypedOperation<Conv2dDataGradient>;
extern template class detail::TypedOperation<Conv2dWeightGradient>;

namespace conv2d {

/// The problem `Base` with windows of 3 x 3 that move by one pixel, in one group. Its text may say so, and
/// nothing else.
template <class Base>
struct Windows3x3 : Base {
  Windows3x3() { this->kernel = 3; }

  static constexpr auto fields() {
    const auto narrowed = [](auto field) {
      FieldRule& rule = field.rule;
      if (rule.name == "kernel") {
        rule.low = rule.high = 3;
        rule.fallback = 3;
      } else if (rule.name == "kernel_w" || rule.name == "stride" || rule.name == "dilation" ||
                 rule.name == "groups") {
        rule.high = *rule.fallback;
      }
      return field;
    };
    return std::apply([&](auto... field) { return std::tuple{narrowed(field)...}; }, Base::fields());
  }
};

namespace winograd {

/// A tile of F(4 x 4, 3 x 3): results along one side, taps, and the pixels under them.
inline constexpr Index results = 4, taps = 3, points = results + taps - 1;

/// The interpolation points are 0, inner, -inner, outer, -outer and infinity.
inline constexpr double inner = 0.625, outer = 1.5;

/// The matrices of an algorithm along one side: results = A^T ((G taps) * (B^T pixels)), element by element.
struct Matrices {
  std::array<std::array<double, points>, points> b{};   ///< B^T
  std::array<std::array<double, taps>, points> g{};     ///< G
  std::array<std::array<double, points>, results> a{};  ///< A^T
};

/// The matrices of the points above (Toom and Cook, in Barabasz et al. below): row i of B^T are the
/// coefficients of the product of x - p over all other points p, that of G the powers of the point over the
/// value of this product there, that of A the powers of the point. A point in infinity has the highest power
/// alone.
constexpr Matrices matrices() {
  constexpr std::array<double, points - 1> at{0, inner, -inner, outer, -outer};
  Matrices out;
  for (std::size_t i = 0; i < points; ++i) {
    auto& product = out.b[i];
    product[0] = 1;
    std::size_t degree = 0;
    double there = 1;
    for (std::size_t j = 0; j < at.size(); ++j) {
      if (j == i) continue;
      ++degree;
      for (std::size_t k = degree; k > 0; --k) product[k] = product[k - 1] - at[j] * product[k];
      product[0] *= -at[j];
      if (i < at.size()) there *= at[i] - at[j];
    }
    double power = 1;
    for (std::size_t k = 0; i < at.size() && k < results; ++k) {
      out.a[k][i] = power;
      if (k < taps) out.g[i][k] = power / there;
      power *= at[i];
    }
  }
  out.a[results - 1][points - 1] = 1;
  out.g[points - 1][taps - 1] = 1;
  return out;
}

/// The share s(K) of the bound below: the bound of an element in units of the norms of its weights and
/// pixels, for sums over so many channels.
double error_share(Index channels);

}  // namespace winograd

using WinogradProblem = Windows3x3<Problem>;
using WinogradDataProblem = Windows3x3<DataProblem>;

}  // namespace conv2d

/// y as of conv2d, for 3 x 3 taps, stride 1 and dilation 1; shapes, layout and paddings as there. The weights
/// w are constant, as those of a network that is used and not trained: a kernel may transform them when it is
/// prepared. What is not finite is undefined in effect, also for other elements of y than it is a term of.
///
/// F(4 x 4, 3 x 3) computes a tile of 4 x 4 results from 6 x 6 pixels with 36 products per channel in place
/// of 144: Y = A^T [sum over c of (G w[f, c] G^T) * (B^T x[n, c, tile] B)] A, where * is element by element.
///
/// Bound, normwise: |fl(y) - y| <= s(c) |w[f]| |x[n, near]| + u |y| where there is a bias. |w[f]| is the
/// Frobenius norm of the weights of the filter, |x[n, near]| that of all channels of those pixels that any
/// tile with the element in it reads, wherever tiles begin: rows i - top - 3 to i - top + 5, columns
/// likewise. With Q_i = |G_i| |B_i| for rows of G and B^T in the 2-norm, k1 = max over k of sum over i of
/// |A_ik| Q_i and k2^2 = max over k of sum over i of (A_ik Q_i)^2,
///   s(c) = 2 u sqrt((c + 17) k2^4 + 5 k1^2 k2^2 + 4 k1^4),  u = 2^-24.
///
/// Derivation. A coefficient of transformed weights at (i, j) is at most |G_i| |G_j| |w[f, c]|, by Cauchy and
/// Schwarz, one of pixels |B_i| |B_j| |x[n, c]|, and so are the partial sums on the way to them. 8 roundings
/// are on the way to each (twice a coefficient, a product and two sums; a product and three sums), one is
/// that of their product, c - 1 are those of the sum over channels, whose parts are at most Q_i Q_j |w[f]|
/// |x[n]|, and one is the product with A: c + 17, which meet other points in quadrature, k2^4. Of the way
/// back the sums of the first pass and the products of the second mix points along one side (5 k1^2 k2^2),
/// the sums of the second along both (4 k1^4). Roundings are taken for independent, of mean zero and of a
/// variance of u^2 / 3 at most (Higham and Mary, A new approach to probabilistic rounding error analysis,
/// SIAM J. Sci. Comput. 41(5), 2019), so that the bound is 2 sqrt(3) standard deviations, and those of the
/// worst data. The norms are those of Barabasz, Anderson, Soodhalter and Gregg, Error analysis and improving
/// the accuracy of Winograd convolution, ACM TOMS 46(4), 2020. With all roundings at their worst together the
/// share would be (c + 26) k1^2 u, 5 times as much for one channel and 42 times for 512.
///
/// The points are 0, 5/8, -5/8, 3/2, -3/2 and infinity: A and B are exact in binary, k1 = 9.7 and k2 = 5.0,
/// while 0, 1, -1, 2, -2 and infinity have 19.5 and 9.7. Other points may be used as far as the bound goes.
///
/// No digit is promised of an element that is small beside s(c) |w[f]| |x[n, near]|. In a dark
/// corner of a bright image, within five pixels of it, a kernel may lose a tap and be right here; conv2d
/// rejects it. There is no exact fill, since G is not exact in binary: integers do not stay integers.
///
/// Source: Lavin and Gray, Fast algorithms for convolutional neural networks, CVPR 2016; Winograd,
/// Arithmetic complexity of computations, SIAM, 1980.
struct Conv2dWinograd : Conv2d {
  static constexpr std::string_view name = "conv2d_winograd";
  static constexpr std::string_view about = "conv2d of 3 x 3 windows with a normwise bound, w constant";

  using Problem = conv2d::WinogradProblem;
  struct Input : Conv2d::Input {
    static constexpr Listed parts{
        part("x", &Input::x, &Problem::n, &Problem::c, &Problem::h, &Problem::w),
        constant("w", &Input::w, &Problem::f, &Problem::c, &Problem::kernel_rows, &Problem::kernel_columns),
        part("bias", &Input::bias, &Problem::bias_size)};
  };
  static constexpr std::array fills{Fill::uniform};

  static std::vector<Problem> corner_cases();
  static Input make_input(const Problem& p, Setting& setting) {
    return Conv2d::make_input<Conv2dWinograd>(p, setting);
  }
  static Expected expect(const Problem&, const Input&, Setting&);
  /// FLOPs of the 36 products of each tile, or of the direct sum where those are fewer; neither
  /// transformations nor products with the padding count.
  static Cost cost(const Problem&);
};

/// dx as of conv2d_data_gradient, for 3 x 3 taps, stride 1 and dilation 1. The weights change from call to
/// call, as they do in training. dx is the correlation of dy with the weights turned by half a turn, c and f
/// exchanged, so that the bound is the same with f in the place of c:
///   |fl(dx) - dx| <= s(f) |w[:, c]| |dy[n, near]|,
/// near being rows r + top - 5 to r + top + 3 of dy, columns likewise. Source as above and there.
struct Conv2dWinogradDataGradient : Conv2dDataGradient {
  static constexpr std::string_view name = "conv2d_winograd_data_gradient";
  static constexpr std::string_view about = "conv2d_data_gradient of 3 x 3 windows with a normwise bound";

  using Problem = conv2d::WinogradDataProblem;
  static constexpr std::array fills{Fill::uniform};

  static std::vector<Problem> corner_cases();
  static Input make_input(const Problem& p, Setting& setting) {
    return Conv2dDataGradient::make_input<Conv2dWinogradDataGradient>(p, setting);
  }
  static Expected expect(const Problem&, const Input&, Setting&);
  /// As that of conv2d_winograd.
  static Cost cost(const Problem&);
};

extern template class detail::TypedOperation<Conv2dWinograd>;
extern template class detail::TypedOperation<Conv2dWinogradDataGradient>;

}  // namespace assay

/// The products that sum up to an element of y, dx and dw, and the naive variants. The references of
/// convolution walk them, and those of networks that contain one.
namespace assay::conv2d {

/// The products that sum up to y[n, f, i, j], as visit(position in x, position in w).
template <class Visit>
void terms_of_y(const Layer& p, Index n, Index f, Index i, Index j, const Visit& visit) {
  const Window window = p.window();
  const Index channels = p.group_c(), first = f / p.group_f() * channels;
  for (Index c = 0; c < channels; ++c) {
    for (Index k = 0; k < window.kernel_h; ++k) {
      for (Index l = 0; l < window.kernel_w; ++l) {
        const Index row = window.row(i, k), column = window.column(j, l);
        if (!window.inside(row, column)) continue;
        visit(((n * p.c + first + c) * p.h + row) * p.w + column,
              ((f * channels + c) * window.kernel_h + k) * window.kernel_w + l);
      }
    }
  }
}

/// The products that sum up to dx[n, c, row, column], as visit(position in dy, position in w).
template <class Visit>
void terms_of_dx(const Layer& p, Index n, Index c, Index row, Index column, const Visit& visit) {
  const Window window = p.window();
  const Index out_h = window.out_h(), out_w = window.out_w();
  const Index channels = p.group_c(), filters = p.group_f(), group = c / channels;
  for (Index f = group * filters; f < (group + 1) * filters; ++f) {
    for (Index k = 0; k < window.kernel_h; ++k) {
      const Index i = Window::place(row + window.top, k * window.dilation, window.stride, out_h);
      if (i < 0) continue;
      for (Index l = 0; l < window.kernel_w; ++l) {
        const Index j = Window::place(column + window.left, l * window.dilation, window.stride, out_w);
        if (j < 0) continue;
        visit(((n * p.f + f) * out_h + i) * out_w + j,
              ((f * channels + c % channels) * window.kernel_h + k) * window.kernel_w + l);
      }
    }
  }
}

/// The products that sum up to dw[f, c, k, l], as visit(position in dy, position in x).
template <class Visit>
void terms_of_dw(const Layer& p, Index f, Index c, Index k, Index l, const Visit& visit) {
  const Window window = p.window();
  const Index out_h = window.out_h(), out_w = window.out_w();
  const Index channel = f / p.group_f() * p.group_c() + c;
  for (Index n = 0; n < p.n; ++n) {
    for (Index i = 0; i < out_h; ++i) {
      for (Index j = 0; j < out_w; ++j) {
        const Index row = window.row(i, k), column = window.column(j, l);
        if (!window.inside(row, column)) continue;
        visit(((n * p.f + f) * out_h + i) * out_w + j, ((n * p.c + channel) * p.h + row) * p.w + column);
      }
    }
  }
}

/// An array [a, b, c, d] that is summed from products of elements of two others.
struct Sums {
  Index extents[4];
  Index size() const { return extents[0] * extents[1] * extents[2] * extents[3]; }
  Index flat(Index a, Index b, Index c, Index d) const {
    return ((a * extents[1] + b) * extents[2] + c) * extents[3] + d;
  }
  template <class Visit>
  auto at(Index flat, const Visit& visit) const {
    const Index d = flat % extents[3], c = flat / extents[3] % extents[2];
    const Index b = flat / extents[3] / extents[2] % extents[1];
    return visit(flat / extents[3] / extents[2] / extents[1], b, c, d);
  }
  /// to[flat position of (a, b, c, d)] = element(a, b, c, d) for the whole array.
  template <class Real, class Element>
  void fill(Real* to, const Element& element) const {
    for (Index flat = 0; flat < size(); ++flat) to[flat] = at(flat, element);
  }
};
inline Sums sums_y(const Layer& p) { return {{p.n, p.f, p.window().out_h(), p.window().out_w()}}; }
inline Sums sums_dx(const Layer& p) { return {{p.n, p.c, p.h, p.w}}; }
inline Sums sums_dw(const Layer& p) { return {{p.f, p.group_c(), p.window().kernel_h, p.window().kernel_w}}; }

/// The specification: an element as the sum of its terms. In float it is the naive variant.
template <class Real, class Terms>
Real sum_of(const Terms& terms, const Buffer<float>& a, const Buffer<float>& b) {
  Real sum = 0;
  terms([&](Index in_a, Index in_b) { sum += static_cast<Real>(a[in_a]) * static_cast<Real>(b[in_b]); });
  return sum;
}

inline void naive_y(const Problem& p, const Conv2d::Input& in, Conv2d::Output& out) {
  sums_y(p).fill(out.y.data(), [&](Index n, Index f, Index i, Index j) {
    const auto terms = [&](const auto& visit) { terms_of_y(p, n, f, i, j, visit); };
    return sum_of<float>(terms, in.x, in.w) + (p.has_bias() ? in.bias[f] : 0);
  });
}

inline void naive_dx(const DataProblem& p, const Conv2dDataGradient::Input& in,
                     Conv2dDataGradient::Output& out) {
  sums_dx(p).fill(out.dx.data(), [&](Index n, Index c, Index row, Index column) {
    const auto terms = [&](const auto& visit) { terms_of_dx(p, n, c, row, column, visit); };
    return sum_of<float>(terms, in.dy, in.w);
  });
}

}  // namespace assay::conv2d
