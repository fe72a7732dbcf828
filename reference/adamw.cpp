#include "assay/ops/adamw.hpp"

#include "assay/registry.hpp"

#include <algorithm>
#include <limits>

namespace assay {
namespace {

using adamw::Constants;
using adamw::step;

template <class Formula>
void naive(const typename AdamW<Formula>::Problem& problem, const typename AdamW<Formula>::Input& in,
           typename AdamW<Formula>::Output& out) {
  const Constants<float> k(problem.t);
  for (Index i = 0; i < problem.n; ++i) {
    const auto after = step<Formula, float>(in.g[i], {out.p[i], out.m[i], out.v[i]}, k);
    out.p[i] = after.p;
    out.m[i] = after.m;
    out.v[i] = after.v;
  }
}

/// Returns the size of a gradient, and so of the moments that earlier steps left.
double magnitude(Index gradients, Rng& rng) {
  switch (gradients) {
    case 1: return 1e-4;
    case 2: return std::pow(10, rng.uniform(-12, -6));
    default: return 1;
  }
}

/// Zero; a subnormal; the least normal number, whose moment is subnormal; two whose square vanishes or makes
/// v subnormal; the largest finite one that the contract allows; and what is not finite.
void sprinkle_special(Buffer<float>& g) {
  using Limits = std::numeric_limits<float>;
  constexpr std::array<float, 9> special{0,
                                         1e-40F,
                                         -Limits::min(),
                                         1e-30F,
                                         -1e-18F,
                                         1e17F,
                                         Limits::quiet_NaN(),
                                         Limits::infinity(),
                                         -Limits::infinity()};
  // Every third element, so that each special value meets every lane of a vector.
  for (Index i = 0; i < g.size(); i += 3) g[i] = special[static_cast<std::size_t>(i / 3) % special.size()];
}

/// Compares a moment, NaN in place of an infinity where it was written so.
Agreement within_or_nan(const Shape& shape, const Buffer<float>& written, Expectation want) {
  for (std::size_t i = 0; i < want.value.size(); ++i) {
    const float x = written[want[static_cast<Index>(i)]];
    if (std::isinf(want.value[i]) && std::isnan(x) && !is_poison(x)) want.value[i] = static_cast<double>(x);
  }
  return within(shape, written, want);
}

template <class Formula>
void register_naive(Registry& r) {
  r.add<AdamW<Formula>>({.name = "naive",
                         .summary = "one loop over the parameters, powers computed once per call",
                         .run = naive<Formula>});
}
const Register paper{register_naive<adamw::Paper>};
const Register epsilon_hat{register_naive<adamw::EpsilonHat>};
const Register epsilon_inside{register_naive<adamw::EpsilonInside>};

}  // namespace

template <class Formula>
auto AdamW<Formula>::corner_cases() -> std::vector<Problem> {
  std::vector<Problem> out;
  // Around the lane counts 4, 8, 16 and blocks of up to four vectors, and primes; at a step with moments.
  for (const Index n : {1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 127, 129, 257}) {
    out.push_back({.n = n, .t = 10});
  }
  for (const Index t : {1, 2, 10, 1000, 100000}) {
    for (Index gradients = 0; gradients < static_cast<Index>(gradient_words.size()); ++gradients) {
      out.push_back({.n = 101, .t = t, .gradients = gradients});
    }
  }
  // Beyond the size below which a threaded variant stays on one thread.
  out.push_back({.n = 73751, .t = 3, .gradients = 1});
  return out;
}

template <class Formula>
auto AdamW<Formula>::make_input(const Problem& problem, Setting& setting) -> Input {
  const Index n = problem.n;
  Input in{setting.buffer<float>(n), setting.buffer<float>(n), setting.buffer<float>(n),
           setting.buffer<float>(n)};
  // The moments that t - 1 steps can have left: zero before the first.
  const auto [first, second] = adamw::bias_corrections(problem.t - 1);
  for (Index i = 0; i < n; ++i) {
    const double size = magnitude(problem.gradients, setting.rng);
    const double root = size * static_cast<double>(setting.draw());
    in.g[i] = static_cast<float>(size * static_cast<double>(setting.draw()));
    in.m[i] = static_cast<float>(first * size * static_cast<double>(setting.draw()));
    in.v[i] = static_cast<float>(second * root * root);
    // Half of the parameters are far smaller than an update, whose errors would hide in the rounding of p.
    in.p[i] = setting.draw() * (setting.rng.unit() < 0.5 ? 1.0F : 0x1p-20F);
  }
  if (problem.gradients == 3) sprinkle_special(in.g);
  return in;
}

template <class Formula>
auto AdamW<Formula>::expect(const Problem& problem, const Input& in, Setting& setting) -> Expected {
  const Positions positions = positions_of(problem.n, setting.units);
  Expected want{{positions, {}, {}}, {positions, {}, {}}, {positions, {}, {}}};
  const auto put = [](Expectation& array, double value, double bound) {
    array.value.push_back(value);
    array.bound.push_back(std::isfinite(value) ? bound : 0);
  };

  constexpr double h = 0x1p-148;
  using rounding::g;
  const Constants<double> k(problem.t);
  const auto corrections = adamw::bias_corrections(problem.t);
  for (Index next = 0; next < positions.size(); ++next) {
    const Index at = positions[next];
    const double gradient = in.g[at], p = in.p[at], m = in.m[at], v = in.v[at];
    const auto after = step<Formula, double>(gradient, {p, m, v}, k);
    const double terms = k.first_keep * std::abs(m) + k.first_gain * std::abs(gradient);
    const double divisor = Formula::divisor(after.v, corrections);
    const double update = Formula::factor(corrections) * terms / divisor;
    put(want.p, after.p,
        g(3) * std::abs(p - k.decay * p) + g(Formula::roundings) * update + 16 * h / divisor);
    put(want.m, after.m, g(4) * terms + h);
    put(want.v, after.v, g(5) * after.v + h);
  }
  return want;
}

template <class Formula>
Agreement AdamW<Formula>::judge(const Problem& problem, const Input&, const Expected& want,
                                const Output& out) {
  return within({"p", {problem.n}}, out.p, want.p) & within_or_nan({"m", {problem.n}}, out.m, want.m) &
         within_or_nan({"v", {problem.n}}, out.v, want.v);
}

template struct AdamW<adamw::Paper>;
template struct AdamW<adamw::EpsilonHat>;
template struct AdamW<adamw::EpsilonInside>;
template class detail::TypedOperation<AdamWPaper>;
template class detail::TypedOperation<AdamWEpsilonHat>;
template class detail::TypedOperation<AdamWEpsilonInside>;

}  // namespace assay
