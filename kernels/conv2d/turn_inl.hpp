// Transposes small matrices, compiled once per SIMD target.

#if defined(ASSAY_CONV2D_TURN_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_CONV2D_TURN_INL
#undef ASSAY_CONV2D_TURN_INL
#else
#define ASSAY_CONV2D_TURN_INL
#endif

#include "assay/problem.hpp"

#include <cstddef>

#include "vectors_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::conv2d::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;

// to[j * to_row + i] (+)= from[i * from_row + j] for rows x columns numbers, one by one.
template <bool add>
HWY_INLINE void turn_plainly(const float* from, Index from_row, Index rows, Index columns, float* to,
                             Index to_row) {
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) {
      const float before = add ? to[j * to_row + i] : 0;
      to[j * to_row + i] = before + from[i * from_row + j];
    }
  }
}

// The same for 4 x 4 or 2 x 4 numbers.
template <bool add, Index rows>
HWY_INLINE void turn_few(const float* from, Index from_row, float* to, Index to_row) {
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<float, 4> d;
  const hn::FixedTag<float, static_cast<std::size_t>(rows)> to_d;
  const auto row = [&](Index i) HWY_ATTR { return hn::LoadU(d, from + i * from_row); };
  const auto put = [&](auto x, Index j) HWY_ATTR {
    float* const at = to + j * to_row;
    if constexpr (add) x = hn::Add(x, hn::LoadU(to_d, at));
    hn::StoreU(x, to_d, at);
  };
  if constexpr (rows == 4) {
    const auto x = turn_blocks(d, row(0), row(1), row(2), row(3));
    put(x.row0, 0);
    put(x.row1, 1);
    put(x.row2, 2);
    put(x.row3, 3);
  } else {
    const auto low = hn::InterleaveLower(d, row(0), row(1)), high = hn::InterleaveUpper(d, row(0), row(1));
    put(hn::LowerHalf(to_d, low), 0);
    put(hn::UpperHalf(to_d, low), 1);
    put(hn::LowerHalf(to_d, high), 2);
    put(hn::UpperHalf(to_d, high), 3);
  }
#else
  turn_plainly<add>(from, from_row, rows, 4, to, to_row);
#endif
}

// The same for rows x columns numbers.
template <bool add>
inline void turn_block(const float* from, Index from_row, Index rows, Index columns, float* to,
                       Index to_row) {
  const Index whole_rows = rows / 2 * 2, whole_columns = columns / 4 * 4;
  for (Index j = 0; j < whole_columns; j += 4) {
    Index i = 0;
    for (; i + 4 <= rows; i += 4) {
      turn_few<add, 4>(from + i * from_row + j, from_row, to + j * to_row + i, to_row);
    }
    if (i < whole_rows) turn_few<add, 2>(from + i * from_row + j, from_row, to + j * to_row + i, to_row);
  }
  turn_plainly<add>(from + whole_rows * from_row, from_row, rows - whole_rows, whole_columns, to + whole_rows,
                    to_row);
  turn_plainly<add>(from + whole_columns, from_row, rows, columns - whole_columns,
                    to + whole_columns * to_row, to_row);
}

// to[r * plane + i] = from[i * width + r] for `places` places of four rows.
HWY_INLINE void store_side_by_side(const float* from, Index width, Index places, float* to, Index plane) {
#if HWY_TARGET != HWY_SCALAR
  for (; places >= lanes; places -= lanes, from += lanes * width, to += lanes) {
    transpose_four(Floats(), from, width, to, plane);
  }
  for (; places >= 4; places -= 4, from += 4 * width, to += 4) turn_few<false, 4>(from, width, to, plane);
  if (places >= 2) {
    turn_few<false, 2>(from, width, to, plane);
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
