/// The layouts of the 4-D operands of the element-wise contracts, and their index maps.
#pragma once

#include "assay/problem.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace assay::elementwise {

/// Extents or strides along n, c, h, w.
using Axes = std::array<Index, 4>;

/// Extents n, c, h, w of corner cases: of 1, prime, and around the lane counts 4, 8 and 16.
inline constexpr Axes corner_extents[] = {{1, 1, 1, 1},   {2, 3, 5, 7},  {3, 1, 4, 1},
                                          {1, 16, 3, 17}, {2, 17, 1, 1}, {1, 5, 8, 8},
                                          {2, 3, 1, 65},  {2, 65, 1, 3}, {1, 2, 15, 33}};

/// The index map of one operand. A stride of 0 repeats the operand along that axis.
struct View {
  Axes stride{};
  Index offset = 0;
  Axes storage{1, 1, 1, 1};  ///< extents of the memory, slowest first; borders included

  Index at(Index n, Index c, Index h, Index w) const {
    return offset + n * stride[0] + c * stride[1] + h * stride[2] + w * stride[3];
  }
  /// Elements of memory, including those that the view skips.
  Index size() const { return storage[0] * storage[1] * storage[2] * storage[3]; }
};

struct Views {
  View x, y, z;
};

/// The combinations a framework meets. Operands not mentioned are dense, w fastest (NCHW).
enum class Layout : Index {
  contiguous,
  channels_last,     ///< x, y and z dense with c fastest (NHWC)
  x_channels_last,   ///< x alone is NHWC: the result of one library handed to another
  bordered,          ///< x and z are the interiors of images with a border of one pixel, which z must keep
  per_channel,       ///< y[c], repeated: a bias or scale after a convolution
  per_channel_last,  ///< the same with x and z in NHWC
  scalar,            ///< y is one number
};
inline constexpr std::array<std::string_view, 7> binary_layouts{
    "contiguous",  "channels_last",    "x_channels_last", "bordered",
    "per_channel", "per_channel_last", "scalar"};
inline constexpr std::array<std::string_view, 4> unary_layouts{"contiguous", "channels_last",
                                                               "x_channels_last", "bordered"};

/// The element n, c, h, w that lies at `flat` in the memory of an operand, 0 along axes that it repeats
/// along; nothing where the view has none.
std::optional<Axes> element_at(const View& view, const Axes& extents, Index flat);

/// Index maps of the operands for extents n, c, h, w.
Views views(const Axes& extents, Layout layout);

}  // namespace assay::elementwise
