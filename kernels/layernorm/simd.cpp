// The idea: the widest vectors the processor has, and four rows at a time, so that gamma and beta are loaded
// once for all four and no row waits for the sums, the root and the division of another. Each group of rows
// is walked three times, for its means, its variances and its results; the second and third walk find it in a
// cache and fetch the next group meanwhile, or memory would idle during two walks of three.
//
// One source for all SIMD targets; tiers() hands them to the variants `streaming` and `threaded`.

#include "layernorm/rows.hpp"
#include "tiers.hpp"

#include "assay/registry.hpp"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "layernorm/simd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first, since it chooses the target that highway.h is read for.
#include "hwy/cache_control.h"
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

enum class Store { cached, past_caches };

/// What is done to how many rows at a time; fixed at compile time, so that sums stay in registers.
template <bool centred_, bool adds_, Store store_, int rows_>
struct Kind {
  static constexpr bool centred = centred_;  // around the mean, with beta
  static constexpr bool adds = adds_;        // rows of x + r
  static constexpr Store store = store_;
  static constexpr int rows = rows_;
};

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

/// Vectors of a row to a turn. An addition takes 2 to 4 cycles and one or two are started in each: eight sums
/// hide that for four rows, four sums nearly do for one.
template <int rows>
constexpr int unrolled = rows == 1 ? 4 : 2;

/// Sums in the making, and step.vector(i, k, j): the vector at column j of row i into part k.
template <int rows>
struct Parts {
  V part[std::size_t{rows}][std::size_t{unrolled<rows>}];
  HWY_INLINE Parts() {
    for (auto& row : part) {
      for (V& sum : row) sum = hn::Zero(D());
    }
  }
  HWY_INLINE float total(int i) const {
    V sum = part[i][0];
    for (int k = 1; k < unrolled<rows>; ++k) sum = hn::Add(sum, part[i][k]);
    return hn::GetLane(hn::SumOfLanes(D(), sum));
  }
};

template <int rows, class Step>
HWY_INLINE void walk(Index cols, Step& step) {
  constexpr int unroll = unrolled<rows>;
  Index j = 0;
  for (; j + unroll * lanes <= cols; j += unroll * lanes) {
    step.ahead(j, unroll * lanes);
    for (int k = 0; k < unroll; ++k) {
      for (int i = 0; i < rows; ++i) step.vector(i, k, j + k * lanes);
    }
  }
  for (; j + lanes <= cols; j += lanes) {
    for (int i = 0; i < rows; ++i) step.vector(i, 0, j);
  }
  if (j < cols) {
    for (int i = 0; i < rows; ++i) step.part_of_vector(i, j, cols - j);
  }
}

/// Half of the next group, which follows this one in memory: as much per turn as makes half by its end.
template <int rows>
HWY_INLINE void fetch(const float* half, Index j, Index columns) {
  for (Index line = 0; line < columns * rows / 2; line += 16) hwy::Prefetch(half + j * rows / 2 + line);
}

/// The sum of x, or of x + r, which is written to s.
template <class Kind>
struct Sum {
  const float* x;
  const float* r;
  float* s;
  Index cols;
  Parts<Kind::rows> sums = {};

  HWY_INLINE void ahead(Index, Index) const {}
  HWY_INLINE void vector(int i, int k, Index j) {
    const D d;
    const Index at = i * cols + j;
    V value = hn::LoadU(d, x + at);
    if constexpr (Kind::adds) {
      value = hn::Add(value, hn::LoadU(d, r + at));
      hn::StoreU(value, d, s + at);
    }
    add(i, k, value);
  }
  HWY_INLINE void part_of_vector(int i, Index j, Index count) {
    const D d;
    const Index at = i * cols + j;
    V value = load_some(d, x + at, count);
    if constexpr (Kind::adds) {
      value = hn::Add(value, load_some(d, r + at, count));
      store_some(value, d, s + at, count);
    }
    add(i, 1, value);
  }
  HWY_INLINE void add(int i, int k, V value) {
    V& sum = sums.part[i][k];
    // Squares need no mean and are summed in this walk.
    sum = Kind::centred ? hn::Add(sum, value) : hn::MulAdd(value, value, sum);
  }
};

/// The sum of squares around the mean.
template <class Kind>
struct Squares {
  const float* x;
  const float* next;
  Index cols;
  V mean[Kind::rows];
  Parts<Kind::rows> sums = {};

  HWY_INLINE void ahead(Index j, Index columns) const { fetch<Kind::rows>(next, j, columns); }
  HWY_INLINE void vector(int i, int k, Index j) {
    add(i, k, hn::Sub(hn::LoadU(D(), x + i * cols + j), mean[i]));
  }
  HWY_INLINE void part_of_vector(int i, Index j, Index count) {
    const D d;
    // Lanes past the end hold zeros, which are not at the mean and must not be added.
    const auto inside = hn::FirstN(d, static_cast<std::size_t>(count));
    add(i, 1, hn::IfThenElseZero(inside, hn::Sub(load_some(d, x + i * cols + j, count), mean[i])));
  }
  HWY_INLINE void add(int i, int k, V deviation) {
    sums.part[i][k] = hn::MulAdd(deviation, deviation, sums.part[i][k]);
  }
};

template <class Kind>
struct Write {
  const float* x;
  const float* gamma;
  const float* beta;
  float* y;
  const float* next;
  Index cols;
  V mean[Kind::rows];
  V rstd[Kind::rows];

  HWY_INLINE void ahead(Index j, Index columns) const { fetch<Kind::rows>(next, j, columns); }
  HWY_INLINE void vector(int i, int, Index j) const {
    const D d;
    const V shift = Kind::centred ? hn::LoadU(d, beta + j) : hn::Zero(d);
    const V value = result(i, hn::LoadU(d, x + i * cols + j), hn::LoadU(d, gamma + j), shift);
    if constexpr (Kind::store == Store::past_caches) {
      hn::Stream(value, d, y + i * cols + j);
    } else {
      hn::StoreU(value, d, y + i * cols + j);
    }
  }
  HWY_INLINE void part_of_vector(int i, Index j, Index count) const {
    const D d;
    const V shift = Kind::centred ? load_some(d, beta + j, count) : hn::Zero(d);
    const V value = result(i, load_some(d, x + i * cols + j, count), load_some(d, gamma + j, count), shift);
    store_some(value, d, y + i * cols + j, count);
  }
  HWY_INLINE V result(int i, V value, V scale, V shift) const {
    if constexpr (!Kind::centred) return hn::Mul(hn::Mul(value, rstd[i]), scale);
    return hn::MulAdd(hn::Mul(hn::Sub(value, mean[i]), rstd[i]), scale, shift);
  }
};

HWY_INLINE float reciprocal_root(float spread) {
  const hn::CappedTag<float, 1> one;
  const auto root = hn::Sqrt(hn::Set(one, spread + static_cast<float>(epsilon)));
  return hn::GetLane(hn::Div(hn::Set(one, 1.0F), root));
}

template <class Kind>
HWY_INLINE void group(const Operands& on, Index first) {
  constexpr int rows = Kind::rows;
  const D d;
  const Index at = first * on.cols, half = on.cols * rows / 2;
  const auto cols = static_cast<float>(on.cols);
  // Past the last group this names what is not there, which a prefetch may.
  const float* next = on.x + at + rows * on.cols;
  Sum<Kind> sum{on.x + at, Kind::adds ? on.r + at : nullptr, Kind::adds ? on.s + at : nullptr, on.cols};
  walk<rows>(on.cols, sum);

  const float* x = Kind::adds ? on.s + at : on.x + at;
  Write<Kind> write{x, on.gamma, on.beta, on.y + at, next + (Kind::centred ? half : 0), on.cols, {}, {}};
  Squares<Kind> squares{x, next, on.cols, {}};
  if constexpr (Kind::centred) {
    for (int i = 0; i < rows; ++i) {
      on.mean[first + i] = sum.sums.total(i) / cols;
      write.mean[i] = squares.mean[i] = hn::Set(d, on.mean[first + i]);
    }
    walk<rows>(on.cols, squares);
  }
  for (int i = 0; i < rows; ++i) {
    const float total = Kind::centred ? squares.sums.total(i) : sum.sums.total(i);
    on.rstd[first + i] = reciprocal_root(total / cols);
    write.rstd[i] = hn::Set(d, on.rstd[first + i]);
  }
  walk<rows>(on.cols, write);
}

template <bool centred, bool adds, Store store>
HWY_INLINE void all(const Operands& on, Index first, Index last) {
  for (; first + 4 <= last; first += 4) group<Kind<centred, adds, store, 4>>(on, first);
  for (; first < last; ++first) group<Kind<centred, adds, store, 1>>(on, first);
}

template <bool centred, bool adds>
HWY_INLINE void streamed(const Operands& on, Index first, Index last) {
  // A line written in parts is read from memory after all.
  const bool whole_lines = on.cols % 16 == 0 && reinterpret_cast<std::uintptr_t>(on.y) % 64 == 0;
  if (!whole_lines) return all<centred, adds, Store::cached>(on, first, last);
  all<centred, adds, Store::past_caches>(on, first, last);
  hwy::FlushStream();
}

void layernorm(const Operands& on, Index first, Index last) {
  all<true, false, Store::cached>(on, first, last);
}
void rmsnorm(const Operands& on, Index first, Index last) {
  all<false, false, Store::cached>(on, first, last);
}
void layernorm_residual(const Operands& on, Index first, Index last) {
  all<true, true, Store::cached>(on, first, last);
}
void rmsnorm_residual(const Operands& on, Index first, Index last) {
  all<false, true, Store::cached>(on, first, last);
}
void stream_layernorm(const Operands& on, Index first, Index last) { streamed<true, false>(on, first, last); }
void stream_rmsnorm(const Operands& on, Index first, Index last) { streamed<false, false>(on, first, last); }
void stream_layernorm_residual(const Operands& on, Index first, Index last) {
  streamed<true, true>(on, first, last);
}
void stream_rmsnorm_residual(const Operands& on, Index first, Index last) {
  streamed<false, true>(on, first, last);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::layernorm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::layernorm {
namespace {

HWY_EXPORT(layernorm);
HWY_EXPORT(rmsnorm);
HWY_EXPORT(layernorm_residual);
HWY_EXPORT(rmsnorm_residual);
HWY_EXPORT(stream_layernorm);
HWY_EXPORT(stream_rmsnorm);
HWY_EXPORT(stream_layernorm_residual);
HWY_EXPORT(stream_rmsnorm_residual);

template <class Table>
std::vector<Tier> tiers_in(const Table& table, const Table& streaming) {
  std::vector<Tier> out;
  for_each_tier(table, [&](const std::string& name, RowsFunction* function, const auto& unfit) {
    out.push_back({name, function, nullptr, unfit});
  });
  auto tier = out.begin();
  for_each_tier(streaming, [&](const std::string&, RowsFunction* function, const auto&) {
    (tier++)->streaming = function;
  });
  return out;
}

}  // namespace

template <>
std::vector<Tier> tiers<LayerNorm>() {
  return tiers_in(HWY_DISPATCH_TABLE(layernorm), HWY_DISPATCH_TABLE(stream_layernorm));
}
template <>
std::vector<Tier> tiers<RmsNorm>() {
  return tiers_in(HWY_DISPATCH_TABLE(rmsnorm), HWY_DISPATCH_TABLE(stream_rmsnorm));
}
template <>
std::vector<Tier> tiers<LayerNormResidual>() {
  return tiers_in(HWY_DISPATCH_TABLE(layernorm_residual), HWY_DISPATCH_TABLE(stream_layernorm_residual));
}
template <>
std::vector<Tier> tiers<RmsNormResidual>() {
  return tiers_in(HWY_DISPATCH_TABLE(rmsnorm_residual), HWY_DISPATCH_TABLE(stream_rmsnorm_residual));
}

namespace {

const Register registered{[](Registry& r) {
  for_each_norm([&]<class Op>() {
    for (const Tier& tier : tiers<Op>()) {
      r.add<Op>({.name = "simd@" + tier.name,
                 .summary = "vectors of " + tier.name + ", four rows at a time, the next four fetched ahead",
                 .prepare =
                     [function = tier.function](const Problem& p, const auto&, const Context&) {
                       return [function, p](const auto& in, auto& out) {
                         function(operands(p, in, out), 0, p.rows);
                       };
                     },
                 .unfit = [why = tier.unfit](const Problem&, const Context&) { return why; }});
    }
  });
}};

}  // namespace
}  // namespace assay::layernorm
#endif
