/// The contracts of convolution by Winograd's algorithm: `conv2d_winograd`, and its gradient
/// `conv2d_winograd_data_gradient`. They ask for what conv2d asks for, of windows of 3 x 3, with a bound that
/// holds for algorithms which mix the pixels of a tile.
#pragma once

#include "assay/ops/conv2d.hpp"

#include <cstddef>

namespace assay {
namespace conv2d {

/// The problem `Base` with windows of 3 x 3 that move by one pixel. Its text may say so, and nothing else.
template <class Base>
struct Windows3x3 : Base {
  Windows3x3() { this->kernel = 3; }

  static constexpr auto fields() {
    const auto narrowed = [](auto field) {
      FieldRule& rule = field.rule;
      if (rule.name == "kernel") {
        rule.low = rule.high = 3;
        rule.fallback = 3;
      } else if (rule.name == "kernel_w" || rule.name == "stride" || rule.name == "dilation") {
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
    static constexpr auto parts() {
      return std::tuple{
          part("x", &Input::x, &Problem::n, &Problem::c, &Problem::h, &Problem::w),
          constant("w", &Input::w, &Problem::f, &Problem::c, &Problem::kernel_rows, &Problem::kernel_columns),
          part("bias", &Input::bias, &Problem::bias_size)};
    }
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
  /// FLOPs of the 36 products of each tile, or of the direct sum where those are fewer; neither
  /// transformations nor products with the padding count.
  static Cost cost(const Problem&);
};

extern template class detail::TypedOperation<Conv2dWinograd>;
extern template class detail::TypedOperation<Conv2dWinogradDataGradient>;

}  // namespace assay
