// The machine code of Winograd's F(4 x 4, 3 x 3), compiled for every SIMD target. It transforms weights and
// tiles of pixels, computes 36 products of matrices, and transforms the results back.
//
// Transformed arrays have a part for each of the 36 points: [point, tile, channel] for pixels, [point, panel,
// channel, row] for weights, [point, tile, row] for results. So each product is one of gemm's tile: tiles by
// vectors of rows. Parts are padded by a cache line; otherwise 36 parts of a power of two would fall into the
// same few sets of the caches. `threaded` runs the same machine code.
#pragma once

#include "blocks.hpp"
#include "tiers.hpp"

#include "assay/ops/conv2d.hpp"

#include <vector>

namespace assay::conv2d::winograd {

/// Numbers of transformed weights and pixels per tile.
inline constexpr Index all_points = points * points;
/// Floats in a cache line.
inline constexpr Index line_floats = 16;
/// Tiles side by side that are transformed at once: their pixels stay in the first-level cache.
inline constexpr Index most_run = 16;

/// Transforms the weights of some vectors of rows.
struct WeightTransform {
  Index rows = 0, channels = 0;         ///< extents of all weights
  Index first_vector = 0, vectors = 0;  ///< vectors of rows
  const float* weights = nullptr;       ///< address of row 0 and channel 0
  Index row = 0, channel = 0;           ///< floats to the next row and channel
  bool half_turn = false;               ///< whether taps go from the last to the first
  float* to = nullptr;                  ///< address of vector 0
  Index point = 0;                      ///< floats to the next point
  float* space = nullptr;               ///< weight_space() floats
};

/// result[image, r, i, j] = start[r] + sum over channels, k and l of
///   weights[r, channel, k, l] source[image, channel, i + k - top, j + l - left]
/// for some vectors of rows and some tiles of 4 x 4 places. Tiles are counted through all images.
struct TileSum {
  Index rows = 0, channels = 0;
  Index source_h = 0, source_w = 0, result_h = 0, result_w = 0;
  Index top = 0, left = 0;  ///< zeros around the source; negative where its edges are not read
  Index first_vector = 0, vectors = 0, first_tile = 0, tiles = 0;
  Index block = 0;  ///< tiles that are transformed before they are multiplied
  const float* source = nullptr;
  const float* weights = nullptr;  ///< transformed weights, address of vector 0
  Index weights_point = 0;
  const float* start = nullptr;  ///< zeros where it is null
  float* result = nullptr;
  float* space = nullptr;  ///< space_floats() of block, channels and vectors

  Index tiles_down() const { return pieces(result_h, results); }
  Index tiles_across() const { return pieces(result_w, results); }
};

struct Tier : NamedTier {
  void (*transform)(const WeightTransform&) = nullptr;
  void (*sum)(const TileSum&) = nullptr;
  Index (*lanes)() = nullptr;
  /// Tiles in a register tile. Blocks are multiples of it.
  Index (*height)() = nullptr;
  /// Vectors in a panel of weights. The last panel may have fewer.
  Index (*panel_vectors)() = nullptr;
  Index (*weight_space)() = nullptr;
  Index (*space_floats)(Index block, Index channels, Index vectors) = nullptr;
};

std::vector<Tier> tiers();

/// The precision of the variants: with few channels, errors are more than 8 times those of a direct sum.
inline constexpr auto lost_digits = "sums of transformed tiles";

/// At most `threads` threads. The constant weights `w` of y are transformed here.
Variant<Conv2dWinograd>::Kernel kernel_of_y(const Tier& tier, const WinogradProblem& p, const float* w,
                                            Index threads);
Variant<Conv2dWinogradDataGradient>::Kernel kernel_of_dx(const Tier& tier, const WinogradDataProblem& p,
                                                         Index threads);

}  // namespace assay::conv2d::winograd
