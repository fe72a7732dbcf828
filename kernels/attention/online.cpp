// The idea: scores are made in tiles of 64 rows by 64 keys, which stay in the first-level caches, and the
// largest score and the sum of a row are corrected from tile to tile. Tiles that the mask hides whole are
// left out, about half of them under the causal mask.

#include "attention/tiles.hpp"

#include "assay/registry.hpp"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/online.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first, since it chooses the target that the next two are read for.
#include "hwy/highway.h"
#include "pointwise/vector_formulas.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::attention {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace vec = pointwise::HWY_NAMESPACE;

HWY_INLINE float power(float exponent) {
  using One = hn::CappedTag<float, 1>;
  const vec::Pack<One, 1> w{{hn::Set(One(), exponent)}};
  return hn::GetLane(vec::power_of_two(vec::PackTag<One, 1>(), w).v[0]);
}

void online_row(float* scores, Index width, float scale, float* largest, float* sum, float* y, Index depth) {
  using D = hn::ScalableTag<float>;
  const D d;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(D()));
  // Two vectors side by side where a step has as many; 16 scores are one vector of AVX-512.
  constexpr std::size_t count = lanes > 8 ? 1 : 2;
  constexpr auto turn = static_cast<Index>(count) * lanes;
  const float before = *largest;
  auto most = hn::Set(d, before);
  for (Index j = 0; j < width; j += lanes) most = hn::Max(most, hn::LoadU(d, scores + j));
  const float top = hn::GetLane(hn::MaxOfLanes(d, most));
  const auto zero = hn::Zero(d);
  if (top < -std::numeric_limits<float>::max()) {  // nothing is seen yet
    for (Index j = 0; j < width; j += lanes) hn::StoreU(zero, d, scores + j);
    return;
  }
  const float to_power = scale * pointwise::log2_e;
  auto total = zero;
  for (Index j = 0; j < width; j += turn) {
    vec::Pack<D, count> w;
    for (std::size_t k = 0; k < count; ++k) {
      const auto s = hn::LoadU(d, scores + j + static_cast<Index>(k) * lanes);
      w.v[k] = hn::Mul(hn::Sub(s, hn::Set(d, top)), hn::Set(d, to_power));
    }
    const auto powers = vec::power_of_two(vec::PackTag<D, count>(), w);
    for (std::size_t k = 0; k < count; ++k) {
      hn::StoreU(powers.v[k], d, scores + j + static_cast<Index>(k) * lanes);
      total = hn::Add(total, powers.v[k]);
    }
  }
  const float added = hn::GetLane(hn::SumOfLanes(d, total));
  if (top > before && *sum > 0) {
    const float kept = power((before - top) * to_power);
    *sum *= kept;
    Index c = 0;
    for (; c + lanes <= depth; c += lanes) {
      hn::StoreU(hn::Mul(hn::LoadU(d, y + c), hn::Set(d, kept)), d, y + c);
    }
    for (; c < depth; ++c) y[c] *= kept;
  }
  *sum += added;
  *largest = top;
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::attention
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::attention {
namespace {
HWY_EXPORT(online_row);
}  // namespace

std::vector<Tier> tiers() {
  std::vector<Tier> out;
  const std::vector<blocked::Tier> products = blocked::tiers();
  for_each_tier(HWY_DISPATCH_TABLE(online_row),
                [&](const std::string& name, OnlineRow* function, const auto& unfit) {
                  const auto same = std::ranges::find(products, name, &blocked::Tier::name);
                  out.push_back({name, unfit, function, *same});
                });
  return out;
}

namespace {

/// Rows and keys of a tile: 16 KiB of scores beside 16 KiB each of q, k, v and y at d = 64, in a second-level
/// cache of 512 KiB or more, most of it in the first.
constexpr Index side = 64;

class Online {
 public:
  Online(const Attention::Problem& p, const Tier& tier)
      : p_(p),
        tier_(tier),
        products_(tier.products),
        keys_(p.d * ((p.tokens + side - 1) / side * side)),
        scores_(side * side),
        largest_(side),
        sum_(side) {
    for (const Index rows : {std::min(side, p.tokens), p.tokens % side}) {
      for (const Index keys : {std::min(side, p.tokens), p.tokens % side}) {
        if (rows == 0 || keys == 0) continue;
        products_.plan(to_scores(rows, keys));
        products_.plan(from_scores(rows, keys));
      }
    }
  }

  void run(const Attention::Input& in, Attention::Output& out) {
    for (Index head = 0; head < p_.heads; ++head) {
      const Index from = head * p_.tokens * p_.d;
      turn_keys(in.k.data() + from);
      for (Index row = 0; row < p_.tokens; row += side) {
        rows(row, std::min(side, p_.tokens - row), in.q.data() + from, in.v.data() + from,
             out.y.data() + from);
      }
    }
  }

 private:
  blocked::Product to_scores(Index rows, Index keys) const {
    return {.m = rows, .n = keys, .k = p_.d, .lda = p_.d, .ldb = side, .ldc = side};
  }
  blocked::Product from_scores(Index rows, Index keys) const {
    return {.m = rows, .n = p_.d, .k = keys, .lda = side, .ldb = p_.d, .ldc = p_.d, .beta = 1};
  }

  /// Keys as columns, once per head instead of in each tile, and tile by tile: columns of all tokens would be
  /// multiples of 4,096 bytes apart, which the first-level cache keeps few of.
  void turn_keys(const float* k) {
    for (Index key = 0; key < p_.tokens; key += side) {
      float* const tile = keys_.data() + key * p_.d;
      const Index count = std::min(side, p_.tokens - key);
      for (Index j = 0; j < count; ++j) {
        for (Index c = 0; c < p_.d; ++c) tile[c * side + j] = k[(key + j) * p_.d + c];
      }
    }
  }

  void rows(Index first, Index count, const float* q, const float* v, float* y) {
    std::fill(largest_.begin(), largest_.end(), -std::numeric_limits<float>::infinity());
    std::fill(sum_.begin(), sum_.end(), 0.0F);
    std::fill(y + first * p_.d, y + (first + count) * p_.d, 0.0F);
    const float scale = 1 / std::sqrt(static_cast<float>(p_.d));
    const Index end = p_.keys_end(first + count - 1);
    for (Index key = p_.first_key() / side * side; key < end; key += side) {
      const Index keys = std::min(side, p_.tokens - key);
      blocked::Product scores = to_scores(count, keys);
      scores.a = q + first * p_.d;
      scores.b = keys_.data() + key * p_.d;
      scores.c = scores_.data();
      products_.run(scores);
      const bool all_seen = keys == side && key >= p_.first_key() && key + keys <= p_.keys_end(first);
      for (Index i = 0; i < count; ++i) {
        float* const s = scores_.data() + i * side;
        if (!all_seen) {
          hide(p_, first + i, key, keys, s);
          std::fill(s + keys, s + side, -std::numeric_limits<float>::infinity());
        }
        tier_.online_row(s, side, scale, &largest_[i], &sum_[i], y + (first + i) * p_.d, p_.d);
      }
      blocked::Product mix = from_scores(count, keys);
      mix.a = scores_.data();
      mix.b = v + key * p_.d;
      mix.c = y + first * p_.d;
      products_.run(mix);
    }
    for (Index i = 0; i < count; ++i) {
      if (sum_[i] == 0) continue;  // a row that sees no key
      const float share = 1 / sum_[i];
      for (Index c = 0; c < p_.d; ++c) y[(first + i) * p_.d + c] *= share;
    }
  }

  Attention::Problem p_;
  Tier tier_;
  Products products_;
  Buffer<float> keys_, scores_, largest_, sum_;
};

const Register registered{[](Registry& r) {
  for (const Tier& tier : tiers()) {
    r.add<Attention>(
        {.name = "online@" + tier.name,
         .summary = "tiles of 64 x 64 scores, corrected as the largest grows, compiled for " + tier.name,
         .prepare =
             [tier](const Attention::Problem& p, const auto&, const Context&) {
               return [state = std::make_shared<Online>(p, tier)](const auto& in, auto& out) {
                 state->run(in, out);
               };
             },
         .unfit = [why = tier.unfit](const auto&, const Context&) { return why; }});
  }
}};

}  // namespace
}  // namespace assay::attention
#endif
