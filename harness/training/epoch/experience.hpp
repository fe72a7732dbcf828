/// Makes the interval of the next prediction from epochs that were predicted and run before, on the same
/// machine. The interval of a calibration holds the luck of its runs. Only epochs tell how the machine
/// changes afterwards. Conformalized quantile regression (Romano, Patterson and Candes 2019): both ends are
/// moved by as much as would have held nine of ten of the epochs before. Pure functions; all times are
/// seconds.
#pragma once

#include "assay/interval.hpp"

#include <vector>

namespace assay {

/// Fewer epochs than nine have no ninth of ten.
inline constexpr std::size_t enough_epochs = 9;

/// Returns how far the logarithm of a measured time lies beyond the nearer end of the prediction; below 0
/// inside.
double beyond(const Interval& predicted, double measured);

struct Experience {
  std::size_t epochs = 0;  ///< before this one
  Interval seconds;        ///< of the next epoch; coverage 0 where they are too few
};

/// `predicted` as calibrated, a range that claims no coverage included; `earlier` as beyond() tells. The
/// interval holds nine of ten epochs where this one's machine and jobs are as alike the earlier ones as those
/// are each other.
Experience experience(const Interval& predicted, std::vector<double> earlier);

}  // namespace assay
