// The machine code of Winograd's F(4 x 4, 3 x 3), compiled for every SIMD target: weights and tiles of pixels
// in their transformed form, 36 products of matrices between them, and the way back.
//
// Transformed arrays have a part for each of the 36 points. Those of pixels are [point, tile, channel], those
// of weights [point, panel, channel, row], those of results [point, tile, row], so that a product is that of
// gemm's tile: tiles by vectors of rows. Parts are a cache line longer than their numbers, since otherwise 36
// parts of a power of two would fall into the same few sets of the caches.
#pragma once

#include "assay/ops/conv2d_winograd.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::conv2d::winograd {

/// Numbers of transformed weights and pixels per tile.
inline constexpr Index all_points = points * points;
/// Floats in a cache line.
inline constexpr Index line_floats = 16;
/// Tiles side by side that are transformed at once, so that their pixels stay in the first-level cache.
inline constexpr Index most_run = 16;

/// The transformation of the weights of some vectors of rows.
struct WeightTransform {
  Index rows = 0, channels = 0;         ///< of all weights
  Index first_vector = 0, vectors = 0;  ///< of rows
  const float* weights = nullptr;       ///< of row 0 and channel 0
  Index row = 0, channel = 0;           ///< floats to the next row and channel
  bool half_turn = false;               ///< whether taps are taken from the last one to the first
  float* to = nullptr;                  ///< of vector 0
  Index point = 0;                      ///< floats to the next point
  float* space = nullptr;               ///< weight_space() floats
};

/// result[image, r, i, j] = start[r] + sum over channels, k and l of
///   weights[r, channel, k, l] source[image, channel, i + k - top, j + l - left]
/// for some vectors of rows and some tiles of 4 x 4 places, those of an image after those of the one before.
struct TileSum {
  Index rows = 0, channels = 0;
  Index source_h = 0, source_w = 0, result_h = 0, result_w = 0;
  Index top = 0, left = 0;  ///< of zeros around the source; less than none where its edges are not read
  Index first_vector = 0, vectors = 0, first_tile = 0, tiles = 0;
  Index block = 0;  ///< tiles that are transformed before they are multiplied
  const float* source = nullptr;
  const float* weights = nullptr;  ///< transformed, of vector 0
  Index weights_point = 0;
  const float* start = nullptr;  ///< zeros where it is null
  float* result = nullptr;
  float* space = nullptr;  ///< space_floats() of block, channels and vectors

  Index tiles_down() const { return (result_h + results - 1) / results; }
  Index tiles_across() const { return (result_w + results - 1) / results; }
};

struct Tier {
  std::string name;
  std::optional<std::string> unfit;
  void (*transform)(const WeightTransform&) = nullptr;
  void (*sum)(const TileSum&) = nullptr;
  Index (*lanes)() = nullptr;
  /// Tiles of a register tile: blocks are multiples of it.
  Index (*height)() = nullptr;
  /// Vectors of a panel of weights, of which the last may have fewer.
  Index (*panel_vectors)() = nullptr;
  Index (*weight_space)() = nullptr;
  Index (*space_floats)(Index block, Index channels, Index vectors) = nullptr;
};

/// Every target that was built, best first.
std::vector<Tier> tiers();

}  // namespace assay::conv2d::winograd
