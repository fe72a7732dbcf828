/// Arrays of a problem: inputs of the numbers of a fill, and the expectations that oracles have of them: of
/// all elements, or of those that a sample or the units of a Setting ask for. Unless a contract says
/// otherwise, its arrays are f32, dense and row-major with the extents of their parts, no two overlap, and
/// outputs are not read; a bound holds for each element, in any order of summation, with or without FMA, and
/// has u = 2^-24 and g(r) = r u / (1 - r u). Higham (2002) is his Accuracy and Stability of Numerical
/// Algorithms, 2nd ed.
/// And the parts that the references of the matrix products are written with: matrices by their strides, one
/// element of a product, and the positions of a sample where all of them would take too long.
#pragma once

#include "assay/agreement.hpp"
#include "assay/operation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {
/// The constants of rounding in f32, of which the bounds of the contracts are made.
namespace rounding {

/// The unit roundoff.
inline constexpr double u = 0x1p-24;

/// g(n) = n u / (1 - n u), the constant of n roundings (Higham 2002, lemma 3.1).
inline double g(double roundings) { return roundings * u / (1 - roundings * u); }

}  // namespace rounding

/// The product of extents, which may exceed an Index.
inline double product(std::same_as<Index> auto... extents) { return (... * static_cast<double>(extents)); }

inline Buffer<float> drawn(Index count, Setting& setting) {
  Buffer<float> out = setting.buffer<float>(count);
  for (float& x : out) x = setting.draw();
  return out;
}

/// Gives `count` drawn elements the values infinity, NaN and -infinity, one after the other.
inline void make_some_infinite(Buffer<float>& x, Index count, Rng& rng) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                  infinity = std::numeric_limits<float>::infinity();
  constexpr std::array<float, 3> values{infinity, nan, -infinity};
  for (Index i = 0; i < count; ++i) {
    x[rng.integer(0, x.size() - 1)] = values[static_cast<std::size_t>(i) % values.size()];
  }
}

/// Stores the special values in every `every`-th element, one after the other. Where `every` is no power of
/// two, each of them meets every lane of a vector.
inline void sprinkle(Buffer<float>& x, std::span<const float> special, Index every = 3) {
  for (Index i = 0; i < x.size(); i += every) {
    x[i] = special[static_cast<std::size_t>(i / every) % special.size()];
  }
}

/// Returns the positions, of `count` elements, that Setting::units ask for, where element 0 is the unit
/// `first`.
inline Positions positions_of(Index count, const std::vector<Index>& units, Index first = 0) {
  Positions out{.count = count, .all = units.empty(), .where = {}};
  for (const Index unit : units) {
    if (unit >= first && unit - first < count) out.where.push_back(unit - first);
  }
  return out;
}

/// A seeded sample of about `size` elements that holds `corners`: tails go wrong there first.
inline Positions sample_of(Index count, Index size, std::vector<Index> corners, Rng& rng) {
  Positions out{.count = count, .all = false, .where = std::move(corners)};
  while (static_cast<Index>(out.where.size()) < size) out.where.push_back(rng.integer(0, count - 1));
  std::ranges::sort(out.where);
  out.where.erase(std::unique(out.where.begin(), out.where.end()), out.where.end());
  return out;
}

/// The elements of rows of an array [rows, columns].
inline Positions elements_of(const Positions& rows, Index columns) {
  Positions out{.count = rows.count * columns, .all = rows.all, .where = {}};
  for (const Index row : rows.where) {
    for (Index j = 0; j < columns; ++j) out.where.push_back(row * columns + j);
  }
  return out;
}

/// Expectations from element(flat position), a pair of value and bound.
template <class Element>
Expectation expect_at(Positions positions, const Element& element) {
  Expectation want(std::move(positions));
  for (Index next = 0; next < want.size(); ++next) {
    const auto [value, bound] = element(want[next]);
    want.value.push_back(value);
    want.bound.push_back(bound);
  }
  return want;
}

inline Expectation expect_one(double value, double bound) { return {{1, true, {}}, {value}, {bound}}; }

}  // namespace assay

namespace assay::matrix {

/// The words of a field `trans` with two operands: the first letter speaks of A, the second of B.
inline constexpr std::array<std::string_view, 4> transposes{"nn", "nt", "tn", "tt"};
constexpr bool a_transposed(Index trans) { return trans >= 2; }
constexpr bool b_transposed(Index trans) { return trans % 2 == 1; }

/// op(M) of a dense row-major matrix: element (i, j) lies at i * row + j * column.
template <class T>
struct View {
  const T* data = nullptr;
  Index row = 0, column = 0;
  const T& operator()(Index i, Index j) const { return data[i * row + j * column]; }
};

/// op(M)[rows, columns]. Transposed, it is stored [columns, rows].
template <class T>
View<T> view(const T* data, Index rows, Index columns, bool transposed = false) {
  return transposed ? View<T>{data, 1, rows} : View<T>{data, columns, 1};
}

/// A number, and the sum of the magnitudes of its terms, which rounding errors scale with.
struct Sized {
  double value = 0, magnitude = 0;
  Sized() = default;
  Sized(double x) : value(x), magnitude(std::abs(x)) {}
  Sized(double its_value, double its_magnitude) : value(its_value), magnitude(its_magnitude) {}
  Sized& operator+=(const Sized& x) { return *this = {value + x.value, magnitude + x.magnitude}; }
  friend Sized operator*(const Sized& x, const Sized& y) {
    return {x.value * y.value, x.magnitude * y.magnitude};
  }
};

/// (A B)[i, j], summed over k terms in the order of l. A and B are called with (row, column).
template <class Real, class A, class B>
Real element(const A& a, const B& b, Index i, Index j, Index k) {
  Real sum{};
  for (Index l = 0; l < k; ++l) sum += static_cast<Real>(a(i, l)) * static_cast<Real>(b(l, j));
  return sum;
}

/// Extents m, n, k of corner cases: around the lane counts 4, 8, 16 and the register tiles built from them,
/// and primes.
inline constexpr std::array<Index, 3> corner_extents[] = {
    {1, 1, 1},  {1, 17, 31},  {2, 1, 3},    {3, 5, 1},    {5, 7, 2},     {6, 16, 8},
    {7, 15, 9}, {13, 31, 17}, {15, 33, 16}, {29, 47, 37}, {16, 49, 257}, {65, 63, 64}};

/// The words of a field `values`, by which a product has operands that kernels get wrong.
///   special: half of all elements are 0, and some are NaN or infinite, so that 0 NaN and 0 inf are met.
///   tiny: the left operand, and what is added to the product, are 2^-130 times as large: subnormal.
inline constexpr std::array<std::string_view, 3> value_words{"usual", "special", "tiny"};
inline constexpr Index special = 1, tiny = 2;
inline constexpr float tiny_scale = 0x1p-130F;

/// An element of an operand: of the left one, or of what is added, where `scaled`.
inline float drawn_element(Index values, bool scaled, Setting& setting) {
  if (values == special && setting.rng.integer(0, 1) == 0) return 0;
  return values == tiny && scaled ? tiny_scale * setting.draw() : setting.draw();
}

/// An operand. Where `values` are special, it has a few elements, beside `lines` rows or columns of a result,
/// that are not finite.
inline Buffer<float> operand(Index count, Index values, bool scaled, Index lines, Setting& setting) {
  Buffer<float> out = setting.buffer<float>(count);
  for (float& x : out) x = drawn_element(values, scaled, setting);
  if (values == special) make_some_infinite(out, 1 + lines / 8, setting.rng);
  return out;
}

/// A result and its bound: of `factor` times its magnitude, 0 where no rounding is, and of underflow in
/// `terms`.
inline std::pair<double, double> bounded(const Sized& result, double factor, Index values, Index terms) {
  if (factor == 0 || !std::isfinite(result.value)) return {result.value, 0};
  const double underflow = values == tiny ? 0x1p-149 * static_cast<double>(terms) : 0;
  return {result.value, factor * result.magnitude + underflow};
}

/// Above this many multiply-adds the oracle computes a sample of outputs: a full one takes longer in double
/// than all the variants together.
inline constexpr double full_oracle_limit = 0x1p27;
inline constexpr Index sample_size = 4096;
/// As FromParts has it.
inline double expected_bytes(double multiply_adds) { return multiply_adds > full_oracle_limit ? 0 : 16; }

/// The elements that are expected of `count`: those that the units of the setting ask for, where element 0 is
/// the unit `first`; else all, or a sample with `corners`.
inline Positions positions(Index count, double multiply_adds, std::vector<Index> corners, Setting& setting,
                           Index first = 0) {
  const bool sampled = setting.units.empty() && multiply_adds > full_oracle_limit && count > sample_size;
  return sampled ? sample_of(count, sample_size, std::move(corners), setting.rng)
                 : positions_of(count, setting.units, first);
}

/// C = A B [m, n], row-major, as the sums of the naive variants are formed.
template <class A, class B>
void multiply(const A& a, const B& b, Index m, Index n, Index k, float* c) {
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) c[i * n + j] = element<float>(a, b, i, j, k);
  }
}

/// The corners of one matrix [rows, columns] as flat positions.
inline std::vector<Index> corners_of(Index rows, Index columns) {
  return {0, columns - 1, (rows - 1) * columns, rows * columns - 1};
}

/// Expectations of an array [rows, columns] from element(row, column), a pair of value and bound. Element 0
/// is the unit `first`.
template <class Element>
Expectation expect(Index rows, Index columns, double multiply_adds, Setting& setting, const Element& element,
                   Index first = 0) {
  return expect_at(positions(rows * columns, multiply_adds, corners_of(rows, columns), setting, first),
                   [&](Index flat) { return element(flat / columns, flat % columns); });
}

}  // namespace assay::matrix
