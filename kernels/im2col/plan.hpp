// The plan that the SIMD and threaded variants of im2col and col2im share: where everything lies, worked out
// once per problem, and the tiers by which they run the same machine code.
//
// *Split rows.* One row of an image with its padding, columns sorted by their remainder modulo the stride.
// The pixels that a tap meets while the window moves along the output are then contiguous, for every stride
// and dilation:
//
//   stride 2, left 1, row a b c d e:   0 a b c d e 0  ->  0 b d 0 | a c e        tap 0 | tap 1, tap 2 = tap 0
//   + 1
//
// *Flat planes.* Where the stride is 1 and the output is as wide as the image, row (c, kh, kw) of col by
// channels is the plane of the image, shifted, with a mask; rows need not be told apart.
#pragma once

#include "im2col/runs.hpp"
#include "tiers.hpp"

#include "assay/ops/im2col.hpp"

#include <cstdint>
#include <vector>

namespace assay::im2col {

/// A Plan in plain numbers and pointers, because code compiled for one SIMD target must not instantiate the
/// standard library (see tiers.hpp).
struct View {
  Window window;
  Index n = 1, c = 1, out_h = 1, out_w = 1;
  bool patch_major = false;

  Index pitch = 0;       ///< floats from one remainder of a split row to the next, a multiple of 16
  Index row = 0;         ///< floats of a split row
  Index span = 0;        ///< padded rows that one output row meets
  Index padded_h = 0;    ///< padded rows that all output rows meet
  Index slab = 0;        ///< output rows for which split rows are kept at once, of im2col by patch
  Index group = 0;       ///< channels whose patches are transposed at once, of col2im by patch
  Index flat_group = 0;  ///< the same where planes are flat
  Index reach = 0;       ///< largest of `start`
  Index phases = 0;      ///< remainders that some tap has
  const Index* remainder = nullptr;  ///< of each phase
  const Run* inside = nullptr;       ///< of each phase, what comes from the image
  const Index* phase = nullptr;      ///< of each tap column
  const Index* start = nullptr;      ///< of each tap column, in its phase
  const Index* by_phase = nullptr;   ///< tap columns, those of the first phase first
  const Index* taps_to = nullptr;    ///< of each phase, where its columns end in `by_phase`

  /// The place in a slab of split rows that each channel and tap of a patch meets.
  const Index* offset = nullptr;
  const Index* flat_offset = nullptr;  ///< the same in planes of taps, of `flat_group` channels

  bool flat = false;
  const std::uint8_t* mask = nullptr;  ///< of each tap, a bit per element: whether it takes part
  Index mask_bytes = 0;                ///< of one tap

  Index planes() const { return n * c; }
  Index pixels() const { return out_h * out_w; }
  Index padded_rows(Index output_rows) const { return (output_rows - 1) * window.stride + span; }
  Index size_of_patch() const { return c * window.taps(); }
  /// Floats of one tap along the output, with zeros on both sides as far as `start` reaches.
  Index tap_row() const { return 2 * reach + pitch; }
  /// Returns where the pixels that tap column `kw` meets begin in a split row.
  Index tap(Index kw) const { return phase[kw] * pitch + start[kw]; }
};

class Plan {
 public:
  enum class Direction { to_col, to_image };
  Plan(const Problem& problem, Direction direction, int parts);

  View view() const;
  /// Space for one share.
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

/// One tier's code for one operation: share `part` of `parts` of it. Shares write to different places.
using PartFunction = void(const View&, const float* from, float* to, float* scratch, Index part, Index parts);

using Tier = assay::Tier<PartFunction>;
/// Every SIMD tier that was built, best first. Defined in simd.cpp of each operation.
template <class Op>
std::vector<Tier> tiers();

}  // namespace assay::im2col
