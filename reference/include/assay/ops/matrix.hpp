/// The parts that the references of the matrix products are written with: matrices by their strides, one
/// element of a product, and expectations that are sampled where all of them would take too long.
#pragma once

#include "assay/agreement.hpp"
#include "assay/buffer.hpp"
#include "assay/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
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

/// g(n) = n u / (1 - n u) with u = 2^-24, the constant of n roundings (Higham 2002, lemma 3.1).
inline double g(double roundings) {
  constexpr double u = 0x1p-24;
  return roundings * u / (1 - roundings * u);
}

/// The expected values of an output, of all its elements or of those at `where`.
struct Expected {
  std::vector<Index> where;  ///< strictly increasing flat positions; empty means all
  std::vector<double> value, bound;
};

/// Above this many multiply-adds the oracle computes a sample of outputs: a full one takes longer in double
/// than all the variants together.
inline constexpr double full_oracle_limit = 0x1p27;
inline constexpr Index sample_size = 4096;

/// Expectations from element(flat), a pair of value and bound, of all `count` outputs or of a seeded sample
/// that always holds `corners`: tails go wrong there first.
template <class Element>
Expected expect(Index count, double multiply_adds, std::vector<Index> corners, Rng& rng,
                const Element& element) {
  Expected want;
  if (multiply_adds > full_oracle_limit && count > sample_size) {
    want.where = std::move(corners);
    while (static_cast<Index>(want.where.size()) < sample_size) {
      want.where.push_back(rng.integer(0, count - 1));
    }
    std::ranges::sort(want.where);
    want.where.erase(std::unique(want.where.begin(), want.where.end()), want.where.end());
  }
  const Index computed = want.where.empty() ? count : static_cast<Index>(want.where.size());
  for (Index next = 0; next < computed; ++next) {
    const auto [value, bound] =
        element(want.where.empty() ? next : want.where[static_cast<std::size_t>(next)]);
    want.value.push_back(value);
    want.bound.push_back(bound);
  }
  return want;
}

/// The corners of one matrix [rows, columns] as flat positions.
inline std::vector<Index> corners_of(Index rows, Index columns) {
  return {0, columns - 1, (rows - 1) * columns, rows * columns - 1};
}

inline Agreement judge(const Shape& shape, std::span<const float> actual, const Expected& want) {
  return want.where.empty() ? within(shape, actual, want.value, want.bound)
                            : within_sampled(shape, actual, want.where, want.value, want.bound);
}

}  // namespace assay::matrix
