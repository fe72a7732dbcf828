// Places of a result grouped by the taps that reach pixels there, so that a sum needs no border: neither
// zeros around the image nor products with them.
//
// Along each axis a place has a base in the source and a list of taps, each a constant distance from that
// base. Places that have the same list form a class: for 3 x 3 with a border of one, the first row, the last
// one and those between. A class of places is one of rows and one of columns.
#pragma once

#include "assay/ops/conv2d.hpp"

#include <vector>

namespace assay::conv2d {

/// A tap that reaches a pixel: its number in the kernel, and floats from the base of the place to the pixel.
struct ReachingTap {
  Index tap = 0, source = 0;
};

/// Floats from the start of a plane of the source to the base of a row or column, and from the start of a
/// plane of the result to it.
struct Place {
  Index source = 0, result = 0;
};

/// The places (row, column) of `rows` by `columns`, all reached by the same taps.
struct PlaceClass {
  std::vector<ReachingTap> taps;
  std::vector<Place> rows, columns;
  /// From each column to the next; zeros where that varies or there is one.
  Place column_step;

  Index count() const { return static_cast<Index>(rows.size() * columns.size()); }
};

/// Places of y, whose source is x.
std::vector<PlaceClass> forward_places(const Layer& layer);

/// Places of dx, whose source is dy. Pixels that no window covers are in a class without taps.
std::vector<PlaceClass> data_places(const Layer& layer);

}  // namespace assay::conv2d
