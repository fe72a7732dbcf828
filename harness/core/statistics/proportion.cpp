#include "core/statistics/proportion.hpp"

#include "core/statistics/signs.hpp"

namespace assay {

// The upper end is the share with which `hits` or fewer come up in (1 - coverage) / 2 of all cases, the lower
// end that with which `hits` or more do: both are shares that needed_chance() solves for.
Interval proportion(std::size_t hits, std::size_t trials, double coverage) {
  if (trials == 0) return {0, 0, 1, coverage};
  const double tail = (1 - coverage) / 2;
  const auto k = static_cast<int>(hits), n = static_cast<int>(trials);
  const double low = hits == 0 ? 0 : needed_chance(k, n, tail);
  const double high = hits == trials ? 1 : needed_chance(k + 1, n, 1 - tail);
  return {low, static_cast<double>(hits) / static_cast<double>(trials), high, coverage};
}

}  // namespace assay
