// The idea: if each channel is a group, sums share neither weights nor pixels, and a plane of the result has
// a single plane under it. Vectors run along rows of the result, four rows at a time, whose sums stay in
// registers; so do the weights of 3 x 3 and 5 x 5 taps without a stride, whose pixels are loaded once for all
// rows. For dw the sums of taps stay there while dy is read. Layout and threads are those of `direct`.

#include "conv2d/direct.hpp"

#include "team.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#define HWY_TARGET_INCLUDE "conv2d/depthwise.cpp"
#include "vectors_inl.hpp"

#include "gemm/tile_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::conv2d::HWY_NAMESPACE {
namespace {

using namespace assay::HWY_NAMESPACE;
using blocked::HWY_NAMESPACE::one_of;
using blocked::HWY_NAMESPACE::unrolled;

// Four sums hide half of the latency of a multiply-add, and the next tile, which does not wait, the rest.
// With nine weights and a pixel they fit into 16 registers. Thirteen sums of dw and a vector of dy do, too.
constexpr Index tile_rows = 4, most_taps = 13;

// Stores the first `count` results of a vector, `step` floats apart.
HWY_INLINE void put(Vector sum, float* to, Index step, Index count) {
  const Floats d;
  if (step == 1) return count < lanes ? store_some(sum, d, to, count) : hn::StoreU(sum, d, to);
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  const hn::RebindToSigned<Floats> di;
  const auto half = hn::ShiftRight<1>(hn::Iota(di, 0));
  const auto is_first = hn::Eq(hn::Add(half, half), hn::Iota(di, 0));
  for (Index l = 0; step == 2 && l < count; l += lanes / 2) {  // each twice, the first of which is stored
    const auto from = hn::Add(half, hn::Set(di, static_cast<std::int32_t>(l)));
    const auto exists = hn::And(is_first, hn::Lt(from, hn::Set(di, static_cast<std::int32_t>(count))));
    hn::BlendedStore(hn::TableLookupLanes(sum, hn::IndicesFromVec(d, from)), hn::RebindMask(d, exists), d,
                     to + 2 * l);
  }
  if (step == 2) return;
#endif
  HWY_ALIGN float results[lanes];
  hn::Store(sum, d, results);
  for (Index l = 0; l < count; ++l) to[l * step] = results[l];
}

// Computes `rows` rows of results, of which the first is row i. The taps are any if `half` is 0, or a
// square of 2 half + 1 pixels side by side whose weights are `square`, from pixel `first` on.
template <Index rows, Index half>
void strip(const TapSum& s, Index row, Index i, const float* square, Index first) {
  const Floats d;
  constexpr Index kernel = half == 0 ? 0 : 2 * half + 1;
  const Vector start = s.start == nullptr ? hn::Zero(d) : hn::Set(d, s.start[row]);
  const float* const a = s.a + row * s.a_row;
  float* const out = s.out + row * s.out_plane + i * s.out_row;
  Vector weights[static_cast<std::size_t>(kernel * kernel + 1)];
  unrolled<kernel * kernel>([&](auto k) HWY_ATTR { weights[k.value] = hn::Set(d, square[k.value]); });
  for (Index j = 0; j < s.out_w; j += lanes) {
    const float* const b = s.b + i * s.pitch + j;
    Vector sums[static_cast<std::size_t>(rows)];
    unrolled<rows>([&](auto r) HWY_ATTR { sums[r.value] = start; });
    if constexpr (kernel > 0) {
      unrolled<rows + kernel - 1>([&](auto q) HWY_ATTR {
        unrolled<kernel>([&](auto l) HWY_ATTR {
          const Vector pixels = read_once(hn::LoadU(d, b + first + q.value * s.pitch + l.value));
          unrolled<kernel>([&](auto k) HWY_ATTR {
            constexpr Index r = q.value - k.value;
            if constexpr (r >= 0 && r < rows)
              sums[r] = hn::MulAdd(weights[k.value * kernel + l.value], pixels, sums[r]);
          });
        });
      });
    } else {
      for (Index channel = 0; channel < s.channels; ++channel) {
        for (Index t = 0; t < s.taps; ++t) {
          const Vector weight = hn::Set(d, a[channel * s.a_channel + s.in_weights[t]]);
          const float* const at = b + channel * s.b_channel + s.in_channel[t];
          unrolled<rows>([&](auto r) HWY_ATTR {
            sums[r.value] = hn::MulAdd(weight, hn::LoadU(d, at + r.value * s.pitch), sums[r.value]);
          });
        }
      }
    }
    unrolled<rows>([&](auto r) HWY_ATTR {
      float* const to = out + r.value * s.out_row + j * s.out_step;
      put(sums[r.value], to, s.out_step, smaller(s.out_w - j, lanes));
    });
  }
}

// Returns the side of the square that the taps form, 3 or 5, and puts their weights in the order of its
// pixels from `first` on; 0 for other taps.
Index square_of(const TapSum& s, Index row, float* square, Index& first) {
  const Index side = s.taps == 9 ? 3 : s.taps == 25 ? 5 : 0;
  if (s.channels != 1 || s.pitch < side) return 0;
  first = s.in_channel[0];
  for (Index t = 1; t < s.taps; ++t) first = smaller(first, s.in_channel[t]);
  for (Index t = 0; t < s.taps; ++t) {
    const Index k = (s.in_channel[t] - first) / s.pitch, l = (s.in_channel[t] - first) % s.pitch;
    if (k >= side || l >= side) return 0;
    square[k * side + l] = s.a[row * s.a_row + s.in_weights[t]];
  }
  return side;
}

void sum_plane(const TapSum& s) {
  using Strip = void (*)(const TapSum&, Index, Index, const float*, Index);
  for (Index row = 0; row < s.rows; ++row) {
    float square[25];
    Index first = 0;
    const Index side = square_of(s, row, square, first);
    for (Index i = 0, rows = 0; i < s.out_h; i += rows) {
      rows = next_block(s.out_h - i, tile_rows);
      one_of<tile_rows, 3>(rows, side / 2 + 1, [](auto r, auto k) -> Strip {
        return strip<r.value, k.value - 1>;
      })(s, row, i, square, first);
    }
  }
}

// Computes the sums of taps from `tap` on.
template <Index taps>
void tap_sums(const TapGradient& g, Index tap) {
  const Floats d;
  const Index* const offset = g.row_offset + tap;
  Vector sums[static_cast<std::size_t>(taps)];
  unrolled<taps>([&](auto t) HWY_ATTR { sums[t.value] = hn::Zero(d); });
  for (Index i = 0; i < g.out_h; ++i) {
    for (Index j = 0; j < g.out_w; j += lanes) {
      const float* const b = g.b + i * g.out_w + j;
      const float* const a = g.a + i * g.pitch + j;
      const Index count = g.out_w - j;
      const Vector from_b = count < lanes ? load_some(d, b, count) : hn::LoadU(d, b);
      unrolled<taps>([&](auto t) HWY_ATTR {
        sums[t.value] = hn::MulAdd(hn::LoadU(d, a + offset[t.value]), from_b, sums[t.value]);
      });
    }
  }
  unrolled<taps>([&](auto t) HWY_ATTR {
    float& to = g.out[tap + t.value];
    to = (g.add ? to : 0) + hn::GetLane(hn::SumOfLanes(d, sums[t.value]));
  });
}

void plane_gradient(const TapGradient& g) {
  using Sums = void (*)(const TapGradient&, Index);
  for (Index tap = 0, taps = 0; tap < g.rows; tap += taps) {
    taps = next_block(g.rows - tap, most_taps);
    one_of<most_taps, 1>(taps, 1, [](auto t, auto) -> Sums { return tap_sums<t.value>; })(g, tap);
  }
}

}  // namespace
}  // namespace assay::conv2d::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::conv2d {

HWY_EXPORT(sum_plane);
HWY_EXPORT(plane_gradient);

void set_plane_sums(std::vector<DirectTier>& tiers) {
  set_in(tiers, &DirectTier::sum_plane, HWY_DISPATCH_TABLE(sum_plane), &DirectTier::plane_gradient,
         HWY_DISPATCH_TABLE(plane_gradient));
}

Variant<Conv2dWeightGradient>::Kernel dw_by_plane(const Problem& p, const DirectTier& tier, Index threads) {
  const Layout layout = forward_layout(p);
  std::vector<Buffer<float>> spaces;
  while (std::ssize(spaces) < std::min(threads, p.c)) spaces.push_back(zeroed_space(layout.floats(1)));
  const int parts = static_cast<int>(spaces.size());
  start_team(parts);
  return [p, tier, layout, parts, spaces = std::move(spaces)](const auto& in, auto& out) mutable {
    const Index taps = p.window().taps(), pixels = p.out_pixels(), channels = p.group_c();
    on_team(parts, parts, [&](int part) {
      const Range share = range(p.c, 1, part, parts);
      float* const image = spaces[static_cast<std::size_t>(part)].data();
      for (Index i = 0; i < p.n * share.count; ++i) {
        const Index n = i / share.count, c = share.first + i % share.count;
        tier.fill(PlaneCopy(layout), in.x.data() + (n * p.c + c) * p.pixels(), 1, image);
        for (Index f = c / channels * p.group_f(), left = p.group_f(); left > 0; --left, ++f) {
          const float* const dy = in.dy.data() + (n * p.f + f) * pixels;
          tier.plane_gradient({.rows = taps,
                               .row_offset = layout.sweeps[0].in_channel.data(),
                               .a = image,
                               .pitch = layout.pitch,
                               .out_h = p.out_h(),
                               .out_w = p.out_w(),
                               .b = dy,
                               .out = out.dw.data() + (f * channels + c % channels) * taps,
                               .add = n > 0});
          if (p.has_bias() && c % channels == 0)
            out.dbias[f] = (n > 0 ? out.dbias[f] : 0) + tier.sum(dy, pixels);
        }
      }
    });
  };
}

const Register registered{[](Registry& r) {
  const auto add = [&]<class Op>(std::type_identity<Op>, const auto& kernel_of) {
    for (const DirectTier& tier : direct_tiers()) {
      r.add<Op>({.name = "depthwise@" + tier.name,
                 .summary = "each plane by itself, along its rows, compiled for " + tier.name,
                 .after = "direct",
                 .prepare = [tier, kernel_of](const auto& p, const auto&,
                                              const Context&) { return kernel_of(p, tier); },
                 .unfit = [why = tier.unfit](const Layer& p, const Context&) -> std::optional<std::string> {
                   if (why || is_depthwise(p)) return why;
                   return "only for several groups of one channel each";
                 }});
    }
  };
  add(std::type_identity<Conv2d>(), [](const Problem& p, const DirectTier& tier) {
    return direct_y(p, SumPlan::of_y(p, by_plane(tier)), 1);
  });
  add(std::type_identity<Conv2dDataGradient>(), [](const DataProblem& p, const DirectTier& tier) {
    return direct_dx(SumPlan::of_dx(p, by_plane(tier)), 1);
  });
  add(std::type_identity<Conv2dWeightGradient>(),
      [](const Problem& p, const DirectTier& tier) { return dw_by_plane(p, tier, 1); });
}};

}  // namespace assay::conv2d
#endif
