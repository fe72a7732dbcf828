/// Tells the time that an epoch costs once from the time of each step: T(n) = A + b n.
#pragma once

#include "assay/interval.hpp"
#include "training/job/job.hpp"

#include <string>
#include <vector>

namespace assay {

/// Wall time of the first `steps` steps of an epoch, or of steps later in it.
struct Stretch {
  double steps = 0;
  double seconds = 0;
  bool from_start = true;  ///< A is in it
  int run = 0;
};

struct LineFit {
  std::string impossible;  ///< why A and b cannot be told; nothing below is set then
  double one_off = 0;      ///< A
  double period = 0;       ///< b
  int freedom = 0;         ///< stretches less two
  /// Variances and covariance of A and b, and of the time of one step; 0 without freedom.
  double one_off_variance = 0, period_variance = 0, covariance = 0, step_variance = 0;

  /// A + b n with Student's 90 % interval: of the line, and of the luck of n steps. Coverage 0 without
  /// freedom.
  Interval at(double steps) const;
};

/// Least squares over pieces of runs that share no steps, each weighted by the inverse of its number of
/// steps: the times of steps vary independently with one variance. This is the generalized least squares of
/// Aitken (1935) over the stretches themselves, where two of one run share all steps of the shorter. For
/// stretches of one run alone it is b = (T(last) - T(first)) / (n(last) - n(first)). Needs two different
/// lengths, one of them from the start.
LineFit fit_line(const std::vector<Stretch>& stretches);

/// Makes stretches of windows: those that begin with step 0 are stretches from the start, the others are not.
/// A window with times of single steps that begins with step 0 is cut at eighths of its length, unless there
/// are runs enough without.
std::vector<Stretch> stretches_of(const std::vector<TimedWindow>& windows);

}  // namespace assay
