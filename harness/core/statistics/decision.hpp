/// Decisions about an attempt: the ratio that counts as a change, and the consequence.
#pragma once

#include "assay/interval.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace assay {

enum class Decision {
  baseline,    ///< the present state, with which the others are compared
  retain,      ///< faster
  reject,      ///< slower
  no_change,   ///< not told apart, or by less than what matters
  confounded,  ///< a control that it cannot change moved as well
  wrong,       ///< does something else
  over_bound   ///< faster than is possible: the measurement is at fault
};
std::string_view to_string(Decision decision);  ///< `NO CHANGE`

/// The smallest change that counts. Users do not notice less, and settings within it of the best count as the
/// best.
inline constexpr double change_that_matters = 0.01;

/// Below it there is no interval of 95 %.
inline constexpr std::size_t fewest_rounds = 6;

/// A ratio from its logarithms, one for each round.
Interval ratio_from(std::span<const double> logs);

/// RETAIN, REJECT or NO CHANGE, from a ratio of times to the times of the baseline.
Decision decision_on(const Interval& ratio);

/// Says for these three decisions by how much, and why that is no change where it is none.
std::string reason_for(const Interval& ratio);

/// Whether a control, whose ratio ought to be 1, differs from it beyond doubt and by more than
/// change_that_matters.
bool has_moved(const Interval& control);

/// Writes a ratio of times as `1.12x faster [1.05, 1.15]`: the ends are factors of the same direction.
std::string change_text(const Interval& ratio);

}  // namespace assay
