// The machine code of `direct` for dw, compiled for every SIMD target: taps of images in the layout of
// layout.hpp, multiplied with columns of dy.
#pragma once

#include "conv2d/layout.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::conv2d {

/// Filters side by side in a panel of transposed dy: the widest tile of any target.
inline constexpr Index panel_filters = 32;

/// out[filter, k] (+)= sum over images and places (i, j) of
///   a[image a_image + row_offset[k] + i pitch + j] b[filter / 32 b_panel + (image, i, j) 32 + filter % 32].
/// Numbers of b beyond the last filter do not count.
struct TapGradient {
  Index rows = 0;  ///< k: pairs of channel and tap
  const Index* row_offset = nullptr;
  const float* a = nullptr;
  Index a_image = 0, pitch = 0;
  Index images = 0, out_h = 0, out_w = 0;
  const float* b = nullptr;
  Index b_panel = 0;
  Index filters = 0;
  float* out = nullptr;
  Index out_filter = 0;  ///< floats from filter to filter
  bool add = false;      ///< adds to out; otherwise overwrites it
};

/// Transposes dy of one image and `filters` filters, which have `pixels` pixels each and are `plane` apart,
/// into b of TapGradient from `to` on. Panels are `panel` floats apart.
struct TurnDy {
  const float* dy = nullptr;
  Index plane = 0, pixels = 0, filters = 0;
  float* to = nullptr;
  Index panel = 0;
};

struct TapGradientTier {
  std::string name;
  void (*gradient)(const TapGradient&) = nullptr;
  void (*turn)(const TurnDy&) = nullptr;
  /// The sum of `count` numbers.
  float (*sum)(const float* from, Index count) = nullptr;
};

/// Every target that was built, in the order of tap_sum_tiers().
std::vector<TapGradientTier> tap_gradient_tiers();

}  // namespace assay::conv2d
