#include "assay/ops/batch_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {
namespace {

using rounding::g;

/// Computes sum[i], the gradient of parameter at(i) over the weighted micro-batches, i < count: the
/// specification of `gradient_accumulation`.
template <class Real, class At>
void accumulate(const GradientAccumulation::Problem& p, const float* gradients, Index count, const At& at,
                Real* sum) {
  std::fill(sum, sum + count, Real{0});
  for (const double weight : GradientAccumulation::weights(p)) {
    for (Index i = 0; i < count; ++i) {
      sum[i] += static_cast<Real>(weight) * static_cast<Real>(gradients[at(i)]);
    }
    gradients += p.n;
  }
}

void naive_accumulation(const GradientAccumulation::Problem& p, const GradientAccumulation::Input& in,
                        GradientAccumulation::Output& out) {
  accumulate<float>(
      p, in.g.data(), p.n, [](Index i) { return i; }, out.sum.data());
}

void naive_clip(const GradientClip::Problem& p, const GradientClip::Input& in, GradientClip::Output& out) {
  out.norm[0] = static_cast<float>(GradientClip::norm_of(in.g));
  const float c = GradientClip::kept(out.norm[0]);
  for (Index i = 0; i < p.n; ++i) out.y[i] = c * in.g[i];
}

const Register registered{[](Registry& r) {
  r.add<GradientAccumulation>(
      {.name = "naive", .summary = "zeros, then one pass per micro-batch", .run = naive_accumulation});
  r.add<GradientClip>({.name = "naive", .summary = "one sum in double, then one pass", .run = naive_clip});
}};

}  // namespace

std::vector<double> GradientAccumulation::weights(const Problem& p) {
  std::vector<double> out;
  for (Index done = 0; done < p.batch; done += p.micro) {
    out.push_back(static_cast<double>(std::min(p.micro, p.batch - done)) / static_cast<double>(p.batch));
  }
  return out;
}

const Corners GradientAccumulation::corners = {
    "n=1|2|3|7|8|15|16|17|31|33|64|65|127|257,batch=8,micro=4",
    // One micro-batch, a batch smaller than one, many, and last ones that are partial.
    "n=101,batch=4|3,micro=4", "n=101,batch=1|16,micro=1", "n=101,batch=10,micro=4", "n=101,batch=9,micro=8",
    "n=101,batch=17,micro=3",
    // Beyond the size below which a threaded variant stays on one thread.
    "n=73751,batch=10,micro=4"};

GradientAccumulation::Expected GradientAccumulation::expect(const Problem& p, const Input& in,
                                                            Setting& setting) {
  Expected want(positions_of(units(p), setting.units));
  const Index count = want.size();
  want.value.resize(static_cast<std::size_t>(count));
  want.bound.resize(static_cast<std::size_t>(count));
  accumulate<double>(
      p, in.g.data(), count, [&](Index i) { return want[i]; }, want.value.data());
  const std::vector<double> weight = weights(p);
  const double bound = g(static_cast<double>(weight.size()) + 2);
  for (std::size_t j = 0; j < weight.size(); ++j) {
    const float* gradients = in.g.data() + static_cast<Index>(j) * p.n;
    for (Index i = 0; i < count; ++i) {
      want.bound[static_cast<std::size_t>(i)] += bound * weight[j] * std::abs(gradients[want[i]]);
    }
  }
  return want;
}

double GradientClip::norm_of(std::span<const float> gradients) {
  double squares = 0;
  for (const float x : gradients) squares += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(squares);
}

const Corners GradientClip::corners = {
    "n=1|2|3|7|8|15|16|17|31|33|63|65|127|129|257|1023|1025|4099|5000,size=above|below",
    // Beyond the size below which a threaded variant stays on one thread.
    "n=73751", "n=37|1025|73751,size=nan|infinite|huge|tiny"};

GradientClip::Input GradientClip::make_input(const Problem& p, Setting& setting) {
  Input in{setting.buffer<float>(p.n)};
  Rng& rng = setting.rng;
  const auto scale = [&] {
    switch (p.size) {
      case 1: return 0.5 / std::sqrt(static_cast<double>(p.n));
      case 4: return 1e18;
      case 5: return std::pow(10, rng.uniform(-44, -15));
      default: return 1.0;
    }
  };
  for (float& x : in.g) x = static_cast<float>(scale() * static_cast<double>(setting.draw()));
  if (p.size == 2) in.g[rng.integer(0, p.n - 1)] = std::numeric_limits<float>::quiet_NaN();
  if (p.size == 3) in.g[rng.integer(0, p.n - 1)] = std::numeric_limits<float>::infinity();
  return in;
}

Agreement GradientClip::judge(const Problem& p, const Input& in, const Expected& want, const Output& out) {
  const double of_norm = g(36) * want.norm + 0x1p-72 * std::sqrt(static_cast<double>(p.n));
  const Agreement norm =
      within({"norm", {1}}, out.norm, expect_one(want.norm, std::isfinite(want.norm) ? of_norm : 0));
  if (!norm.agrees) return norm;
  const double written = out.norm[0];
  const double c = kept(written);
  const double roundings = written + floor <= limit * (1 - 8 * rounding::u) ? 0 : g(5);
  const Expectation y = expect_at(positions_of(p.n, want.units), [&](Index i) {
    const double value = c * static_cast<double>(in.g[i]);
    return std::pair{value, std::isfinite(value) ? roundings * std::abs(value) : 0};
  });
  return norm & within({"y", {p.n}}, out.y, y);
}

template class detail::TypedOperation<GradientAccumulation>;
template class detail::TypedOperation<GradientClip>;

}  // namespace assay
