// The work of one thread of `direct`, a share of y, dx or dw, so that `threaded` runs the same machine code.
#pragma once

#include "conv2d/tap_gradient.hpp"
#include "conv2d/tap_sum.hpp"

namespace assay::conv2d {

/// `direct` compiled for one SIMD target.
struct DirectTier {
  TapSumTier sums;
  TapGradientTier gradients;
};
/// Every target that was built, best first.
std::vector<DirectTier> direct_tiers();

/// Zeros, of which a call overwrites only what holds pixels.
Buffer<float> zeroed_space(Index floats);

/// y from x, or dx from dy: both are sums over taps and channels of a source.
class SumPlan {
 public:
  static SumPlan of_y(const Layer& p);
  static SumPlan of_dx(const Layer& p);

  /// Images [image, image + images), and of each the channels [row, row + rows).
  struct Share {
    Index image = 0, images = 0, row = 0, rows = 0;
  };
  Share all() const { return {0, images_, 0, rows_}; }
  /// For zeroed_space(), one for each share that is computed at the same time.
  Index space_floats() const { return layout_.floats(channels_); }
  void run(const TapSumTier& tier, const Share& share, const float* source, const float* w,
           const float* start, float* result, float* space) const;

 private:
  SumPlan(const Layer& p, Layout layout) : images_(p.n), layout_(std::move(layout)) {}

  Index images_;
  Layout layout_;
  Index channels_ = 0, rows_ = 0;    ///< of the source and of the result
  Index w_row_ = 0, w_channel_ = 0;  ///< floats between weights of two rows, of two channels
  Index result_h_ = 0, result_w_ = 0;
};

/// dw and dbias from x and dy.
class WeightPlan {
 public:
  explicit WeightPlan(const Layer& p);

  /// Filters [filter, filter + filters) and channels [channel, channel + channels), over the whole batch: no
  /// two shares add to the same weight, and none needs an accumulator of its own.
  struct Share {
    Index filter = 0, filters = 0, channel = 0, channels = 0;
  };
  Share all() const { return {0, layer_.f, 0, layer_.c}; }
  Index space_floats(const Share& share) const;
  void run(const DirectTier& tier, const Share& share, const float* x, const float* dy, float* dw,
           float* dbias, float* space) const;

 private:
  Index images_at_once(const Share& share) const;
  Index image_floats(const Share& share) const { return share.channels * layout_.channel_floats(); }

  Layer layer_;
  Layout layout_;
  std::vector<Index> row_offset_;
};

}  // namespace assay::conv2d
