// The loops over all elements that the element-wise variants share, and their division among threads. The
// loops run in the memory order of z, with as few axes as the layout allows: a dense problem is one row for
// any extents, a bordered one has a row per image row.
#pragma once

#include "tiers.hpp"

#include "assay/ops/elementwise.hpp"

#include <vector>

namespace assay::elementwise {

/// Extents and strides, slowest axis of z first. The last axis is the row: the inner loop, with stride 1 in
/// z. Plain arrays, since code of a SIMD target must not instantiate the standard library (tiers.hpp).
struct LoopNest {
  static constexpr int axes = 4;
  Index extent[axes] = {1, 1, 1, 1};
  Index x[axes] = {}, y[axes] = {}, z[axes] = {};
  Index x_offset = 0, z_offset = 0;

  Index rows() const { return extent[0] * extent[1] * extent[2]; }
  Index row_length() const { return extent[axes - 1]; }
};

/// Sorts axes by the stride of z, drops those of extent 1, and merges neighbours that every operand walks as
/// one. Ignores the view of y if the formula is `unary`.
LoopNest collapse(const Axes& extents, const Views& views, bool unary);

/// Rows [first_row, last_row), and in each row the elements [first, last).
struct Share {
  Index first_row = 0, last_row = 0, first = 0, last = 0;
};

/// The share of thread `part` of `parts`: whole rows where there are many, else a slice of each row. Slices
/// end at multiples of a cache line, so that no two threads write one line of a dense aligned z.
Share share(const LoopNest& nest, Index part, Index parts);

/// Walks rows in order and holds the offset of each operand's row.
class RowCursor {
 public:
  RowCursor(const LoopNest& nest, Index row) : nest_(nest), x(nest.x_offset), z(nest.z_offset) {
    // On a small dense problem, whose only row is 0, divisions would cost more than the whole call.
    for (int axis = LoopNest::axes - 2; axis >= 0 && row > 0; --axis) {
      at_[axis] = row % nest.extent[axis];
      row /= nest.extent[axis];
      advance(axis, at_[axis]);
    }
  }
  /// The number of rows from here on at the strides of the third axis.
  Index run() const { return nest_.extent[2] - at_[2]; }
  /// Moves on by `rows` <= run().
  void next(Index rows = 1) {
    at_[2] += rows;
    advance(2, rows);
    for (int axis = 2; axis > 0 && at_[axis] == nest_.extent[axis]; --axis) {
      advance(axis, -at_[axis]);
      at_[axis] = 0;
      advance(axis - 1, 1);
      ++at_[axis - 1];
    }
  }

 private:
  void advance(int axis, Index steps) {
    x += steps * nest_.x[axis];
    y += steps * nest_.y[axis];
    z += steps * nest_.z[axis];
  }
  const LoopNest& nest_;
  Index at_[LoopNest::axes - 1] = {};

 public:
  Index x, y = 0, z;  ///< offsets of the current row
};

/// The formulas by which tiers choose their code.
enum class Kind { multiply, add, relu };

struct Operands {
  Kind kind = Kind::multiply;
  const float* x = nullptr;
  const float* y = nullptr;
  float* z = nullptr;
  float alpha = 1, beta = 0;
  bool stream = false;  ///< z goes past the caches; only with beta = 0
  bool fetch_ahead = false;
};

/// One tier's code for all formulas.
using RowFunction = void(const LoopNest&, const Share&, const Operands&);

using Tier = assay::Tier<RowFunction>;
std::vector<Tier> tiers();

/// All properties of a call that depend on the problem alone.
struct Plan {
  Kind kind = Kind::multiply;
  LoopNest nest;
  float alpha = 1, beta = 0;
  bool stream = false;
  bool fetch_ahead = false;

  template <class Input, class Output>
  Operands operands(const Input& in, Output& out) const {
    // Relu has no y; x takes its place, so that pointers and strides are valid.
    const float* y = in.y.size() > 0 ? in.y.data() : in.x.data();
    return {kind, in.x.data(), y, out.z.data(), alpha, beta, stream, fetch_ahead};
  }
  Share whole() const { return {0, nest.rows(), 0, nest.row_length()}; }
};

/// The kernel of one thread, by stores past the caches if it `streams`.
inline auto kernel_of(const Tier& tier, Plan plan, bool streams) {
  plan.stream = streams;
  return [plan, function = tier.function](const auto& in, auto& out) {
    function(plan.nest, plan.whole(), plan.operands(in, out));
  };
}

/// Whether stores past the caches pay for a call that moves `bytes` in rows of `row_length`.
bool streaming_pays(double bytes, Index row_length, int threads);

/// The distance in elements of a software prefetch from the load beside it: 4 KiB, a page.
inline constexpr Index fetch_distance = 1024;

/// Whether software prefetches pay for such a call.
bool fetching_ahead_pays(double bytes, Index row_length);

template <class Formula>
Plan plan(const typename Elementwise<Formula>::Problem& p, int threads) {
  const LoopNest nest = collapse(p.extents(), p.views(), Formula::unary);
  const Cost cost = Elementwise<Formula>::cost(p);
  const double bytes = cost.bytes_read + cost.bytes_written;
  const bool adds = std::is_same_v<Formula, Add>;
  return {.kind = adds             ? Kind::add
                  : Formula::unary ? Kind::relu
                                   : Kind::multiply,
          .nest = nest,
          .alpha = static_cast<float>(p.alpha),
          .beta = static_cast<float>(p.beta),
          .stream = p.beta == 0 && streaming_pays(bytes, nest.row_length(), threads),
          .fetch_ahead = fetching_ahead_pays(bytes, nest.row_length())};
}

}  // namespace assay::elementwise
