#include "im2col/plan.hpp"

#include "blocks.hpp"

#include <algorithm>

namespace assay::im2col {

/// Lanes of the widest vector of floats.
constexpr Index widest = 16;

/// Floats of split rows that are kept at once: 256 KiB, a part of a second-level cache that also holds col.
constexpr Index slab_floats = 65536;

/// Floats of transposed patches that are kept at once: half of a first-level cache of 32 KiB. Flat planes
/// take all of it, since groups need at least four planes.
constexpr Index group_floats = 4096, flat_group_floats = 8192;

Plan::Plan(const Problem& p, Direction direction, int parts) {
  const Window window = p.window();
  numbers_ = {.window = window,
              .n = p.n,
              .c = p.c,
              .out_h = window.out_h(),
              .out_w = window.out_w(),
              .patch_major = p.patch_major(),
              .span = (window.kernel_h - 1) * window.dilation + 1};
  numbers_.padded_h = numbers_.padded_rows(numbers_.out_h);
  split_columns(direction);
  if (numbers_.patch_major) {
    place_patches(direction);
    group_flat_planes(direction);
  } else {
    scratch_of_part_ = numbers_.row * (direction == Direction::to_col ? numbers_.padded_h : 1);
    if (window.stride == 1 && numbers_.out_w == p.w) mask_planes(direction);
  }
  // A vector's load may run past the last row.
  scratch_of_part_ = rounded_up(scratch_of_part_, widest) + widest;
  scratch_.resize(static_cast<std::size_t>(scratch_of_part_ * parts));
}

void Plan::split_columns(Direction direction) {
  const Window& window = numbers_.window;
  Index length = 0;
  for (Index kw = 0; kw < window.kernel_w; ++kw) {
    const Index column = kw * window.dilation, remainder = column % window.stride;
    const auto known = std::ranges::find(remainder_, remainder);
    phase_.push_back(known - remainder_.begin());
    if (known == remainder_.end()) remainder_.push_back(remainder);
    start_.push_back(column / window.stride);
    length = std::max(length, start_.back() + numbers_.out_w);
  }
  for (const Index remainder : remainder_) {
    for (Index kw = 0; kw < window.kernel_w; ++kw) {
      if (kw * window.dilation % window.stride == remainder) by_phase_.push_back(kw);
    }
    taps_to_.push_back(static_cast<Index>(by_phase_.size()));
    inside_.push_back(inside_run(length, window.stride, remainder - window.left, window.w));
  }
  numbers_.phases = static_cast<Index>(remainder_.size());
  numbers_.reach = start_.back();
  // Sums are stored in whole vectors; copies are only read in whole vectors.
  numbers_.pitch = rounded_up(length, widest);
  if (direction == Direction::to_image) numbers_.pitch = rounded_up(length + widest - 1, widest);
  numbers_.row = numbers_.phases * numbers_.pitch;
}

void Plan::place_patches(Direction direction) {
  View& v = numbers_;
  const Window& window = v.window;
  if (direction == Direction::to_image) {
    const Index channel = window.taps() * v.tap_row();
    v.group = std::clamp<Index>(group_floats / channel, 1, v.c);
    // Four elements of a patch are transposed at once.
    if (v.group > 4) v.group -= v.group % 4;
    scratch_of_part_ = v.c * v.span * v.row + v.group * channel;
    return;
  }
  const Index padded_rows = std::max(v.span, slab_floats / (v.c * v.row));
  v.slab = std::min(v.out_h, (padded_rows - v.span) / window.stride + 1);
  const Index rows = v.padded_rows(v.slab);
  scratch_of_part_ = v.c * rows * v.row;
  for (Index c = 0; c < v.c; ++c) {
    for (Index kh = 0; kh < window.kernel_h; ++kh) {
      for (Index kw = 0; kw < window.kernel_w; ++kw) {
        offset_.push_back((c * rows + kh * window.dilation) * v.row +
                          phase_[static_cast<std::size_t>(kw)] * v.pitch +
                          start_[static_cast<std::size_t>(kw)]);
      }
    }
  }
}

void Plan::group_flat_planes(Direction direction) {
  View& v = numbers_;
  const Index plane = v.window.taps() * v.pixels();
  if (v.window.stride != 1 || v.out_w != v.window.w || 4 * plane > flat_group_floats) return;
  // The elements of a few channels fill cache lines of a patch in part. That costs im2col more than half
  // empty vectors: on a Zen 5, 512 images of 7 x 7 took 25 us as planes and 35 us as rows, 256 of 14 x 14
  // took 60 and 44 us.
  if (direction == Direction::to_col && v.out_w >= 8) return;
  mask_planes(direction);
  v.flat_group = std::min(v.c, flat_group_floats / plane / 4 * 4);
  scratch_of_part_ = std::max(scratch_of_part_, v.flat_group * plane);
  for (Index tap = 0; tap < v.flat_group * v.window.taps(); ++tap) flat_offset_.push_back(tap * v.pixels());
}

void Plan::mask_planes(Direction direction) {
  const Window& window = numbers_.window;
  const Index rows = direction == Direction::to_col ? numbers_.out_h : window.h;
  // The bits of a tap fill whole vectors. Each vector reads eight bytes of them.
  numbers_.flat = true;
  numbers_.mask_bytes = rounded_up(rows * window.w, widest) / 8;
  mask_.resize(static_cast<std::size_t>(numbers_.mask_bytes * window.taps() + 8));
  for (Index tap = 0; tap < window.taps(); ++tap) {
    const Index down = tap / window.kernel_w * window.dilation - window.top;
    const Index right = tap % window.kernel_w * window.dilation - window.left;
    for (Index y = 0; y < rows; ++y) {
      for (Index x = 0; x < window.w; ++x) {
        // A tap takes part where the shifted pixel exists (to_col), or where the element of col exists
        // (to_image).
        const bool takes_part =
            direction == Direction::to_col
                ? window.inside(y + down, x + right)
                : y - down >= 0 && y - down < numbers_.out_h && x - right >= 0 && x - right < numbers_.out_w;
        const Index bit = y * window.w + x;
        if (!takes_part) continue;
        mask_[static_cast<std::size_t>(tap * numbers_.mask_bytes + bit / 8)] |=
            static_cast<std::uint8_t>(1U << (bit % 8));
      }
    }
  }
}

View Plan::view() const {
  View view = numbers_;
  view.remainder = remainder_.data();
  view.inside = inside_.data();
  view.phase = phase_.data();
  view.start = start_.data();
  view.by_phase = by_phase_.data();
  view.taps_to = taps_to_.data();
  view.offset = offset_.data();
  view.flat_offset = flat_offset_.data();
  view.mask = mask_.data();
  return view;
}

}  // namespace assay::im2col
