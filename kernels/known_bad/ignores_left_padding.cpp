// Published: patches assembled by one contiguous copy per tap row, in the layout patch_major. Four things are
// wrong: a copy that starts in the left padding goes to the first tap instead of past the skipped ones; it is
// contiguous although taps may be dilated; padding is skipped as if col held zeros; and each patch starts
// where the copy before ended, so that a shortened patch shifts all later ones. Without padding and dilation
// no fault shows.

#include "assay/ops/im2col.hpp"
#include "assay/registry.hpp"

#include <algorithm>

namespace assay::im2col {
namespace {

void run(const Problem& p, const Im2col::Input& in, Im2col::Output& out) {
  const Window window = p.window();
  float* to = out.col.data();
  for (Index n = 0; n < p.n; ++n) {
    for (Index oh = 0; oh < window.out_h(); ++oh) {
      for (Index ow = 0; ow < window.out_w(); ++ow) {
        const Index x = window.column(ow, 0);
        const Index first = std::max<Index>(x, 0), last = std::min(x + window.kernel_w, p.w);
        for (Index c = 0; c < p.c; ++c) {
          for (Index kh = 0; kh < window.kernel_h; ++kh) {
            const Index y = window.row(oh, kh);
            if (y < 0 || y >= p.h || first >= last) continue;
            const float* row = in.image.data() + ((n * p.c + c) * p.h + y) * p.w;
            to = std::copy(row + first, row + last, to);
          }
        }
      }
    }
  }
}

std::optional<std::string> unfit(const Problem& p, const Context&) {
  if (p.patch_major()) return std::nullopt;
  return "was published for layout=patch_major only";
}

const Register registered{[](Registry& r) {
  r.add<Im2col>({.name = "ignores_left_padding",
                 .summary = "one contiguous copy per tap row, to an offset that is carried along",
                 .known_bad = "NNTrainer performance audit: wrong with padding, and with dilation",
                 .run = run,
                 .unfit = unfit});
}};

}  // namespace
}  // namespace assay::im2col
