/// Agreement: whether what a variant wrote is what the oracle expects, and by how much it is off.
#pragma once

#include "assay/problem.hpp"

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// What a right output is worth besides the time it took, such as the height of a plan, or what its problem
/// allows. Equal for equal inputs and outputs on every machine, so that two of them are compared exactly.
struct Figure {
  enum class Better { lower, higher, neither };
  std::string name;                 ///< "height"
  double value = 0;                 ///< finite
  std::string unit{};               ///< "bytes", "s" or "%"; empty for counts and ratios
  Better better = Better::neither;  ///< `neither` is told, and judged nowhere
  std::optional<double> bound{};    ///< that no right output passes in the direction that is better
};
/// Returns by which share of its bound a figure is off it, 0.25 for 320 bytes above 256; nothing where it has
/// none, or one of 0.
std::optional<double> gap_of(const Figure& figure);
/// "1,234 bytes", "468 µs", "12.5 %", "81"
std::string with_unit(double value, std::string_view unit);
/// "height 320 bytes, lower bound 256 bytes, gap 25.00 %; tasks 81"
std::string in_words(std::span<const Figure> figures);

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
};

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

/// Compares where only the elements at flat positions `where` (strictly increasing) have an expectation.
Agreement within_sampled(const Shape& shape, std::span<const float> actual, std::span<const Index> where,
                         std::span<const double> expected, std::span<const double> bound);

}  // namespace assay
