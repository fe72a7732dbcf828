// The work of one thread of `winograd`, a share of y or dx. `threaded` runs the same machine code.
#pragma once

#include "conv2d_winograd/tiles.hpp"

#include <memory>

namespace assay::conv2d::winograd {

/// The precision of the variants: with few channels, errors are more than 8 times those of a direct sum.
inline constexpr auto lost_digits = "sums of transformed tiles";

/// Computes y from x, or dx from dy. Both are the same sum over channels and taps; for dx the taps are
/// reversed.
class Plan {
 public:
  static Plan of_y(const Layer& p, const Tier& tier);
  static Plan of_dx(const Layer& p, const Tier& tier);

  /// Vectors of rows of the result (filters of y, channels of dx), and tiles of all images.
  struct Share {
    Index first_vector = 0, vectors = 0, first_tile = 0, tiles = 0;
  };
  Share all() const { return {.vectors = vectors(), .tiles = all_tiles_}; }
  /// Shares of about the same work, at most `most`.
  std::vector<Share> shares(Index most) const;

  Index vectors() const;
  /// Floats of the transformed weights, and of the space for run() and transform().
  Index weights_floats() const { return all_points * point_; }
  Index space_floats(const Share& share) const;
  /// Transforms the weights of some vectors of rows.
  void transform(const float* w, Index first_vector, Index vectors, float* weights, float* space) const;
  /// `start` is null where rows start from zero.
  void run(const Share& share, const float* source, const float* weights, const float* start, float* result,
           float* space) const;

 private:
  Plan(const Layer& p, const Tier& tier) : tier_(tier), layer_(p) {}
  void measure(Index rows, Index channels, Index h, Index w);
  /// Tiles that are transformed before they are multiplied.
  Index block(const Share& share) const;

  Tier tier_;
  Layer layer_;
  TileSum shape_;  ///< without a share and arrays
  bool of_dx_ = false;
  Index all_tiles_ = 0, point_ = 0;
};

}  // namespace assay::conv2d::winograd
