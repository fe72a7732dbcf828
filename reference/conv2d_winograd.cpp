#include "assay/ops/conv2d_winograd.hpp"

#include "assay/ops/conv2d_terms.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace assay {
namespace conv2d::winograd {
namespace {

/// k1 and k2 of the contract.
struct Growth {
  double sum = 0, root = 0;
};

Growth growth() {
  const Matrices m = matrices();
  const auto norm = [](const auto& row) {
    double squares = 0;
    for (const double x : row) squares += x * x;
    return std::sqrt(squares);
  };
  Growth out;
  for (const auto& row : m.a) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const double size = std::abs(row[i]) * norm(m.g[i]) * norm(m.b[i]);
      sum += size;
      squares += size * size;
    }
    out = {std::max(out.sum, sum), std::max(out.root, std::sqrt(squares))};
  }
  return out;
}

}  // namespace

double error_share(Index channels) {
  static const Growth k = growth();
  const double k1 = k.sum * k.sum, k2 = k.root * k.root;
  return 2 * rounding::u *
         std::sqrt((static_cast<double>(channels) + 17) * k2 * k2 + 5 * k1 * k2 + 4 * k1 * k1);
}

namespace {

double square(float x) { return static_cast<double>(x) * static_cast<double>(x); }

/// Numbers that are computed when they are first asked for, since few elements may be expected.
class Remembered {
 public:
  explicit Remembered(Index size) : values_(static_cast<std::size_t>(size), -1) {}
  template <class Compute>
  double at(Index i, const Compute& compute) {
    double& value = values_[static_cast<std::size_t>(i)];
    if (value < 0) value = compute();
    return value;
  }

 private:
  std::vector<double> values_;
};

/// Norms of the pixels around a place of images[n, channels, h, w], over all channels.
class Neighbourhoods {
 public:
  Neighbourhoods(const Sums& images, const Buffer<float>& pixels)
      : images_(images), pixels_(pixels), squares_(images.size() / images.extents[1]) {}

  /// Returns the norm of all pixels that a tile may read if it holds the element whose first tap lies at
  /// (row, column).
  double norm(Index n, Index row, Index column) {
    constexpr Index before = results - 1, after = results + taps - 2;
    const Index channels = images_.extents[1], h = images_.extents[2], w = images_.extents[3];
    double sum = 0;
    for (Index r = std::max<Index>(0, row - before); r <= std::min(h - 1, row + after); ++r) {
      for (Index s = std::max<Index>(0, column - before); s <= std::min(w - 1, column + after); ++s) {
        sum += squares_.at((n * h + r) * w + s, [&] {
          double squares = 0;
          for (Index c = 0; c < channels; ++c) squares += square(pixels_[images_.flat(n, c, r, s)]);
          return squares;
        });
      }
    }
    return std::sqrt(sum);
  }

 private:
  const Sums& images_;
  const Buffer<float>& pixels_;
  Remembered squares_;
};

constexpr std::string_view shapes[] = {
    // One tile and parts of one, with and without a border.
    "n=1,c=1,f=1,h=1,w=1,pad=1",
    "n=1,c=1,f=1,h=3,w=3",
    "n=1,c=1,f=1,h=6,w=6",
    "n=1,c=1,f=2,h=4,w=4,pad=1",
    "n=2,c=2,f=1,h=5,w=3,pad=1",
    // Extents around multiples of four, in both directions.
    "n=1,c=3,f=5,h=7,w=7,pad=1",
    "n=2,c=4,f=3,h=8,w=9,pad=1",
    "n=1,c=5,f=4,h=10,w=11",
    "n=3,c=2,f=7,h=13,w=6,pad=1",
    // Channels and filters around the lane counts.
    "n=1,c=15,f=17,h=7,w=6,pad=1",
    "n=1,c=16,f=16,h=15,w=14,pad=1",
    "n=2,c=33,f=31,h=5,w=9,pad=1",
    "n=1,c=1,f=33,h=9,w=12,pad=1",
    "n=1,c=35,f=1,h=12,w=10",
    // Borders of four widths, wider than a window, and none where the image is as small as one.
    "n=2,c=3,f=2,h=8,w=7,pad=2,bottom=0,left=1,right=3",
    "n=1,c=2,f=3,h=2,w=3,pad=4",
    "n=1,c=4,f=2,h=3,w=8,pad=0,left=7",
    // Past a block of tiles, of tiles in a row, of channels, and of images.
    "n=1,c=2,f=3,h=27,w=83,pad=1",
    "n=1,c=65,f=47,h=5,w=4,pad=1",
    "n=9,c=3,f=3,h=4,w=6,pad=1",
};

/// Returns the cost of tiles of results[images, planes, h, w], sums over channels, from the cost of direct
/// sums.
Cost tiled(Cost cost, const Sums& results_of, Index channels) {
  const auto [images, planes, h, w] = results_of.extents;
  const auto tiles = [](Index extent) { return (extent + results - 1) / results; };
  const double products = static_cast<double>(points * points) * static_cast<double>(tiles(h) * tiles(w)) *
                          static_cast<double>(images * planes) * static_cast<double>(channels);
  cost.flops = std::min(cost.flops - cost.avoidable_flops, 2 * products);
  cost.avoidable_flops = 0;
  return cost;
}

const Register registered{[](Registry& r) {
  r.add<Conv2dWinograd>({.name = "naive",
                         .summary = "the sum of conv2d itself, in seven loops",
                         .run = [](const WinogradProblem& p, const Conv2dWinograd::Input& in,
                                   Conv2dWinograd::Output& out) { naive_y(p, in, out); }});
  r.add<Conv2dWinogradDataGradient>(
      {.name = "naive",
       .summary = "the sum of conv2d_data_gradient itself, in seven loops",
       .run = [](const WinogradDataProblem& p, const Conv2dWinogradDataGradient::Input& in,
                 Conv2dWinogradDataGradient::Output& out) { naive_dx(p, in, out); }});
}};

}  // namespace
}  // namespace conv2d::winograd

using conv2d::Sums;
using conv2d::winograd::error_share;
using conv2d::winograd::Neighbourhoods;
using conv2d::winograd::Remembered;
using conv2d::winograd::square;

auto Conv2dWinograd::corner_cases() -> std::vector<Problem> {
  return conv2d::corners<Problem>(conv2d::winograd::shapes, true);
}
auto Conv2dWinogradDataGradient::corner_cases() -> std::vector<Problem> {
  return conv2d::corners<Problem>(conv2d::winograd::shapes, false);
}

auto Conv2dWinograd::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  Expected want = Conv2d::expect(p, in, setting);
  const Sums sums = conv2d::sums_y(p), pixels = conv2d::sums_dx(p);
  const double share = error_share(p.c);
  Neighbourhoods near(pixels, in.x);
  Remembered squares(p.f);
  for (Index next = 0; next < want.size(); ++next) {
    const auto at = static_cast<std::size_t>(next);
    want.bound[at] = sums.at(want[next], [&](Index n, Index f, Index i, Index j) {
      const double weights = squares.at(f, [&] {
        double sum = 0;
        for (Index k = 0; k < p.depth(); ++k) sum += square(in.w[f * p.depth() + k]);
        return sum;
      });
      const double pixels_near = near.norm(n, p.window().row(i, 0), p.window().column(j, 0));
      const double of_bias = p.has_bias() ? rounding::u * std::abs(want.value[at]) : 0;
      return share * std::sqrt(weights) * pixels_near + of_bias;
    });
  }
  return want;
}

auto Conv2dWinogradDataGradient::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  Expected want = Conv2dDataGradient::expect(p, in, setting);
  const Sums sums = conv2d::sums_dx(p), places = conv2d::sums_y(p);
  const double share = error_share(p.f);
  const Window window = p.window();
  Neighbourhoods near(places, in.dy);
  Remembered squares(p.c);
  for (Index next = 0; next < want.size(); ++next) {
    const auto at = static_cast<std::size_t>(next);
    want.bound[at] = sums.at(want[next], [&](Index n, Index c, Index row, Index column) {
      const double weights = squares.at(c, [&] {
        double sum = 0;
        for (Index f = 0; f < p.f; ++f) {
          for (Index tap = 0; tap < window.taps(); ++tap) {
            sum += square(in.w[(f * p.c + c) * window.taps() + tap]);
          }
        }
        return sum;
      });
      // The first place whose window holds the pixel is that of the last tap.
      const Index i = row + window.top - (window.kernel_h - 1);
      const Index j = column + window.left - (window.kernel_w - 1);
      return share * std::sqrt(weights) * near.norm(n, i, j);
    });
  }
  return want;
}

Cost Conv2dWinograd::cost(const Problem& p) {
  return conv2d::winograd::tiled(Conv2d::cost(p), conv2d::sums_y(p), p.c);
}
Cost Conv2dWinogradDataGradient::cost(const Problem& p) {
  return conv2d::winograd::tiled(Conv2dDataGradient::cost(p), conv2d::sums_dx(p), p.f);
}

template class detail::TypedOperation<Conv2dWinograd>;
template class detail::TypedOperation<Conv2dWinogradDataGradient>;

}  // namespace assay
