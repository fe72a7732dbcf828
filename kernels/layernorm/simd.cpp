// The idea: the widest vectors the processor has, with four sums in flight. A row is walked three times, for
// its mean, its variance and its result; from the second time on it comes out of a cache, and the two-pass
// variance costs no traffic that a one-pass formula would save.
//
// One source for all SIMD targets; tiers() hands them to the variant `threaded`.

#include "layernorm/rows.hpp"
#include "tiers.hpp"

#include "assay/registry.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "layernorm/simd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first, since it chooses the target that highway.h is read for.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::layernorm {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr auto lanes = static_cast<Index>(hn::MaxLanes(D()));

// Masked loads and stores elsewhere touch the elements that they leave out.
constexpr bool has_masks = HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3;

/// The first `count` < lanes numbers at p, and zeros.
HWY_INLINE V load_some(D d, const float* p, Index count) {
  if constexpr (has_masks) return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(count)), d, p);
  HWY_ALIGN float copy[lanes] = {};
  for (Index l = 0; l < count; ++l) copy[l] = p[l];
  return hn::Load(d, copy);
}

HWY_INLINE void store_some(V value, D d, float* p, Index count) {
  if constexpr (has_masks)
    return hn::BlendedStore(value, hn::FirstN(d, static_cast<std::size_t>(count)), d, p);
  HWY_ALIGN float copy[lanes];
  hn::Store(value, d, copy);
  for (Index l = 0; l < count; ++l) p[l] = copy[l];
}

struct Plain {
  HWY_INLINE V operator()(D, V sum, V x) const { return hn::Add(sum, x); }
};
struct Squares {
  HWY_INLINE V operator()(D, V sum, V x) const { return hn::MulAdd(x, x, sum); }
};
struct SquaresAround {
  float mean;
  HWY_INLINE V operator()(D d, V sum, V x) const {
    const V deviation = hn::Sub(x, hn::Set(d, mean));
    return hn::MulAdd(deviation, deviation, sum);
  }
};

/// add(sum, x) over a row.
template <class Add>
HWY_INLINE float reduce(const float* x, Index cols, Add add) {
  const D d;
  V sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  Index j = 0;
  // Four sums hide the latency of a multiply-add, 4 cycles, at one vector per cycle.
  for (; j + 4 * lanes <= cols; j += 4 * lanes) {
    sum0 = add(d, sum0, hn::LoadU(d, x + j));
    sum1 = add(d, sum1, hn::LoadU(d, x + j + lanes));
    sum2 = add(d, sum2, hn::LoadU(d, x + j + 2 * lanes));
    sum3 = add(d, sum3, hn::LoadU(d, x + j + 3 * lanes));
  }
  for (; j + lanes <= cols; j += lanes) sum0 = add(d, sum0, hn::LoadU(d, x + j));
  if (j < cols) {
    // Lanes past the end hold zeros, which are not at the mean and must not be added.
    const V last = add(d, sum1, load_some(d, x + j, cols - j));
    sum1 = hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(cols - j)), last, sum1);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
}

HWY_INLINE float reciprocal_root(float spread) {
  const hn::CappedTag<float, 1> one;
  const auto root = hn::Sqrt(hn::Set(one, spread + static_cast<float>(epsilon)));
  return hn::GetLane(hn::Div(hn::Set(one, 1.0F), root));
}

struct CentredResult {
  V mean, rstd;
  HWY_INLINE V operator()(V x, V gamma, V beta) const {
    return hn::MulAdd(hn::Mul(hn::Sub(x, mean), rstd), gamma, beta);
  }
};
struct ScaledResult {
  V rstd;
  HWY_INLINE V operator()(V x, V gamma, V) const { return hn::Mul(hn::Mul(x, rstd), gamma); }
};

template <bool centred, class Result>
HWY_INLINE void write(const float* x, const float* gamma, const float* beta, float* y, Index cols,
                      const Result& result) {
  const D d;
  const auto shift = [&](Index at) HWY_ATTR { return centred ? hn::LoadU(d, beta + at) : hn::Zero(d); };
  Index j = 0;
  for (; j + lanes <= cols; j += lanes) {
    hn::StoreU(result(hn::LoadU(d, x + j), hn::LoadU(d, gamma + j), shift(j)), d, y + j);
  }
  if (j < cols) {
    const Index left = cols - j;
    const V last_shift = centred ? load_some(d, beta + j, left) : hn::Zero(d);
    const V value = result(load_some(d, x + j, left), load_some(d, gamma + j, left), last_shift);
    store_some(value, d, y + j, left);
  }
}

void layernorm(const Operands& on, Index first, Index last) {
  const D d;
  const auto cols = static_cast<float>(on.cols);
  for (Index r = first; r < last; ++r) {
    const float* x = on.x + r * on.cols;
    const float mean = reduce(x, on.cols, Plain{}) / cols;
    const float rstd = reciprocal_root(reduce(x, on.cols, SquaresAround{mean}) / cols);
    write<true>(x, on.gamma, on.beta, on.y + r * on.cols, on.cols,
                CentredResult{hn::Set(d, mean), hn::Set(d, rstd)});
    on.mean[r] = mean;
    on.rstd[r] = rstd;
  }
}

void rmsnorm(const Operands& on, Index first, Index last) {
  const D d;
  const auto cols = static_cast<float>(on.cols);
  for (Index r = first; r < last; ++r) {
    const float* x = on.x + r * on.cols;
    const float rstd = reciprocal_root(reduce(x, on.cols, Squares{}) / cols);
    write<false>(x, on.gamma, nullptr, on.y + r * on.cols, on.cols, ScaledResult{hn::Set(d, rstd)});
    on.rstd[r] = rstd;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::layernorm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::layernorm {
namespace {

HWY_EXPORT(layernorm);
HWY_EXPORT(rmsnorm);

template <class Table>
std::vector<Tier> tiers_in(const Table& table) {
  std::vector<Tier> out;
  for_each_tier(table, [&](const std::string& name, RowsFunction* function, const auto& unfit) {
    out.push_back({name, function, unfit});
  });
  return out;
}

}  // namespace

template <>
std::vector<Tier> tiers<LayerNorm>() {
  return tiers_in(HWY_DISPATCH_TABLE(layernorm));
}
template <>
std::vector<Tier> tiers<RmsNorm>() {
  return tiers_in(HWY_DISPATCH_TABLE(rmsnorm));
}

namespace {

template <class Op>
void add_tiers(Registry& r) {
  for (const Tier& tier : tiers<Op>()) {
    const auto prepare = [function = tier.function](const Problem& p, const auto&, const Context&) {
      return [function, p](const auto& in, auto& out) { function(operands(p, in, out), 0, p.rows); };
    };
    r.add<Op>({.name = "simd@" + tier.name,
               .summary = "vectors of " + tier.name + ", two passes over a row that stays in a cache",
               .prepare = prepare,
               .unfit = [why = tier.unfit](const Problem&, const Context&) { return why; }});
  }
}

const Register registered{[](Registry& r) {
  add_tiers<LayerNorm>(r);
  add_tiers<RmsNorm>(r);
}};

}  // namespace
}  // namespace assay::layernorm
#endif
