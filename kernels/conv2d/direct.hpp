// The work of `direct` in shares of y, dx or dw, one per thread. `threaded` runs the same machine code.
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
  /// The estimated cost, in multiply-adds of a vector.
  double cost() const { return cost_; }
  /// Returns the number of vectors that hold `numbers` numbers.
  Index vectors(Index numbers) const;
  /// Shares of about the same work, at most `most`.
  std::vector<Share> shares(Index most) const;
  /// Floats of space, zeros at first, which each share needs for itself if shares run at the same time.
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
  /// At most `most` shares: filters in whole panels are divided first, then channels.
  std::vector<Share> shares(Index most) const;
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

/// y or dx in at most `threads` shares, each on a thread and in space of its own.
class DirectSums {
 public:
  DirectSums(SumPlan plan, Index threads);
  void run(const float* source, const float* w, const float* start, float* result);

 private:
  SumPlan plan_;
  std::vector<SumPlan::Share> shares_;
  std::vector<Buffer<float>> spaces_;
};

/// dw and dbias likewise. dbias is null where there is none.
class DirectWeights {
 public:
  DirectWeights(const Layer& p, DirectTier tier, Index threads);
  void run(const float* x, const float* dy, float* dw, float* dbias);

 private:
  WeightPlan plan_;
  DirectTier tier_;
  std::vector<WeightPlan::Share> shares_;
  std::vector<Buffer<float>> spaces_;
};

Variant<Conv2d>::Kernel direct_y(const Problem& p, SumPlan plan, Index threads);
Variant<Conv2dDataGradient>::Kernel direct_dx(SumPlan plan, Index threads);
Variant<Conv2dWeightGradient>::Kernel direct_dw(const Problem& p, const DirectTier& tier, Index threads);

}  // namespace assay::conv2d
