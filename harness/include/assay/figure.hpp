/// Figures: values with a description. Writers know their units, and no figure by name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace assay {

/// A value with its description. Results hold figures that were measured besides times, and figures of right
/// outputs, such as the height of a plan. Figures of outputs are equal for equal inputs on every machine, so
/// that they are compared exactly.
struct Figure {
  enum class Better { lower, higher, neither };
  /// The rule by which values of several process starts become one value.
  enum class Join { most, least, mean, sum };
  std::string name;                 ///< "height"
  double value = 0;                 ///< finite
  std::string unit{};               ///< "bytes", "s" or "%"; empty for counts and ratios
  Better better = Better::neither;  ///< `neither` is told, and judged nowhere
  std::optional<double> bound{};    ///< no right output is better than this
  std::optional<double> worst{};    ///< of an answer without work; in no file
  std::string tag{};                ///< "allocations_per_call": its name in files
  Join join = Join::most;
  std::string about{};  ///< a sentence for legends and schemas
};
/// Returns the distance of a figure from its bound as a share of the bound: 0.25 for 320 bytes above 256.
/// Nothing where there is no bound, or a bound of 0.
std::optional<double> gap_of(const Figure& figure);
/// "1,234 bytes", "468 µs", "12.5 %", "81"
std::string with_unit(double value, std::string_view unit);
/// "height 320 bytes, lower bound 256 bytes, gap 25.00 %; tasks 81"
std::string in_words(std::span<const Figure> figures);
/// Says that a later call on the same input has other figures. Empty where it has not, or where either call
/// has none.
std::string other_figures(std::span<const Figure> first, std::span<const Figure> later);

}  // namespace assay
