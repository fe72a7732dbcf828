#include "assay/ops/conv2d.hpp"

#include "assay/error.hpp"
#include "assay/ops/conv2d_terms.hpp"
#include "assay/registry.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace assay {
namespace {

using conv2d::DataProblem;
using conv2d::full_oracle_limit;
using conv2d::Layer;
using conv2d::naive_dx;
using conv2d::naive_y;
using conv2d::Problem;
using conv2d::sum_of;
using conv2d::Sums;
using conv2d::sums_dw;
using conv2d::sums_dx;
using conv2d::sums_y;
using conv2d::terms_of_dw;
using conv2d::terms_of_dx;
using conv2d::terms_of_y;
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
  const Sums sums = sums_dw(p);
  for (Index flat = 0; flat < sums.size(); ++flat) {
    sums.at(flat, [&](Index f, Index c, Index k, Index l) {
      const auto terms = [&](const auto& visit) { terms_of_dw(p, f, c, k, l, visit); };
      out.dw[flat] = sum_of<float>(terms, in.dy, in.x);
    });
  }
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
    flops = 2 * rest(p.n * p.f * p.c, p.out_pixels() * taps, met.pairs);
    x = rest(p.n * p.c, p.pixels(), met.pixels);
    y = rest(p.n * p.f, p.out_pixels(), met.positions);
    w = rest(p.f * p.c, taps, met.taps);
  }
};

/// The cost of a call that reads so many elements which it need not.
Cost without(const Unmet& unmet, double elements, Cost cost) {
  cost.avoidable_flops = unmet.flops;
  cost.avoidable_bytes = 4 * elements;
  return cost;
}

const Register registered{[](Registry& r) {
  r.add<Conv2d>({.name = "naive", .summary = "seven loops, one sum per element of y", .run = naive_y});
  r.add<Conv2dDataGradient>(
      {.name = "naive", .summary = "seven loops, one sum per element of dx", .run = naive_dx});
  r.add<Conv2dWeightGradient>(
      {.name = "naive", .summary = "seven loops, one sum per element of dw", .run = naive_dw});
}};

}  // namespace

void conv2d::demand_a_window_that_fits(std::string_view where, const conv2d::Layer& p) {
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

}  // namespace assay
