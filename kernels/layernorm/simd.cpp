// The idea: the widest vectors of the processor, and rows in pairs that overlap. Each pair is walked three
// times, for its means, its variances and its results. Between the second and the third walk of a pair comes
// the first walk of the next pair, so no walk waits for the sums across a vector, the root and the division
// at the end of the one before. Further rows are fetched meanwhile; otherwise memory would idle during two
// walks of three.

#include "layernorm/rows.hpp"

#include <cstdint>

#define HWY_TARGET_INCLUDE "layernorm/simd.cpp"
#include "vectors_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::layernorm::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;
using D = Floats;
using V = Vector;

enum class Store { cached, past_caches };

/// The kind of work and the rows at a time, fixed at compile time so that sums stay in registers.
template <bool centred_, bool adds_, Store store_, int rows_>
struct Kind {
  static constexpr bool centred = centred_;  // subtracts the mean, adds beta
  static constexpr bool adds = adds_;        // normalises x + r
  static constexpr Store store = store_;
  static constexpr int rows = rows_;
};

/// Vectors of a row per iteration: four sums in flight nearly hide the latency of an addition.
template <int rows>
constexpr int unrolled = 4 / rows;

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

/// Calls step.column(k, j, access) for the vectors at column j of all rows, which it adds to part k.
template <int rows, class Step>
HWY_INLINE void walk(Index cols, Step& step) {
  constexpr int unroll = unrolled<rows>;
  Index j = 0;
  for (; j + unroll * lanes <= cols; j += unroll * lanes) {
    step.ahead(j, unroll * lanes);
    for (int k = 0; k < unroll; ++k) step.column(k, j + k * lanes, Whole{});
  }
  for (; j + lanes <= cols; j += lanes) step.column(0, j, Whole{});
  if (j < cols) step.column(1, j, Some{cols - j});
}

/// The prefetches of a walk over `rows` rows: half a number or one number for each that it reads.
struct Ahead {
  const float* from;
  Index share_of_two;  // 1: half as many as are read, 2: as many
  template <int rows>
  HWY_INLINE void fetch(Index j, Index columns) const {
    const Index first = j * rows * share_of_two / 2, count = columns * rows * share_of_two / 2;
    for (Index line = 0; line < count; line += 16) hwy::Prefetch(from + first + line);
  }
};

/// The sum of x, or of x + r, which is written to s.
template <class Kind>
struct Sum {
  const float* x;
  const float* r;
  float* s;
  Index cols;
  Ahead next;
  Parts<Kind::rows> sums = {};

  HWY_INLINE void ahead(Index j, Index columns) const {
    // With a mean, the second walk prefetches instead.
    if constexpr (!Kind::centred) next.fetch<Kind::rows>(j, columns);
  }
  template <class Access>
  HWY_INLINE void column(int k, Index j, Access access) {
    for (int i = 0; i < Kind::rows; ++i) {
      const Index at = i * cols + j;
      V value = access.load(x + at);
      if constexpr (Kind::adds) {
        value = hn::Add(value, access.load(r + at));
        access.store(value, s + at);
      }
      V& sum = sums.part[i][k];
      // Squares without a mean are summed in this walk.
      sum = Kind::centred ? hn::Add(sum, value) : hn::MulAdd(value, value, sum);
    }
  }
};

/// The sum of squares around the mean.
template <class Kind>
struct Squares {
  const float* x;
  Ahead next;
  Index cols;
  V mean[Kind::rows];
  Parts<Kind::rows> sums = {};

  HWY_INLINE void ahead(Index j, Index columns) const { next.fetch<Kind::rows>(j, columns); }
  template <class Access>
  HWY_INLINE void column(int k, Index j, Access access) {
    for (int i = 0; i < Kind::rows; ++i) {
      // Lanes past the end hold zeros, whose deviation from the mean must not be added.
      const V deviation = access.inside(hn::Sub(access.load(x + i * cols + j), mean[i]));
      sums.part[i][k] = hn::MulAdd(deviation, deviation, sums.part[i][k]);
    }
  }
};

template <class Kind, int rows>
struct Write {
  const float* x;
  const float* gamma;
  const float* beta;
  float* y;
  Ahead next;
  Index cols;
  V mean[std::size_t{rows}];
  V rstd[std::size_t{rows}];

  HWY_INLINE void ahead(Index j, Index columns) const { next.fetch<rows>(j, columns); }
  template <class Access>
  HWY_INLINE void column(int, Index j, Access access) const {
    // Loaded before the first store: for the compiler, a store might change them.
    const V scale = access.load(gamma + j), shift = Kind::centred ? access.load(beta + j) : hn::Zero(D());
    for (int i = 0; i < rows; ++i) {
      const V value = result(i, access.load(x + i * cols + j), scale, shift);
      if constexpr (Kind::store == Store::past_caches) {
        access.stream(value, y + i * cols + j);
      } else {
        access.store(value, y + i * cols + j);
      }
    }
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

/// Rows beyond the next pair that are fetched; more if y goes past the caches, since memory takes longer than
/// the third-level cache. Measured in a trial loop with the same walks on a Zen 5. Cached: 0.96 to 0.98 of
/// the time with 1 and with 2 at 512 columns, 1.0 at 768. Past the caches, gigabytes per second at 8,192 x
/// 1,024: 45 with 0, 55 with 2, 53 with 4 and with 8; at 4,096 x 1,024: 79, 78, 82, 81.
template <Store store>
constexpr Index further = store == Store::past_caches ? 4 : 1;

/// The walks over Kind::rows rows from `first` on.
template <class Kind>
struct Walks {
  static constexpr int rows = Kind::rows;
  const Operands on;
  const float share = 1.0F / static_cast<float>(on.cols);  // cheaper than a division for each row

  /// Returns the numbers of the next first walk to prefetch, in the walk before it (`which` 0) or after that
  /// (1). They may lie past the array, which a prefetch may name.
  HWY_INLINE Ahead ahead(Index first, Index which) const {
    const Index at = (first + rows + further<Kind::store>)*on.cols;
    if (Kind::adds) return {(which == 0 ? on.x : on.r) + at, 2};
    return {on.x + at + which * on.cols * rows / 2, 1};
  }

  HWY_INLINE void first_walk(Index first) const {
    const Index at = first * on.cols;
    Sum<Kind> sum{on.x + at, Kind::adds ? on.r + at : nullptr, Kind::adds ? on.s + at : nullptr, on.cols,
                  ahead(first, 1)};
    walk<rows>(on.cols, sum);
    for (int i = 0; i < rows; ++i) {
      const float mean = sum.sums.total(i) * share;
      if constexpr (Kind::centred) {
        on.mean[first + i] = mean;
      } else {
        on.rstd[first + i] = reciprocal_root(mean);
      }
    }
  }
  HWY_INLINE void second_walk(Index first) const {
    Squares<Kind> squares{source(first), ahead(first, 1), on.cols, {}};
    for (int i = 0; i < rows; ++i) squares.mean[i] = hn::Set(D(), on.mean[first + i]);
    walk<rows>(on.cols, squares);
    for (int i = 0; i < rows; ++i) {
      on.rstd[first + i] = reciprocal_root(squares.sums.total(i) * share);
    }
  }
  HWY_INLINE void third_walk(Index first) const {
    const Ahead next = ahead(first + rows, 0);
    if constexpr (Kind::store == Store::past_caches) {
      // One row after the other: if rows alternate, some lines leave for memory before they are whole.
      for (int i = 0; i < rows; ++i)
        write<1>(first + i, {next.from + i * on.cols * next.share_of_two / 2, next.share_of_two});
    } else {
      write<rows>(first, next);
    }
  }
  template <int count>
  HWY_INLINE void write(Index first, Ahead next) const {
    Write<Kind, count> write{source(first), on.gamma, on.beta, on.y + first * on.cols, next, on.cols, {}, {}};
    for (int i = 0; i < count; ++i) {
      if constexpr (Kind::centred) write.mean[i] = hn::Set(D(), on.mean[first + i]);
      write.rstd[i] = hn::Set(D(), on.rstd[first + i]);
    }
    walk<count>(on.cols, write);
  }
  HWY_INLINE const float* source(Index first) const { return (Kind::adds ? on.s : on.x) + first * on.cols; }

  HWY_INLINE void run(Index first, Index last) const {
    if (first + rows > last) return;
    first_walk(first);
    for (; first + rows <= last; first += rows) {
      if constexpr (Kind::centred) second_walk(first);
      if (first + 2 * rows <= last) first_walk(first + rows);
      third_walk(first);
    }
  }
};

/// A function of its own for each kind: together in one, they would share its registers.
template <bool centred, bool adds, Store store>
HWY_NOINLINE void all(const Operands& on, Index first, Index last) {
  const Index pairs = (last - first) / 2 * 2;
  Walks<Kind<centred, adds, store, 2>>{on}.run(first, first + pairs);
  Walks<Kind<centred, adds, store, 1>>{on}.run(first + pairs, last);
}

template <bool centred, bool adds>
HWY_INLINE void choose_store(const Operands& on, Index first, Index last) {
  // A line written in parts is read from memory after all.
  const bool whole_lines = on.cols % 16 == 0 && reinterpret_cast<std::uintptr_t>(on.y) % 64 == 0;
  if (!on.stream || !whole_lines) return all<centred, adds, Store::cached>(on, first, last);
  all<centred, adds, Store::past_caches>(on, first, last);
  hwy::FlushStream();
}

void normalize(const Operands& on, Index first, Index last) {
  const bool centred = on.beta != nullptr, adds = on.r != nullptr;
  if (centred && adds) return choose_store<true, true>(on, first, last);
  if (centred) return choose_store<true, false>(on, first, last);
  if (adds) return choose_store<false, true>(on, first, last);
  choose_store<false, false>(on, first, last);
}

}  // namespace assay::layernorm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::layernorm {

HWY_EXPORT(normalize);

std::vector<Tier> tiers() { return tiers_in(HWY_DISPATCH_TABLE(normalize)); }

const Register registered{[](Registry& r) {
  for_each_norm([&]<class Op>() {
    add_tiers<Op>(
        r, tiers(),
        {.name = "simd", .summary = "vectors of {}, overlapping pairs of rows, the next fetched ahead"},
        [](const Tier& tier, const Problem& p, const auto&) { return kernel_of(tier.function, p, false); });
  });
}};

}  // namespace assay::layernorm
#endif
