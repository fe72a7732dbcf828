#include "im2col/plan.hpp"

#include <algorithm>

namespace assay::im2col {
namespace {

/// Lanes of the widest vector of floats.
constexpr Index widest = 16;

Index round_up(Index value, Index multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace

Plan::Plan(const Problem& p, Direction direction, int parts) {
  const Window window = p.window();
  numbers_ = {.window = window,
              .n = p.n,
              .c = p.c,
              .out_h = window.out_h(),
              .out_w = window.out_w(),
              .patch_major = p.patch_major(),
              .span = (window.kernel_h - 1) * window.dilation + 1};
  numbers_.padded_h = (numbers_.out_h - 1) * window.stride + numbers_.span;
  split_columns();
  if (window.stride == 1 && numbers_.out_w == p.w && !p.patch_major()) mask_planes(direction);

  const View v = view();
  if (v.patch_major) {
    // As many rows of every channel as the window is high; and col2im keeps a row of taps for all patches.
    numbers_of_part_ = v.c * v.span * v.row;
    offsets_of_part_ = v.rows_of_patch();
    if (direction == Direction::to_image) numbers_of_part_ += v.rows_of_patch() * v.tap_row();
  } else {
    numbers_of_part_ = direction == Direction::to_col ? v.padded_h * v.row : v.row;
  }
  // A vector's load may run past the last row.
  numbers_of_part_ = round_up(numbers_of_part_ + widest, widest);
  scratch_.resize(static_cast<std::size_t>(numbers_of_part_ * parts));
  offsets_.resize(static_cast<std::size_t>(offsets_of_part_ * parts));
}

void Plan::split_columns() {
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
    inside_.push_back(inside_run(length, window.stride, remainder - window.left, window.w));
  }
  numbers_.phases = static_cast<Index>(remainder_.size());
  numbers_.reach = start_.back();
  numbers_.pitch = round_up(length + widest - 1, widest);
  numbers_.row = numbers_.phases * numbers_.pitch;
}

void Plan::mask_planes(Direction direction) {
  const Window& window = numbers_.window;
  const Index rows = direction == Direction::to_col ? numbers_.out_h : window.h;
  // Bits of one tap fill whole vectors; eight bytes are read for each.
  numbers_.flat = true;
  numbers_.mask_bytes = round_up(rows * window.w, widest) / 8;
  mask_.resize(static_cast<std::size_t>(numbers_.mask_bytes * window.taps() + 8));
  for (Index tap = 0; tap < window.taps(); ++tap) {
    const Index down = tap / window.kernel_w * window.dilation - window.top;
    const Index right = tap % window.kernel_w * window.dilation - window.left;
    for (Index y = 0; y < rows; ++y) {
      for (Index x = 0; x < window.w; ++x) {
        // To an element of col from the pixel at that shift, or to a pixel from the element that it shifts.
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
  view.mask = mask_.data();
  return view;
}

Scratch Plan::scratch(int part) {
  return {scratch_.data() + part * numbers_of_part_, offsets_.data() + part * offsets_of_part_};
}

}  // namespace assay::im2col
