// The work of one thread of `direct`, a share of y, dx or dw. `threaded` runs the same machine code.
#pragma once

#include "conv2d/pixel_sum.hpp"
#include "conv2d/tap_gradient.hpp"
#include "conv2d/tap_sum.hpp"

namespace assay::conv2d {

/// `direct` compiled for one SIMD target.
struct DirectTier {
  TapSumTier sums;
  PixelSumTier pixels;
  TapGradientTier gradients;
};
/// Every target that was built, best first.
std::vector<DirectTier> direct_tiers();

/// Space filled with zeros. A call overwrites only the places of pixels.
Buffer<float> zeroed_space(Index floats);

/// Computes y from x, or dx from dy: both are sums over taps and channels of a source.
///
/// There are two ways, and the plan takes the cheaper by its estimate: pixel_sum.hpp, or tap_sum.hpp where
/// rows of the result are few or do not fill vectors, or where weights outweigh pixels.
class SumPlan {
 public:
  static SumPlan of_y(const Layer& p, const DirectTier& tier);
  static SumPlan of_dx(const Layer& p, const DirectTier& tier);

  /// Images [image, image + images); in each image the channels [row, row + rows), and part `part` of `parts`
  /// of their places.
  struct Share {
    Index image = 0, images = 0, row = 0, rows = 0;
    Index part = 0, parts = 1;
  };
  Share all() const { return {.images = images_, .rows = rows_}; }
  /// The estimated cost, in multiply-adds of a vector.
  double cost() const { return cost_; }
  /// Returns the number of vectors that hold `numbers` numbers.
  Index vectors(Index numbers) const;
  /// Shares of about the same work, at most `most`.
  std::vector<Share> shares(Index most) const;
  /// The size for zeroed_space(), which each share needs for itself if shares run at the same time.
  Index space_floats() const;
  void run(const Share& share, const float* source, const float* w, const float* start, float* result,
           float* space) const;

 private:
  SumPlan(const Layer& p, const DirectTier& tier, Layout layout, std::vector<PlaceClass> places)
      : tier_(tier),
        images_(p.n),
        taps_(p.window().taps()),
        layout_(std::move(layout)),
        places_(std::move(places)) {}
  void choose();
  bool divides_places(Index parts) const;
  /// Rows whose weights are transposed at once.
  Index rows_at_once() const;
  void sum_taps(const Share& share, const float* source, const float* w, const float* start, float* result,
                float* space) const;
  void sum_pixels(const Share& share, const float* source, const float* w, const float* start, float* result,
                  float* space) const;

  DirectTier tier_;
  Index images_, taps_;
  Layout layout_;
  std::vector<PlaceClass> places_;
  double cost_ = 0;
  bool on_pixels_ = false;           ///< whether pixel_sum.hpp computes it
  Index channels_ = 0, rows_ = 0;    ///< channels of the source and of the result
  Index w_row_ = 0, w_channel_ = 0;  ///< floats between weights of two rows, of two channels
  Index result_h_ = 0, result_w_ = 0;
};

/// Computes dw and dbias from x and dy.
class WeightPlan {
 public:
  explicit WeightPlan(const Layer& p);

  /// Filters [filter, filter + filters) and channels [channel, channel + channels), over the whole batch: no
  /// two shares add to the same weight, so none needs an accumulator of its own.
  struct Share {
    Index filter = 0, filters = 0, channel = 0, channels = 0;
  };
  Share all() const { return {0, layer_.f, 0, layer_.c}; }
  Index space_floats(const Share& share) const;
  void run(const DirectTier& tier, const Share& share, const float* x, const float* dy, float* dw,
           float* dbias, float* space) const;

 private:
  /// Rows and images of dy that are transposed at a time.
  Index rows_at_once() const;
  Index images_at_once(const Share& share) const;
  Index panel_pixels(Index images) const;
  Index image_floats(const Share& share) const { return share.channels * layout_.channel_floats(); }

  Layer layer_;
  Layout layout_;
  std::vector<Index> row_offset_;
};

}  // namespace assay::conv2d
