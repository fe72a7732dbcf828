// The idea: runs instead of elements. The places where a tap enters and leaves the image are computed once
// per row of taps, and the pixels between are copied without a test. By channels such a run is as long as the
// output is wide, and contiguous if the stride is 1.

#include "im2col/plan.hpp"

#include <algorithm>

namespace assay::im2col {
namespace {

/// Copies columns [0, width) of one tap at one output row. `pixels` is the address of column 0.
void copy_run(const float* pixels, Index stride, const Run& run, Index width, float* col) {
  std::fill_n(col, run.first, 0.0F);
  if (stride == 1) {
    std::copy(pixels + run.first, pixels + run.last, col + run.first);
  } else {
    for (Index ow = run.first; ow < run.last; ++ow) col[ow] = pixels[ow * stride];
  }
  std::fill_n(col + run.last, width - run.last, 0.0F);
}

void by_channel(const Problem& p, const Window& window, const float* image, float* col) {
  const Index out_h = window.out_h(), out_w = window.out_w();
  for (Index plane = 0; plane < p.n * p.c; ++plane) {
    const float* pixels = image + plane * p.h * p.w;
    for (Index kh = 0; kh < window.kernel_h; ++kh) {
      for (Index kw = 0; kw < window.kernel_w; ++kw) {
        const Run run = inside_run(out_w, window.stride, window.column(0, kw), p.w);
        for (Index oh = 0; oh < out_h; ++oh, col += out_w) {
          const Index y = window.row(oh, kh);
          if (y < 0 || y >= p.h) {
            std::fill_n(col, out_w, 0.0F);
          } else {
            copy_run(pixels + y * p.w + window.column(0, kw), window.stride, run, out_w, col);
          }
        }
      }
    }
  }
}

void by_patch(const Problem& p, const Window& window, const float* image, float* col) {
  const Index out_h = window.out_h(), out_w = window.out_w(), kernel_w = window.kernel_w;
  for (Index n = 0; n < p.n; ++n) {
    for (Index oh = 0; oh < out_h; ++oh) {
      for (Index ow = 0; ow < out_w; ++ow) {
        const Run taps = inside_run(kernel_w, window.dilation, window.column(ow, 0), p.w);
        for (Index c = 0; c < p.c; ++c) {
          for (Index kh = 0; kh < window.kernel_h; ++kh, col += kernel_w) {
            const Index y = window.row(oh, kh);
            const bool inside = y >= 0 && y < p.h;
            const Run run = inside ? taps : Run{kernel_w, kernel_w};
            const float* pixels = image + ((n * p.c + c) * p.h + y) * p.w + window.column(ow, 0);
            // Loops: a kernel's width is a few floats, for which a call of memcpy costs more.
            for (Index kw = 0; kw < run.first; ++kw) col[kw] = 0;
            for (Index kw = run.first; kw < run.last; ++kw) col[kw] = pixels[kw * window.dilation];
            for (Index kw = run.last; kw < kernel_w; ++kw) col[kw] = 0;
          }
        }
      }
    }
  }
}

void run(const Problem& p, const Im2col::Input& in, Im2col::Output& out) {
  (p.patch_major() ? by_patch : by_channel)(p, p.window(), in.image.data(), out.col.data());
}

const Register registered{[](Registry& r) {
  r.add<Im2col>(
      {.name = "row_copy", .summary = "runs of taps inside the image, copied without tests", .run = run});
}};

}  // namespace
}  // namespace assay::im2col
