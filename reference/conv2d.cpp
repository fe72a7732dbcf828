#include "assay/ops/conv2d.hpp"

#include "assay/error.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace assay {
namespace {

using conv2d::full_oracle_limit;
using conv2d::Layer;
using conv2d::naive_dx;
using conv2d::naive_y;
using conv2d::Problem;
using conv2d::sum_of;
using conv2d::Sums;
using rounding::g;

/// Outputs in a sample: as many as that many products allow, between these two.
constexpr Index least_sample = 256, largest_sample = 4096;

template <class Terms>
double magnitude_of(const Terms& terms, const Buffer<float>& a, const Buffer<float>& b) {
  double sum = 0;
  terms([&](Index in_a, Index in_b) {
    sum += std::abs(static_cast<double>(a[in_a]) * static_cast<double>(b[in_b]));
  });
  return sum;
}

/// sum over n, i, j of term(dy[n, f, i, j]).
template <class Real, class Term>
Real sum_of_filter(const Layer& p, const Buffer<float>& dy, Index f, const Term& term) {
  Real sum = 0;
  for (Index n = 0; n < p.n; ++n) {
    const float* plane = dy.data() + (n * p.f + f) * p.out_pixels();
    for (Index at = 0; at < p.out_pixels(); ++at) sum += term(static_cast<Real>(plane[at]));
  }
  return sum;
}

void naive_dw(const Problem& p, const Conv2dWeightGradient::Input& in, Conv2dWeightGradient::Output& out) {
  sums_dw(p).fill(out.dw.data(), [&](Index f, Index c, Index k, Index l) {
    const auto terms = [&](const auto& visit) { terms_of_dw(p, f, c, k, l, visit); };
    return sum_of<float>(terms, in.dy, in.x);
  });
  for (Index f = 0; f < out.dbias.size(); ++f) {
    out.dbias[f] = sum_of_filter<float>(p, in.dy, f, [](float v) { return v; });
  }
}

/// Holds for integers of at most 3 while sums of up to `terms` products and one bias stay below 2^24.
bool stays_exact(const Setting& setting, Index terms) {
  return setting.fill == Fill::exact && 9 * static_cast<double>(terms) + 3 < 0x1p24;
}

/// The elements that are expected: those that the units of the setting ask for; else all when there are few
/// enough products for a full oracle; else a sample with the first and the last of each extent.
Positions positions(const Sums& sums, Index terms, Setting& setting) {
  if (!setting.units.empty() || product(sums.size(), terms) <= full_oracle_limit)
    return positions_of(sums.size(), setting.units);
  std::vector<Index> corners;
  for (Index corner = 0; corner < 16; ++corner) {
    Index flat = 0;
    for (int axis = 0; axis < 4; ++axis) {
      const Index extent = sums.extents[axis];
      flat = flat * extent + (corner >> axis & 1 ? extent - 1 : 0);
    }
    corners.push_back(flat);
  }
  const Index size = std::clamp(static_cast<Index>(full_oracle_limit) / terms, least_sample, largest_sample);
  return sample_of(sums.size(), size, std::move(corners), setting.rng);
}

/// FLOPs with the padding, and the elements of each array that meet nothing but padding, or nothing at all.
struct Unmet {
  double flops, x, y, w;
  explicit Unmet(const Layer& p) {
    const Window::Met met = p.window().met();
    const auto rest = [](Index planes, Index all, double met_of_them) {
      return static_cast<double>(planes) * (static_cast<double>(all) - met_of_them);
    };
    const Index taps = p.window().taps();
    flops = 2 * rest(p.n * p.f * p.group_c(), p.out_pixels() * taps, met.pairs);
    x = rest(p.n * p.c, p.pixels(), met.pixels);
    y = rest(p.n * p.f, p.out_pixels(), met.positions);
    w = rest(p.f * p.group_c(), taps, met.taps);
  }
};

/// The cost of a call that reads so many elements which it need not.
Cost without(const Unmet& unmet, double elements, Cost cost) {
  cost.avoidable_flops = unmet.flops;
  cost.avoidable_bytes = 4 * elements;
  return cost;
}

constexpr std::string_view shapes[] = {
    "n=1,c=1,f=1,h=1,w=1,kernel=1",
    // 1 x 1: a product of matrices, with extents around the lane counts, and with a stride.
    "n=1,c=17,f=15,h=3,w=5,kernel=1",
    "n=3,c=33,f=16,h=4,w=4,kernel=1",
    "n=2,c=5,f=31,h=7,w=7,kernel=1",
    "n=2,c=7,f=9,h=9,w=8,kernel=1,stride=2",
    "n=1,c=3,f=4,h=5,w=5,kernel=1,pad=1",
    // 3 x 3, as ResNet has it, on images down to 7 x 7, and on images smaller than the kernel.
    "n=1,c=2,f=3,h=1,w=1,kernel=3,pad=1",
    "n=2,c=3,f=5,h=7,w=7,kernel=3,pad=1",
    "n=1,c=16,f=15,h=14,w=14,kernel=3,pad=1",
    "n=1,c=9,f=33,h=7,w=7,kernel=3,pad=1",
    "n=3,c=1,f=17,h=5,w=19,kernel=3",
    "n=1,c=5,f=29,h=6,w=33,kernel=3,pad=1",
    "n=2,c=4,f=7,h=14,w=14,kernel=3,stride=2,pad=1",
    "n=1,c=3,f=2,h=8,w=11,kernel=3,stride=2,pad=1",
    // 7 x 7 with stride 2, the first layer of ResNet, and 5 x 5, those of LeNet-5.
    "n=1,c=3,f=17,h=23,w=22,kernel=7,stride=2,pad=3",
    "n=3,c=1,f=6,h=28,w=28,kernel=5,pad=2",
    "n=2,c=6,f=16,h=14,w=14,kernel=5",
    // Kernels that are no squares, dilation, borders of four widths, strides past the kernel.
    "n=2,c=2,f=3,h=6,w=9,kernel=1,kernel_w=5,pad=0,left=2,right=2",
    "n=1,c=3,f=3,h=11,w=9,kernel=4,kernel_w=2,stride=3,pad=1",
    "n=2,c=5,f=4,h=13,w=12,kernel=3,dilation=2,pad=2",
    "n=1,c=2,f=3,h=15,w=14,kernel=3,stride=2,dilation=2,pad=2",
    "n=1,c=2,f=3,h=17,w=16,kernel=3,stride=2,dilation=3,pad=1,right=4",
    "n=2,c=3,f=2,h=8,w=7,kernel=3,pad=2,bottom=0,left=1,right=3",
    "n=1,c=2,f=2,h=6,w=7,kernel=2,stride=2,pad=0,bottom=1,right=3",
    "n=1,c=2,f=3,h=10,w=11,kernel=2,stride=4",
    "n=1,c=1,f=1,h=4,w=4,kernel=2,pad=3",
    // Past one block of pixels, of filters, of depth, and of images.
    "n=1,c=2,f=3,h=27,w=41,kernel=3,pad=1",
    "n=1,c=65,f=47,h=5,w=4,kernel=3,pad=1",
    "n=5,c=3,f=3,h=4,w=6,kernel=3,pad=1",
    // Groups of several channels, then of one: by one and two pixels, around the lane counts; two filters per
    // channel; windows that are no squares, dilation, uneven borders, strides past the kernel.
    "n=2,c=6,f=12,h=9,w=11,kernel=3,stride=1|2,pad=1,groups=2|3",
    "n=1,c=34,f=6,h=5,w=6,kernel=1,groups=2",
    "n=3,c=6,f=66,h=4,w=3,kernel=1,stride=2,groups=2",
    "n=2,c=6,f=3,h=8,w=7,kernel=2,kernel_w=3,dilation=2,pad=1,left=2,groups=3",
    "n=2,c=3,f=3|6,h=7,w=7|16,kernel=3,pad=1,groups=3",
    "n=3,c=4,f=4|8,h=14,w=35,kernel=3,stride=2,pad=1,groups=4",
    "n=2,c=2,f=2,h=11,w=33|67,kernel=5,stride=1|2,pad=2,groups=2",
    "n=1,c=3,f=3,h=9,w=10,kernel=3,dilation=2,pad=2,groups=3",
    "n=2,c=2,f=4,h=8,w=9,kernel=2,kernel_w=5,stride=3,pad=1,left=0,right=3,groups=2",
    "n=1,c=3,f=3,h=6,w=1,kernel=3,pad=1,groups=3",
    "n=1,c=2,f=2,h=5,w=7,kernel=2,stride=4,groups=2",
};

const Register registered{[](Registry& r) {
  r.add<Conv2d>({.name = "naive", .summary = "seven loops, one sum per element of y", .run = naive_y});
  r.add<Conv2dDataGradient>(
      {.name = "naive", .summary = "seven loops, one sum per element of dx", .run = naive_dx});
  r.add<Conv2dWeightGradient>(
      {.name = "naive", .summary = "seven loops, one sum per element of dw", .run = naive_dw});
}};

}  // namespace

void conv2d::demand_a_layer_that_fits(std::string_view where, const conv2d::Layer& p) {
  if (p.c % p.groups != 0 || p.f % p.groups != 0)
    throw Error(std::string(where),
                std::to_string(p.groups) + " groups do not divide " + std::to_string(p.c) + " channels and " +
                    std::to_string(p.f) + " filters",
                "take a number of groups that divides both c and f");
  const Window window = p.window();
  if (window.out_h() > 0 && window.out_w() > 0) return;
  const auto extents = [](Index h, Index w) { return std::to_string(h) + " x " + std::to_string(w); };
  const auto reach = [&](Index kernel) { return (kernel - 1) * window.dilation + 1; };
  throw Error(std::string(where),
              "a window of " + extents(reach(window.kernel_h), reach(window.kernel_w)) +
                  " pixels does not fit into a padded image of " +
                  extents(p.h + window.top + window.bottom, p.w + window.left + window.right),
              "enlarge h, w or pad, or lessen kernel or dilation");
}

auto Conv2d::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const Sums sums = sums_y(p);
  const double share = stays_exact(setting, p.depth()) ? 0 : g(static_cast<double>(p.depth() + 1));
  return expect_at(positions(sums, p.depth(), setting), [&](Index flat) {
    return sums.at(flat, [&](Index n, Index f, Index i, Index j) {
      const auto terms = [&](const auto& visit) { terms_of_y(p, n, f, i, j, visit); };
      const double bias = p.has_bias() ? static_cast<double>(in.bias[f]) : 0;
      return std::pair{sum_of<double>(terms, in.x, in.w) + bias,
                       share * (magnitude_of(terms, in.x, in.w) + std::abs(bias))};
    });
  });
}

auto Conv2dDataGradient::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const Sums sums = sums_dx(p);
  const Index count = terms(p);
  const double share = stays_exact(setting, count) ? 0 : g(static_cast<double>(count));
  return expect_at(positions(sums, count, setting), [&](Index flat) {
    return sums.at(flat, [&](Index n, Index c, Index row, Index column) {
      const auto terms = [&](const auto& visit) { terms_of_dx(p, n, c, row, column, visit); };
      return std::pair{sum_of<double>(terms, in.dy, in.w), share * magnitude_of(terms, in.dy, in.w)};
    });
  });
}

auto Conv2dWeightGradient::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const Sums sums = sums_dw(p);
  const Index count = terms(p);
  const double share = stays_exact(setting, count) ? 0 : g(static_cast<double>(count));
  const auto dw = [&](Index flat) {
    return sums.at(flat, [&](Index f, Index c, Index k, Index l) {
      const auto terms = [&](const auto& visit) { terms_of_dw(p, f, c, k, l, visit); };
      return std::pair{sum_of<double>(terms, in.dy, in.x), share * magnitude_of(terms, in.dy, in.x)};
    });
  };
  const auto dbias = [&](Index f) {
    return std::pair{sum_of_filter<double>(p, in.dy, f, [](double v) { return v; }),
                     share * sum_of_filter<double>(p, in.dy, f, [](double v) { return std::abs(v); })};
  };
  return {expect_at(positions(sums, count, setting), dw),
          expect_at(positions_of(p.bias_size(), setting.units, sums.size()), dbias)};
}

Cost Conv2d::cost(const Problem& p) {
  const Unmet unmet(p);
  return without(unmet, unmet.x + unmet.w, FromParts::cost(p));
}
Cost Conv2dDataGradient::cost(const Problem& p) {
  const Unmet unmet(p);
  return without(unmet, unmet.y + unmet.w, FromParts::cost(p));
}
Cost Conv2dWeightGradient::cost(const Problem& p) {
  const Unmet unmet(p);
  return without(unmet, unmet.x + (p.has_bias() ? 0 : unmet.y), FromParts::cost(p));
}

template class detail::TypedOperation<Conv2d>;
template class detail::TypedOperation<Conv2dDataGradient>;
template class detail::TypedOperation<Conv2dWeightGradient>;

auto Conv2d::corner_cases() -> std::vector<Problem> { return conv2d::corners<Problem>(shapes); }
auto Conv2dDataGradient::corner_cases() -> std::vector<Problem> { return conv2d::corners<Problem>(shapes); }
auto Conv2dWeightGradient::corner_cases() -> std::vector<Problem> { return conv2d::corners<Problem>(shapes); }

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

/// Sets the bounds of an array of `sums` over images of pixels: the share of the norm of the pixels around an
/// element (i, j), whose first tap lies at (i - top, j - left), times that of its weights. `weights` visits
/// those of a plane of the array.
template <class Weights>
void set_bounds(Expectation& want, const Sums& sums, const Sums& images, const Buffer<float>& pixels,
                Index top, Index left, const Weights& weights) {
  const double share = error_share(images.extents[1]);
  Neighbourhoods near(images, pixels);
  Remembered squares(sums.extents[1]);
  for (Index next = 0; next < want.size(); ++next) {
    want.bound[static_cast<std::size_t>(next)] =
        sums.at(want[next], [&](Index n, Index plane, Index i, Index j) {
          const double of_weights = squares.at(plane, [&] {
            double sum = 0;
            weights(plane, [&](float w) { sum += square(w); });
            return sum;
          });
          return share * std::sqrt(of_weights) * near.norm(n, i - top, j - left);
        });
  }
}

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
                         .run = [](const auto& p, const auto& in, auto& out) { naive_y(p, in, out); }});
  r.add<Conv2dWinogradDataGradient>(
      {.name = "naive",
       .summary = "the sum of conv2d_data_gradient itself, in seven loops",
       .run = [](const auto& p, const auto& in, auto& out) { naive_dx(p, in, out); }});
}};

}  // namespace

double error_share(Index channels) {
  static const Growth k = growth();
  const double k1 = k.sum * k.sum, k2 = k.root * k.root;
  return 2 * rounding::u *
         std::sqrt((static_cast<double>(channels) + 17) * k2 * k2 + 5 * k1 * k2 + 4 * k1 * k1);
}

}  // namespace conv2d::winograd

auto Conv2dWinograd::corner_cases() -> std::vector<Problem> {
  return conv2d::corners<Problem>(conv2d::winograd::shapes);
}
auto Conv2dWinogradDataGradient::corner_cases() -> std::vector<Problem> {
  return conv2d::corners<Problem>(conv2d::winograd::shapes);
}

auto Conv2dWinograd::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  Expected want = Conv2d::expect(p, in, setting);
  const auto weights = [&](Index f, const auto& visit) {
    for (Index k = 0; k < p.depth(); ++k) visit(in.w[f * p.depth() + k]);
  };
  const Window window = p.window();
  conv2d::winograd::set_bounds(want, sums_y(p), sums_dx(p), in.x, window.top, window.left, weights);
  for (std::size_t at = 0; p.has_bias() && at < want.bound.size(); ++at) {
    want.bound[at] += rounding::u * std::abs(want.value[at]);
  }
  return want;
}

auto Conv2dWinogradDataGradient::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  Expected want = Conv2dDataGradient::expect(p, in, setting);
  const Window window = p.window();
  const auto weights = [&](Index c, const auto& visit) {
    for (Index f = 0; f < p.f; ++f) {
      const float* const w = in.w.data() + (f * p.c + c) * window.taps();
      for (Index tap = 0; tap < window.taps(); ++tap) visit(w[tap]);
    }
  };
  // The first place whose window holds a pixel is that of the last tap.
  conv2d::winograd::set_bounds(want, sums_dx(p), sums_y(p), in.dy, window.kernel_h - 1 - window.top,
                               window.kernel_w - 1 - window.left, weights);
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
