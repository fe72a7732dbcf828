// The plan that the SIMD and threaded variants of im2col and col2im share: the places of all data, computed
// once per problem, and the tiers, so that both run the same machine code.
//
// *Split rows.* One row of an image with its padding, columns sorted by their remainder modulo the stride.
// While the window moves along the output, a tap then meets contiguous pixels, for every stride and dilation:
//
//   stride 2, left 1, row a b c d e:   0 a b c d e 0  ->  0 b d 0 | a c e
//                                                         tap 0 | tap 1, tap 2 = tap 0 + 1
//
// *Flat planes.* If the stride is 1 and the output is as wide as the image, row (c, kh, kw) of col by
// channels is the plane of the image, shifted and masked: a plane needs no division into rows.
#pragma once

#include "tiers.hpp"

#include "assay/ops/im2col.hpp"

#include <cstdint>
#include <vector>

namespace assay::im2col {

struct Run {
  Index first = 0, last = 0;
  Index length() const { return last - first; }
};

/// Returns the run of positions whose pixel, position * stride + offset, lies in [0, extent). An empty run
/// lies inside the positions too.
inline Run inside_run(Index positions, Index stride, Index offset, Index extent) {
  Run run{.first = offset >= 0 ? 0 : (stride - 1 - offset) / stride,
          .last = offset >= extent ? 0 : (extent - 1 - offset) / stride + 1};
  if (run.last > positions) run.last = positions;
  if (run.first > run.last) run.first = run.last;
  return run;
}

/// Adds columns[r * ld + q], rows [row, row + rows) of col by channels at the window's rows [oh, oh + count),
/// to the pixels of `image` that lie under them; a row of col is a channel under a tap.
inline void add_rows(const Window& w, const float* columns, Index ld, Index row, Index rows, Index oh,
                     Index count, float* image) {
  const Index taps = w.taps(), out_w = w.out_w();
  for (Index r = row; r < row + rows; ++r, columns += ld) {
    const Index tap = r % taps, kh = tap / w.kernel_w, column = w.column(0, tap % w.kernel_w);
    float* const plane = image + r / taps * w.h * w.w;
    const Run run = inside_run(out_w, w.stride, column, w.w);
    for (Index i = 0; i < count; ++i) {
      const Index y = w.row(oh + i, kh);
      if (y < 0 || y >= w.h) continue;
      const float* const from = columns + i * out_w;
      float* const to = plane + y * w.w + column;
      if (w.stride == 1) {
        for (Index ow = run.first; ow < run.last; ++ow) to[ow] += from[ow];
      } else if (w.stride == 2) {  // with a known stride the compiler uses shuffles
        for (Index ow = run.first; ow < run.last; ++ow) to[ow * 2] += from[ow];
      } else {
        for (Index ow = run.first; ow < run.last; ++ow) to[ow * w.stride] += from[ow];
      }
    }
  }
}

/// A Plan in plain numbers and pointers, since code of a SIMD target must not instantiate the standard
/// library (tiers.hpp).
struct View {
  Window window;
  Index n = 1, c = 1, out_h = 1, out_w = 1;
  bool patch_major = false;

  Index pitch = 0;       ///< floats from one remainder of a split row to the next, a multiple of 16
  Index row = 0;         ///< floats of a split row
  Index span = 0;        ///< padded rows that one output row meets
  Index padded_h = 0;    ///< padded rows that all output rows meet
  Index slab = 0;        ///< output rows whose split rows are kept at once, in im2col by patch
  Index group = 0;       ///< channels whose patches are transposed at once, in col2im by patch
  Index flat_group = 0;  ///< the same for flat planes
  Index reach = 0;       ///< largest of `start`
  Index phases = 0;      ///< number of remainders that taps have
  const Index* remainder = nullptr;  ///< remainder of each phase
  const Run* inside = nullptr;       ///< pixels of the image in each phase
  const Index* phase = nullptr;      ///< phase of each tap column
  const Index* start = nullptr;      ///< offset of each tap column in its phase
  const Index* by_phase = nullptr;   ///< tap columns in the order of their phases
  const Index* taps_to = nullptr;    ///< end of the columns of each phase in `by_phase`

  /// The place in a slab of split rows for each channel and tap of a patch.
  const Index* offset = nullptr;
  const Index* flat_offset = nullptr;  ///< the same in the planes of taps of `flat_group` channels

  bool flat = false;
  const std::uint8_t* mask = nullptr;  ///< a bit per tap and element: whether the element takes part
  Index mask_bytes = 0;                ///< bytes of one tap

  Index planes() const { return n * c; }
  Index pixels() const { return out_h * out_w; }
  Index padded_rows(Index output_rows) const { return (output_rows - 1) * window.stride + span; }
  Index size_of_patch() const { return c * window.taps(); }
  /// Floats of one tap along the output, with zeros on both sides as far as `start` reaches.
  Index tap_row() const { return 2 * reach + pitch; }
  /// Returns the first pixel of tap column `kw` in a split row.
  Index tap(Index kw) const { return phase[kw] * pitch + start[kw]; }
};

class Plan {
 public:
  enum class Direction { to_col, to_image };
  Plan(const Problem& problem, Direction direction, int parts);

  View view() const;
  float* scratch(int part) { return scratch_.data() + part * scratch_of_part_; }

 private:
  void split_columns(Direction direction);
  void mask_planes(Direction direction);
  void place_patches(Direction direction);
  void group_flat_planes(Direction direction);

  View numbers_;
  std::vector<Index> remainder_, phase_, start_, by_phase_, taps_to_;
  std::vector<Run> inside_;
  std::vector<std::uint8_t> mask_;
  std::vector<Index> offset_, flat_offset_;
  std::vector<float> scratch_;
  Index scratch_of_part_ = 0;
};

/// One tier's code for share `part` of `parts` of an operation. Shares write to different places.
using PartFunction = void(const View&, const float* from, float* to, float* scratch, Index part, Index parts);

using Tier = assay::Tier<PartFunction>;
template <class Op>
std::vector<Tier> tiers();

}  // namespace assay::im2col
