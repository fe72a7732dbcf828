// Computes the change that a gate could see through noise of a given size. Pure functions; the measuring is
// probe_noise().
#pragma once

#include <vector>

namespace assay {

// The gate that the estimate assumes: its groups, its margin, a suite of 100 cases with one false alarm in
// 100 runs, and a change that is found in 95 of 100 runs.
struct GateSketch {
  int groups = 30;
  double margin = 0.01;
  double level = 0.01 / 100;
  double power = 0.95;
};

// Relative change that the sketched gate would see, from A/A deviations: logarithms of group ratios whose
// true value is 1. With d such a deviation, a change of log size s is seen in a group when d + s > log(1 +
// margin). The sign test needs k of n groups (needed_count), hence a probability p per group (needed_chance),
// hence s = log(1 + margin) + q, where q is the p-quantile of d. Both sides being the same kernel, d and -d
// are equally likely, so q is the (2p - 1)-quantile of |d|, which uses every deviation twice.
double smallest_visible_change(const std::vector<double>& deviations, const GateSketch& gate = {});

// Relative half-width of the middle 95 % of the deviations.
double spread_of(const std::vector<double>& deviations);

}  // namespace assay
