// The machine code of `direct` for y and dx where rows of the result fill vectors, compiled for every SIMD
// target: pixels are read where they lie in the image, broadcast, and multiplied with vectors of rows.
//
// Vectors of tap_sum.hpp are pixels side by side. Here, in contrast, the image needs no copy, vectors never
// cross cache lines, and neither borders nor the ends of rows cost a product. In return, weights are
// transposed once per call, and rows that do not fill a vector are computed and dropped.
#pragma once

#include "conv2d/places.hpp"

#include <string>
#include <vector>

namespace assay::conv2d {

/// out[image, r, place] = start[r] + sum over channels and taps of
///   weights[channel, tap, r] source[image, channel, base of the place + taps[].source]
/// for the places [first, first + count) of `images` images, an image's after those of the one before it.
struct PixelSum {
  Index rows = 0, channels = 0, kernel_taps = 1;
  /// The arrays of a PlaceClass. Plain pointers, as in TapSum.
  const ReachingTap* taps = nullptr;
  const Place* place_rows = nullptr;
  const Place* place_columns = nullptr;
  Index tap_count = 0, place_row_count = 0, place_column_count = 0;
  Place column_step;
  Index images = 0, first = 0, count = 0;
  const float* weights = nullptr;  ///< as TurnWeights lays them out
  const float* source = nullptr;
  Index source_channel = 0, source_image = 0;
  Index strip = 1;               ///< places that are walked with one panel of weights before the next
  const float* start = nullptr;  ///< zeros where it is null
  float* out = nullptr;
  Index out_plane = 0, out_image = 0;
};

/// Transposes the weights of `rows` rows into panels of panel_rows(), one after the other, each [channel,
/// tap, row], padded with zeros to a whole vector of rows.
struct TurnWeights {
  Index rows = 0, channels = 0, taps = 0;
  const float* weights = nullptr;
  Index row = 0, channel = 0;  ///< floats between weights of two rows, of two channels
  float* to = nullptr;
};

struct PixelSumTier {
  std::string name;
  void (*sum)(const PixelSum&) = nullptr;
  void (*turn)(const TurnWeights&) = nullptr;
  /// Rows of the next panel when `left` remain.
  Index (*panel_rows)(Index left) = nullptr;
  /// The rows in a vector.
  Index (*lanes)() = nullptr;
};

/// Every target that was built, in the order of tap_sum_tiers().
std::vector<PixelSumTier> pixel_sum_tiers();

}  // namespace assay::conv2d
