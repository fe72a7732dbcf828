#include "assay/ops/conv2d.hpp"

#include "assay/error.hpp"
#include "assay/ops/arrays.hpp"
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
using conv2d::demand_a_window_that_fits;
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

/// Above this many products the oracle computes a sample of outputs.
constexpr double full_oracle_limit = 0x1p25;
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

Shape shape_of(std::string_view name, const Sums& sums) {
  return {name, {sums.extents[0], sums.extents[1], sums.extents[2], sums.extents[3]}};
}

/// Bytes of the arrays, and of value and bound of the outputs that are expected.
double bytes_of(const Layer& p, Index outputs, Index terms) {
  const bool sampled = product(outputs, terms) > full_oracle_limit;
  return 4 * static_cast<double>(p.x_size() + p.y_size() + p.w_size() + 2 * p.f) +
         (sampled ? 0 : 16 * static_cast<double>(outputs + p.f));
}

/// A product and a sum per tap, those in the padding included, as is the custom.
double flops_of(const Layer& p) { return 2 * product(p.y_size(), p.depth()); }

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

double Conv2d::footprint(const Problem& p) { return bytes_of(p, p.y_size(), p.depth()); }
double Conv2dDataGradient::footprint(const Problem& p) { return bytes_of(p, p.x_size(), terms(p)); }
double Conv2dWeightGradient::footprint(const Problem& p) { return bytes_of(p, p.w_size(), terms(p)); }

auto Conv2d::make_input(const Problem& p, Setting& setting) -> Input {
  demand_a_window_that_fits(name, p);
  return {drawn(p.x_size(), setting), drawn(p.w_size(), setting), drawn(p.has_bias() ? p.f : 0, setting)};
}
auto Conv2dDataGradient::make_input(const Problem& p, Setting& setting) -> Input {
  demand_a_window_that_fits(name, p);
  return {drawn(p.y_size(), setting), drawn(p.w_size(), setting)};
}
auto Conv2dWeightGradient::make_input(const Problem& p, Setting& setting) -> Input {
  demand_a_window_that_fits(name, p);
  return {drawn(p.x_size(), setting), drawn(p.y_size(), setting)};
}

auto Conv2d::make_output(const Problem& p, const Input&, const Setting& setting) -> Output {
  return {setting.buffer<float>(p.y_size())};
}
auto Conv2dDataGradient::make_output(const Problem& p, const Input&, const Setting& setting) -> Output {
  return {setting.buffer<float>(p.x_size())};
}
auto Conv2dWeightGradient::make_output(const Problem& p, const Input&, const Setting& setting) -> Output {
  return {setting.buffer<float>(p.w_size()), setting.buffer<float>(p.has_bias() ? p.f : 0)};
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
          expect_at(positions_of(p.has_bias() ? p.f : 0, setting.units, sums.size()), dbias)};
}

Agreement Conv2d::judge(const Problem& p, const Input&, const Expected& want, const Output& out) {
  return within(shape_of("y", sums_y(p)), out.y, want);
}
Agreement Conv2dDataGradient::judge(const Problem& p, const Input&, const Expected& want, const Output& out) {
  return within(shape_of("dx", sums_dx(p)), out.dx, want);
}
Agreement Conv2dWeightGradient::judge(const Problem& p, const Input&, const Expected& want,
                                      const Output& out) {
  return within(shape_of("dw", sums_dw(p)), out.dw, want.dw) &
         within({"dbias", {out.dbias.size()}}, out.dbias, want.dbias);
}

Cost Conv2d::cost(const Problem& p) {
  const Unmet unmet(p);
  return {.flops = flops_of(p),
          .bytes_read = 4 * static_cast<double>(p.x_size() + p.w_size() + (p.has_bias() ? p.f : 0)),
          .bytes_written = 4 * static_cast<double>(p.y_size()),
          .avoidable_flops = unmet.flops,
          .avoidable_bytes = 4 * (unmet.x + unmet.w)};
}
Cost Conv2dDataGradient::cost(const Problem& p) {
  const Unmet unmet(p);
  return {.flops = flops_of(p),
          .bytes_read = 4 * static_cast<double>(p.y_size() + p.w_size()),
          .bytes_written = 4 * static_cast<double>(p.x_size()),
          .avoidable_flops = unmet.flops,
          .avoidable_bytes = 4 * (unmet.y + unmet.w)};
}
Cost Conv2dWeightGradient::cost(const Problem& p) {
  const Unmet unmet(p);
  return {.flops = flops_of(p),
          .bytes_read = 4 * static_cast<double>(p.x_size() + p.y_size()),
          .bytes_written = 4 * static_cast<double>(p.w_size() + (p.has_bias() ? p.f : 0)),
          .avoidable_flops = unmet.flops,
          .avoidable_bytes = 4 * (unmet.x + (p.has_bias() ? 0 : unmet.y))};
}

Index Conv2d::terms(const Problem& p) { return p.depth(); }
Index Conv2dDataGradient::terms(const Problem& p) { return p.f * p.window().taps(); }
Index Conv2dWeightGradient::terms(const Problem& p) { return p.n * p.out_pixels(); }

Index Conv2d::units(const Problem& p) { return p.y_size(); }
Index Conv2dDataGradient::units(const Problem& p) { return p.x_size(); }
Index Conv2dWeightGradient::units(const Problem& p) { return p.w_size() + (p.has_bias() ? p.f : 0); }

template class detail::TypedOperation<Conv2d>;
template class detail::TypedOperation<Conv2dDataGradient>;
template class detail::TypedOperation<Conv2dWeightGradient>;

}  // namespace assay
