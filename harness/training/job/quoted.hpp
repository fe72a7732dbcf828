/// A figure as somebody else printed it: its value, and how far it may be from the figure that was rounded.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay {

enum class Quantity { seconds, samples_per_second, share, count };

/// A figure in SI units; a share is a fraction, not a percentage.
struct Quoted {
  double value = 0;
  double rounding = 0;  ///< half a unit of the last digit: the exact figure lies within value +- rounding
  Quantity quantity = Quantity::seconds;
  std::string text;  ///< as it was printed
};

/// `0.0997 s`, `56.7 min`, `5,641/s`, `44.3 %`: digits with an optional point, commas between thousands, and
/// a unit out of ns, us, µs, ms, s, min, h, /s, samples/s and %; without a unit it is a count, which is
/// exact. Texts rather than numbers, since the digits that were printed say how exact the figure is: 0.0100 s
/// is known ten times better than 0.010 s. Nothing when `text` is none of these.
std::optional<Quoted> parse_quoted(std::string_view text);

/// Seconds in a unit of time, `ms` or `milliseconds`; 0 for any other word.
double seconds_in(std::string_view unit);

/// Half a unit of the last digit of the shortest decimal that is this number: the largest difference between
/// a number that was typed in and the figure before rounding. At most a hundredth of it, since zeros at the
/// end are lost: 10 may have been 10.0.
double typed_rounding(double value);

/// Whether two figures can be the same before rounding: their ranges meet. The second is the
/// computed value of the first, with the half-width that follows from the rounding of its inputs.
bool can_agree(const Quoted& stated, double computed, double half_width);

}  // namespace assay
