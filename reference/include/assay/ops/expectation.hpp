/// The expectations that oracles have of an array: of all its elements, or of those that a sample or the
/// units of a Setting ask for.
#pragma once

#include "assay/agreement.hpp"
#include "assay/operation.hpp"
#include "assay/ops/rounding.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace assay {

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
