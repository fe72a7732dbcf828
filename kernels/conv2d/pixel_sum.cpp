#include "conv2d/direct.hpp"

#include <cstddef>

#define HWY_TARGET_INCLUDE "conv2d/pixel_sum.cpp"
#include "vectors_inl.hpp"

#include "conv2d/turn_inl.hpp"
#include "gemm/panels_inl.hpp"
#include "gemm/tile_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::conv2d::HWY_NAMESPACE {
namespace {

using namespace assay::HWY_NAMESPACE;
using blocked::HWY_NAMESPACE::one_of;
using blocked::HWY_NAMESPACE::unrolled;

// The tile is places by vectors of rows. It has as many sums as the registers hold beside the vectors of a
// step and a broadcast pixel. Each place has a pointer, and the general registers hold eight of them.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr Index registers = 32, most_places = 8, usual_vectors = 4;
#elif HWY_TARGET == HWY_SCALAR
// Four scalars side by side, which the compiler vectorises.
constexpr Index registers = 40, most_places = 8, usual_vectors = 4;
#else
constexpr Index registers = 16, most_places = 8, usual_vectors = 2;
#endif
constexpr Index most_vectors = usual_vectors + 1;
constexpr Index places_of(Index vectors) {
  const Index fitting = (registers - 1) / vectors - 1;
  return fitting < most_places ? fitting : most_places;
}

Index vectors_of(Index rows) { return pieces(rows, lanes); }

// A single vector after whole panels joins the last of them: its sums alone are too few to hide the latency
// of an addition.
Index panel_rows(Index left) {
  if (vectors_of(left) <= most_vectors) return left;
  return usual_vectors * lanes;
}

// Computes the sums of `places` places and `vectors` vectors of rows: to[place][vectors * lanes].
template <Index places, Index vectors>
void tile(const PixelSum& s, const float* const* source, const float* start, const float* weights,
          float* to) {
  const Floats d;
  Vector sums[static_cast<std::size_t>(places)][static_cast<std::size_t>(vectors)];
  unrolled<vectors>([&](auto v) HWY_ATTR {
    const Vector first = hn::Load(d, start + v.value * lanes);
    unrolled<places>([&](auto p) HWY_ATTR { sums[p.value][v.value] = first; });
  });
  const float* pixel[static_cast<std::size_t>(places)];
  unrolled<places>([&](auto p) HWY_ATTR { pixel[p.value] = source[p.value]; });
  const ReachingTap* const taps = s.taps;
  const ReachingTap* const end = taps + s.tap_count;
  const Index weights_channel = s.kernel_taps * vectors * lanes;
  const Index source_channel = s.source_channel;
  Index channel_offset = 0;
  for (Index channel = s.channels; channel > 0; --channel) {
    for (const ReachingTap* tap = taps; tap < end; ++tap) {
      const float* const w = weights + tap->tap * (vectors * lanes);
      const Index offset = channel_offset + tap->source;
      Vector from_w[static_cast<std::size_t>(vectors)];
      unrolled<vectors>([&](auto v)
                            HWY_ATTR { from_w[v.value] = read_once(hn::LoadU(d, w + v.value * lanes)); });
      unrolled<places>([&](auto p) HWY_ATTR {
        const Vector from_x = hn::Set(d, pixel[p.value][offset]);
        unrolled<vectors>([&](auto v) HWY_ATTR {
          sums[p.value][v.value] = hn::MulAdd(from_x, from_w[v.value], sums[p.value][v.value]);
        });
      });
      // Fetches the same pixels four channels ahead. A prefetch may name an address past the end.
      hwy::Prefetch(pixel[places - 1] + offset + 4 * source_channel);
    }
    weights += weights_channel;
    channel_offset += source_channel;
  }
  unrolled<places>([&](auto p) HWY_ATTR {
    unrolled<vectors>([&](auto v) HWY_ATTR {
      hn::Store(sums[p.value][v.value], d, to + (p.value * vectors + v.value) * lanes);
    });
  });
}

using Tile = void (*)(const PixelSum&, const float* const*, const float*, const float*, float*);

Tile tile_of(Index places, Index vectors) {
  return one_of<most_places, most_vectors>(places, vectors, [](auto p, auto v) -> Tile {
    if constexpr (p.value <= places_of(v.value)) return tile<p.value, v.value>;
    return nullptr;
  });
}

// Results that wait until they fill whole vectors of each plane. Those of a few tiles are still in the
// first-level cache.
constexpr Index most_waiting = 48;

struct Waiting {
  // Places whose results are `step` apart.
  struct Run {
    Index places, result, step;
  };
  Index count = 0, runs = 0;
  Run run[static_cast<std::size_t>(most_waiting)];
  HWY_ALIGN float at[static_cast<std::size_t>(most_waiting * most_vectors * lanes)];

  // Notes the results of `places` more places; the first belongs to `result`.
  HWY_INLINE void add(Index places, Index result, Index step) {
    count += places;
    if (runs > 0) {
      Run& last = run[runs - 1];
      const Index distance = last.places == 1 ? result - last.result : last.step;
      if ((places == 1 || step == distance) && last.result + last.places * distance == result) {
        last.step = distance;
        last.places += places;
        return;
      }
    }
    run[runs++] = {places, result, step};
  }
};

// Stores the results of places, `width` apart, to `rows` planes, along four planes at a time.
void store(Waiting& waiting, Index width, Index rows, float* out, Index plane) {
  // Planes a multiple of 4096 bytes apart fall into the same few sets of the caches. If a panel has many such
  // planes, each is written as a whole: 1.07 times as fast with panels of 64, and no gain with panels of 16.
  const bool planes_collide = plane % 1024 == 0 && rows >= 32;
  HWY_ALIGN float turned[static_cast<std::size_t>(4 * most_waiting)];
  const float* first = waiting.at;
  for (Index i = 0; i < waiting.runs; ++i) {
    const Index places = waiting.run[i].places, step = waiting.run[i].step;
    float* to = out + waiting.run[i].result;
    const float* from = first;
    Index left = rows;
    for (; left >= 4; left -= 4, from += 4, to += 4 * plane) {
      if (step != 1) {
        for (Index place = 0; place < places; ++place) {
          for (Index r = 0; r < 4; ++r) to[r * plane + place * step] = from[place * width + r];
        }
      } else if (planes_collide) {
        store_side_by_side(from, width, places, turned, most_waiting);
        for (Index r = 0; r < 4; ++r) {
          blocked::HWY_NAMESPACE::copy(turned + r * most_waiting, places, to + r * plane);
        }
      } else {
        store_side_by_side(from, width, places, to, plane);
      }
    }
    for (; left > 0; --left, ++from, to += plane) {
      for (Index place = 0; place < places; ++place) to[place * step] = from[place * width];
    }
    first += places * width;
  }
  waiting.count = 0;
  waiting.runs = 0;
}

struct Cursor {
  Index image, row, column;
};

// Writes the addresses of the pixels of `places` places from `at` on, notes the places of their results, and
// moves `at` past them.
HWY_INLINE void next_places(const PixelSum& s, Cursor& at, Index places, const float** pixels,
                            Waiting& waiting) {
  const auto pixel = [&] {
    return s.source + at.image * s.source_image + s.place_rows[at.row].source +
           s.place_columns[at.column].source;
  };
  const auto result = [&] {
    return at.image * s.out_image + s.place_rows[at.row].result + s.place_columns[at.column].result;
  };
  if (at.column + places < s.place_column_count && s.column_step.result != 0) {
    const float* next = pixel();
    for (Index p = 0; p < places; ++p, next += s.column_step.source) pixels[p] = next;
    waiting.add(places, result(), s.column_step.result);
    at.column += places;
    return;
  }
  for (Index p = 0; p < places; ++p) {
    pixels[p] = pixel();
    waiting.add(1, result(), 1);
    if (++at.column < s.place_column_count) continue;
    at.column = 0;
    if (++at.row < s.place_row_count) continue;
    at.row = 0;
    ++at.image;
  }
}

// Computes the rows [row, row + rows), a panel of weights, at `count` places from `at` on.
void sum_panel(const PixelSum& s, Cursor at, Index count, Index row, Index rows, const float* weights) {
  const Floats d;
  Waiting waiting;
  HWY_ALIGN float start[static_cast<std::size_t>(most_vectors * lanes)];
  const Index vectors = vectors_of(rows), width = vectors * lanes, most = places_of(vectors);
  for (Index v = 0; v < vectors; ++v) hn::Store(hn::Zero(d), d, start + v * lanes);
  if (s.start != nullptr) {
    for (Index r = 0; r < rows; ++r) start[r] = s.start[row + r];
  }
  float* const out = s.out + row * s.out_plane;
  for (Index done = 0, places = 0; done < count; done += places) {
    // With at least this many places left, all tiles are full or lack one place, even if the first is full.
    places = count - done >= most * most ? most : next_block(count - done, most);
    if (waiting.count + places > most_waiting) store(waiting, width, rows, out, s.out_plane);
    const float* pixels[static_cast<std::size_t>(most_places)];
    float* const sums = waiting.at + waiting.count * width;
    next_places(s, at, places, pixels, waiting);
    tile_of(places, vectors)(s, pixels, start, weights, sums);
  }
  store(waiting, width, rows, out, s.out_plane);
}

void sum(const PixelSum& s) {
  const Index in_image = s.place_row_count * s.place_column_count;
  for (Index done = 0, places = 0; done < s.count; done += places) {
    places = s.count - done < s.strip ? s.count - done : s.strip;
    const Index first = s.first + done;
    const Cursor at{first / in_image, first % in_image / s.place_column_count, first % s.place_column_count};
    const float* weights = s.weights;
    for (Index row = 0, rows = 0; row < s.rows; row += rows) {
      rows = panel_rows(s.rows - row);
      sum_panel(s, at, places, row, rows, weights);
      weights += vectors_of(rows) * lanes * s.channels * s.kernel_taps;
    }
  }
}

void turn_weights(const TurnWeights& t) {
  float* to = t.to;
  for (Index row = 0; row < t.rows;) {
    const Index rows = panel_rows(t.rows - row);
    const Index width = vectors_of(rows) * lanes;
    const float* const from = t.weights + row * t.row;
    const bool in_one = t.channel == t.taps;  // weights of a row are contiguous
    const Index parts = in_one ? 1 : t.channels, columns = in_one ? t.channels * t.taps : t.taps;
    for (Index part = 0; part < parts; ++part) {
      if (!in_one) {
        // Parts are too short and too far apart for the hardware's prefetchers.
        const float* const ahead = from + (part + 4) * t.channel;
        for (Index i = 0; i < rows * t.taps; i += blocked::HWY_NAMESPACE::line) hwy::Prefetch(ahead + i);
      }
      if (t.row == 1 && columns == 1) {
        blocked::HWY_NAMESPACE::copy(from + part * t.channel, rows, to);
      } else {
        turn_block<false>(from + part * t.channel, t.row, rows, columns, to, width);
      }
      for (Index column = 0; column < columns; ++column) {
        for (Index r = rows; r < width; ++r) to[column * width + r] = 0;
      }
      to += columns * width;
    }
    row += rows;
  }
}

Index lanes_of_floats() { return lanes; }

}  // namespace
}  // namespace assay::conv2d::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::conv2d {

HWY_EXPORT(sum);
HWY_EXPORT(turn_weights);
HWY_EXPORT(panel_rows);
HWY_EXPORT(lanes_of_floats);

void set_pixel_sums(std::vector<DirectTier>& tiers) {
  set_in(tiers, &DirectTier::sum_pixels, HWY_DISPATCH_TABLE(sum), &DirectTier::turn_weights,
         HWY_DISPATCH_TABLE(turn_weights), &DirectTier::panel_rows, HWY_DISPATCH_TABLE(panel_rows),
         &DirectTier::lanes, HWY_DISPATCH_TABLE(lanes_of_floats));
}

}  // namespace assay::conv2d
#endif
