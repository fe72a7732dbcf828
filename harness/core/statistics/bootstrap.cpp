// The interval of last resort, where only slices of one launch exist.
#include "assay/random.hpp"
#include "core/statistics/statistics.hpp"

#include <cassert>

namespace assay {

Interval ratio_of_medians(std::span<const double> numerator, std::span<const double> denominator,
                          std::uint64_t seed, double coverage) {
  assert(!numerator.empty() && !denominator.empty());
  // Percentiles at 2.5 % rest on 25 of these on either side, enough for the two or three digits shown.
  constexpr std::size_t draws = 1000;
  const double estimate = median(numerator) / median(denominator);
  if (numerator.size() < 2 || denominator.size() < 2) return {estimate, estimate, estimate, 0, Basis::slices};

  const bool paired = numerator.size() == denominator.size();
  Rng rng(seed);
  const auto draw = [&](std::size_t count) {
    return static_cast<std::size_t>(rng.integer(0, static_cast<Index>(count) - 1));
  };
  std::vector<double> ratios, top(numerator.size()), bottom(denominator.size());
  for (std::size_t round = 0; round < draws; ++round) {
    for (std::size_t i = 0; i < top.size(); ++i) {
      const std::size_t from = draw(top.size());
      top[i] = numerator[from];
      if (paired) bottom[i] = denominator[from];
    }
    if (!paired) {
      for (double& x : bottom) x = denominator[draw(bottom.size())];
    }
    ratios.push_back(median(top) / median(bottom));
  }
  const double tail = (1 - coverage) / 2;
  return {quantile(ratios, tail), estimate, quantile(ratios, 1 - tail), coverage, Basis::slices};
}

}  // namespace assay
