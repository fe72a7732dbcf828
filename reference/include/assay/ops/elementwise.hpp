/// The element-wise contracts: multiply, add and relu over 4-D operands of several layouts.
#pragma once

#include "assay/ops/arrays.hpp"
#include "assay/problem.hpp"
#include "assay/registry.hpp"

#include <cmath>
#include <optional>
#include <string_view>

namespace assay {
namespace elementwise {

/// Extents or strides along n, c, h, w.
using Axes = std::array<Index, 4>;

/// Extents n, c, h, w of corner cases: of 1, prime, and around the lane counts 4, 8 and 16.
inline constexpr Axes corner_extents[] = {{1, 1, 1, 1},   {2, 3, 5, 7},  {3, 1, 4, 1},
                                          {1, 16, 3, 17}, {2, 17, 1, 1}, {1, 5, 8, 8},
                                          {2, 3, 1, 65},  {2, 65, 1, 3}, {1, 2, 15, 33}};

/// The index map of one operand. A stride of 0 repeats the operand along that axis.
struct View {
  Axes stride{};
  Index offset = 0;
  Axes storage{1, 1, 1, 1};  ///< extents of the memory, slowest first; borders included

  Index at(Index n, Index c, Index h, Index w) const {
    return offset + n * stride[0] + c * stride[1] + h * stride[2] + w * stride[3];
  }
  /// Elements of memory, including those that the view skips.
  Index size() const { return storage[0] * storage[1] * storage[2] * storage[3]; }
};

struct Views {
  View x, y, z;
};

/// The combinations a framework meets. Operands not mentioned are dense, w fastest (NCHW).
enum class Layout : Index {
  contiguous,
  channels_last,     ///< x, y and z dense with c fastest (NHWC)
  x_channels_last,   ///< x alone is NHWC: the result of one library handed to another
  bordered,          ///< x and z are the interiors of images with a border of one pixel, which z must keep
  per_channel,       ///< y[c], repeated: a bias or scale after a convolution
  per_channel_last,  ///< the same with x and z in NHWC
  scalar,            ///< y is one number
};
inline constexpr std::array<std::string_view, 7> binary_layouts{
    "contiguous",  "channels_last",    "x_channels_last", "bordered",
    "per_channel", "per_channel_last", "scalar"};
inline constexpr std::array<std::string_view, 4> unary_layouts{"contiguous", "channels_last",
                                                               "x_channels_last", "bordered"};

/// The element n, c, h, w that lies at `flat` in the memory of an operand, 0 along axes that it repeats
/// along; nothing where the view has none.
std::optional<Axes> element_at(const View& view, const Axes& extents, Index flat);

/// Index maps of the operands for extents n, c, h, w.
Views views(const Axes& extents, Layout layout);

/// alpha x y + beta z. A term meets the product, alpha unless it is 1 or -1, and the sum if there is one.
struct Multiply {
  static constexpr std::string_view name = "elementwise_multiply";
  static constexpr std::string_view about = "z = alpha x y + beta z, f32, dense, strided or broadcast";
  static constexpr bool unary = false;
  template <class Real>
  static Real apply(Real x, Real y, Real alpha) {
    return alpha * x * y;
  }
  static int roundings(Index alpha, Index beta) {
    return 1 + (std::abs(alpha) != 1 ? 1 : 0) + (beta != 0 ? 1 : 0);
  }
  static double magnitude(double x, double y, double alpha) { return std::abs(alpha * x * y); }
};

/// x + alpha y + beta z. A term meets all sums, and one product unless neither can round.
struct Add {
  static constexpr std::string_view name = "elementwise_add";
  static constexpr std::string_view about = "z = x + alpha y + beta z, f32, dense, strided or broadcast";
  static constexpr bool unary = false;
  template <class Real>
  static Real apply(Real x, Real y, Real alpha) {
    return x + alpha * y;
  }
  static int roundings(Index alpha, Index beta) {
    const bool products_round = std::abs(alpha) != 1 || std::abs(beta) > 1;
    return (beta != 0 ? 2 : 1) + (products_round ? 1 : 0);
  }
  static double magnitude(double x, double y, double alpha) { return std::abs(x) + std::abs(alpha * y); }
};

/// +0 where x < 0, else x with its bits. So a NaN stays the NaN it was (a diverged step must not look
/// healthy) and -0 stays -0.
struct Relu {
  static constexpr std::string_view name = "elementwise_relu";
  static constexpr std::string_view about = "z = max(x, 0), f32, dense or strided; NaN and -0 stay";
  static constexpr bool unary = true;
  template <class Real>
  static Real apply(Real x, Real, Real) {
    return x < 0 ? Real{0} : x;
  }
  static int roundings(Index, Index) { return 0; }
  static double magnitude(double, double, double) { return 0; }
};

template <class Visit>
void for_each_formula(const Visit& visit) {
  visit(Multiply{});
  visit(Add{});
  visit(Relu{});
}

}  // namespace elementwise

/// z[n, c, h, w] = f(x[n, c, h, w], y[n, c, h, w]) + beta z[n, c, h, w], where f is a formula above; relu has
/// neither y nor beta. Where the elements lie is said by `layout`: views() gives the index maps.
///
/// z is updated in place; with beta = 0 it is not read: NaN in it stays out. Elements of z's memory outside
/// its view keep their bits. z overlaps neither x nor y, so that a variant may store past the caches or read
/// an operand again after a store. alpha = 0 is no shortcut: NaN in y comes out.
///
/// Bound for multiply and add, element-wise, for any order of the operations, with or without FMA: a term
/// passes through at most r = Formula::roundings(alpha, beta) <= 3 roundings on its way into z, so
///   |fl(z) - z| <= g(r) (|f| + |beta z|),
/// where |f| is |alpha x y| or |x| + |alpha y|. For r = 1 that asks for the correctly rounded result. Higham
/// (2002), lemma 3.1; FMA leaves roundings out. Nothing underflows: uniform inputs are 0 or at least 2^-53 in
/// magnitude. With the exact fill all values are integers below 2^24, and the bound is zero. Relu selects and
/// is judged bit by bit in both fills.
///
/// Source: the forms and broadcasting of BLAS level 1 axpby (Blackford et al., ACM TOMS 28(2), 2002) and
/// PyTorch add, mul; relu: Nair and Hinton, ICML 2010.
template <class Formula>
struct Elementwise : FromParts<Elementwise<Formula>> {
  static constexpr std::string_view name = Formula::name;
  static constexpr std::string_view about = Formula::about;

  /// `special` puts NaN, infinities, zeros of both signs and subnormals into x.
  static constexpr std::array<std::string_view, 2> value_words{"finite", "special"};

  struct Problem {
    Index n = 1, c = 1, h = 1, w = 1;
    Index layout = 0;           ///< position in the layouts of the formula
    Index alpha = 1, beta = 0;  ///< multiply and add
    Index values = 0;           ///< relu: position in `value_words`

    elementwise::Axes extents() const { return {n, c, h, w}; }
    elementwise::Views views() const {
      return elementwise::views(extents(), static_cast<elementwise::Layout>(layout));
    }
    Index x_size() const { return views().x.size(); }
    Index y_size() const { return Formula::unary ? 0 : views().y.size(); }
    Index z_size() const { return views().z.size(); }
    Index z_read() const { return beta == 0 ? 0 : z_size(); }
    static constexpr auto fields() {
      const auto extents = std::tuple{field("n", &Problem::n), field("c", &Problem::c),
                                      field("h", &Problem::h), field("w", &Problem::w)};
      if constexpr (Formula::unary) {
        return std::tuple_cat(extents,
                              std::tuple{choice("layout", &Problem::layout, elementwise::unary_layouts),
                                         of_content(choice("values", &Problem::values, value_words))});
      } else {
        return std::tuple_cat(
            extents,
            std::tuple{choice("layout", &Problem::layout, elementwise::binary_layouts),
                       option("alpha", &Problem::alpha, 1, -4, 4), option("beta", &Problem::beta, 0, -4, 4)});
      }
    }
  };
  struct Input {
    Buffer<float> x;
    Buffer<float> y;  ///< empty for relu
    Buffer<float> z;  ///< what Output::z holds before the first call; empty when beta = 0
    static constexpr auto parts() {
      return std::tuple{part("x", &Input::x, &Problem::x_size), part("y", &Input::y, &Problem::y_size),
                        start("z", &Input::z, &Output::z, &Problem::z_read)};
    }
  };
  struct Output {
    Buffer<float> z;
    static constexpr Listed parts{part("z", &Output::z, &Problem::z_size)};
  };
  /// The expected elements in the memory order of z; outside its view the poison, which must still be there.
  using Expected = Expectation;
  static constexpr std::array fills{Fill::exact, Fill::uniform};

  static std::vector<Problem> corner_cases();
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&);
  static Cost cost(const Problem&);
  static void naive(const Problem&, const Input&, Output&);
  /// A unit is an element of z's memory; those outside its view are not judged in units.
  static Index units(const Problem& p) { return p.z_size(); }
};

using ElementwiseMultiply = Elementwise<elementwise::Multiply>;
using ElementwiseAdd = Elementwise<elementwise::Add>;
using ElementwiseRelu = Elementwise<elementwise::Relu>;

extern template class detail::TypedOperation<ElementwiseMultiply>;
extern template class detail::TypedOperation<ElementwiseAdd>;
extern template class detail::TypedOperation<ElementwiseRelu>;

}  // namespace assay
