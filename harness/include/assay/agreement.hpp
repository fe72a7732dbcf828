/// Agreement: whether what a variant wrote is what the oracle expects, and by how much it is off.
#pragma once

#include "assay/buffer.hpp"
#include "assay/figure.hpp"
#include "assay/problem.hpp"

#include <algorithm>
#include <concepts>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

/// Outcome of checking one trial.
struct Agreement {
  bool agrees = true;
  /// Largest error in units of the bound; 0 where bits were compared and are equal.
  double worst_error = 0;
  /// Empty when it agrees; else which element, what it holds, what was expected, and the pattern.
  std::string detail;
  /// Outputs compared, and outputs there are. Fewer are compared only where the oracle is sampled.
  Index compared = 0;
  Index total = 0;
  /// Sum of the squares of errors in units of the bound, of `rounded` elements whose bound is not zero.
  double squares = 0;
  Index rounded = 0;
  std::vector<Figure> figures{};  ///< of a right output, where the contract defines any

  /// Root mean square of those errors; 0 when there are none.
  double rms_error() const;
  /// Notes, if it agreed until now, that it does not, and why. Such an error has no measure.
  void reject(std::string why) {
    if (!agrees) return;
    agrees = false;
    worst_error = std::numeric_limits<double>::infinity();
    detail = std::move(why);
  }
};

/// Says that errors, of `rounded` elements, are far larger than those of a `measure`, as of fewer digits.
/// Empty where they are not, or where these are too few elements to tell.
std::string fewer_digits(Index rounded, double rms_error, double rms_error_of_measure,
                         std::string_view measure);

/// Joins two outcomes: agrees when both do, with the larger error and the first detail.
Agreement operator&(Agreement first, const Agreement& second);

/// A named output and its extents, for messages such as `c[12, 5]`; the product of the extents is its size.
struct Shape {
  std::string_view name;
  std::vector<Index> extents;
  std::string element(Index flat) const;
};

/// Element-wise |actual - expected| <= bound. A NaN agrees only with an expected NaN, an infinity only
/// with the same infinity; a bound of zero asks for the same value. All spans have the same length.
Agreement within(const Shape& shape, std::span<const float> actual, std::span<const double> expected,
                 std::span<const double> bound);
Agreement within(const Shape& shape, std::span<const double> actual, std::span<const double> expected,
                 std::span<const double> bound);

/// Compares integers.
template <std::integral T>
Agreement within(const Shape& shape, std::span<const T> actual, const std::vector<T>& expected) {
  const auto total = static_cast<Index>(expected.size());
  Agreement out{.compared = total, .total = total};
  const auto [found, right] = std::ranges::mismatch(actual, expected);
  if (right == expected.end()) return out;
  out.reject(shape.element(found - actual.begin()) +
             (is_poison(*found) ? " was not written" : " is " + std::to_string(*found)) + ", expected " +
             std::to_string(*right));
  return out;
}

/// Compares where only the elements at flat positions `where` (strictly increasing) have an expectation.
Agreement within_sampled(const Shape& shape, std::span<const float> actual, std::span<const Index> where,
                         std::span<const double> expected, std::span<const double> bound);

/// The elements of an array that have an expectation: all `count` of them, or those at `where`.
struct Positions {
  Index count = 0;
  bool all = true;
  std::vector<Index> where;  ///< strictly increasing flat positions, unless all

  Index size() const { return all ? count : static_cast<Index>(where.size()); }
  Index operator[](Index next) const { return all ? next : where[static_cast<std::size_t>(next)]; }
};

/// The expected values of an array, and how far off each may be.
struct Expectation : Positions {
  /// Expects nothing yet, and has room for one number per position.
  Expectation(Positions positions = {});
  Expectation(Positions positions, std::vector<double> values, std::vector<double> bounds)
      : Positions(std::move(positions)), value(std::move(values)), bound(std::move(bounds)) {}
  std::vector<double> value, bound;
};

/// Element-wise `within` where there is an expectation.
inline Agreement within(const Shape& shape, std::span<const float> actual, const Expectation& want) {
  return want.all ? within(shape, actual, want.value, want.bound)
                  : within_sampled(shape, actual, want.where, want.value, want.bound);
}
inline Agreement within(const Shape& shape, std::span<const double> actual, const Expectation& want) {
  return within(shape, actual, want.value, want.bound);
}

}  // namespace assay
