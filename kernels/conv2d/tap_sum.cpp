#include "conv2d/direct.hpp"

#include <cstddef>

#define HWY_TARGET_INCLUDE "conv2d/tap_sum.cpp"
#include "vectors_inl.hpp"

#include "gemm/panels_inl.hpp"
#include "gemm/tile_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::conv2d::HWY_NAMESPACE {
namespace {

using namespace assay::HWY_NAMESPACE;

// The tile is rows by vectors of positions. It has as many sums as the registers hold beside the pixels of a
// step and a broadcast weight; two-operand SSE needs a register for a product as well. The tallest tiles are
// those of gemm/simd.cpp. Fewer rows take more vectors, up to six, so that a layer with few filters has as
// many sums in flight.
#if HWY_TARGET == HWY_AVX3
constexpr Index registers = 32, tile_rows = 14;
#elif HWY_TARGET == HWY_AVX2
constexpr Index registers = 16, tile_rows = 6;
#elif HWY_TARGET == HWY_NEON
constexpr Index registers = 32, tile_rows = 9;
#else
constexpr Index registers = 16, tile_rows = 4;
#endif
constexpr Index most_vectors = 6;
constexpr Index vectors_per_line = lanes < 16 ? 16 / lanes : 1;
constexpr Index vectors_of(Index rows) {
  const Index fitting = (registers - 1) / (rows + 1);
  return fitting < most_vectors ? fitting : most_vectors;
}

// Weights of at most this many bytes stay in the second-level cache while positions are walked.
constexpr Index most_resident = 512 * 1024;

// Lanes [lane, lane + count) of one vector of a tile, and the place of their results.
struct Run {
  Index vector, lane, count, to;
};
struct Runs {
  Index count = 0;
  Run at[most_vectors * lanes];
};

// Returns the runs of positions in [q, q + vectors * lanes) that are results.
Runs runs_of(const TapSum& s, Index q, Index vectors) {
  Runs runs;
  Index i = q / s.pitch, j = q % s.pitch;
  for (Index lane = 0; lane < vectors * lanes && i < s.out_h;) {
    if (j >= s.out_w) {
      lane += s.pitch - j;
      j = 0;
      ++i;
      continue;
    }
    const Index count = smaller(s.out_w - j, lanes - lane % lanes);
    const Index room = smaller(count, vectors * lanes - lane);
    const Index to = i * s.out_row + j * s.out_step;
    runs.at[runs.count++] = {lane / lanes, lane % lanes, room, to};
    lane += room;
    j += room;
  }
  return runs;
}

// Computes the sums of `rows` rows at positions from q on: to[row][vectors * lanes].
template <Index rows, Index vectors>
void tile(const TapSum& s, Index row, Index q, float* to) {
  const Floats d;
  Vector sums[static_cast<std::size_t>(rows)][static_cast<std::size_t>(vectors)];
  for (Index r = 0; r < rows; ++r) {
    const Vector start = s.start == nullptr ? hn::Zero(d) : hn::Set(d, s.start[row + r]);
    for (Index v = 0; v < vectors; ++v) sums[r][v] = start;
  }
  constexpr Index groups = (rows + 3) / 4;
  const Index a_row = s.a_row, three_rows = 3 * s.a_row;
  const Index taps = s.taps;
  const Index* const in_weights = s.in_weights;
  const Index* const in_channel = s.in_channel;
  const float* a_channel = s.a + row * s.a_row;
  const float* b_channel = s.b + q;
  for (Index channel = 0; channel < s.channels; ++channel) {
    for (Index t = 0; t < taps; ++t) {
      const float* b = b_channel + in_channel[t];
      Vector from_b[static_cast<std::size_t>(vectors)];
      for (Index v = 0; v < vectors; ++v) from_b[v] = read_once(hn::LoadU(d, b + v * lanes));
      const float* a[static_cast<std::size_t>(groups)];
      for (Index g = 0; g < groups; ++g) a[g] = a_channel + in_weights[t] + 4 * g * a_row;
      for (Index r = 0; r < rows; ++r) {
        const Vector from_a = hn::Set(d, a[r / 4][r % 4 == 3 ? three_rows : r % 4 * a_row]);
        for (Index v = 0; v < vectors; ++v) sums[r][v] = hn::MulAdd(from_a, from_b[v], sums[r][v]);
      }
      // Prefetches the same pixels of the channel after the next. A prefetch may name an address past the
      // end.
      for (Index v = 0; v < vectors; v += vectors_per_line) hwy::Prefetch(b + 2 * s.b_channel + v * lanes);
    }
    a_channel += s.a_channel;
    b_channel += s.b_channel;
  }
  for (Index r = 0; r < rows; ++r) {
    for (Index v = 0; v < vectors; ++v) hn::Store(sums[r][v], d, to + (r * vectors + v) * lanes);
  }
}

using Tile = void (*)(const TapSum&, Index, Index, float*);

Tile tile_of(Index rows, Index vectors) {
  return blocked::HWY_NAMESPACE::one_of<tile_rows, most_vectors>(rows, vectors, [](auto r, auto v) -> Tile {
    if constexpr (v.value <= vectors_of(r.value)) return tile<r.value, v.value>;
    return nullptr;
  });
}

void store(const TapSum& s, const Runs& runs, Index row, Index rows, Index vectors, const float* results) {
  const Floats d;
  float* const out = s.out + row * s.out_plane;
  for (Index i = 0; i < runs.count; ++i) {
    const Run& run = runs.at[i];
    const float* from = results + run.vector * lanes;
    float* to = out + run.to;
    if (s.out_step == 1 && run.count == lanes) {
      for (Index r = 0; r < rows; ++r, from += vectors * lanes, to += s.out_plane) {
        hn::StoreU(hn::Load(d, from), d, to);
      }
    } else if (s.out_step == 1 && has_masks) {
      const auto before = hn::FirstN(d, static_cast<std::size_t>(run.lane));
      const auto mask = hn::AndNot(before, hn::FirstN(d, static_cast<std::size_t>(run.lane + run.count)));
      for (Index r = 0; r < rows; ++r, from += vectors * lanes, to += s.out_plane) {
        hn::BlendedStore(hn::Load(d, from), mask, d, to - run.lane);
      }
    } else {
      for (Index r = 0; r < rows; ++r, from += vectors * lanes, to += s.out_plane) {
        for (Index l = 0; l < run.count; ++l) to[l * s.out_step] = from[run.lane + l];
      }
    }
  }
}

void sum_tile(const TapSum& s, Index row, Index rows, Index q, Index vectors) {
  HWY_ALIGN float results[static_cast<std::size_t>(registers * lanes)];
  const Runs runs = runs_of(s, q, vectors);
  if (runs.count == 0) return;
  tile_of(rows, vectors)(s, row, q, results);
  store(s, runs, row, rows, vectors, results);
}

void sum(const TapSum& given) {
  TapSum s = given;
  if (s.pitch == s.out_w && s.out_row == s.out_step * s.out_w) {  // nothing between rows: one long row
    s.out_w *= s.out_h;
    s.pitch = s.out_w;
    s.out_h = 1;
  }
  const Index positions = (s.out_h - 1) * s.pitch + s.out_w;
  const Index columns = pieces(positions, lanes);  // in vectors
  // Either all weights stay in the cache while positions are walked, or the weights of one tile do.
  if (s.rows * s.channels * s.taps * 4 <= most_resident) {
    const Index vectors = vectors_of(next_block(s.rows, tile_rows));
    for (Index column = 0; column < columns; column += vectors) {
      for (Index row = 0, rows = 0; row < s.rows; row += rows) {
        rows = next_block(s.rows - row, tile_rows);
        sum_tile(s, row, rows, column * lanes, smaller(columns - column, vectors));
      }
    }
  } else {
    for (Index row = 0, rows = 0; row < s.rows; row += rows) {
      rows = next_block(s.rows - row, tile_rows);
      const Index vectors = vectors_of(rows);
      for (Index column = 0; column < columns; column += vectors) {
        sum_tile(s, row, rows, column * lanes, smaller(columns - column, vectors));
      }
    }
  }
}

void copy_row(const float* from, Index step, Index count, float* to) {
  const Floats d;
  Index j = 0;
  for (; step == 1 && j + lanes <= count; j += lanes) hn::StoreU(hn::LoadU(d, from + j), d, to + j);
  if (has_masks && step == 1 && j < count)  // a short row is little but its end
    return store_some(load_some(d, from + j, count - j), d, to + j, count - j);
  for (; step == 2 && j + lanes < count; j += lanes) {  // reads a number behind the last that it takes
    Vector even, odd;
    hn::LoadInterleaved2(d, from + 2 * j, even, odd);
    hn::StoreU(even, d, to + j);
  }
  for (; j < count; ++j) to[j] = from[j * step];
}

void fill(const PlaneCopy& copy, const float* image, Index channels, float* space) {
  for (Index channel = 0; channel < channels; ++channel, image += copy.source_plane) {
    for (Index p = 0; p < copy.count; ++p, space += copy.plane_floats) {
      const Plane& plane = copy.planes[p];
      const Index before = copy.first_row > plane.row ? copy.first_row - plane.row : 0;
      const float* from = image + (plane.pixel_row + before * copy.step) * copy.source_w + plane.pixel_column;
      float* to = space + (plane.row + before) * copy.pitch + plane.column;
      const Index end = smaller(plane.rows, copy.last_row - plane.row);
      for (Index i = before; i < end; ++i, from += copy.step * copy.source_w, to += copy.pitch) {
        copy_row(from, copy.step, plane.columns, to);
      }
    }
  }
}

}  // namespace
}  // namespace assay::conv2d::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::conv2d {

HWY_EXPORT(sum);
HWY_EXPORT(fill);

void set_tap_sums(std::vector<DirectTier>& tiers) {
  set_in(tiers, &DirectTier::sum_taps, HWY_DISPATCH_TABLE(sum), &DirectTier::fill, HWY_DISPATCH_TABLE(fill));
}

}  // namespace assay::conv2d
#endif
