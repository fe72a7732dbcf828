// The layout of an image with its border in which every tap of a window reads with stride one. `direct`
// computes on it in place of a column buffer.
//
// The image is cut into stride x stride phases, one plane each; only phases under a tap are kept. A place of
// the window is a position q = i pitch + j in a plane, and a tap is a constant distance from it. Rows are
// out_w plus the reach of the taps apart, less the zeros that the end of a row shares with the start of the
// next. Positions between out_w and pitch are computed and dropped.
#pragma once

#include "assay/ops/conv2d.hpp"

#include <vector>

namespace assay::conv2d {

/// One phase: the rectangle of its rows and columns that holds pixels, and its first pixel. Zeros surround
/// the rectangle.
struct Plane {
  Index row = 0, rows = 0, column = 0, columns = 0;
  Index pixel_row = 0, pixel_column = 0;
};

/// A sum over taps at out_h x out_w places. Results are `step` rows and columns apart.
struct Sweep {
  std::vector<Index> in_weights;  ///< index of each tap in the kernel
  std::vector<Index> in_channel;  ///< offset of each tap from the start of a channel
  Index out_h = 0, out_w = 0;
  Index row = 0, column = 0, step = 1;  ///< place of the first result, and the distance to the next
  bool is_empty() const { return in_weights.empty(); }
};

struct Layout {
  Index source_h = 0, source_w = 0;  ///< extents of the image that is copied
  Index step = 1;                    ///< distance of the pixels of a plane in the image
  Index pitch = 0;
  Index plane_floats = 0;
  std::vector<Plane> planes;
  std::vector<Sweep> sweeps;

  /// Returns the number of rows of a plane under the taps of a window, or one more.
  Index reach() const;
  Index channel_floats() const { return plane_floats * static_cast<Index>(planes.size()); }
  /// Returns the floats of an image, with those that a vector may read past the last position.
  Index floats(Index channels) const { return channels * channel_floats() + 64; }
};

/// The layout of x for y: one sweep over all taps.
Layout forward_layout(const Layer& layer);

/// The layout of dy for dx. Pixels of dx whose rows and columns have the same remainder modulo the stride are
/// reached by the same taps, and form a sweep.
Layout data_layout(const Layer& layer);

}  // namespace assay::conv2d
