#include "elementwise/loop_nest.hpp"

#include "assay/caches.hpp"

#include <algorithm>
#include <functional>

namespace assay::elementwise {
namespace {

struct Axis {
  Index extent = 1;
  Index x = 0, y = 0, z = 0;
};

/// Whether `inner` and `outer` together are one longer walk for every operand.
bool one_walk(const Axis& outer, const Axis& inner) {
  return outer.x == inner.x * inner.extent && outer.y == inner.y * inner.extent &&
         outer.z == inner.z * inner.extent;
}

}  // namespace

LoopNest collapse(const Axes& extents, const Views& views, bool unary) {
  std::array<Axis, LoopNest::axes> axes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    axes[i] = {extents[i], views.x.stride[i], (unary ? views.x : views.y).stride[i], views.z.stride[i]};
  }
  std::ranges::stable_sort(axes, std::greater{}, &Axis::z);

  std::array<Axis, LoopNest::axes> merged{};  // the fastest axis is the last, as in the nest
  std::size_t used = 0;
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (axes[i].extent == 1) continue;
    Axis& inner = merged[merged.size() - std::max<std::size_t>(used, 1)];
    if (used > 0 && one_walk(axes[i], inner)) {
      inner.extent *= axes[i].extent;
    } else {
      ++used;
      merged[merged.size() - used] = axes[i];
    }
  }

  if (merged.back().extent > 1 && merged.back().z != 1) {
    // A bordered image one pixel wide has rows of one element, since a row has stride 1 in z.
    std::rotate(merged.begin(), merged.begin() + 1, merged.end());
    merged.back() = {};
  }

  LoopNest nest{.x_offset = views.x.offset, .z_offset = views.z.offset};
  for (std::size_t i = 0; i < merged.size(); ++i) {
    nest.extent[i] = merged[i].extent;
    nest.x[i] = merged[i].x;
    nest.y[i] = merged[i].y;
    nest.z[i] = merged[i].z;
  }
  return nest;
}

Share share(const LoopNest& nest, Index part, Index parts) {
  const Index rows = nest.rows(), length = nest.row_length();
  // With eight rows per thread or more, no thread has over an eighth more than another.
  if (rows >= 8 * parts) return {rows * part / parts, rows * (part + 1) / parts, 0, length};
  constexpr Index line = 64 / sizeof(float);
  const Index lines = (length + line - 1) / line;
  return {0, rows, std::min(length, lines * part / parts * line),
          std::min(length, lines * (part + 1) / parts * line)};
}

bool streaming_pays(double bytes, Index row_length, int threads) {
  // Streaming z saves reading it and takes z from the cache of the next reader, so it pays once the operands
  // do not stay in the cache. Measured for z = x y on a Zen 5 with 32 MiB: on one thread it took 0.97 of the
  // time at 16 MiB, 0.71 at 24 and 0.69 at 48; on two 1.39 at 16, 1.16 at 24, 0.98 at 32 and 0.73 at 64.
  const double cache = caches().last;
  // A streamed row begins and ends with ordinary stores of up to a cache line; 1,024 elements are 64 lines.
  return bytes > cache * (threads > 1 ? 1.0 : 0.75) && row_length >= 1024;
}

bool fetching_ahead_pays(double bytes, Index row_length) {
  // Just past the first-level cache, a call ends before the hardware's prefetchers have caught up with its
  // streams. Measured on a Zen 5 with 48 KiB, at 64 KiB: 0.88 of the time for z = x y, 0.9 for z = x + y.
  // From 128 KiB on it made no difference, and inside the cache it only costs.
  const double cache = caches().first;
  return bytes > cache && bytes < 2 * cache && row_length >= 2 * fetch_distance;
}

}  // namespace assay::elementwise
