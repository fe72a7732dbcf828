// The two passes of a tier, which the variants of gradient_clip share.
#pragma once

#include "team.hpp"
#include "tiers.hpp"

#include "assay/ops/batch_gradient.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace assay::gradient_clip {

/// The sum of the squares of g[first, last). Partial sums in f32 have at most 64 terms.
using SquaresFunction = double(const float* g, Index first, Index last);
using ScaleFunction = void(float kept, const float* g, float* y, Index first, Index last);

struct Tier : NamedTier {
  SquaresFunction* squares = nullptr;
  ScaleFunction* scale = nullptr;
};
std::vector<Tier> tiers();

inline float norm_of(double squares) { return static_cast<float>(std::sqrt(squares)); }

/// y = g[n], clipped, and returns the norm of g. Each of as many threads as `sums` has places takes a share;
/// their sums are added in the order of the shares.
inline float clip(const Tier& tier, std::vector<double>& sums, const float* g, float* y, Index n) {
  const auto threads = static_cast<int>(sums.size());
  on_team(threads, threads, [&](int part) {
    sums[static_cast<std::size_t>(part)] =
        tier.squares(g, share_begin(n, part, threads), share_begin(n, part + 1, threads));
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  const float norm = norm_of(total), kept = GradientClip::kept(norm);
  on_shares(threads, n, [&](Index first, Index last) { tier.scale(kept, g, y, first, last); });
  return norm;
}

}  // namespace assay::gradient_clip
