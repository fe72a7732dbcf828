// The idea: runs instead of elements, as in row_copy of im2col, whose pixels are added without a test. By
// channels the compiler vectorises this if the stride is 1.

#include "im2col/plan.hpp"

#include <algorithm>

namespace assay::im2col {
namespace {

void by_channel(const Problem& p, const Window& window, const float* col, float* image) {
  const Index places = window.out_h() * window.out_w();
  add_rows(window, col, places, 0, p.n * p.c * window.taps(), 0, window.out_h(), image);
}

void by_patch(const Problem& p, const Window& window, const float* col, float* image) {
  const Index out_h = window.out_h(), out_w = window.out_w(), kernel_w = window.kernel_w;
  for (Index n = 0; n < p.n; ++n) {
    for (Index oh = 0; oh < out_h; ++oh) {
      for (Index ow = 0; ow < out_w; ++ow) {
        const Run taps = inside_run(kernel_w, window.dilation, window.column(ow, 0), p.w);
        for (Index c = 0; c < p.c; ++c) {
          for (Index kh = 0; kh < window.kernel_h; ++kh, col += kernel_w) {
            const Index y = window.row(oh, kh);
            if (y < 0 || y >= p.h) continue;
            float* to = image + ((n * p.c + c) * p.h + y) * p.w + window.column(ow, 0);
            for (Index kw = taps.first; kw < taps.last; ++kw) to[kw * window.dilation] += col[kw];
          }
        }
      }
    }
  }
}

void run(const Problem& p, const Col2im::Input& in, Col2im::Output& out) {
  std::ranges::fill(out.image, 0.0F);
  (p.patch_major() ? by_patch : by_channel)(p, p.window(), in.col.data(), out.image.data());
}

const Register registered{[](Registry& r) {
  r.add<Col2im>(
      {.name = "row_add", .summary = "runs of taps inside the image, added without tests", .run = run});
}};

}  // namespace
}  // namespace assay::im2col
