#include "assay/ops/adamw.hpp"

#include <algorithm>
#include <limits>

namespace assay {
namespace {

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
  constexpr float nan = Limits::quiet_NaN(), infinity = Limits::infinity();
  sprinkle(g, std::array{0.0F, 1e-40F, -Limits::min(), 1e-30F, -1e-18F, 1e17F, nan, infinity, -infinity});
}

/// Compares a moment, NaN in place of an infinity where it was written so.
Agreement within_or_nan(const Shape& shape, const Buffer<float>& written, const Expectation& want) {
  if (std::ranges::none_of(want.value, [](double x) { return std::isinf(x); }))
    return within(shape, written, want);
  Expectation either = want;
  for (std::size_t i = 0; i < want.value.size(); ++i) {
    const float x = written[want[static_cast<Index>(i)]];
    if (std::isinf(want.value[i]) && std::isnan(x) && !is_poison(x)) either.value[i] = static_cast<double>(x);
  }
  return within(shape, written, either);
}

}  // namespace

template <class Formula>
const Corners AdamW<Formula>::corners = {
    // Around the lane counts 4, 8, 16 and blocks of up to four vectors, and primes; at a step with moments.
    "n=1|2|3|4|5|7|8|9|13|15|16|17|31|32|33|47|63|64|65|127|129|257,t=10",
    "n=101,t=1|2|10|1000|100000,gradients=unit|small|tiny|special",
    // Beyond the size below which a threaded variant stays on one thread.
    "n=73751,t=3,gradients=small"};

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
  return adamw::expected<Formula>(positions_of(problem.n, setting.units), problem.t, in,
                                  [&](Index i) { return in.g[i]; });
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

const Register registered{[](Registry& r) {
  adamw::for_each_formula([&]<class Formula>(Formula) {
    r.add<AdamW<Formula>>({.name = "naive",
                           .summary = "one loop over the parameters, powers computed once per call",
                           .run = [](const auto& problem, const auto& in, auto& out) {
                             adamw::naive_steps<Formula>(problem.t, 0, problem.n, in, out);
                           }});
  });
  const auto prepare = [](const AdamWMultiTensor::Problem& problem, const auto&, const Context&) {
    return [t = problem.t, spans = AdamWMultiTensor::spans(problem)](const AdamWMultiTensor::Input& in,
                                                                     AdamWMultiTensor::Output& out) {
      for (const auto& [begin, count] : spans) adamw::naive_steps<adamw::Paper>(t, begin, count, in, out);
    };
  };
  r.add<AdamWMultiTensor>({.name = "naive", .summary = "one call per tensor", .prepare = prepare});
}};

AdamWMultiTensor::Problem::operator AdamWPaper::Problem() const {
  const Span last = spans(*this).back();
  return {.n = last.begin + last.count, .t = t};
}

std::vector<AdamWMultiTensor::Span> AdamWMultiTensor::spans(const Problem& problem) {
  std::vector<Span> out;
  Index begin = 0;
  for (Index k = 0; k < problem.tensors; ++k) {
    const bool small = problem.sizes == 1 && k % 3 != 0;
    const Index count = small ? std::max<Index>(1, problem.n / 256) : problem.n;
    out.push_back({begin, count});
    begin += count + 1 + (7 * k + count) % 31;  // gaps of 1 to 31, so that starts have every alignment
  }
  return out;
}

auto AdamWMultiTensor::corner_cases() -> std::vector<Problem> {
  return problems<Problem>(
      {"tensors=1,n=1|2|5|15|16|17|33|257,t=2", "tensors=7,n=1|2|5|15|16|17|33|257,t=10",
       "tensors=3,n=101,t=1000", "tensors=10,n=700,sizes=network,t=3", "tensors=150,n=300,sizes=network,t=3",
       // Beyond the size below which a threaded variant stays on one thread: one large tensor, and many.
       "tensors=2,n=40009,t=3", "tensors=90,n=1021,t=3"});
}

AdamWMultiTensor::Expected AdamWMultiTensor::expect(const Problem& problem, const Input& in,
                                                    Setting& setting) {
  Expected want = AdamWPaper::expect(problem, in, setting);
  const auto keep = [](Expectation& array, Index next, float before) {
    array.value[static_cast<std::size_t>(next)] = before;
    array.bound[static_cast<std::size_t>(next)] = 0;
  };
  const std::vector<Span> tensors = spans(problem);
  auto tensor = tensors.begin();
  for (Index next = 0; next < want.p.size(); ++next) {
    const Index i = want.p[next];
    while (i >= tensor->begin + tensor->count) ++tensor;
    if (i >= tensor->begin) continue;
    keep(want.p, next, in.p[i]);
    keep(want.m, next, in.m[i]);
    keep(want.v, next, in.v[i]);
  }
  return want;
}

template class detail::TypedOperation<AdamWMultiTensor>;

}  // namespace assay
