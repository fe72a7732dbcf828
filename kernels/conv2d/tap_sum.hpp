// The machine code of `direct` for y and dx, compiled for every SIMD target: sums over taps and channels of
// images in the layout of layout.hpp.
#pragma once

#include "conv2d/layout.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace assay::conv2d {

/// out[r, i, j] = start[r] + sum over channels and taps of
///   a[r a_row + channel a_channel + in_weights[tap]] b[channel b_channel + in_channel[tap] + i pitch + j]
/// for the places (i, j) of a sweep. Plain pointers, since code of a SIMD target must not instantiate
/// functions of the standard library (tiers.hpp).
struct TapSum {
  Index rows = 0, channels = 0, taps = 0;
  const Index* in_weights = nullptr;
  const Index* in_channel = nullptr;
  const float* a = nullptr;
  Index a_row = 0, a_channel = 0;
  const float* b = nullptr;
  Index b_channel = 0, pitch = 0;
  const float* start = nullptr;  ///< zeros where it is null
  Index out_h = 0, out_w = 0;
  float* out = nullptr;                            ///< the first result of the first row
  Index out_plane = 0, out_row = 0, out_step = 1;  ///< floats to the next r, i and j
};

/// The copy of an image into its layout.
struct PlaneCopy {
  explicit PlaneCopy(const Layout& layout)
      : planes(layout.planes.data()),
        count(static_cast<Index>(layout.planes.size())),
        source_w(layout.source_w),
        source_plane(layout.source_h * layout.source_w),
        step(layout.step),
        pitch(layout.pitch),
        plane_floats(layout.plane_floats) {}

  const Plane* planes;
  Index count, source_w, source_plane, step, pitch, plane_floats;
  /// Rows of each plane that are copied.
  Index first_row = 0, last_row = std::numeric_limits<Index>::max();
};

struct TapSumTier {
  std::string name;
  std::optional<std::string> unfit;
  void (*sum)(const TapSum&) = nullptr;
  /// Copies `channels` channels into `space`, whose borders are zero already.
  void (*fill)(const PlaneCopy&, const float* image, Index channels, float* space) = nullptr;
};

/// Every target that was built, best first.
std::vector<TapSumTier> tap_sum_tiers();

}  // namespace assay::conv2d
