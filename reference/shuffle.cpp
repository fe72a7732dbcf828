#include "assay/ops/shuffle.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace assay {
namespace {

void fisher_yates(std::span<Index> items, Rng& rng) {
  for (auto left = static_cast<Index>(items.size()); left > 1; --left) {
    std::swap(items[static_cast<std::size_t>(left - 1)],
              items[static_cast<std::size_t>(rng.integer(0, left - 1))]);
  }
}

void shuffle_blocks(std::span<Index> order, Index block, Rng& rng) {
  const auto samples = static_cast<Index>(order.size());
  std::vector<Index> starts;
  for (Index start = 0; start < samples; start += block) starts.push_back(start);
  fisher_yates(starts, rng);
  std::size_t group = 0, end = 0;
  for (std::size_t b = 0; b < starts.size(); ++b) {
    const Index stop = std::min(samples, starts[b] + block);
    for (Index i = starts[b]; i < stop; ++i) order[end++] = i;
    if ((b + 1) % static_cast<std::size_t>(blocks_mixed) != 0 && b + 1 < starts.size()) continue;
    fisher_yates(order.subspan(group, end - group), rng);
    group = end;
  }
}

/// Probability that m of n samples drawn without replacement miss a piece of n / m samples: hypergeometric.
double missed_by_a_batch(double n, double m) {
  const double rest = n - n / m;
  if (rest < m) return 0;
  return std::exp(std::lgamma(rest + 1) - std::lgamma(rest - m + 1) - std::lgamma(n + 1) +
                  std::lgamma(n - m + 1));
}

}  // namespace

void shuffle_into(std::span<Index> order, Shuffle shuffle, Index block, Rng& rng) {
  std::iota(order.begin(), order.end(), Index{0});
  if (shuffle == Shuffle::full) fisher_yates(order, rng);
  if (shuffle == Shuffle::blocks) shuffle_blocks(order, block, rng);
}

double mixing(std::span<const Index> order, Index batch) {
  const auto samples = static_cast<Index>(order.size());
  const Index pieces = std::min(batch, samples);
  const Index batches = samples / pieces;
  std::vector<Index> seen_in(static_cast<std::size_t>(pieces), -1);
  double different = 0;
  for (Index k = 0; k < batches; ++k) {
    for (Index b = 0; b < pieces; ++b) {
      const auto sample = static_cast<double>(order[static_cast<std::size_t>(k * pieces + b)]);
      const double piece = sample * static_cast<double>(pieces) / static_cast<double>(samples);
      Index& seen = seen_in[static_cast<std::size_t>(std::min(piece, static_cast<double>(pieces - 1)))];
      different += seen != k ? 1 : 0;
      seen = k;
    }
  }
  return different / static_cast<double>(batches) /
         (static_cast<double>(pieces) *
          (1 - missed_by_a_batch(static_cast<double>(samples), static_cast<double>(pieces))));
}

}  // namespace assay
