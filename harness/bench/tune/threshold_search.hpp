/// The smallest size from which the second of two ways is faster than the first: a search that decides on
/// intervals. Nothing here measures.
///
/// Sizes at both ends come first, then the gap around the break-even is halved until neighbours of the grid
/// are known on both sides. A size whose interval contains 1 is a tie: it belongs to neither way, and the
/// search goes on, to its left for the last size of the first way and to its right for the first size of the
/// second. Bisection takes the sizes outside the gap for granted, so a few of them are measured in the end. A
/// size that contradicts others is measured once more, since one interval in forty errs to either side. It
/// stands only if it says the same again.
#pragma once

#include "assay/interval.hpp"
#include "assay/problem.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace assay {

/// The way that takes less time beyond doubt, of two.
enum class Faster { first, second, neither };

struct MeasuredSize {
  Index size = 0;
  Interval ratio;          ///< time of the first by the second, round by round
  bool again = false;      ///< measured twice, since it contradicted others
  Interval first, second;  ///< seconds per call, for readers alone
};
Faster faster_at(const MeasuredSize& measured);

enum class ThresholdOutcome {
  found,         ///< from some size on the second is faster, and below that it is not
  everywhere,    ///< the second is faster at the smallest size already
  nowhere,       ///< the second is surely faster at no size, the first at some
  reversed,      ///< the second is faster at small sizes and the first at large ones
  not_monotone,  ///< they take turns more than once
  undecided,     ///< every size is a tie
  stopped        ///< before the search was at its end
};
std::string_view to_string(ThresholdOutcome outcome);  ///< `NOT MONOTONE`

struct Threshold {
  ThresholdOutcome outcome = ThresholdOutcome::stopped;
  /// The break-even lies between: the largest size at which the first is surely faster, nothing where there
  /// is none, and the smallest at which the second is.
  std::optional<Index> low, high;
  std::vector<MeasuredSize> sizes;  ///< all that were measured, by size

  /// Returns the size from which a program should take the second way: `high`, and not the middle of the
  /// interval. Below it nothing was shown for the second way, and a tie is no reason to leave the first,
  /// which is usually the simpler one and needs fewer cores. Nothing unless `outcome` is found.
  std::optional<Index> constant() const;
  /// Ties beyond `low` and `high`, where one way is faster on both sides of them or up to an end.
  std::vector<Index> outer_ties() const;
};

/// Returns whole numbers from `from` to `to`, both among them, each once and about `step` times its
/// predecessor.
std::vector<Index> geometric_sizes(Index from, Index to, double step);

/// `sizes` grow, and are two at least. `measure` is asked at most twice for each. Once `stopped` is true, the
/// last answer does not count and nothing more is asked.
Threshold find_threshold(std::span<const Index> sizes, const std::function<MeasuredSize(Index)>& measure,
                         const std::function<bool()>& stopped);

}  // namespace assay
