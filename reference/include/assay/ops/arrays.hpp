/// Arrays of a problem: how large they are, inputs of the numbers of a fill, and the expectations that
/// oracles have of them: of all elements, or of those that a sample or the units of a Setting ask for.
#pragma once

#include "assay/agreement.hpp"
#include "assay/operation.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <limits>
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

/// `count` numbers of the fill.
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
  Expectation want{std::move(positions), {}, {}};
  want.value.reserve(static_cast<std::size_t>(want.size()));
  want.bound.reserve(static_cast<std::size_t>(want.size()));
  for (Index next = 0; next < want.size(); ++next) {
    const auto [value, bound] = element(want[next]);
    want.value.push_back(value);
    want.bound.push_back(bound);
  }
  return want;
}

}  // namespace assay
