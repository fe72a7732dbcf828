#include "assay/ops/gemm.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace assay {
namespace {

using Problem = Gemm::Problem;

float a_at(const Problem& p, const Gemm::Input& in, Index i, Index l) {
  return p.a_transposed() ? in.a[l * p.m + i] : in.a[i * p.k + l];
}

float b_at(const Problem& p, const Gemm::Input& in, Index l, Index j) {
  return p.b_transposed() ? in.b[j * p.k + l] : in.b[l * p.n + j];
}

/// One element of C: the specification. In double it is the oracle, in float the naive variant.
/// `c` is what C held before; it does not count when beta = 0.
template <class Real>
Real element(const Problem& p, const Gemm::Input& in, Index i, Index j, float c) {
  Real sum = 0;
  for (Index l = 0; l < p.k; ++l) {
    sum += static_cast<Real>(a_at(p, in, i, l)) * static_cast<Real>(b_at(p, in, l, j));
  }
  sum *= static_cast<Real>(p.alpha);
  if (p.beta != 0) sum += static_cast<Real>(p.beta) * static_cast<Real>(c);
  return sum;
}

/// Returns the same element with every operand replaced by its magnitude, which rounding errors scale with.
double magnitude(const Problem& p, const Gemm::Input& in, Index i, Index j, float c) {
  const auto a = matrix::view(in.a.data(), p.m, p.k, p.a_transposed());
  double sum = matrix::magnitude(a, matrix::view(in.b.data(), p.k, p.n, p.b_transposed()), i, j, p.k);
  sum *= std::abs(static_cast<double>(p.alpha));
  if (p.beta != 0) sum += std::abs(static_cast<double>(p.beta) * static_cast<double>(c));
  return sum;
}

void naive(const Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  for (Index i = 0; i < p.m; ++i) {
    for (Index j = 0; j < p.n; ++j) {
      float& c = out.c[i * p.n + j];
      c = element<float>(p, in, i, j, c);
    }
  }
}

/// The sum of weights[at] value(at).
template <class Value>
double weighted(const std::vector<double>& weights, const Value& value) {
  double sum = 0;
  for (std::size_t at = 0; at < weights.size(); ++at)
    sum += weights[at] * static_cast<double>(value(static_cast<Index>(at)));
  return sum;
}

/// All are integers below 2^53, and so exact.
void expect_weighted_sums(const Problem& p, const Gemm::Input& in, Rng& rng, Gemm::Expected& want) {
  constexpr Index most = 15;
  for (Index j = 0; j < p.n; ++j) {
    const auto size = static_cast<double>(rng.integer(1, most));
    want.weights.push_back(rng.unit() < 0.5 ? -size : size);
  }
  std::vector<double> sums_of_b;
  for (Index l = 0; l < p.k; ++l)
    sums_of_b.push_back(weighted(want.weights, [&](Index j) { return b_at(p, in, l, j); }));
  for (Index i = 0; i < p.m; ++i) {
    double sum =
        static_cast<double>(p.alpha) * weighted(sums_of_b, [&](Index l) { return a_at(p, in, i, l); });
    if (p.beta != 0)
      sum += static_cast<double>(p.beta) * weighted(want.weights, [&](Index j) { return in.c[i * p.n + j]; });
    want.weighted_sums.push_back(sum);
  }
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "naive", .summary = "three loops, one dot product per element", .run = naive});
}};

}  // namespace

std::vector<Problem> Gemm::corner_cases() {
  std::vector<Problem> out;
  for (const auto& [m, n, k] : matrix::corner_extents) {
    for (Index trans = 0; trans < 4; ++trans) {
      out.push_back({.m = m, .n = n, .k = k, .trans = trans});
      out.push_back({.m = m, .n = n, .k = k, .trans = trans, .alpha = -2, .beta = 3});
    }
  }
  out.push_back({.m = 9, .n = 18, .k = 5, .alpha = 1, .beta = 1});
  out.push_back({.m = 9, .n = 18, .k = 5, .alpha = 0, .beta = 2});
  // Past one block in each direction of a blocked variant (m, n, k in turn), and long in k alone.
  out.push_back({.m = 389, .n = 9, .k = 5});
  out.push_back({.m = 3, .n = 1031, .k = 7, .trans = 1});
  out.push_back({.m = 5, .n = 19, .k = 1031, .trans = 2, .beta = 1});
  out.push_back({.m = 131, .n = 129, .k = 521});
  // So long that the bound, which grows with k, lets products of half the digits pass: their spread shows
  // them.
  out.push_back({.m = 5, .n = 7, .k = 4099});
  for (const Index values : {matrix::special, matrix::tiny}) {
    // A tile with tails, a block with tails, a row, and long in k.
    for (const auto& [m, n, k] :
         {std::array<Index, 3>{7, 15, 9}, {29, 47, 37}, {1, 33, 17}, {33, 1, 17}, {5, 19, 1031}}) {
      for (Index trans = 0; trans < 4; ++trans) {
        out.push_back({.m = m, .n = n, .k = k, .trans = trans, .values = values});
      }
    }
    out.push_back({.m = 15, .n = 33, .k = 16, .alpha = -2, .beta = 3, .values = values});
  }
  return out;
}

Gemm::Input Gemm::make_input(const Problem& p, Setting& setting) {
  const Index values = p.alpha == 0 ? 0 : p.values;
  Input in{matrix::operand(p.m * p.k, values, true, p.m, setting),
           matrix::operand(p.k * p.n, values, false, p.n, setting),
           {}};
  if (p.beta != 0) in.c = matrix::operand(p.m * p.n, values, true, 0, setting);
  return in;
}

Gemm::Expected Gemm::expect(const Problem& p, const Input& in, Setting& setting) {
  // Largest partial result of the exact fill: k products of at most 9, alpha and beta at most 4, C at most 3.
  const bool integers_stay_exact = 36.0 * static_cast<double>(p.k) + 12 < 0x1p24;
  const bool same_value = setting.fill == Fill::exact && integers_stay_exact;
  const double factor = same_value ? 0 : rounding::g(static_cast<double>(p.k + 2));
  Expected want{matrix::expect(p.m, p.n, p.multiply_adds(), setting,
                               [&](Index i, Index j) {
                                 const float c = p.beta != 0 ? in.c[i * p.n + j] : 0;
                                 const auto value = element<double>(p, in, i, j, c);
                                 return std::pair{value,
                                                  matrix::bound_of(value, factor, magnitude(p, in, i, j, c),
                                                                   p.values, p.k + 2)};
                               }),
                {},
                {}};
  const bool sums_tell = same_value && p.values != matrix::special;
  if (!want.all && setting.units.empty() && sums_tell) expect_weighted_sums(p, in, setting.rng, want);
  return want;
}

Agreement Gemm::judge(const Problem& p, const Input&, const Expected& want, const Output& out) {
  Agreement found = within({"c", {p.m, p.n}}, out.c, want);
  if (want.weights.empty() || !found.agrees) return found;
  for (Index i = 0; i < p.m && found.agrees; ++i) {
    const double sum = weighted(want.weights, [&](Index j) { return out.c[i * p.n + j]; }),
                 expected = want.weighted_sums[static_cast<std::size_t>(i)];
    if (sum == expected) continue;
    found.agrees = false;
    found.worst_error = std::numeric_limits<double>::infinity();
    found.detail = "elements of row " + std::to_string(i) +
                   " of c are wrong, though not those of a sample: their sum with drawn weights is " +
                   std::to_string(sum) + ", expected " + std::to_string(expected);
  }
  found.compared = found.total;
  return found;
}

Cost Gemm::cost(const Problem& p) {
  Cost out = FromParts::cost(p);
  if (p.alpha != 0) return out;
  out.avoidable_flops = out.flops;
  out.avoidable_bytes = 4 * (product(p.m, p.k) + product(p.k, p.n));
  return out;
}

void Gemm::salt(const Problem& p, const Input&, std::string_view part, Index, float& element,
                Setting& setting) {
  element = matrix::drawn_element(p.alpha == 0 ? 0 : p.values, part != "b", setting);
}

template class detail::TypedOperation<Gemm>;

}  // namespace assay
