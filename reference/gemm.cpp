#include "assay/ops/gemm.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace assay {
namespace {

using matrix::Sized;

/// op(A) and op(B), those of product i where there are several.
auto operands(const auto& p, const auto& in, Index i = 0) {
  return std::pair{matrix::view(in.a.data() + i * p.m * p.k, p.m, p.k, p.a_transposed()),
                   matrix::view(in.b.data() + i * p.k * p.n, p.k, p.n, p.b_transposed())};
}

/// One element of C: the specification. In Sized it is the oracle, in float the naive variant.
/// `c` is what C held before; it does not count when beta = 0.
template <class Real>
Real element(const Gemm::Problem& p, const Gemm::Input& in, Index i, Index j, float c) {
  const auto [a, b] = operands(p, in);
  const auto alpha = static_cast<double>(p.alpha), beta = static_cast<double>(p.beta);
  Real sum = matrix::element<Real>(a, b, i, j, p.k) * static_cast<Real>(alpha);
  if (beta != 0) sum += static_cast<Real>(beta) * static_cast<Real>(c);
  return sum;
}

void naive_gemm(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  for (Index i = 0; i < p.m; ++i) {
    for (Index j = 0; j < p.n; ++j) {
      float& c = out.c[i * p.n + j];
      c = element<float>(p, in, i, j, c);
    }
  }
}

template <class Value>
double weighted(const std::vector<double>& weights, const Value& value) {
  double sum = 0;
  for (std::size_t at = 0; at < weights.size(); ++at)
    sum += weights[at] * static_cast<double>(value(static_cast<Index>(at)));
  return sum;
}

/// All are integers below 2^53, and so exact.
void expect_weighted_sums(const Gemm::Problem& p, const Gemm::Input& in, Rng& rng, Gemm::Expected& want) {
  constexpr Index most = 15;
  for (Index j = 0; j < p.n; ++j) {
    const auto size = static_cast<double>(rng.integer(1, most));
    want.weights.push_back(rng.unit() < 0.5 ? -size : size);
  }
  const auto both = operands(p, in);
  std::vector<double> sums_of_b;
  for (Index l = 0; l < p.k; ++l)
    sums_of_b.push_back(weighted(want.weights, [&](Index j) { return both.second(l, j); }));
  for (Index i = 0; i < p.m; ++i) {
    double sum =
        static_cast<double>(p.alpha) * weighted(sums_of_b, [&](Index l) { return both.first(i, l); });
    if (p.beta != 0)
      sum += static_cast<double>(p.beta) * weighted(want.weights, [&](Index j) { return in.c[i * p.n + j]; });
    want.weighted_sums.push_back(sum);
  }
}

/// op(A)[results, terms], and x as a matrix of one column.
matrix::View<float> operand(const Gemv::Problem& p, const Gemv::Input& in) {
  return p.transposed() ? matrix::view(in.a.data(), p.n, p.m, true) : matrix::view(in.a.data(), p.m, p.n);
}
matrix::View<float> column(const Gemv::Input& in) { return {in.x.data(), 1, 0}; }

void naive_gemv(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  const auto a = operand(p, in), x = column(in);
  for (Index i = 0; i < p.results(); ++i) out.y[i] = matrix::element<float>(a, x, i, 0, p.terms());
}

void naive_batched(const BatchedGemm::Problem& p, const BatchedGemm::Input& in, BatchedGemm::Output& out) {
  for (Index i = 0; i < p.batch; ++i) {
    const auto [a, b] = operands(p, in, i);
    matrix::multiply(a, b, p.m, p.n, p.k, out.c.data() + i * p.m * p.n);
  }
}

struct Widened {
  matrix::View<std::uint16_t> stored;
  float operator()(Index i, Index j) const { return bf16::widen(stored(i, j)); }
};

void naive_bf16(const GemmBf16::Problem& p, const GemmBf16::Input& in, GemmBf16::Output& out) {
  const auto [a, b] = operands(p, in);
  matrix::multiply(Widened{a}, Widened{b}, p.m, p.n, p.k, out.c.data());
}

/// Returns the most that denormals taken for zero may change in one element.
double underflow(const Widened& a, const Widened& b, Index i, Index j, Index k) {
  double sum = 0;
  for (Index l = 0; l < k; ++l) {
    sum += std::abs(static_cast<double>(a(i, l))) + std::abs(static_cast<double>(b(l, j))) + 2;
  }
  return 0x1p-126 * sum;
}

void naive_mixed_precision(const MixedPrecision::Problem& p, const MixedPrecision::Input& in,
                           MixedPrecision::Output& out) {
  const auto x = matrix::view(in.x.data(), p.m, p.k), w = matrix::view(in.w.data(), p.k, p.n),
             dy = matrix::view(in.dy.data(), p.m, p.n), x_turned = matrix::view(in.x.data(), p.k, p.m, true);
  matrix::multiply(x, w, p.m, p.n, p.k, out.y.data());
  for (Index l = 0; l < p.k; ++l) {
    for (Index j = 0; j < p.n; ++j) {
      const float gradient = matrix::element<float>(x_turned, dy, l, j, p.m);
      out.w_next[l * p.n + j] = w(l, j) - static_cast<float>(MixedPrecision::rate) * gradient;
    }
  }
}

/// The most by which a product of that many terms, of that sum of magnitudes, may be off.
double off(double terms, double magnitude) { return rounding::g(terms) * magnitude + 0x1p-120 * terms; }

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "naive", .summary = "three loops, one dot product per element", .run = naive_gemm});
  r.add<Gemv>({.name = "naive", .summary = "one dot product per element of y", .run = naive_gemv});
  r.add<BatchedGemm>(
      {.name = "naive", .summary = "product after product, three loops each", .run = naive_batched});
  r.add<GemmBf16>(
      {.name = "naive", .summary = "three loops, operands widened one by one", .run = naive_bf16});
  r.add<SmallProducts>(
      {.name = "naive", .summary = "three loops and a mean per sample", .run = SmallProducts::naive});
  r.add<MixedPrecision>(
      {.name = "naive", .summary = "both products and the update in f32", .run = naive_mixed_precision});
}};

}  // namespace

auto Gemm::corner_cases() -> std::vector<Problem> {
  std::vector<Problem> out;
  for (const auto& [m, n, k] : matrix::corner_extents) {
    for (Index trans = 0; trans < 4; ++trans) {
      out.push_back({.m = m, .n = n, .k = k, .trans = trans});
      out.push_back({.m = m, .n = n, .k = k, .trans = trans, .alpha = -2, .beta = 3});
    }
  }
  std::vector<std::string> texts{
      "m=9,n=18,k=5,beta=1", "m=9,n=18,k=5,alpha=0,beta=2",
      // Past one block in each direction of a blocked variant (m, n, k in turn), and long in k alone.
      "m=389,n=9,k=5", "m=3,n=1031,k=7,trans=nt", "m=5,n=19,k=1031,trans=tn,beta=1", "m=131,n=129,k=521",
      // So long that the bound, which grows with k, lets products of half the digits pass: their spread shows
      // them.
      "m=5,n=7,k=4099"};
  for (const std::string_view values : {"special", "tiny"}) {
    const std::string end = ",values=" + std::string(values);
    // A tile with tails, a block with tails, a row, and long in k.
    for (const char* extents :
         {"m=7,n=15,k=9", "m=29,n=47,k=37", "m=1,n=33,k=17", "m=33,n=1,k=17", "m=5,n=19,k=1031"}) {
      texts.push_back(extents + (",trans=nn|nt|tn|tt" + end));
    }
    texts.push_back("m=15,n=33,k=16,alpha=-2,beta=3" + end);
  }
  for (const Problem& p : problems<Problem>(texts)) out.push_back(p);
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
                                 return matrix::bounded(element<Sized>(p, in, i, j, c), factor, p.values,
                                                        p.k + 2);
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
    found.reject("elements of row " + std::to_string(i) +
                 " of c are wrong, though not those of a sample: their sum with drawn weights is " +
                 std::to_string(sum) + ", expected " + std::to_string(expected));
  }
  found.compared = found.total;
  return found;
}

const Corners Gemv::corners = {
    // Around the lane counts 4, 8, 16 and blocks of four and eight rows or vectors, and primes.
    "m=1|2|3|5|7|8|9|13|17,n=1|2|3|15|16|17|31|63|65|127|129,trans=n|t", "m=3,n=4099,trans=n|t",
    "m=4099,n=3,trans=n|t",
    // Enough work for a threaded variant to divide.
    "m=257,n=1031,trans=n|t", "m=37,n=67,trans=n|t,values=special|tiny",
    "m=67,n=37,trans=n|t,values=special|tiny", "m=257,n=1031,trans=n|t,values=special|tiny"};

auto Gemv::make_input(const Problem& p, Setting& setting) -> Input {
  // One element of x that is not finite leaves no result that is.
  Input in{matrix::operand(p.m * p.n, p.values, false, p.results(), setting),
           setting.buffer<float>(p.terms())};
  for (float& x : in.x) x = matrix::drawn_element(p.values, true, setting);
  return in;
}

auto Gemv::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const auto a = operand(p, in), x = column(in);
  const bool same_value = setting.fill == Fill::exact && 9.0 * static_cast<double>(p.terms()) < 0x1p24;
  const double factor = same_value ? 0 : rounding::g(static_cast<double>(p.terms()));
  return expect_at(
      matrix::positions(p.results(), product(p.m, p.n), {0, p.results() - 1}, setting), [&](Index i) {
        return matrix::bounded(matrix::element<Sized>(a, x, i, 0, p.terms()), factor, p.values, p.terms());
      });
}

const Corners BatchedGemm::corners = {
    // Around the lane counts 4, 8, 16 and the tiles built from them, primes, and more products than threads.
    "batch=1,m=1,n=1,k=1,trans=nn|nt|tn|tt", "batch=5,m=1,n=17,k=31,trans=nn|nt|tn|tt",
    "batch=3,m=2,n=1,k=3,trans=nn|nt|tn|tt", "batch=7,m=7,n=15,k=9,trans=nn|nt|tn|tt",
    "batch=3,m=13,n=31,k=17,trans=nn|nt|tn|tt", "batch=4,m=16,n=33,k=16,trans=nn|nt|tn|tt",
    "batch=2,m=29,n=47,k=37,trans=nn|nt|tn|tt", "batch=3,m=65,n=63,k=64,trans=nn|nt|tn|tt",
    // Enough work for a threaded variant to divide, and sums longer than a block.
    "batch=37,m=32,n=32,k=32", "batch=2,m=3,n=18,k=1031,trans=nt|tt"};

auto BatchedGemm::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const bool same_value = setting.fill == Fill::exact && 9.0 * static_cast<double>(p.k) < 0x1p24;
  const double factor = same_value ? 0 : rounding::g(static_cast<double>(p.k));
  const Index size = p.m * p.n;
  std::vector<Index> sampled = matrix::corners_of(p.m, p.n);
  for (const Index corner : matrix::corners_of(p.m, p.n)) sampled.push_back((p.batch - 1) * size + corner);
  return expect_at(matrix::positions(p.batch * size, p.multiply_adds(), sampled, setting), [&](Index flat) {
    const auto [a, b] = operands(p, in, flat / size);
    const auto c = matrix::element<Sized>(a, b, flat % size / p.n, flat % p.n, p.k);
    return std::pair{c.value, factor * c.magnitude};
  });
}

auto GemmBf16::corner_cases() -> std::vector<Problem> {
  std::vector<Problem> out;
  for (const auto& [m, n, k] : matrix::corner_extents) {
    for (Index trans = 0; trans < 4; ++trans) out.push_back({.m = m, .n = n, .k = k, .trans = trans});
  }
  // An even k beyond those, since instructions take two terms at once; past one block in each direction of a
  // blocked variant, in every layout, and enough to divide.
  for (Index trans = 0; trans < 4; ++trans) {
    out.push_back({.m = 14, .n = 32, .k = 34, .trans = trans});
    out.push_back({.m = 5, .n = 19, .k = 2053, .trans = trans});
    out.push_back({.m = 401, .n = 9, .k = 5, .trans = trans});
    out.push_back({.m = 3, .n = 1031, .k = 7, .trans = trans});
  }
  out.push_back({.m = 131, .n = 129, .k = 131, .trans = 2});
  return out;
}

auto GemmBf16::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const auto both = operands(p, in);
  const Widened a{both.first}, b{both.second};
  const bool same_value = setting.fill == Fill::exact && 9.0 * static_cast<double>(p.k) < 0x1p24;
  const double factor = rounding::g(static_cast<double>(p.k));
  return matrix::expect(p.m, p.n, p.multiply_adds(), setting, [&](Index i, Index j) {
    const auto c = matrix::element<Sized>(a, b, i, j, p.k);
    return std::pair{c.value, same_value ? 0 : factor * c.magnitude + underflow(a, b, i, j, p.k)};
  });
}

const Corners SmallProducts::corners = {
    "samples=1,rows=2,n=1,k=1",    "samples=1,rows=3,n=5,k=2",   "samples=3,rows=2,n=16,k=8",
    "samples=2,rows=7,n=15,k=9",   "samples=5,rows=4,n=33,k=17", "samples=9,rows=3,n=31,k=16",
    "samples=17,rows=2,n=10,k=84", "samples=8,rows=8,n=32,k=40", "samples=4,rows=1,n=6,k=3"};

void SmallProducts::naive(const Problem& p, const Input& in, Output& out) {
  for (Index s = 0; s < p.samples; ++s) {
    const auto x = matrix::view(in.x.data() + s * p.rows * p.k, p.rows, p.k),
               w = matrix::view(in.w.data(), p.k, p.n);
    float* const y = out.y.data() + s * p.rows * p.n;
    matrix::multiply(x, w, p.rows, p.n, p.k, y);
    for (Index j = 0; j < p.n; ++j) {
      float sum = 0;
      for (Index i = 0; i < p.rows; ++i) sum += y[i * p.n + j];
      const float mean = sum / static_cast<float>(p.rows);
      for (Index i = 0; i < p.rows; ++i) y[i * p.n + j] -= mean;
    }
  }
}

auto SmallProducts::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const Index all = p.samples * p.rows;
  const auto x = matrix::view(in.x.data(), all, p.k), w = matrix::view(in.w.data(), p.k, p.n);
  const auto rows = static_cast<double>(p.rows);
  const double factor = rounding::g(static_cast<double>(p.k) + rows + 3);
  // An element needs the products of all rows of its sample.
  const double work = product(all, p.n, p.k) * rows;
  return matrix::expect(all, p.n, work, setting, [&](Index row, Index j) {
    const Index first = row / p.rows * p.rows;
    Sized sum;
    for (Index i = first; i < first + p.rows; ++i) sum += matrix::element<Sized>(x, w, i, j, p.k);
    const auto y = matrix::element<Sized>(x, w, row, j, p.k);
    return std::pair{y.value - sum.value / rows, factor * (y.magnitude + sum.magnitude / rows)};
  });
}

auto MixedPrecision::corner_cases() -> std::vector<Problem> {
  std::vector<Problem> out;
  for (const auto& [m, n, k] : matrix::corner_extents) out.push_back({.m = m, .n = n, .k = k});
  out.push_back({.m = 64, .n = 10, .k = 120});
  return out;
}

auto MixedPrecision::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const auto x = matrix::view(in.x.data(), p.m, p.k), w = matrix::view(in.w.data(), p.k, p.n),
             dy = matrix::view(in.dy.data(), p.m, p.n), x_turned = matrix::view(in.x.data(), p.k, p.m, true);
  const double work = product(p.m, p.n, p.k);
  const auto y = [&](Index i, Index j) {
    const auto sum = matrix::element<Sized>(x, w, i, j, p.k);
    return std::pair{sum.value, off(static_cast<double>(p.k), sum.magnitude)};
  };
  const auto w_next = [&](Index l, Index j) {
    const double before = w(l, j);
    const auto [value, size] = matrix::element<Sized>(x_turned, dy, l, j, p.m);
    return std::pair{before - rate * value, rate * off(static_cast<double>(p.m) + 2, size) +
                                                rounding::g(2) * (std::abs(before) + rate * size)};
  };
  return {matrix::expect(p.m, p.n, work, setting, y),
          matrix::expect(p.k, p.n, work, setting, w_next, p.m * p.n)};
}

template class detail::TypedOperation<Gemm>;
template class detail::TypedOperation<Gemv>;
template class detail::TypedOperation<BatchedGemm>;
template class detail::TypedOperation<GemmBf16>;
template class detail::TypedOperation<SmallProducts>;
template class detail::TypedOperation<MixedPrecision>;

}  // namespace assay
