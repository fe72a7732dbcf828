#include "conv2d_winograd/tiles.hpp"

#include <cstddef>

#define HWY_TARGET_INCLUDE "conv2d_winograd/tiles.cpp"
#include "vectors_inl.hpp"

#include "conv2d/turn_inl.hpp"
#include "gemm/tile_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::conv2d::winograd::HWY_NAMESPACE {
namespace {

using namespace assay::HWY_NAMESPACE;
using blocked::HWY_NAMESPACE::tile_vectors;
using blocked::HWY_NAMESPACE::unrolled;

constexpr float single(double x) { return static_cast<float>(x); }
// Plain numbers: code of a SIMD target may not call functions of std::array.
constexpr Matrices matrix = matrices();
constexpr float at_0 = single(matrix.g[0][0]);
constexpr float at_inner[] = {single(matrix.g[1][0]), single(matrix.g[1][1]), single(matrix.g[1][2])};
constexpr float at_outer[] = {single(matrix.g[3][0]), single(matrix.g[3][1]), single(matrix.g[3][2])};

// The products of B^T with six numbers, G with three, and A^T with six. The rows of a point and of its
// negative differ in the signs of odd powers, so they share their sums.
HWY_INLINE void pixels_to_points(const Vector* d, Vector* v) {
  const Floats f;
  const auto inner2 = hn::Set(f, single(inner * inner)), outer2 = hn::Set(f, single(outer * outer));
  const auto both = hn::Set(f, single(inner * inner * outer * outer)),
             sum = hn::Set(f, single(inner * inner + outer * outer));
  const auto inner1 = hn::Set(f, single(inner)), outer1 = hn::Set(f, single(outer));
  v[0] = hn::MulAdd(both, d[0], hn::NegMulAdd(sum, d[2], d[4]));
  const Vector even_inner = hn::NegMulAdd(outer2, d[2], d[4]), odd_inner = hn::NegMulAdd(outer2, d[1], d[3]);
  v[1] = hn::MulAdd(inner1, odd_inner, even_inner);
  v[2] = hn::NegMulAdd(inner1, odd_inner, even_inner);
  const Vector even_outer = hn::NegMulAdd(inner2, d[2], d[4]), odd_outer = hn::NegMulAdd(inner2, d[1], d[3]);
  v[3] = hn::MulAdd(outer1, odd_outer, even_outer);
  v[4] = hn::NegMulAdd(outer1, odd_outer, even_outer);
  v[5] = hn::MulAdd(both, d[1], hn::NegMulAdd(sum, d[3], d[5]));
}

HWY_INLINE void weights_to_points(const Vector* w, Vector* u) {
  const Floats f;
  u[0] = hn::Mul(hn::Set(f, at_0), w[0]);
  const Vector even_inner = hn::MulAdd(hn::Set(f, at_inner[2]), w[2], hn::Mul(hn::Set(f, at_inner[0]), w[0]));
  const Vector odd_inner = hn::Mul(hn::Set(f, at_inner[1]), w[1]);
  u[1] = hn::Add(even_inner, odd_inner);
  u[2] = hn::Sub(even_inner, odd_inner);
  const Vector even_outer = hn::MulAdd(hn::Set(f, at_outer[2]), w[2], hn::Mul(hn::Set(f, at_outer[0]), w[0]));
  const Vector odd_outer = hn::Mul(hn::Set(f, at_outer[1]), w[1]);
  u[3] = hn::Add(even_outer, odd_outer);
  u[4] = hn::Sub(even_outer, odd_outer);
  u[5] = w[2];
}

HWY_INLINE void points_to_results(const Vector* m, Vector* y) {
  const Floats f;
  const Vector even_inner = hn::Add(m[1], m[2]), odd_inner = hn::Sub(m[1], m[2]);
  const Vector even_outer = hn::Add(m[3], m[4]), odd_outer = hn::Sub(m[3], m[4]);
  y[0] = hn::Add(m[0], hn::Add(even_inner, even_outer));
  y[1] = hn::MulAdd(hn::Set(f, single(inner)), odd_inner, hn::Mul(hn::Set(f, single(outer)), odd_outer));
  y[2] = hn::MulAdd(hn::Set(f, single(inner * inner)), even_inner,
                    hn::Mul(hn::Set(f, single(outer * outer)), even_outer));
  y[3] = hn::MulAdd(hn::Set(f, single(inner * inner * inner)), odd_inner,
                    hn::MulAdd(hn::Set(f, single(outer * outer * outer)), odd_outer, m[5]));
}

// Channels whose weights are transposed at a time.
constexpr Index turned_channels = 8;
constexpr Index all_taps = taps * taps;

Index weight_space() { return turned_channels * all_taps * lanes; }

void transform_weights(const WeightTransform& t) {
  const Floats f;
  const Index all_vectors = pieces(t.rows, lanes);
  for (Index vector = t.first_vector; vector < t.first_vector + t.vectors; ++vector) {
    const Index row = vector * lanes, rows = smaller(lanes, t.rows - row);
    const Index in_panel = vector % tile_vectors, panel = vector - in_panel;
    const Index width = smaller(tile_vectors, all_vectors - panel) * lanes;
    float* to = t.to + panel * lanes * t.channels + in_panel * lanes;
    // Rows past the last one stay zero.
    for (Index i = 0; i < weight_space(); ++i) t.space[i] = 0;
    for (Index first = 0; first < t.channels; first += turned_channels) {
      const Index channels = smaller(turned_channels, t.channels - first);
      const float* const from = t.weights + row * t.row + first * t.channel;
      if (t.channel == all_taps) {  // weights of a row are contiguous
        conv2d::HWY_NAMESPACE::turn_block<false>(from, t.row, rows, channels * all_taps, t.space, lanes);
      } else {
        for (Index c = 0; c < channels; ++c) {
          conv2d::HWY_NAMESPACE::turn_block<false>(from + c * t.channel, t.row, rows, all_taps,
                                                   t.space + c * all_taps * lanes, lanes);
        }
      }
      for (Index c = 0; c < channels; ++c, to += width) {
        Vector columns[static_cast<std::size_t>(taps)][static_cast<std::size_t>(points)];
        unrolled<taps>([&](auto l) HWY_ATTR {
          Vector w[static_cast<std::size_t>(taps)];
          unrolled<taps>([&](auto k) HWY_ATTR {
            const Index tap = k.value * taps + l.value;
            w[k.value] =
                hn::Load(f, t.space + (c * all_taps + (t.half_turn ? all_taps - 1 - tap : tap)) * lanes);
          });
          weights_to_points(w, columns[l.value]);
        });
        unrolled<points>([&](auto i) HWY_ATTR {
          const Vector row_of_taps[] = {columns[0][i.value], columns[1][i.value], columns[2][i.value]};
          Vector u[static_cast<std::size_t>(points)];
          weights_to_points(row_of_taps, u);
          unrolled<points>([&](auto j) HWY_ATTR {
            hn::Store(u[j.value], f, to + (i.value * points + j.value) * t.point);
          });
        });
      }
    }
  }
}

// The sizes of the arrays of a block of tiles, in floats.
struct Block {
  Index tile_channels, pixels_point, tile_rows, results_point, staging;
  Block(Index tiles, Index channels, Index vectors)
      : tile_channels(pieces(channels, line_floats) * line_floats + line_floats),
        pixels_point(tiles * tile_channels + line_floats),
        tile_rows(pieces(vectors * lanes, line_floats) * line_floats + line_floats),
        results_point(tiles * tile_rows + line_floats),
        staging(points * (most_run * results + taps - 1) * lanes) {}
  Index floats() const { return all_points * (pixels_point + results_point) + staging; }
};

Index space_floats(Index tiles, Index channels, Index vectors) {
  return Block(tiles, channels, vectors).floats();
}

// Tiles side by side in an image: their row, the first column, and their number.
struct Run {
  Index image, down, across, count;
};

// The longest run from tile `tile` on, of at most `left` tiles.
Run run_from(const TileSum& s, Index tile, Index left) {
  const Index across = s.tiles_across(), down = s.tiles_down();
  const Index column = tile % across;
  return {tile / across / down, tile / across % down, column,
          smaller(smaller(left, most_run), across - column)};
}

HWY_INLINE void set_zeros(float* to, Index vectors) {
  const Floats f;
  for (Index i = 0; i < vectors; ++i) hn::Store(hn::Zero(f), f, to + i * lanes);
}

// to[j][c] = from[c * plane + j] for `count` pixels of a vector of channels, of which `channels` exist.
HWY_INLINE void turn_pixels(const float* from, Index plane, Index channels, Index count, float* to) {
  Index j = 0;
#if HWY_TARGET != HWY_SCALAR
  if (channels == lanes) {
    for (; j + 4 <= count; j += 4) {
      transpose_four(Floats(), from + j, plane, to + j * lanes, lanes);
    }
    if (j < count && count >= 4) {  // the last four pixels, some of them twice
      transpose_four(Floats(), from + count - 4, plane, to + (count - 4) * lanes, lanes);
      return;
    }
  }
#endif
  if (channels < lanes) set_zeros(to + j * lanes, count - j);
  conv2d::HWY_NAMESPACE::turn_block<false>(from + j, plane, channels, count - j, to + j * lanes, lanes);
}

// Transforms a vector of channels of a run of tiles. The first is tile `place` of the block.
void transform_pixels(const TileSum& s, const Block& block, const Run& run, Index channel, Index place,
                      float* staging, float* pixels) {
  const Floats f;
  const Index columns = run.count * results + taps - 1;
  const Index channels = smaller(lanes, s.channels - channel), plane = s.source_h * s.source_w;
  const Index row = run.down * results - s.top, column = run.across * results - s.left;
  const Index before = column < 0 ? smaller(-column, columns) : 0;
  const Index end = column + columns < s.source_w ? columns : s.source_w - column;
  const Index inside = end > before ? end - before : 0;
  const float* const image = s.source + (run.image * s.channels + channel) * plane;
  for (Index i = 0; i < points; ++i) {
    float* const to = staging + i * columns * lanes;
    if (inside == 0 || row + i < 0 || row + i >= s.source_h) {
      set_zeros(to, columns);
      continue;
    }
    set_zeros(to, before);
    turn_pixels(image + (row + i) * s.source_w + column + before, plane, channels, inside,
                to + before * lanes);
    set_zeros(to + (before + inside) * lanes, columns - before - inside);
  }
  // Transforms down each column in place: neighbouring tiles share two columns.
  for (Index j = 0; j < columns; ++j) {
    float* const at = staging + j * lanes;
    Vector d[static_cast<std::size_t>(points)], v[static_cast<std::size_t>(points)];
    unrolled<points>([&](auto i) HWY_ATTR { d[i.value] = hn::Load(f, at + i.value * columns * lanes); });
    pixels_to_points(d, v);
    unrolled<points>([&](auto i) HWY_ATTR { hn::Store(v[i.value], f, at + i.value * columns * lanes); });
  }
  for (Index tile = 0; tile < run.count; ++tile) {
    float* const to = pixels + (place + tile) * block.tile_channels + channel;
    const float* const at = staging + tile * results * lanes;
    unrolled<points>([&](auto i) HWY_ATTR {
      Vector d[static_cast<std::size_t>(points)], v[static_cast<std::size_t>(points)];
      unrolled<points>(
          [&](auto j) HWY_ATTR { d[j.value] = hn::Load(f, at + (i.value * columns + j.value) * lanes); });
      pixels_to_points(d, v);
      unrolled<points>([&](auto j) HWY_ATTR {
        hn::Store(v[j.value], f, to + (i.value * points + j.value) * block.pixels_point);
      });
    });
  }
}

// The 36 products of `tiles` tiles, a panel of weights at a time.
void multiply(const TileSum& s, const Block& block, Index tiles, const float* pixels, float* sums) {
  const Index all_vectors = pieces(s.rows, lanes);
  blocked::HWY_NAMESPACE::Operands o{
      .k = s.channels, .a_row = block.tile_channels, .a_step = 1, .ldc = block.tile_rows};
  for (Index point = 0; point < all_points; ++point) {
    for (Index vector = 0; vector < s.vectors; vector += tile_vectors) {
      const Index at = s.first_vector + vector;
      const Index vectors = smaller(tile_vectors, all_vectors - at);
      const Index most = blocked::HWY_NAMESPACE::most_tile_rows(vectors);
      const Index parts = pieces(tiles, most);
      o.columns = vectors * lanes;
      o.b = s.weights + point * s.weights_point + at * lanes * s.channels;
      o.b_step = vectors * lanes;
      for (Index part = 0, tile = 0; part < parts; ++part) {
        const Index height = tiles * (part + 1) / parts - tile;
        o.a = pixels + point * block.pixels_point + tile * block.tile_channels;
        o.c = sums + point * block.results_point + tile * block.tile_rows + vector * lanes;
        blocked::HWY_NAMESPACE::tile_of(height, vectors)(o);
        tile += height;
      }
    }
  }
}

// Transforms a vector of rows of the results of a run of tiles, and stores the rows that exist.
void transform_results(const TileSum& s, const Block& block, const Run& run, Index vector, Index place,
                       const float* sums, float* staging) {
  const Floats f;
  const Index row = (s.first_vector + vector) * lanes, rows = smaller(lanes, s.rows - row);
  const Index columns = run.count * results;
  HWY_ALIGN float start[static_cast<std::size_t>(lanes)] = {};
  for (Index r = 0; r < rows && s.start != nullptr; ++r) start[r] = s.start[row + r];
  const Vector first = hn::Load(f, start);
  for (Index tile = 0; tile < run.count; ++tile) {
    const float* const from = sums + (place + tile) * block.tile_rows + vector * lanes;
    Vector down[static_cast<std::size_t>(results)][static_cast<std::size_t>(points)];
    unrolled<points>([&](auto j) HWY_ATTR {
      Vector m[static_cast<std::size_t>(points)], y[static_cast<std::size_t>(results)];
      unrolled<points>([&](auto i) HWY_ATTR {
        m[i.value] = hn::Load(f, from + (i.value * points + j.value) * block.results_point);
      });
      points_to_results(m, y);
      unrolled<results>([&](auto k) HWY_ATTR { down[k.value][j.value] = y[k.value]; });
    });
    unrolled<results>([&](auto k) HWY_ATTR {
      Vector y[static_cast<std::size_t>(results)];
      points_to_results(down[k.value], y);
      unrolled<results>([&](auto l) HWY_ATTR {
        hn::Store(hn::Add(first, y[l.value]), f,
                  staging + (k.value * columns + tile * results + l.value) * lanes);
      });
    });
  }
  const Index plane = s.result_h * s.result_w;
  const Index i = run.down * results, j = run.across * results;
  float* const result = s.result + (run.image * s.rows + row) * plane + i * s.result_w + j;
  const Index height = smaller(results, s.result_h - i), width = smaller(columns, s.result_w - j);
  for (Index k = 0; k < height; ++k) {
    const float* from = staging + k * columns * lanes;
    float* to = result + k * s.result_w;
    Index left = rows;
    for (; left >= 4; left -= 4, from += 4, to += 4 * plane) {
      conv2d::HWY_NAMESPACE::store_side_by_side(from, lanes, width, to, plane);
    }
    for (; left > 0; --left, ++from, to += plane) {
      for (Index l = 0; l < width; ++l) to[l] = from[l * lanes];
    }
  }
}

void sum_tiles(const TileSum& s) {
  const Block block(s.block, s.channels, s.vectors);
  float* const pixels = s.space;
  float* const sums = pixels + all_points * block.pixels_point;
  float* const staging = sums + all_points * block.results_point;
  for (Index done = 0, tiles = 0; done < s.tiles; done += tiles) {
    tiles = smaller(s.block, s.tiles - done);
    const auto each_run = [&](const auto& visit) HWY_ATTR {
      for (Index place = 0; place < tiles;) {
        const Run run = run_from(s, s.first_tile + done + place, tiles - place);
        visit(run, place);
        place += run.count;
      }
    };
    each_run([&](const Run& run, Index place) HWY_ATTR {
      for (Index channel = 0; channel < s.channels; channel += lanes) {
        transform_pixels(s, block, run, channel, place, staging, pixels);
      }
    });
    multiply(s, block, tiles, pixels, sums);
    each_run([&](const Run& run, Index place) HWY_ATTR {
      for (Index vector = 0; vector < s.vectors; ++vector) {
        transform_results(s, block, run, vector, place, sums, staging);
      }
    });
  }
}

Index lanes_here() { return lanes; }
Index height_here() { return blocked::HWY_NAMESPACE::tile_rows; }
Index panel_vectors_here() { return tile_vectors; }

}  // namespace
}  // namespace assay::conv2d::winograd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::conv2d::winograd {

HWY_EXPORT(transform_weights);
HWY_EXPORT(sum_tiles);
HWY_EXPORT(lanes_here);
HWY_EXPORT(height_here);
HWY_EXPORT(panel_vectors_here);
HWY_EXPORT(weight_space);
HWY_EXPORT(space_floats);

std::vector<Tier> tiers() {
  return tiers_in(&Tier::sum, HWY_DISPATCH_TABLE(sum_tiles), &Tier::transform,
                  HWY_DISPATCH_TABLE(transform_weights), &Tier::lanes, HWY_DISPATCH_TABLE(lanes_here),
                  &Tier::height, HWY_DISPATCH_TABLE(height_here), &Tier::panel_vectors,
                  HWY_DISPATCH_TABLE(panel_vectors_here), &Tier::weight_space,
                  HWY_DISPATCH_TABLE(weight_space), &Tier::space_floats, HWY_DISPATCH_TABLE(space_floats));
}

}  // namespace assay::conv2d::winograd
#endif
