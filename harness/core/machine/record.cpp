#include "core/machine/record.hpp"

#include "core/markup/escaping.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

namespace assay {

std::string status_paragraph(const std::string& date, const std::string& commit, const Machine& machine) {
  return fmt::format("Status: measured {}, commit {}, machine {}.\n\n", date, commit, code(machine.key));
}

std::string weather_sentence(const Weather& weather) {
  return fmt::format("Other processes took {} of the processors, the host {}.",
                     percent_text(weather.other_busy_share), percent_text(weather.steal_share));
}

std::string how_to_reproduce(const std::string& command) {
  return fmt::format("## How to reproduce\n\n{}\n", code_block("", {command}));
}

std::vector<double> triple(const Interval& interval) {
  return {interval.low, interval.middle, interval.high};
}

}  // namespace assay
