// Transposes small matrices, compiled once per SIMD target.

#if defined(ASSAY_CONV2D_TURN_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_CONV2D_TURN_INL
#undef ASSAY_CONV2D_TURN_INL
#else
#define ASSAY_CONV2D_TURN_INL
#endif

#include "gemm/panels_inl.hpp"

#include "assay/problem.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::conv2d::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;

// to[j * to_row + i] (+)= from[i * from_row + j] for 4 x 4 numbers.
template <bool add>
HWY_INLINE void turn_four(const float* from, Index from_row, float* to, Index to_row) {
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<float, 4> d;
  auto x = turn_blocks(d, hn::LoadU(d, from), hn::LoadU(d, from + from_row),
                       hn::LoadU(d, from + 2 * from_row), hn::LoadU(d, from + 3 * from_row));
  if constexpr (add) {
    x.row0 = hn::Add(x.row0, hn::LoadU(d, to));
    x.row1 = hn::Add(x.row1, hn::LoadU(d, to + to_row));
    x.row2 = hn::Add(x.row2, hn::LoadU(d, to + 2 * to_row));
    x.row3 = hn::Add(x.row3, hn::LoadU(d, to + 3 * to_row));
  }
  hn::StoreU(x.row0, d, to);
  hn::StoreU(x.row1, d, to + to_row);
  hn::StoreU(x.row2, d, to + 2 * to_row);
  hn::StoreU(x.row3, d, to + 3 * to_row);
#else
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 4; ++j) {
      const float before = add ? to[j * to_row + i] : 0;
      to[j * to_row + i] = before + from[i * from_row + j];
    }
  }
#endif
}

// The same for 2 x 4 numbers.
template <bool add>
HWY_INLINE void turn_two(const float* from, Index from_row, float* to, Index to_row) {
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<float, 4> d;
  const hn::Half<decltype(d)> half;
  const auto x0 = hn::LoadU(d, from), x1 = hn::LoadU(d, from + from_row);
  const auto low = hn::InterleaveLower(d, x0, x1), high = hn::InterleaveUpper(d, x0, x1);
  const auto put = [&](auto y, Index j) HWY_ATTR {
    float* const at = to + j * to_row;
    if constexpr (add) y = hn::Add(y, hn::LoadU(half, at));
    hn::StoreU(y, half, at);
  };
  put(hn::LowerHalf(half, low), 0);
  put(hn::UpperHalf(half, low), 1);
  put(hn::LowerHalf(half, high), 2);
  put(hn::UpperHalf(half, high), 3);
#else
  for (Index i = 0; i < 2; ++i) {
    for (Index j = 0; j < 4; ++j) {
      const float before = add ? to[j * to_row + i] : 0;
      to[j * to_row + i] = before + from[i * from_row + j];
    }
  }
#endif
}

// to[j * to_row + i] (+)= from[i * from_row + j] for rows x columns numbers.
template <bool add>
inline void turn_block(const float* from, Index from_row, Index rows, Index columns, float* to,
                       Index to_row) {
  const Index whole_rows = rows / 2 * 2, whole_columns = columns / 4 * 4;
  for (Index j = 0; j < whole_columns; j += 4) {
    Index i = 0;
    for (; i + 4 <= rows; i += 4) {
      turn_four<add>(from + i * from_row + j, from_row, to + j * to_row + i, to_row);
    }
    if (i < whole_rows) turn_two<add>(from + i * from_row + j, from_row, to + j * to_row + i, to_row);
  }
  for (Index j = 0; j < columns; ++j) {
    for (Index i = j < whole_columns ? whole_rows : 0; i < rows; ++i) {
      const float before = add ? to[j * to_row + i] : 0;
      to[j * to_row + i] = before + from[i * from_row + j];
    }
  }
}

// to[r * plane + i] = from[i * width + r] for `places` places of four rows.
HWY_INLINE void store_side_by_side(const float* from, Index width, Index places, float* to, Index plane) {
#if HWY_TARGET != HWY_SCALAR
  for (; places >= lanes; places -= lanes, from += lanes * width, to += lanes) {
    blocked::HWY_NAMESPACE::transpose_four(from, width, plane, to);
  }
  for (; places >= 4; places -= 4, from += 4 * width, to += 4) turn_four<false>(from, width, to, plane);
  if (places >= 2) {
    turn_two<false>(from, width, to, plane);
    places -= 2;
    from += 2 * width;
    to += 2;
  }
#endif
  for (; places > 0; --places, from += width, ++to) {
    for (Index r = 0; r < 4; ++r) to[r * plane] = from[r];
  }
}

}  // namespace assay::conv2d::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
