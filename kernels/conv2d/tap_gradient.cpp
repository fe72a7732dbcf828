#include "conv2d/direct.hpp"

#include <cstddef>

#define HWY_TARGET_INCLUDE "conv2d/tap_gradient.cpp"
#include "vectors_inl.hpp"

#include "conv2d/turn_inl.hpp"
#include "gemm/tile_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::conv2d::HWY_NAMESPACE {
namespace {

using namespace assay::HWY_NAMESPACE;
using blocked::HWY_NAMESPACE::one_of;
using blocked::HWY_NAMESPACE::unrolled;

// The tile is rows of (channel, tap) by vectors of filters. If rows are few enough for a pointer each in
// registers, moving to the next pixel is one addition for all of them. AVX-512 has too many rows: their
// offsets are read again, for two pixels at a time, so half as often.
#if HWY_TARGET == HWY_AVX3
constexpr Index tile_rows = 12, tile_vectors = 2, pixels_at_once = 2;
#elif HWY_TARGET == HWY_AVX2
constexpr Index tile_rows = 6, tile_vectors = 2, pixels_at_once = 1;
#elif HWY_TARGET == HWY_NEON
constexpr Index tile_rows = 8, tile_vectors = 2, pixels_at_once = 2;
#else
constexpr Index tile_rows = 4, tile_vectors = lanes == 1 ? 4 : 2, pixels_at_once = 1;
#endif
constexpr bool rows_have_pointers = tile_rows <= 8;
constexpr Index tile_columns = tile_vectors * lanes;
static_assert(panel_filters % tile_columns == 0);

// Adds the products of `at_once` pixels.
template <Index rows, Index vectors, Index at_once>
HWY_INLINE void step(const float* a, const Index* offset, const float* b,
                     Vector (&sums)[static_cast<std::size_t>(rows)][static_cast<std::size_t>(vectors)]) {
  const Floats d;
  Vector from_b[static_cast<std::size_t>(at_once)][static_cast<std::size_t>(vectors)];
  for (Index u = 0; u < at_once; ++u) {
    for (Index v = 0; v < vectors; ++v) from_b[u][v] = hn::LoadU(d, b + u * panel_filters + v * lanes);
  }
  for (Index r = 0; r < rows; ++r) {
    const float* const at = a + offset[r];
    for (Index u = 0; u < at_once; ++u) {
      const Vector from_a = hn::Set(d, at[u]);
      for (Index v = 0; v < vectors; ++v) sums[r][v] = hn::MulAdd(from_a, from_b[u][v], sums[r][v]);
    }
  }
}

// Computes the sums of `rows` rows and `vectors` vectors of filters: to[row][vectors * lanes].
template <Index rows, Index vectors>
void tile(const TapGradient& g, Index row, const float* b, float* to) {
  const Floats d;
  Vector sums[static_cast<std::size_t>(rows)][static_cast<std::size_t>(vectors)];
  unrolled<rows>([&](auto r) HWY_ATTR {
    unrolled<vectors>([&](auto v) HWY_ATTR { sums[r.value][v.value] = hn::Zero(d); });
  });
  const Index* const offset = g.row_offset + row;
  if constexpr (rows_have_pointers) {
    const float* at[static_cast<std::size_t>(rows)];
    unrolled<rows>([&](auto r) HWY_ATTR { at[r.value] = g.a + offset[r.value]; });
    for (Index image = 0; image < g.images; ++image) {
      for (Index i = 0; i < g.out_h; ++i) {
        const Index first = image * g.a_image + i * g.pitch;
        for (Index pixel = first; pixel < first + g.out_w; ++pixel, b += panel_filters) {
          Vector from_b[static_cast<std::size_t>(vectors)];
          unrolled<vectors>([&](auto v) HWY_ATTR { from_b[v.value] = hn::LoadU(d, b + v.value * lanes); });
          unrolled<rows>([&](auto r) HWY_ATTR {
            const Vector from_a = hn::Set(d, at[r.value][pixel]);
            unrolled<vectors>([&](auto v) HWY_ATTR {
              sums[r.value][v.value] = hn::MulAdd(from_a, from_b[v.value], sums[r.value][v.value]);
            });
          });
        }
      }
    }
  } else {
    for (Index image = 0; image < g.images; ++image) {
      const float* a_row = g.a + image * g.a_image;
      for (Index i = 0; i < g.out_h; ++i, a_row += g.pitch) {
        const float* a = a_row;
        const float* const end = a + g.out_w;
        for (; a + pixels_at_once <= end; a += pixels_at_once, b += pixels_at_once * panel_filters) {
          step<rows, vectors, pixels_at_once>(a, offset, b, sums);
        }
        for (; a < end; ++a, b += panel_filters) step<rows, vectors, 1>(a, offset, b, sums);
      }
    }
  }
  unrolled<rows>([&](auto r) HWY_ATTR {
    unrolled<vectors>([&](auto v) HWY_ATTR {
      hn::Store(sums[r.value][v.value], d, to + (r.value * vectors + v.value) * lanes);
    });
  });
}

using Tile = void (*)(const TapGradient&, Index, const float*, float*);

Tile tile_of(Index rows, Index vectors) {
  return one_of<tile_rows, tile_vectors>(rows, vectors,
                                         [](auto r, auto v) -> Tile { return tile<r.value, v.value>; });
}

// Rows whose results are transposed together: a few whole cache lines of each filter of dw.
constexpr Index rows_together = 48 / tile_rows * tile_rows;

void gradient(const TapGradient& g) {
  HWY_ALIGN float results[static_cast<std::size_t>(rows_together * tile_columns)];
  for (Index filter = 0; filter < g.filters; filter += tile_columns) {
    const float* const b = g.b + filter / panel_filters * g.b_panel + filter % panel_filters;
    const Index columns = smaller(g.filters - filter, tile_columns);
    const Index vectors = (columns + lanes - 1) / lanes;
    for (Index first = 0; first < g.rows; first += rows_together) {
      const Index together = smaller(g.rows - first, rows_together);
      float* const out = g.out + filter * g.out_filter + first;
      // These lines arrive while the tiles are computed.
      for (Index f = 0; f < columns; ++f) {
        for (Index row = 0; row < together; row += 16) hwy::Prefetch(out + f * g.out_filter + row);
      }
      for (Index row = 0; row < together; row += tile_rows) {
        const Index rows = smaller(together - row, tile_rows);
        tile_of(rows, vectors)(g, first + row, b, results + row * vectors * lanes);
      }
      if (g.add) {
        turn_block<true>(results, vectors * lanes, together, columns, out, g.out_filter);
      } else {
        turn_block<false>(results, vectors * lanes, together, columns, out, g.out_filter);
      }
    }
  }
}

void turn(const TurnDy& t) {
  for (Index filter = 0; filter < t.filters; filter += panel_filters) {
    const Index rows = smaller(t.filters - filter, panel_filters);
    float* const to = t.to + filter / panel_filters * t.panel;
    const float* const from = t.dy + filter * t.plane;
    turn_block<false>(from, t.plane, rows, t.pixels, to, panel_filters);
    for (Index pixel = 0; rows < panel_filters && pixel < t.pixels; ++pixel) {
      for (Index f = rows; f < panel_filters; ++f) to[pixel * panel_filters + f] = 0;
    }
  }
}

float sum_of_numbers(const float* from, Index count) { return assay::HWY_NAMESPACE::sum_of(from, count); }

}  // namespace
}  // namespace assay::conv2d::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::conv2d {

HWY_EXPORT(gradient);
HWY_EXPORT(turn);
HWY_EXPORT(sum_of_numbers);

void set_tap_gradients(std::vector<DirectTier>& tiers) {
  set_in(tiers, &DirectTier::gradient, HWY_DISPATCH_TABLE(gradient), &DirectTier::turn_dy,
         HWY_DISPATCH_TABLE(turn), &DirectTier::sum, HWY_DISPATCH_TABLE(sum_of_numbers));
}

}  // namespace assay::conv2d
#endif
