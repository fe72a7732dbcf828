/// Figures: described values. Whoever shows or stores them knows units, and no figure by name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace assay {

/// A value and everything that a reader of it needs. Results hold what was measured besides times, and what a
/// right output is worth, such as the height of a plan; the latter are equal for equal inputs and outputs on
/// every machine, so that two of them are compared exactly.
struct Figure {
  enum class Better { lower, higher, neither };
  /// How values of several process starts become one.
  enum class Join { most, least, mean, sum };
  std::string name;                 ///< "height"
  double value = 0;                 ///< finite
  std::string unit{};               ///< "bytes", "s" or "%"; empty for counts and ratios
  Better better = Better::neither;  ///< `neither` is told, and judged nowhere
  std::optional<double> bound{};    ///< that no right output passes in the direction that is better
  std::string tag{};                ///< "allocations_per_call": its name in files
  Join join = Join::most;
  std::string about{};  ///< a sentence for legends and schemas
};
/// Returns by which share of its bound a figure is off it, 0.25 for 320 bytes above 256; nothing where it has
/// none, or one of 0.
std::optional<double> gap_of(const Figure& figure);
/// "1,234 bytes", "468 µs", "12.5 %", "81"
std::string with_unit(double value, std::string_view unit);
/// "height 320 bytes, lower bound 256 bytes, gap 25.00 %; tasks 81"
std::string in_words(std::span<const Figure> figures);

}  // namespace assay
