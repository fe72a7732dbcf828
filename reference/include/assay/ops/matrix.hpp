/// The parts that the references of the matrix products are written with: matrices by their strides, one
/// element of a product, and the positions of a sample where all of them would take too long.
#pragma once

#include "assay/ops/arrays.hpp"

#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

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

/// (A B)[i, j], summed over k terms in the order of l. A and B are called with (row, column).
template <class Real, class A, class B>
Real element(const A& a, const B& b, Index i, Index j, Index k) {
  Real sum = 0;
  for (Index l = 0; l < k; ++l) sum += static_cast<Real>(a(i, l)) * static_cast<Real>(b(l, j));
  return sum;
}

/// (|A| |B|)[i, j]: what rounding errors scale with.
template <class A, class B>
double magnitude(const A& a, const B& b, Index i, Index j, Index k) {
  double sum = 0;
  for (Index l = 0; l < k; ++l) sum += std::abs(static_cast<double>(a(i, l)) * static_cast<double>(b(l, j)));
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

/// The bound of a result: of `factor` times a magnitude, 0 where no rounding is, and of underflow in `terms`.
inline double bound_of(double value, double factor, double magnitude, Index values, Index terms) {
  if (factor == 0 || !std::isfinite(value)) return 0;
  return factor * magnitude + (values == tiny ? 0x1p-149 * static_cast<double>(terms) : 0);
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
