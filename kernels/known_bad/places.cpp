// Copies that put elements into wrong places.

#include "assay/ops/data_loader.hpp"
#include "assay/ops/im2col.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace assay {
namespace {

// Published: patches assembled by one contiguous copy per tap row, in the layout patch_major. Four things are
// wrong: a copy that starts in the left padding goes to the first tap instead of past the skipped ones; it is
// contiguous although taps may be dilated; padding is skipped as if col held zeros; and each patch starts
// where the copy before ended, so that a shortened patch shifts all later ones. Without padding and dilation
// no fault shows.

void ignores_left_padding(const im2col::Problem& p, const Im2col::Input& in, Im2col::Output& out) {
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

std::optional<std::string> patch_major_only(const im2col::Problem& p, const Context&) {
  if (p.patch_major()) return std::nullopt;
  return "was published for layout=patch_major only";
}

// Published: records are fetched in ascending order of their indices, and the order of the request is
// restored by `places = [indices.index(i) for i in ascending]; batch = fetched[argsort(places)]`. index()
// finds the first place of an index that is there twice, both copies get the same rank, and the sort puts
// them behind one another: [5, 3, 5] comes back as [5, 5, 3]. It is right without repeats, and takes n^2
// comparisons.

void repeated_indices(const BatchRetrieval::Problem& p, const BatchRetrieval::Input& in,
                      BatchRetrieval::Output& out) {
  const auto indices = in.window();
  std::vector<Index> ascending(indices.begin(), indices.end());
  std::ranges::sort(ascending);
  std::vector<std::pair<Index, Index>> places;  // in the request, and in the sorted indices
  for (const Index i : ascending) {
    places.emplace_back(std::ranges::find(indices, i) - indices.begin(), static_cast<Index>(places.size()));
  }
  std::ranges::sort(places);
  std::byte* to = out.batch.data();
  for (const auto& [first_place, rank] : places) {
    const Index i = ascending[static_cast<std::size_t>(rank)];
    std::memcpy(to, in.records.file.record(i), static_cast<std::size_t>(p.bytes));
    to += p.bytes;
  }
  in.records.end_call();
}

const Register registered{[](Registry& r) {
  r.add<Im2col>({.name = "ignores_left_padding",
                 .summary = "one contiguous copy per tap row, to an offset that is carried along",
                 .known_bad = "NNTrainer performance audit: wrong with padding, and with dilation",
                 .run = ignores_left_padding,
                 .unfit = patch_major_only});
  r.add<BatchRetrieval>({.name = "repeated_indices",
                         .summary = "sorted fetch, order restored by looking up each index",
                         .known_bad = "ADR-003: an index that is requested twice finds the first place twice",
                         .run = repeated_indices});
}};

}  // namespace
}  // namespace assay
