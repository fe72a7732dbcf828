// The layout of an image with its border, so that every tap of a window reads it with stride one where it
// lies. `direct` computes on it in place of a column buffer.
//
// The image is cut into stride x stride phases, one plane each, of which only those under a tap are kept. A
// place of the window is a position q = i pitch + j in a plane, and a tap is a constant distance from it.
// Rows are out_w and the reach of the taps apart, less the zeros that the end of a row shares with the
// start of the next. Positions between out_w and pitch are computed and thrown away.
#pragma once

#include "assay/ops/conv2d.hpp"

#include <vector>

namespace assay::conv2d {

/// One phase: the rectangle of its rows and columns that holds pixels, and the pixel it starts with. All
/// around it are zeros.
struct Plane {
  Index row = 0, rows = 0, column = 0, columns = 0;
  Index pixel_row = 0, pixel_column = 0;
};

/// A sum over taps at out_h x out_w places, whose results are `step` rows and columns apart.
struct Sweep {
  std::vector<Index> in_weights;  ///< of each tap, among the taps of the kernel
  std::vector<Index> in_channel;  ///< of each tap, from the start of a channel
  Index out_h = 0, out_w = 0;
  Index row = 0, column = 0, step = 1;  ///< where the first result belongs, and the distance of the next
  bool is_empty() const { return in_weights.empty(); }
};

struct Layout {
  Index source_h = 0, source_w = 0;  ///< of the image that is copied
  Index step = 1;                    ///< from pixel to pixel of a plane
  Index pitch = 0;
  Index plane_floats = 0;
  std::vector<Plane> planes;
  std::vector<Sweep> sweeps;

  /// Returns the rows of a plane that the taps of a window see, or one more.
  Index reach() const;
  Index channel_floats() const { return plane_floats * static_cast<Index>(planes.size()); }
  /// Returns the floats of an image, and those that a vector may read past the last position.
  Index floats(Index channels) const { return channels * channel_floats() + 64; }
};

/// x under the window: one sweep over all taps.
Layout forward_layout(const Layer& layer);

/// dy as the data gradient sees it: pixels of dx whose rows and columns leave the same rest when divided by
/// the stride are reached by the same taps, and make a sweep of their own.
Layout data_layout(const Layer& layer);

}  // namespace assay::conv2d
