// Places of a result, grouped by the taps that reach pixels there. A sum over them needs no border: neither
// zeros around the image nor products with zeros.
//
// Along each axis a place has a base in the source and a list of taps, each at a constant distance from that
// base. Places with the same list form a class: for 3 x 3 with a border of one, the first row, the last row
// and the rows between. A class of places combines a class of rows and a class of columns.
#pragma once

#include "assay/ops/conv2d.hpp"

#include <vector>

namespace assay::conv2d {

/// A tap that reaches a pixel: its index in the kernel, and floats from the base of the place to the pixel.
struct ReachingTap {
  Index tap = 0, source = 0;
};

/// A row or column: floats from the start of a plane of the source to its base, and from the start of a plane
/// of the result to the result.
struct Place {
  Index source = 0, result = 0;
};

/// The places (row, column) of `rows` by `columns`. The same taps reach all of them.
struct PlaceClass {
  std::vector<ReachingTap> taps;
  std::vector<Place> rows, columns;
  /// The distance from each column to the next; zeros where it varies or there is a single column.
  Place column_step;

  Index count() const { return static_cast<Index>(rows.size() * columns.size()); }
};

/// The places of y. Their source is x.
std::vector<PlaceClass> forward_places(const Layer& layer);

/// The places of dx. Their source is dy. Pixels that no window covers are in a class without taps.
std::vector<PlaceClass> data_places(const Layer& layer);

}  // namespace assay::conv2d
