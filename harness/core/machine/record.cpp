#include "core/machine/record.hpp"

#include "core/text/figures.hpp"

namespace assay {

Json record_values(const std::string& date, const std::string& commit, const Machine& machine,
                   const Weather& weather, const std::string& command) {
  return Json{{"date", date},
              {"commit", commit},
              {"machine", machine.key},
              {"others", percent_text(weather.other_busy_share)},
              {"stolen", percent_text(weather.steal_share)},
              {"command", command}};
}

std::vector<double> triple(const Interval& interval) {
  return {interval.low, interval.middle, interval.high};
}

}  // namespace assay
