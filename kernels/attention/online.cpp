// The idea: scores are computed in blocks that stay in the caches of a core, in the register tiles of `gemm`;
// the largest score and the sum of a row are corrected from block to block. Keys are transposed once per
// head. The queries include the scale and the change to powers of two. Sums are rescaled only when the
// largest score grows by much. Tiles that the mask hides are left out, about half under the causal mask.

#include "attention/tiles.hpp"

#include "assay/caches.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#define HWY_TARGET_INCLUDE "attention/online.cpp"
#include "vectors_inl.hpp"

#include "gemm/panels_inl.hpp"
#include "gemm/tile_inl.hpp"
#include "pointwise/vector_formulas.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::attention::HWY_NAMESPACE {

namespace vec = pointwise::HWY_NAMESPACE;
using namespace assay::HWY_NAMESPACE;
using blocked::HWY_NAMESPACE::line;
using blocked::HWY_NAMESPACE::Operands;
using blocked::HWY_NAMESPACE::tile_columns;
using blocked::HWY_NAMESPACE::tile_of;
using blocked::HWY_NAMESPACE::tile_rows;

constexpr float hidden = -std::numeric_limits<float>::infinity();

// Keys of a block: the terms of a sum in the tiles of `gemm`.
constexpr Index most_keys = 512 / tile_columns * tile_columns;

// Vectors side by side in a step of the exponentials.
constexpr std::size_t together = 2;
constexpr Index turn = static_cast<Index>(together) * lanes;
static_assert(row_unit % turn == 0);

// The distance of rows of a block of scores: not a multiple of 4,096 bytes, with which a column of scores
// would use few sets of the caches.
constexpr Index score_stride = 512 + line;

// A row is rescaled if a score exceeds the subtracted one by more than this power of two. A sum of powers
// then stays far below infinity, at no cost of digits.
constexpr float slack = 8;

HWY_INLINE float power(float exponent) {
  using One = hn::CappedTag<float, 1>;
  const vec::Pack<One, 1> w{{hn::Set(One(), exponent)}};
  return hn::GetLane(vec::power_of_two(vec::PackTag<One, 1>(), w).v[0]);
}

/// The largest of `width` scores in each lane. `width` is a multiple of `turn`.
HWY_INLINE Vector largest_of(const float* scores, Index width) {
  const Floats d;
  Vector most[together];
  for (std::size_t k = 0; k < together; ++k) most[k] = hn::LoadU(d, scores + static_cast<Index>(k) * lanes);
  for (Index j = turn; j < width; j += turn) {
    for (std::size_t k = 0; k < together; ++k) {
      most[k] = hn::Max(most[k], hn::LoadU(d, scores + j + static_cast<Index>(k) * lanes));
    }
  }
  for (std::size_t k = 1; k < together; ++k) most[0] = hn::Max(most[0], most[k]);
  return most[0];
}

/// Replaces scores by 2^(score - top) and returns their sum in each lane. `width` is a multiple of `turn`.
HWY_INLINE Vector to_powers(float* scores, Index width, float top) {
  const Floats d;
  const Vector most = hn::Set(d, top);
  Vector total[together];
  for (std::size_t k = 0; k < together; ++k) total[k] = hn::Zero(d);
  for (Index j = 0; j < width; j += turn) {
    vec::Pack<Floats, together> w;
    for (std::size_t k = 0; k < together; ++k) {
      w.v[k] = hn::Sub(hn::LoadU(d, scores + j + static_cast<Index>(k) * lanes), most);
    }
    const auto powers = vec::power_of_two(vec::PackTag<Floats, together>(), w);
    for (std::size_t k = 0; k < together; ++k) {
      hn::StoreU(powers.v[k], d, scores + j + static_cast<Index>(k) * lanes);
      total[k] = hn::Add(total[k], powers.v[k]);
    }
  }
  for (std::size_t k = 1; k < together; ++k) total[0] = hn::Add(total[0], total[k]);
  return total[0];
}

HWY_INLINE void scale_to(const float* from, Index count, float factor, float* to) {
  const Floats d;
  Index c = 0;
  for (; c + lanes <= count; c += lanes)
    hn::StoreU(hn::Mul(hn::LoadU(d, from + c), hn::Set(d, factor)), d, to + c);
  for (; c < count; ++c) to[c] = from[c] * factor;
}

HWY_INLINE void fill(float* from, float* to, float value) {
  for (; from < to; ++from) *from = value;
}

/// The workspace of a head. Each part starts on a cache line.
struct Space {
  Index group;  ///< tiles of rows in a block
  float *keys, *values, *queries, *scores, *sums, *top;
  Index floats = 0;

  Space(const Head& h, float* start) {
    // The scores of a block take a quarter of the second-level cache. If that cache does not hold keys and
    // values of a head, they come from the next one once for many rows. On a Zen 5 with AVX-512, 14 to 112
    // rows made no difference up to 2,048 tokens; 112 took 0.94 of the time of 14 at 4,096 tokens, where a
    // cache of 1 MiB holds half of them.
    const auto rows = static_cast<Index>(h.cache / 4) / (score_stride * static_cast<Index>(sizeof(float)));
    group = smaller(rows < tile_rows ? 1 : rows / tile_rows, pieces(h.tokens, tile_rows));
    const auto next = [&](Index count) {
      float* const at = start == nullptr ? nullptr : start + floats;
      floats += pieces(count, line) * line;
      return at;
    };
    keys = next(pieces(h.seen(), lanes) * lanes * h.d);
    values = next(h.d % lanes == 0 ? 0 : h.seen() * pieces(h.d, lanes) * lanes);
    queries = next(group * tile_rows * h.d);
    scores = next(group * tile_rows * score_stride);
    sums = next(group * tile_rows * lanes);
    top = next(group * tile_rows);
  }
};

Index space_floats(const Head& h) { return Space(h, nullptr).floats; }

/// The tiles [first, last) of `tiles`, which share `rows` rows evenly.
struct Rows {
  Index rows = 0, tiles = 0, first = 0, last = 0;
  HWY_INLINE Index begin(Index tile) const { return rows * tile / tiles; }
};

/// The rows of some tiles, and a block of keys.
struct Block {
  const Head& h;
  const Space& at;
  Rows rows;
  Index first_row;  // the first row of y
  Index key, keys;  // the first key of the block and their number, counted from the first key that is seen

  /// Keys of this block that a row sees. Rows are counted from the first row that sees a key.
  HWY_INLINE Index width(Index row) const {
    if (!h.causal) return keys;
    const Index end = row + 1 - key;
    return end < 0 ? 0 : smaller(end, keys);
  }
  HWY_INLINE Index base() const { return rows.begin(rows.first); }

  void make_scores() const {
    for (Index j = 0; j < keys; j += tile_columns) {
      // Panels end at the last key of the head, not of this block.
      const Index vectors = pieces(smaller(h.seen() - key - j, tile_columns), lanes);
      Operands o{.k = h.d,
                 .a_row = h.d,
                 .a_step = 1,
                 .b = at.keys + (key + j) * h.d,
                 .b_step = vectors * lanes,
                 .ldc = score_stride,
                 .columns = vectors * lanes};
      for (Index t = rows.first; t < rows.last; ++t) {
        const Index begin = rows.begin(t), end = rows.begin(t + 1);
        if (j >= width(end - 1)) continue;
        o.a = at.queries + (begin - base()) * h.d;
        o.c = at.scores + (begin - base()) * score_stride + j;
        tile_of(end - begin, vectors)(o);
      }
    }
  }

  void make_powers() const {
    const Floats d;
    for (Index t = rows.first; t < rows.last; ++t) {
      const Index begin = rows.begin(t), end = rows.begin(t + 1), depth = width(end - 1);
      for (Index row = begin; row < end; ++row) {
        const Index i = row - base(), seen = width(row), whole = pieces(seen, turn) * turn;
        float* const s = at.scores + i * score_stride;
        fill(s + seen, s + whole, hidden);
        if (seen == 0) continue;
        const Vector most = largest_of(s, whole);
        if (key == 0) {
          at.top[i] = hn::GetLane(hn::MaxOfLanes(d, most));
        } else if (!hn::AllTrue(d, hn::Le(most, hn::Set(d, at.top[i] + slack)))) {
          const float top = hn::GetLane(hn::MaxOfLanes(d, most)), kept = power(at.top[i] - top);
          at.top[i] = top;
          scale_to(at.sums + i * lanes, lanes, kept, at.sums + i * lanes);
          float* const y = h.y + (first_row + row) * h.d;
          scale_to(y, h.d, kept, y);
        }
      }
      for (Index row = begin; row < end; ++row) {
        const Index i = row - base(), seen = width(row), whole = pieces(seen, turn) * turn;
        float* const s = at.scores + i * score_stride;
        if (whole < depth) fill(s + whole, s + depth, 0);
        if (seen == 0) continue;
        const Vector sum = to_powers(s, whole, at.top[i]);
        float* const all = at.sums + i * lanes;
        hn::Store(key == 0 ? sum : hn::Add(hn::Load(d, all), sum), d, all);
      }
    }
  }

  void add_values() const {
    const bool in_place = h.d % lanes == 0;
    for (Index c = 0; c < h.d; c += tile_columns) {
      const Index columns = smaller(h.d - c, tile_columns), vectors = pieces(columns, lanes);
      Operands o{
          .a_row = score_stride, .a_step = 1, .ldc = h.d, .columns = columns, .beta = key == 0 ? 0.0F : 1.0F};
      o.b = in_place ? h.v + (h.first + key) * h.d + c : at.values + c * h.seen() + key * vectors * lanes;
      o.b_step = in_place ? h.d : vectors * lanes;
      for (Index t = rows.first; t < rows.last; ++t) {
        const Index begin = rows.begin(t), end = rows.begin(t + 1);
        o.k = width(end - 1);
        if (o.k == 0) continue;
        o.a = at.scores + (begin - base()) * score_stride;
        o.c = h.y + (first_row + begin) * h.d + c;
        tile_of(end - begin, vectors)(o);
      }
    }
  }
};

void head(const Head& h, float* space) {
  const Floats d;
  const Space at(h, space);
  const Index seen = h.seen();
  // Rows before this one see no key.
  const Index first_row = seen == 0 ? h.tokens : h.causal ? h.first : 0;
  fill(h.y, h.y + first_row * h.d, 0);
  if (first_row == h.tokens) return;
  blocked::HWY_NAMESPACE::pack_columns(h.k + h.first * h.d, h.d, h.d, seen, at.keys);
  if (h.d % lanes != 0) {
    blocked::HWY_NAMESPACE::pack_rows(h.v + h.first * h.d, h.d, seen, h.d, at.values);
  }
  Rows rows{.rows = h.tokens - first_row};
  rows.tiles = pieces(rows.rows, tile_rows);
  for (rows.first = 0; rows.first < rows.tiles; rows.first = rows.last) {
    rows.last = smaller(rows.first + at.group, rows.tiles);
    const Index begin = rows.begin(rows.first), end = rows.begin(rows.last);
    // This rounds each term of a score instead of the score; the bound allows it.
    scale_to(h.q + (first_row + begin) * h.d, (end - begin) * h.d, h.to_power, at.queries);
    const Index keys = h.causal ? end : seen;
    for (Index key = 0; key < keys; key += most_keys) {
      const Block block{h, at, rows, first_row, key, smaller(keys - key, most_keys)};
      block.make_scores();
      block.make_powers();
      block.add_values();
    }
    for (Index row = begin; row < end; ++row) {
      const float sum = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, at.sums + (row - begin) * lanes)));
      float* const y = h.y + (first_row + row) * h.d;
      scale_to(y, h.d, 1 / sum, y);
    }
  }
}

void softmax_row(float* scores, Index width) {
  const Floats d;
  const float top = hn::GetLane(hn::MaxOfLanes(d, largest_of(scores, width)));
  if (top == hidden) return fill(scores, scores + width, 0);
  scale_to(scores, width, 1 / hn::GetLane(hn::SumOfLanes(d, to_powers(scores, width, top))), scores);
}

}  // namespace assay::attention::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::attention {

HWY_EXPORT(head);
HWY_EXPORT(softmax_row);
HWY_EXPORT(space_floats);

std::vector<Tier> tiers() {
  auto all = tiers_in(&Tier::head, HWY_DISPATCH_TABLE(head), &Tier::space_floats,
                      HWY_DISPATCH_TABLE(space_floats), &Tier::softmax_row, HWY_DISPATCH_TABLE(softmax_row));
  auto products = blocked::tiers();
  for (std::size_t i = 0; i < all.size(); ++i) all[i].products = std::move(products[i]);
  return all;
}

float to_powers_of_two(const Attention::Problem& p) {
  return static_cast<float>(std::numbers::log2e / std::sqrt(static_cast<double>(p.d)));
}

Variant<Attention>::Kernel run_online(const Tier& tier, const Attention::Problem& p, double cache) {
  Head head{.tokens = p.tokens, .d = p.d, .first = p.first_key(), .causal = p.mask == 1};
  head.to_power = to_powers_of_two(p);
  head.cache = cache;
  return [=, function = tier.head, space = Buffer<float>(tier.space_floats(head))](const auto& in,
                                                                                   auto& out) mutable {
    Head now = head;
    for (Index i = 0; i < p.heads; ++i) {
      const Index from = i * p.tokens * p.d;
      now.q = in.q.data() + from;
      now.k = in.k.data() + from;
      now.v = in.v.data() + from;
      now.y = out.y.data() + from;
      function(now, space.data());
    }
  };
}

const Register registered{[](Registry& r) {
  add_tiers<Attention>(
      r, tiers(),
      {.name = "online",
       .summary = "blocks of scores that stay in the caches, rescaled as the largest grows, for {}"},
      [](const Tier& tier, const auto& p, const auto&) { return run_online(tier, p, caches().second); });
}};

}  // namespace assay::attention
#endif
