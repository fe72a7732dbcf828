// The run of window positions at which a tap lies inside the image, for the variants of im2col and col2im
// that walk runs instead of elements.
#pragma once

#include "assay/problem.hpp"

namespace assay::im2col {

/// Positions [first, last).
struct Run {
  Index first = 0, last = 0;
  Index length() const { return last - first; }
};

/// Returns the run of positions whose pixel, position * stride + offset, lies in [0, extent). An empty run
/// lies inside the positions too.
inline Run inside_run(Index positions, Index stride, Index offset, Index extent) {
  Run run{.first = offset >= 0 ? 0 : (stride - 1 - offset) / stride,
          .last = offset >= extent ? 0 : (extent - 1 - offset) / stride + 1};
  if (run.last > positions) run.last = positions;
  if (run.first > run.last) run.first = run.last;
  return run;
}

}  // namespace assay::im2col
