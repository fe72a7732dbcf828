// The idea: channel by channel, so that all walks but the first find a channel in the second-level cache, if
// it fits there; the widest vectors, and four sums at a time, so that additions do not wait for each other.
// With d = x - mean, dx = dy a + (d k + b), where a, k and b are numbers of the channel. Limit: planes of a
// few elements fill no vectors.

#include "pieces/pieces.hpp"

#include "assay/ops/layernorm.hpp"

#define HWY_TARGET_INCLUDE "batch_norm/simd.cpp"
#include "vectors_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::batch_norm::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;

/// Sums of a channel.
struct Parts {
  Vector part[4];
  HWY_INLINE Parts() {
    for (Vector& sum : part) sum = hn::Zero(Floats());
  }
  HWY_INLINE float total() const {
    const auto sum = hn::Add(hn::Add(part[0], part[1]), hn::Add(part[2], part[3]));
    return hn::GetLane(hn::SumOfLanes(Floats(), sum));
  }
};

/// Calls step(part, at, access) for all vectors of channel c.
template <class Step>
HWY_INLINE void walk(const Extents& p, Index c, const Step& step) {
  const Index plane = p.plane();
  for (Index n = 0; n < p.n; ++n) {
    Index at = (n * p.c + c) * plane;
    const Index end = at + plane;
    for (; at + 4 * lanes <= end; at += 4 * lanes) {
      for (int k = 0; k < 4; ++k) step(k, at + k * lanes, Whole{});
    }
    for (; at + lanes <= end; at += lanes) step(0, at, Whole{});
    if (at < end) step(1, at, Some{end - at});
  }
}

void normalize(const Call<BatchNorm>& call, Index first, Index last) {
  const Floats d;
  const hn::CappedTag<float, 1> one;
  const float* const x = call.in[0];
  float* const y = call.out[0];
  const float share = 1 / static_cast<float>(call.p.count());
  for (Index c = first; c < last; ++c) {
    Parts sum, squares;
    walk(call.p, c, [&](int k, Index at, auto access) HWY_ATTR {
      sum.part[k] = hn::Add(sum.part[k], access.load(x + at));
    });
    call.out[1][c] = sum.total() * share;
    const auto mean = hn::Set(d, call.out[1][c]);
    walk(call.p, c, [&](int k, Index at, auto access) HWY_ATTR {
      // Lanes past the end hold zeros, whose deviation from the mean must not be added.
      const auto deviation = access.inside(hn::Sub(access.load(x + at), mean));
      squares.part[k] = hn::MulAdd(deviation, deviation, squares.part[k]);
    });
    const float spread = squares.total() * share + static_cast<float>(layernorm::epsilon);
    const float rstd = hn::GetLane(hn::Div(hn::Set(one, 1.0F), hn::Sqrt(hn::Set(one, spread))));
    call.out[2][c] = rstd;
    const auto scale = hn::Set(d, rstd * call.in[1][c]), shift = hn::Set(d, call.in[2][c]);
    walk(call.p, c, [&](int, Index at, auto access) HWY_ATTR {
      access.store(hn::MulAdd(hn::Sub(access.load(x + at), mean), scale, shift), y + at);
    });
  }
}

void gradient(const Call<BatchNormBackward>& call, Index first, Index last) {
  const Floats d;
  const float *const dy = call.in[0], *const x = call.in[1];
  float* const dx = call.out[0];
  const float share = 1 / static_cast<float>(call.p.count());
  for (Index c = first; c < last; ++c) {
    const float rstd = call.in[3][c], scale = rstd * call.in[4][c];
    const auto mean = hn::Set(d, call.in[2][c]);
    Parts of_dy, of_dy_d;
    walk(call.p, c, [&](int k, Index at, auto access) HWY_ATTR {
      // Lanes past the end are zero in dy.
      const auto gradient = access.load(dy + at);
      of_dy.part[k] = hn::Add(of_dy.part[k], gradient);
      of_dy_d.part[k] = hn::MulAdd(gradient, hn::Sub(access.load(x + at), mean), of_dy_d.part[k]);
    });
    const float dbeta = of_dy.total(), dgamma = of_dy_d.total() * rstd;
    call.out[1][c] = dgamma;
    call.out[2][c] = dbeta;
    const auto a = hn::Set(d, scale), b = hn::Set(d, -scale * (dbeta * share));
    const auto k = hn::Set(d, -scale * rstd * (dgamma * share));
    walk(call.p, c, [&](int, Index at, auto access) HWY_ATTR {
      const auto line = hn::MulAdd(hn::Sub(access.load(x + at), mean), k, b);
      access.store(hn::MulAdd(access.load(dy + at), a, line), dx + at);
    });
  }
}

}  // namespace assay::batch_norm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::batch_norm {
HWY_EXPORT(normalize);
HWY_EXPORT(gradient);
}  // namespace assay::batch_norm

namespace assay {

template <>
Tiers<BatchNorm> tiers_of<BatchNorm>() {
  return tiers_in(batch_norm::HWY_DISPATCH_TABLE(normalize));
}
template <>
Tiers<BatchNormBackward> tiers_of<BatchNormBackward>() {
  return tiers_in(batch_norm::HWY_DISPATCH_TABLE(gradient));
}

const Register registered{[](Registry& r) {
  constexpr auto summary = "channel by channel, vectors of {}, four sums to a walk";
  add_tiers_of<BatchNorm>(r, {.name = "simd", .summary = summary});
  add_tiers_of<BatchNormBackward>(r, {.name = "simd", .summary = summary});
}};

}  // namespace assay
#endif
