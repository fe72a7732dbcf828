// The machine code of `direct`, compiled for every SIMD target, and its work in shares of y, dx or dw, one
// per thread. `threaded` runs the same machine code.
#pragma once

#include "blocks.hpp"
#include "conv2d/grid.hpp"
#include "conv2d/layout.hpp"
#include "conv2d/places.hpp"
#include "tiers.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace assay::conv2d {

// Sums for y and dx over taps and channels of images in the layout of layout.hpp (tap_sum.cpp).

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

// The same where rows of the result fill vectors (pixel_sum.cpp): pixels are read where they lie in the
// image, broadcast, and multiplied with vectors of rows.
//
// Vectors of TapSum are pixels side by side. Here, in contrast, the image needs no copy, vectors never cross
// cache lines, and neither borders nor the ends of rows cost a product. In return, weights are transposed
// once per call, and rows that do not fill a vector are computed and dropped.

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

// Sums for dw (tap_gradient.cpp): taps of images in the layout of layout.hpp, multiplied with columns of dy.

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

/// A call overwrites only the places of pixels; the zeros around them stay.
inline Buffer<float> zeroed_space(Index floats) {
  Buffer<float> space(floats);
  std::ranges::fill(space, 0.0F);
  return space;
}

/// `direct` and `depthwise` compiled for one SIMD target.
struct DirectTier : NamedTier {
  void (*sum_taps)(const TapSum&) = nullptr;
  /// Copies `channels` channels into `space`, whose borders are zero already.
  void (*fill)(const PlaneCopy&, const float* image, Index channels, float* space) = nullptr;
  void (*sum_pixels)(const PixelSum&) = nullptr;
  void (*turn_weights)(const TurnWeights&) = nullptr;
  /// Rows of the next panel when `left` remain.
  Index (*panel_rows)(Index left) = nullptr;
  Index (*lanes)() = nullptr;
  void (*gradient)(const TapGradient&) = nullptr;
  void (*turn_dy)(const TurnDy&) = nullptr;
  float (*sum)(const float* from, Index count) = nullptr;
  /// TapSum and TapGradient of few rows and channels, b of the latter being a plane of dy (depthwise.cpp).
  void (*sum_plane)(const TapSum&) = nullptr;
  void (*plane_gradient)(const TapGradient&) = nullptr;
};
std::vector<DirectTier> direct_tiers();
/// Set the members whose code tap_sum.cpp, pixel_sum.cpp, tap_gradient.cpp and depthwise.cpp have.
void set_tap_sums(std::vector<DirectTier>& tiers);
void set_pixel_sums(std::vector<DirectTier>& tiers);
void set_tap_gradients(std::vector<DirectTier>& tiers);
void set_plane_sums(std::vector<DirectTier>& tiers);

/// Computes y from x, or dx from dy: both are sums over taps and channels of a source.
///
/// There are two ways, and the plan takes the cheaper by its estimate: PixelSum, or TapSum where
/// rows of the result are few or do not fill vectors, or where weights outweigh pixels. Costs are a group's.
class SumPlan {
 public:
  static SumPlan of_y(const Layer& p, const DirectTier& tier) { return {p, tier, false}; }
  static SumPlan of_dx(const Layer& p, const DirectTier& tier) { return {p, tier, true}; }

  /// The estimated cost, in multiply-adds of a vector.
  double cost() const { return cost_; }
  Index vectors(Index numbers) const { return pieces(numbers, tier_.lanes()); }
  /// Makes shares of about the same work, at most `threads`, each for a thread and with space of its own. To
  /// be called once, before run().
  void divide(Index threads);
  void run(const float* source, const float* w, const float* start, float* result);

 private:
  /// In groups of images the channels [row, row + rows), and part `part` of `parts` of their places.
  struct Share {
    Range groups, images;
    Index row = 0, rows = 0;
    Index part = 0, parts = 1;
    Buffer<float> space;
  };
  SumPlan(const Layer& p, const DirectTier& tier, bool of_dx);
  void choose();
  bool divides_places(Index parts) const;
  /// Rows whose weights are transposed at once.
  Index rows_at_once() const;
  /// Floats of space, zeros at first, which each share needs for itself.
  Index space_floats() const;
  void sum_taps(Share& share, const float* source, const float* w, const float* start, float* result) const;
  void sum_pixels(Share& share, Index group, const float* source, const float* w, const float* start,
                  float* result) const;

  DirectTier tier_;
  Index images_, groups_, taps_;
  Layout layout_;
  std::vector<PlaceClass> places_;
  double cost_ = 0;
  bool on_pixels_ = false;   ///< whether a PixelSum computes it
  Index channels_, rows_;    ///< channels of the source and of the result
  Index w_row_, w_channel_;  ///< floats between weights of two rows, of two channels
  Index result_h_, result_w_;
  std::vector<Share> shares_;
};

/// Computes dw and dbias from x and dy in at most `threads` shares, each on a thread and in space of its own.
class WeightPlan {
 public:
  WeightPlan(const Layer& p, DirectTier tier, Index threads);
  /// dbias is null where there is none.
  void run(const float* x, const float* dy, float* dw, float* dbias);

 private:
  /// Filters [filter, filter + filters) and channels [channel, channel + channels) of groups, over the whole
  /// batch: no two shares add to the same weight, so none needs an accumulator of its own.
  struct Share {
    Range groups;
    Index filter = 0, filters = 0, channel = 0, channels = 0;
    Buffer<float> space = {};
  };
  void sum(Share& share, const float* x, const float* dy, float* dw, float* dbias) const;
  /// Rows and images of dy that are transposed at a time.
  Index rows_at_once() const;
  Index images_at_once(const Share& share) const;
  Index panel_pixels(Index images) const { return images * rows_at_once() * layout_.sweeps[0].out_w; }
  Index image_floats(const Share& share) const { return share.channels * layout_.channel_floats(); }

  Layer layer_;
  DirectTier tier_;
  Layout layout_;
  std::vector<Index> row_offset_;
  std::vector<Share> shares_;
};

Variant<Conv2d>::Kernel direct_y(const Problem& p, SumPlan plan, Index threads);
Variant<Conv2dDataGradient>::Kernel direct_dx(SumPlan plan, Index threads);
Variant<Conv2dWeightGradient>::Kernel direct_dw(const Problem& p, const DirectTier& tier, Index threads);

/// Whether each channel is one of several groups.
inline bool is_depthwise(const Layer& p) { return p.groups > 1 && p.groups == p.c; }
/// The tier for a SumPlan of such layers.
inline DirectTier by_plane(DirectTier tier) {
  tier.sum_taps = tier.sum_plane;
  tier.sum_pixels = nullptr;
  return tier;
}
/// dw of a pair of planes of x and dy at a time, for groups of few filters.
Variant<Conv2dWeightGradient>::Kernel dw_by_plane(const Problem& p, const DirectTier& tier, Index threads);

}  // namespace assay::conv2d
