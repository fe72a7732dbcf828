#include "conv2d/columns.hpp"

#include <algorithm>

namespace assay::conv2d {
namespace {

/// The places [begin, end) in [first, last) of a row of the window whose pixel lies in the image.
struct Inside {
  Index begin, end;
};
Inside inside(Index shift, Index stride, Index extent, Index first, Index last) {
  // The first place with j stride + shift >= 0, and the first with j stride + shift >= extent.
  const auto reaching = [&](Index at) { return at <= shift ? 0 : (at - shift + stride - 1) / stride; };
  const Index begin = std::clamp(reaching(0), first, last);
  return {begin, std::clamp(reaching(extent), begin, last)};
}

}  // namespace

ColumnMap columns_of_x(const Layer& p) {
  const Window w = p.window();
  ColumnMap map{.source_h = p.h,
                .source_w = p.w,
                .out_h = w.out_h(),
                .out_w = w.out_w(),
                .stride = w.stride,
                .taps = {}};
  for (Index k = 0; k < w.kernel_h; ++k) {
    for (Index l = 0; l < w.kernel_w; ++l) map.taps.push_back({w.row(0, k), w.column(0, l)});
  }
  return map;
}

void gather(const ColumnMap& map, const float* source, Index row, Index rows, Index first, Index count,
            float* to, Index ld) {
  const auto taps = static_cast<Index>(map.taps.size());
  for (Index r = row; r < row + rows; ++r, to += ld) {
    const ColumnMap::Shift shift = map.taps[static_cast<std::size_t>(r % taps)];
    const float* const plane = source + r / taps * map.source_h * map.source_w;
    float* out = to;
    Index j = first % map.out_w;
    for (Index i = first / map.out_w, left = count; left > 0; ++i) {
      const Index end = std::min(map.out_w, j + left);
      const Index source_row = i * map.stride + shift.row;
      const bool exists = source_row >= 0 && source_row < map.source_h;
      const Inside in = exists ? inside(shift.column, map.stride, map.source_w, j, end) : Inside{end, end};
      const float* from = plane + source_row * map.source_w + shift.column + in.begin * map.stride;
      for (; j < in.begin; ++j) *out++ = 0;
      const Index copied = in.end - in.begin;
      if (map.stride == 1) {
        for (Index q = 0; q < copied; ++q) out[q] = from[q];
      } else if (map.stride == 2) {  // with a known stride the compiler uses shuffles
        for (Index q = 0; q < copied; ++q) out[q] = from[q * 2];
      } else {
        for (Index q = 0; q < copied; ++q) out[q] = from[q * map.stride];
      }
      out += copied;
      for (j = in.end; j < end; ++j) *out++ = 0;
      left -= out - to - (count - left);
      j = 0;
    }
  }
}

void scatter_add(const ColumnMap& map, const float* columns, Index ld, Index row, Index rows, Index i,
                 Index count, float* source) {
  const auto taps = static_cast<Index>(map.taps.size());
  for (Index r = row; r < row + rows; ++r, columns += ld) {
    const ColumnMap::Shift shift = map.taps[static_cast<std::size_t>(r % taps)];
    float* const plane = source + r / taps * map.source_h * map.source_w;
    const Inside across = inside(shift.column, map.stride, map.source_w, 0, map.out_w);
    for (Index at = 0; at < count; ++at) {
      const Index source_row = (i + at) * map.stride + shift.row;
      const float* const from = columns + at * map.out_w;
      if (source_row < 0 || source_row >= map.source_h) continue;
      float* const to = plane + source_row * map.source_w + shift.column;
      if (map.stride == 1) {
        for (Index j = across.begin; j < across.end; ++j) to[j] += from[j];
      } else if (map.stride == 2) {
        for (Index j = across.begin; j < across.end; ++j) to[j * 2] += from[j];
      } else {
        for (Index j = across.begin; j < across.end; ++j) to[j * map.stride] += from[j];
      }
    }
  }
}

}  // namespace assay::conv2d
