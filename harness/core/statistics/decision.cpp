#include "core/statistics/decision.hpp"

#include "core/statistics/statistics.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace assay {

std::string_view to_string(Decision decision) {
  static constexpr std::array<std::string_view, 7> words{"AS IT IS",   "RETAIN", "REJECT",    "NO CHANGE",
                                                         "CONFOUNDED", "WRONG",  "OVER BOUND"};
  return words[static_cast<std::size_t>(decision)];
}

Interval ratio_from(std::span<const double> logs) { return exponential(centre(logs)); }

Decision decision_on(const Interval& ratio) {
  if (!(std::abs(std::log(ratio.middle)) > std::log1p(change_that_matters))) return Decision::no_change;
  if (ratio.high < 1) return Decision::retain;
  return ratio.low > 1 ? Decision::reject : Decision::no_change;
}

std::string reason_for(const Interval& ratio) {
  if (decision_on(ratio) != Decision::no_change) return change_text(ratio);
  const bool noise = ratio.low <= 1 && ratio.high >= 1;
  return change_text(ratio) + (noise ? ": within the noise" : ": too little to matter");
}

bool has_moved(const Interval& control) { return decision_on(control) != Decision::no_change; }

std::string change_text(const Interval& ratio) {
  const auto figure = [](double factor) { return fmt::format("{:.{}f}", factor, factor < 1.1 ? 3 : 2); };
  const bool faster = ratio.middle < 1;
  const std::string factor = figure(faster ? 1 / ratio.middle : ratio.middle);
  return fmt::format(
      "{} [{}, {}]", factor == "1.000" ? "equally fast" : factor + (faster ? "x faster" : "x slower"),
      figure(faster ? 1 / ratio.high : ratio.low), figure(faster ? 1 / ratio.low : ratio.high));
}

}  // namespace assay
