#include "conv2d/layout.hpp"

#include "blocks.hpp"

#include <algorithm>

namespace assay::conv2d {
namespace {

/// A tap along one axis: the phase it reads, and the offset in the phase.
struct Tap {
  Index index = 0;  ///< index in the kernel
  Index phase = 0;
  Index offset = 0;
};
struct AxisSweep {
  std::vector<Tap> taps;
  Index places = 0, first = 0;
};
struct AxisPhase {
  Index begin = 0, count = 0, pixel = 0;
};
struct Axis {
  Index extent = 0;  ///< extent of a plane
  std::vector<AxisPhase> phases;
  std::vector<AxisSweep> sweeps;
};

Index pieces_or_none(Index x, Index unit) { return x <= 0 ? 0 : pieces(x, unit); }

/// The part of a plane that holds pixels. Its position `a` is pixel a step - lead of `pixels`.
AxisPhase phase(Index lead, Index step, Index pixels, Index extent) {
  const Index begin = std::min(extent, pieces_or_none(lead, step));
  const Index end = std::min(extent, pieces_or_none(pixels + lead, step));
  return {.begin = begin, .count = std::max<Index>(0, end - begin), .pixel = begin * step - lead};
}

Axis forward_axis(Index pixels, Index lead, Index kernel, Index places, Index stride, Index dilation) {
  Axis axis{.extent = places + (kernel - 1) * dilation / stride, .phases = {}, .sweeps = {{{}, places, 0}}};
  std::vector<Index> rests;
  for (Index k = 0; k < kernel; ++k) {
    const Index rest = k * dilation % stride;
    const auto known = std::ranges::find(rests, rest);
    const Index at = known - rests.begin();
    if (known == rests.end()) {
      rests.push_back(rest);
      axis.phases.push_back(phase(lead - rest, stride, pixels, axis.extent));
    }
    axis.sweeps[0].taps.push_back({.index = k, .phase = at, .offset = k * dilation / stride});
  }
  return axis;
}

Axis data_axis(Index pixels, Index lead, Index kernel, Index places, Index stride, Index dilation) {
  Axis axis;
  Index least = 0;
  for (Index rest = 0; rest < std::min(stride, pixels); ++rest) {
    AxisSweep sweep{.taps = {}, .places = pieces_or_none(pixels - rest, stride), .first = rest};
    for (Index k = 0; k < kernel; ++k) {
      const Index distance = rest + lead - k * dilation;
      if (distance % stride != 0) continue;
      sweep.taps.push_back({.index = k, .phase = 0, .offset = distance / stride});
      least = std::min(least, distance / stride);
    }
    axis.sweeps.push_back(sweep);
  }
  for (AxisSweep& sweep : axis.sweeps) {
    axis.extent = std::max(axis.extent, sweep.places);
    for (Tap& tap : sweep.taps) {
      tap.offset -= least;
      axis.extent = std::max(axis.extent, sweep.places + tap.offset);
    }
  }
  axis.phases.push_back(phase(-least, 1, places, axis.extent));
  return axis;
}

/// Zeros that a row may share with the next: the fewer of the zeros at its two ends.
Index shared_zeros(const Axis& columns) {
  Index shared = columns.extent;
  for (const AxisPhase& phase : columns.phases) {
    shared = std::min({shared, phase.begin, columns.extent - phase.begin - phase.count});
  }
  return shared;
}

Layout combine(const Axis& rows, const Axis& columns, Index kernel_w) {
  Layout layout;
  const Index shared = shared_zeros(columns);
  layout.pitch = columns.extent - shared;
  for (const AxisSweep& sweep : columns.sweeps) layout.pitch = std::max(layout.pitch, sweep.places);
  // An odd number of cache lines, so that planes do not fall into the same sets of a cache.
  layout.plane_floats = rounded_up(rows.extent * layout.pitch + shared, 16);
  if (layout.plane_floats % 32 == 0) layout.plane_floats += 16;

  for (const AxisPhase& row : rows.phases) {
    for (const AxisPhase& column : columns.phases) {
      layout.planes.push_back({row.begin, row.count, column.begin, column.count, row.pixel, column.pixel});
    }
  }
  const auto across = static_cast<Index>(columns.phases.size());
  for (const AxisSweep& row : rows.sweeps) {
    for (const AxisSweep& column : columns.sweeps) {
      Sweep sweep{.in_weights = {},
                  .in_channel = {},
                  .out_h = row.places,
                  .out_w = column.places,
                  .row = row.first,
                  .column = column.first};
      for (const Tap& k : row.taps) {
        for (const Tap& l : column.taps) {
          sweep.in_weights.push_back(k.index * kernel_w + l.index);
          sweep.in_channel.push_back((k.phase * across + l.phase) * layout.plane_floats +
                                     k.offset * layout.pitch + l.offset);
        }
      }
      layout.sweeps.push_back(std::move(sweep));
    }
  }
  return layout;
}

}  // namespace

Index Layout::reach() const {
  Index furthest = 0;
  for (const Sweep& sweep : sweeps) {
    for (const Index tap : sweep.in_channel) furthest = std::max(furthest, tap % plane_floats / pitch);
  }
  return furthest + 1;
}

Layout forward_layout(const Layer& p) {
  const Window w = p.window();
  Layout layout = combine(forward_axis(p.h, w.top, w.kernel_h, w.out_h(), w.stride, w.dilation),
                          forward_axis(p.w, w.left, w.kernel_w, w.out_w(), w.stride, w.dilation), w.kernel_w);
  layout.source_h = p.h;
  layout.source_w = p.w;
  layout.step = w.stride;
  return layout;
}

Layout data_layout(const Layer& p) {
  const Window w = p.window();
  Layout layout = combine(data_axis(p.h, w.top, w.kernel_h, w.out_h(), w.stride, w.dilation),
                          data_axis(p.w, w.left, w.kernel_w, w.out_w(), w.stride, w.dilation), w.kernel_w);
  layout.source_h = w.out_h();
  layout.source_w = w.out_w();
  for (Sweep& sweep : layout.sweeps) sweep.step = w.stride;
  return layout;
}

}  // namespace assay::conv2d
