/// The window that im2col, col2im and convolution slide over an image: its fields, extents and rules.
#pragma once

#include "assay/problem.hpp"

#include <cstddef>
#include <tuple>
#include <vector>

namespace assay {

/// A window of kernel_h x kernel_w taps, `dilation` pixels apart, moved by `stride` over an image of
/// h x w pixels with borders of zeros. Stride and dilation are the same in both directions.
struct Window {
  Index h = 1, w = 1;
  Index kernel_h = 1, kernel_w = 1;
  Index stride = 1, dilation = 1;
  Index top = 0, bottom = 0, left = 0, right = 0;  ///< pixels of padding

  /// Positions of the window: floor((in + padding - ((kernel - 1) dilation + 1)) / stride) + 1; 0 or less
  /// when it does not fit into the padded image.
  Index out_h() const { return positions(h + top + bottom, kernel_h); }
  Index out_w() const { return positions(w + left + right, kernel_w); }
  Index taps() const { return kernel_h * kernel_w; }

  /// Row of the image under tap row `kh` at output row `oh`; outside [0, h) it is padding. Columns alike.
  Index row(Index oh, Index kh) const { return oh * stride - top + kh * dilation; }
  Index column(Index ow, Index kw) const { return ow * stride - left + kw * dilation; }
  /// The place of a window whose tap, `offset` pixels from its first one, lies at `at` of the padded image;
  /// -1 when there is none.
  static Index place(Index at, Index offset, Index stride, Index places) {
    const Index nearest = (at - offset) / stride;
    return nearest * stride + offset == at && at >= offset && nearest < places ? nearest : -1;
  }
  bool inside(Index row, Index column) const { return row >= 0 && row < h && column >= 0 && column < w; }

  /// Counts inside the image: pairs of a position and a tap that meet, and the different pixels,
  /// positions and taps among them.
  struct Met {
    double pairs = 0, pixels = 0, positions = 0, taps = 0;
  };
  Met met() const {
    const Met y = met(out_h(), kernel_h, h, [this](Index oh, Index kh) { return row(oh, kh); });
    const Met x = met(out_w(), kernel_w, w, [this](Index ow, Index kw) { return column(ow, kw); });
    return {y.pairs * x.pairs, y.pixels * x.pixels, y.positions * x.positions, y.taps * x.taps};
  }

 private:
  Index positions(Index padded, Index kernel) const {
    const Index room = padded - ((kernel - 1) * dilation + 1);
    return room < 0 ? 0 : room / stride + 1;
  }
  /// Along one direction.
  static Met met(Index positions, Index kernel, Index extent, const auto& pixel) {
    std::vector<bool> pixels(static_cast<std::size_t>(extent)), taps(static_cast<std::size_t>(kernel));
    Met out;
    const auto note = [](std::vector<bool>& seen, Index at, double& count) {
      if (!seen[static_cast<std::size_t>(at)]) count += 1;
      seen[static_cast<std::size_t>(at)] = true;
    };
    for (Index position = 0; position < positions; ++position) {
      const double before = out.pairs;
      for (Index tap = 0; tap < kernel; ++tap) {
        const Index at = pixel(position, tap);
        if (at < 0 || at >= extent) continue;
        out.pairs += 1;
        note(pixels, at, out.pixels);
        note(taps, tap, out.taps);
      }
      if (out.pairs > before) out.positions += 1;
    }
    return out;
  }
};

/// The base of a Problem that slides a window: `kernel` is square unless `kernel_w` is given, `pad` is the
/// border on all four sides unless a side is given. -1 stands for not given.
struct WindowFields {
  Index h = 1, w = 1;
  Index kernel = 1, kernel_w = -1;
  Index stride = 1, dilation = 1;
  Index pad = 0, bottom = -1, left = -1, right = -1;

  Window window() const {
    const auto or_else = [](Index given, Index usual) { return given < 0 ? usual : given; };
    return {.h = h,
            .w = w,
            .kernel_h = kernel,
            .kernel_w = or_else(kernel_w, kernel),
            .stride = stride,
            .dilation = dilation,
            .top = pad,
            .bottom = or_else(bottom, pad),
            .left = or_else(left, pad),
            .right = or_else(right, pad)};
  }

  Index kernel_rows() const { return window().kernel_h; }
  Index kernel_columns() const { return window().kernel_w; }
  Index out_h() const { return window().out_h(); }
  Index out_w() const { return window().out_w(); }

  /// The fields of a Problem that derives from this, in the order of the text form. Spelled with the type
  /// of the Problem, since a tuple of fields is of one type.
  template <class Problem>
  static constexpr auto window_fields() {
    return std::tuple{
        field<Problem>("h", &Problem::h),
        field<Problem>("w", &Problem::w),
        field<Problem>("kernel", &Problem::kernel),
        option<Problem>("kernel_w", &Problem::kernel_w, -1, -1, 1024),
        option<Problem>("stride", &Problem::stride, 1, 1, 1024),
        option<Problem>("dilation", &Problem::dilation, 1, 1, 1024),
        option<Problem>("pad", &Problem::pad, 0, 0, 1024),
        option<Problem>("bottom", &Problem::bottom, -1, -1, 1024),
        option<Problem>("left", &Problem::left, -1, -1, 1024),
        option<Problem>("right", &Problem::right, -1, -1, 1024),
    };
  }
};

}  // namespace assay
