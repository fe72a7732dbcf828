// The idea: the widest vectors of the processor, four per iteration, with stores through the caches at all
// sizes.
//
// One source for all SIMD targets. `streaming` and `threaded` run the same code by tiers(), with stores past
// the caches.

#include "elementwise/loop_nest.hpp"

#define HWY_TARGET_INCLUDE "elementwise/simd.cpp"
#include "vectors_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::elementwise::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;

template <class D, class V>
V compute(Multiply, D, V x, V y, V alpha) {
  return hn::Mul(hn::Mul(alpha, x), y);
}
template <class D, class V>
V compute(Add, D, V x, V y, V alpha) {
  return hn::MulAdd(alpha, y, x);
}
template <class D, class V>
V compute(Relu, D d, V x, V, V) {
  return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);  // a NaN is not less than 0, nor is -0
}

/// How the elements of a row are reached. `transposes`: x jumps along a row, but the elements of neighbouring
/// rows are neighbours in x. `scattered`: any other strides.
enum class Walk { dense, y_repeats, transposes, scattered };
enum class Store { reads_z, plain, plain_fetching_ahead, stream };

template <class Formula, Walk walk, Store store>
struct Row {
  static constexpr bool formula_unary = Formula::unary;
  const float* x;
  const float* y;
  float* z;
  Index x_step, y_step;
  float alpha, beta;

  template <class D, class V>
  HWY_INLINE V fresh(D d, V a, V b, Index i) const {
    const V value = compute(Formula(), d, a, b, hn::Set(d, alpha));
    if constexpr (store != Store::reads_z) return value;
    return hn::MulAdd(hn::Set(d, beta), hn::LoadU(d, z + i), value);
  }

  /// z[i], z[i + 1], … as many as D has lanes.
  template <class D>
  HWY_INLINE void vector(D d, Index i) const {
    const auto a = hn::LoadU(d, x + i);
    auto b = a;
    if constexpr (!Formula::unary) b = walk == Walk::y_repeats ? hn::Set(d, *y) : hn::LoadU(d, y + i);
    const auto value = fresh(d, a, b, i);
    if constexpr (store == Store::stream) {
      hn::Stream(value, d, z + i);
    } else {
      hn::StoreU(value, d, z + i);
    }
  }

  /// The first `count` elements of a vector.
  template <class D>
  HWY_INLINE void part_of_vector(D d, Index i, Index count) const {
    const auto mask = hn::FirstN(d, static_cast<std::size_t>(count));
    const auto a = hn::MaskedLoad(mask, d, x + i);
    auto b = a;
    if constexpr (!Formula::unary) {
      b = walk == Walk::y_repeats ? hn::Set(d, *y) : hn::MaskedLoad(mask, d, y + i);
    }
    auto value = compute(Formula(), d, a, b, hn::Set(d, alpha));
    if constexpr (store == Store::reads_z) {
      value = hn::MulAdd(hn::Set(d, beta), hn::MaskedLoad(mask, d, z + i), value);
    }
    hn::BlendedStore(value, mask, d, z + i);
  }

  /// z[i] with any strides.
  HWY_INLINE void one(Index i) const {
    const hn::CappedTag<float, 1> d;
    const auto a = hn::LoadU(d, x + i * x_step);
    hn::StoreU(fresh(d, a, Formula::unary ? a : hn::LoadU(d, y + i * y_step), i), d, z + i);
  }

  /// Computes whole vectors from i on while they fit before `last`. Returns the first element left.
  template <class D>
  HWY_INLINE Index vectors(D d, Index i, Index last) const {
    constexpr auto lanes = static_cast<Index>(hn::MaxLanes(D()));
    // Four per iteration: loads and stores then outnumber the loop's own instructions.
    for (; i + 4 * lanes <= last; i += 4 * lanes) {
      if constexpr (store == Store::plain_fetching_ahead) {
        // A prefetch may name an address past the end of a row.
        for (Index ahead = i + fetch_distance; ahead < i + fetch_distance + 4 * lanes; ahead += 16) {
          hwy::Prefetch(x + ahead);
          if constexpr (!Formula::unary) hwy::Prefetch(y + ahead);
        }
      }
      vector(d, i);
      vector(d, i + lanes);
      vector(d, i + 2 * lanes);
      vector(d, i + 3 * lanes);
    }
    for (; i + lanes <= last; i += lanes) vector(d, i);
    return i;
  }

  HWY_INLINE void run(Index i, Index last) const {
    const hn::ScalableTag<float> d;
    if constexpr (walk == Walk::dense || walk == Walk::y_repeats) {
      if constexpr (store == Store::stream) {
        // Streams whole lines only: a line written in parts is read from memory after all.
        while (i < last && reinterpret_cast<std::uintptr_t>(z + i) % 64 != 0) one(i++);
        i = vectors(d, i, last - (last - i) % 16);
        return Row<Formula, walk, Store::plain>{x, y, z, x_step, y_step, alpha, beta}.run(i, last);
      }
      i = vectors(d, i, last);
      if constexpr (has_masks) {
        // The rest goes into the narrowest vector that holds it. On a Zen 5, bordered rows of 7 took 0.75 of
        // the time of masked vectors of 16.
        if (last - i > 8) return part_of_vector(d, i, last - i);
        if (last - i > 4) return part_of_vector(hn::CappedTag<float, 8>(), i, last - i);
        if (i < last) part_of_vector(hn::CappedTag<float, 4>(), i, last - i);
        return;
      }
    }
    while (i < last) one(i++);
  }
};

template <class AnyRow>
HWY_INLINE void step(AnyRow& row, const LoopNest& nest, Index rows) {
  row.x += rows * nest.x[2];
  row.y += rows * nest.y[2];
  row.z += rows * nest.z[2];
}

#if HWY_TARGET == HWY_SCALAR
constexpr bool transposing = false;
#else
constexpr bool transposing = true;

/// Four rows by four elements: x is read along the rows' axis and transposed in registers.
template <class AnyRow>
HWY_INLINE void tile(AnyRow row, const LoopNest& nest, Index i) {
  const hn::CappedTag<float, 4> d;
  const float* x = row.x + i * row.x_step;
  const auto x_rows = turn_blocks(d, hn::LoadU(d, x), hn::LoadU(d, x + row.x_step),
                                  hn::LoadU(d, x + 2 * row.x_step), hn::LoadU(d, x + 3 * row.x_step));
  const auto finish = [&](auto a) HWY_ATTR {
    auto b = a;
    if constexpr (!AnyRow::formula_unary) b = hn::LoadU(d, row.y + i);
    hn::StoreU(row.fresh(d, a, b, i), d, row.z + i);
    step(row, nest, 1);
  };
  finish(x_rows.row0);
  finish(x_rows.row1);
  finish(x_rows.row2);
  finish(x_rows.row3);
}

/// A cache line of x holds elements of 16 rows. Blocks of 16 rows by 64 elements read 64 such lines. They
/// stay in the first-level cache even if their distance maps them to a sixteenth of its sets.
template <class AnyRow>
HWY_INLINE void transpose_rows(const AnyRow& top, const LoopNest& nest, Index rows, Index first, Index last) {
  constexpr Index row_block = 16, block = 64;
  for (Index r0 = 0; r0 < rows; r0 += row_block) {
    const Index r1 = rows - r0 < row_block ? rows : r0 + row_block;
    for (Index i0 = first; i0 < last; i0 += block) {
      const Index i1 = last - i0 < block ? last : i0 + block;
      AnyRow row = top;
      step(row, nest, r0);
      Index r = r0;
      for (; r + 4 <= r1; r += 4) {
        Index i = i0;
        for (; i + 4 <= i1; i += 4) tile(row, nest, i);
        for (Index k = 0; k < 4; ++k) {
          row.run(i, i1);
          step(row, nest, 1);
        }
      }
      for (; r < r1; ++r) {
        row.run(i0, i1);
        step(row, nest, 1);
      }
    }
  }
}
#endif

template <class Formula, Walk walk, Store store>
void walk_rows(const LoopNest& nest, const Share& share, const Operands& on) {
  RowCursor at(nest, share.first_row);
  for (Index left = share.last_row - share.first_row; left > 0;) {
    const Index run = at.run() < left ? at.run() : left;
    Row<Formula, walk, store> row{on.x + at.x, on.y + at.y, on.z + at.z, nest.x[3],
                                  nest.y[3],   on.alpha,    on.beta};
    if constexpr (walk == Walk::transposes) {
      transpose_rows(row, nest, run, share.first, share.last);
    } else {
      for (Index i = 0; i < run; ++i) {
        row.run(share.first, share.last);
        step(row, nest, 1);
      }
    }
    at.next(run);
    left -= run;
  }
  if constexpr (store == Store::stream) hwy::FlushStream();
}

template <class Formula, Walk walk>
void choose_store(const LoopNest& nest, const Share& share, const Operands& on) {
  constexpr bool streams = walk == Walk::dense || walk == Walk::y_repeats;
  if (on.beta != 0) return walk_rows<Formula, walk, Store::reads_z>(nest, share, on);
  if (streams && on.stream)
    return walk_rows < Formula, walk, streams ? Store::stream : Store::plain > (nest, share, on);
  if constexpr (walk == Walk::dense) {
    if (on.fetch_ahead) return walk_rows<Formula, walk, Store::plain_fetching_ahead>(nest, share, on);
  }
  walk_rows<Formula, walk, Store::plain>(nest, share, on);
}

template <class Formula>
void choose_walk(const LoopNest& nest, const Share& share, const Operands& on) {
  const bool x_dense = nest.x[3] == 1 || nest.extent[3] == 1;
  const bool y_dense = nest.y[3] == 1 || Formula::unary;
  if (x_dense && y_dense) return choose_store<Formula, Walk::dense>(nest, share, on);
  if (x_dense && nest.y[3] == 0) return choose_store<Formula, Walk::y_repeats>(nest, share, on);
  if constexpr (transposing) {
    if (y_dense && nest.x[2] == 1) return choose_store<Formula, Walk::transposes>(nest, share, on);
  }
  choose_store<Formula, Walk::scattered>(nest, share, on);
}

void rows(const LoopNest& nest, const Share& share, const Operands& on) {
  if (on.kind == Kind::multiply) return choose_walk<Multiply>(nest, share, on);
  if (on.kind == Kind::add) return choose_walk<Add>(nest, share, on);
  choose_walk<Relu>(nest, share, on);
}

}  // namespace assay::elementwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::elementwise {

HWY_EXPORT(rows);

std::vector<Tier> tiers() { return tiers_in(HWY_DISPATCH_TABLE(rows)); }

const Register registered{[](Registry& r) {
  for_each_formula([&]<class Formula>(Formula) {
    add_tiers<Elementwise<Formula>>(r, tiers(), {.name = "simd", .summary = "vectors of {}"},
                                    [](const Tier& tier, const auto& p, const auto&) {
                                      return kernel_of(tier, plan<Formula>(p, 1), false);
                                    });
  });
}};

}  // namespace assay::elementwise
#endif
