#include "assay/ops/elementwise_layout.hpp"

#include <algorithm>
#include <functional>

namespace assay::elementwise {
namespace {

View nchw(const Axes& e) {
  const auto [n, c, h, w] = e;
  return {.stride = {c * h * w, h * w, w, 1}, .storage = {n, c, h, w}};
}

View nhwc(const Axes& e) {
  const auto [n, c, h, w] = e;
  return {.stride = {h * w * c, 1, w * c, c}, .storage = {n, h, w, c}};
}

View interior(const Axes& e) {
  View view = nchw({e[0], e[1], e[2] + 2, e[3] + 2});
  view.offset = view.at(0, 0, 1, 1);
  return view;
}

View channel_vector(const Axes& e) { return {.stride = {0, 1, 0, 0}, .storage = {1, e[1], 1, 1}}; }

}  // namespace

std::optional<Axes> element_at(const View& view, const Axes& extents, Index flat) {
  std::array<std::size_t, 4> by_stride{0, 1, 2, 3};
  std::ranges::stable_sort(by_stride, std::greater<>(), [&](std::size_t axis) { return view.stride[axis]; });
  Axes out{};
  Index rest = flat - view.offset;
  for (const std::size_t axis : by_stride) {
    if (extents[axis] == 1 || view.stride[axis] == 0 || rest < 0) continue;
    out[axis] = rest / view.stride[axis];
    if (out[axis] >= extents[axis]) return std::nullopt;
    rest %= view.stride[axis];
  }
  return rest == 0 ? std::optional(out) : std::nullopt;
}

Views views(const Axes& e, Layout layout) {
  switch (layout) {
    case Layout::contiguous: break;
    case Layout::channels_last: return {nhwc(e), nhwc(e), nhwc(e)};
    case Layout::x_channels_last: return {nhwc(e), nchw(e), nchw(e)};
    case Layout::bordered: return {interior(e), nchw(e), interior(e)};
    case Layout::per_channel: return {nchw(e), channel_vector(e), nchw(e)};
    case Layout::per_channel_last: return {nhwc(e), channel_vector(e), nhwc(e)};
    case Layout::scalar: return {nchw(e), View{}, nchw(e)};
  }
  return {nchw(e), nchw(e), nchw(e)};
}

}  // namespace assay::elementwise
