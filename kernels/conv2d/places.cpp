#include "conv2d/places.hpp"

#include <algorithm>

namespace assay::conv2d {
namespace {

/// One axis of a convolution. Place i of the result is reached from pixel (i ahead - lead + k dilation) /
/// step of `pixels`, by the taps k for which that is a whole number.
struct Axis {
  Index places = 0, pixels = 0, kernel = 0;
  Index ahead = 1, lead = 0, dilation = 1, step = 1;
};

struct AxisTap {
  Index tap = 0, distance = 0;
  bool operator==(const AxisTap&) const = default;
};
struct AxisClass {
  std::vector<AxisTap> taps;
  std::vector<Place> places;  ///< in places and pixels
};

std::vector<AxisClass> classes_of(const Axis& axis) {
  std::vector<AxisClass> classes;
  for (Index i = 0; i < axis.places; ++i) {
    const Index base = i * axis.ahead / axis.step;
    std::vector<AxisTap> taps;
    for (Index k = 0; k < axis.kernel; ++k) {
      const Index scaled = i * axis.ahead - axis.lead + k * axis.dilation;
      if (scaled < 0 || scaled % axis.step != 0 || scaled / axis.step >= axis.pixels) continue;
      taps.push_back({.tap = k, .distance = scaled / axis.step - base});
    }
    auto known = std::ranges::find(classes, taps, &AxisClass::taps);
    if (known == classes.end()) {
      classes.push_back({.taps = std::move(taps), .places = {}});
      known = classes.end() - 1;
    }
    known->places.push_back({base, i});
  }
  return classes;
}

Place step_of(const std::vector<Place>& columns) {
  Place step;
  for (std::size_t i = 1; i < columns.size(); ++i) {
    const Place now{columns[i].source - columns[i - 1].source, columns[i].result - columns[i - 1].result};
    if (i == 1) step = now;
    if (now.source != step.source || now.result != step.result) return {};
  }
  return step;
}

std::vector<PlaceClass> combine(const Axis& rows, const Axis& columns) {
  std::vector<PlaceClass> out;
  const std::vector<AxisClass> column_classes = classes_of(columns);
  // Without a tap along one axis, the other axis does not matter.
  const std::vector<AxisClass> all_columns = classes_of({.places = columns.places, .kernel = 0});
  for (const AxisClass& row : classes_of(rows)) {
    for (const AxisClass& column : row.taps.empty() ? all_columns : column_classes) {
      PlaceClass both;
      for (const AxisTap& k : row.taps) {
        for (const AxisTap& l : column.taps) {
          both.taps.push_back(
              {.tap = k.tap * columns.kernel + l.tap, .source = k.distance * columns.pixels + l.distance});
        }
      }
      for (const auto& [source, result] : row.places) {
        both.rows.push_back({source * columns.pixels, result * columns.places});
      }
      both.columns = column.places;
      both.column_step = step_of(both.columns);
      out.push_back(std::move(both));
    }
  }
  return out;
}

}  // namespace

std::vector<PlaceClass> forward_places(const Layer& p) {
  const Window w = p.window();
  return combine({w.out_h(), p.h, w.kernel_h, w.stride, w.top, w.dilation, 1},
                 {w.out_w(), p.w, w.kernel_w, w.stride, w.left, w.dilation, 1});
}

std::vector<PlaceClass> data_places(const Layer& p) {
  const Window w = p.window();
  return combine({p.h, w.out_h(), w.kernel_h, 1, -w.top, -w.dilation, w.stride},
                 {p.w, w.out_w(), w.kernel_w, 1, -w.left, -w.dilation, w.stride});
}

}  // namespace assay::conv2d
