// The idea: the widest vectors of the processor, and rows in pairs that overlap. Each pair is walked twice:
// first for the two sums of each row and its part of dgamma and dbeta, which are loaded and stored once per
// pair; then for dx. Between the two comes the first walk of the next pair, so no walk waits for the sums
// across a vector at the end of the one before. The pair after that is fetched meanwhile.
//
// With d = x - mean, dx = rstd w + (d k + c), where k = -rstd^2 mean(w xhat) and c = -rstd mean(w) are
// numbers of a row. The contract demands that d is computed first.

#include "layernorm_backward/rows.hpp"

#include <cstdint>

#define HWY_TARGET_INCLUDE "layernorm_backward/simd.cpp"
#include "vectors_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::layernorm_backward::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;
using D = Floats;
using V = Vector;

enum class Store { cached, past_caches };

/// The kind of work and the rows at a time, fixed at compile time so that sums stay in registers.
template <bool centred_, Store store_, int rows_>
struct Kind {
  static constexpr bool centred = centred_;  // subtracts the mean, computes dbeta
  static constexpr Store store = store_;
  static constexpr int rows = rows_;
};

/// Calls step.column(k, j, access) for all vectors of a row. k alternates between 0 and 1.
template <class Step>
HWY_INLINE void walk(Index cols, Step& step) {
  Index j = 0;
  for (; j + 2 * lanes <= cols; j += 2 * lanes) {
    step.fetch(j, 2 * lanes);
    step.column(0, j, Whole{});
    step.column(1, j + lanes, Whole{});
  }
  for (; j + lanes <= cols; j += lanes) step.column(0, j, Whole{});
  if (j < cols) step.column(1, j, Some{cols - j});
}

template <int rows>
HWY_INLINE void fetch(const float* from, Index j, Index columns) {
  for (Index line = 0; line < columns * rows; line += 16) hwy::Prefetch(from + j * rows + line);
}

/// The sums of rows, and their parts of dgamma and dbeta.
template <class Kind>
struct Sums {
  static constexpr int rows = Kind::rows;
  const float* dy;
  const float* x;
  const float* gamma;
  float* dgamma;
  float* dbeta;
  const float* next;
  Index cols;
  V mean[Kind::rows], rstd[Kind::rows];
  V of_w[Kind::rows][2], of_w_d[Kind::rows][2];

  HWY_INLINE void fetch(Index j, Index columns) const { HWY_NAMESPACE::fetch<rows>(next, j, columns); }
  template <class Access>
  HWY_INLINE void column(int k, Index j, Access access) {
    const V scale = access.load(gamma + j);
    V of_dgamma = access.load(dgamma + j);
    V of_dbeta = Kind::centred ? access.load(dbeta + j) : hn::Zero(D());
    for (int i = 0; i < rows; ++i) {
      // Lanes past the end are zero in dy, with any number in d.
      const V gradient = access.load(dy + i * cols + j);
      const V value = access.load(x + i * cols + j);
      const V d = Kind::centred ? hn::Sub(value, mean[i]) : value;
      const V w = hn::Mul(gradient, scale);
      if constexpr (Kind::centred) {
        of_w[i][k] = hn::Add(of_w[i][k], w);
        of_dbeta = hn::Add(of_dbeta, gradient);
      }
      of_w_d[i][k] = hn::MulAdd(w, d, of_w_d[i][k]);
      of_dgamma = hn::MulAdd(hn::Mul(gradient, rstd[i]), d, of_dgamma);
    }
    access.store(of_dgamma, dgamma + j);
    if constexpr (Kind::centred) access.store(of_dbeta, dbeta + j);
  }
};

template <class Kind, int rows>
struct Write {
  const float* dy;
  const float* x;
  const float* gamma;
  float* dx;
  const float* next;
  Index cols;
  V mean[std::size_t{rows}], rstd[std::size_t{rows}], slope[std::size_t{rows}], shift[std::size_t{rows}];

  HWY_INLINE void fetch(Index j, Index columns) const { HWY_NAMESPACE::fetch<rows>(next, j, columns); }
  template <class Access>
  HWY_INLINE void column(int, Index j, Access access) const {
    const V scale = access.load(gamma + j);
    for (int i = 0; i < rows; ++i) {
      const V w = hn::Mul(access.load(dy + i * cols + j), scale);
      const V value = access.load(x + i * cols + j);
      V line;
      if constexpr (Kind::centred) {
        line = hn::MulAdd(hn::Sub(value, mean[i]), slope[i], shift[i]);
      } else {
        line = hn::Mul(value, slope[i]);
      }
      const V result = hn::MulAdd(w, rstd[i], line);
      if constexpr (Kind::store == Store::past_caches) {
        access.stream(result, dx + i * cols + j);
      } else {
        access.store(result, dx + i * cols + j);
      }
    }
  }
};

/// The numbers of a row that pass from the first walk to dx in the second.
template <int rows>
struct Lines {
  float slope[std::size_t{rows}], shift[std::size_t{rows}];
};

/// Rows beyond the next pair that are fetched if dx goes past the caches, since memory takes longer.
constexpr Index further = 4;

template <class Kind>
struct Walks {
  static constexpr int rows = Kind::rows;
  const Operands& on;

  /// The rows of `array` to fetch while the rows from `first` on are walked. They may lie past the array,
  /// which a prefetch may name.
  HWY_INLINE const float* ahead(const float* array, Index first) const {
    return array + (first + rows + (Kind::store == Store::past_caches ? further : 0)) * on.cols;
  }

  HWY_INLINE Lines<rows> first_walk(Index first) const {
    const D d;
    const Index at = first * on.cols;
    Sums<Kind> sums;
    sums.dy = on.dy + at;
    sums.x = on.x + at;
    sums.gamma = on.gamma;
    sums.dgamma = on.dgamma;
    sums.dbeta = on.dbeta;
    sums.next = ahead(on.x, first);
    sums.cols = on.cols;
    for (int i = 0; i < rows; ++i) {
      sums.mean[i] = hn::Set(d, Kind::centred ? on.mean[first + i] : 0.0F);
      sums.rstd[i] = hn::Set(d, on.rstd[first + i]);
      for (int k = 0; k < 2; ++k) sums.of_w[i][k] = sums.of_w_d[i][k] = hn::Zero(d);
    }
    walk(on.cols, sums);
    const float share = 1.0F / static_cast<float>(on.cols);
    Lines<rows> out;
    for (int i = 0; i < rows; ++i) {
      const float rstd = on.rstd[first + i];
      const float of_w = hn::GetLane(hn::SumOfLanes(d, hn::Add(sums.of_w[i][0], sums.of_w[i][1])));
      const float of_w_d = hn::GetLane(hn::SumOfLanes(d, hn::Add(sums.of_w_d[i][0], sums.of_w_d[i][1])));
      out.slope[i] = -(rstd * rstd) * (of_w_d * share * rstd);
      out.shift[i] = -rstd * (of_w * share);
    }
    return out;
  }

  HWY_INLINE void second_walk(Index first, const Lines<rows>& lines) const {
    const float* next = ahead(on.dy, first + rows);
    if constexpr (Kind::store == Store::past_caches) {
      // One row after the other: if rows alternate, some lines leave for memory before they are whole.
      for (int i = 0; i < rows; ++i)
        write<1>(first + i, lines.slope + i, lines.shift + i, next + i * on.cols);
    } else {
      write<rows>(first, lines.slope, lines.shift, next);
    }
  }
  template <int count>
  HWY_INLINE void write(Index first, const float* slope, const float* shift, const float* next) const {
    const D d;
    const Index at = first * on.cols;
    Write<Kind, count> write;
    write.dy = on.dy + at;
    write.x = on.x + at;
    write.gamma = on.gamma;
    write.dx = on.dx + at;
    write.next = next;
    write.cols = on.cols;
    for (int i = 0; i < count; ++i) {
      write.mean[i] = hn::Set(d, Kind::centred ? on.mean[first + i] : 0.0F);
      write.rstd[i] = hn::Set(d, on.rstd[first + i]);
      write.slope[i] = hn::Set(d, slope[i]);
      write.shift[i] = hn::Set(d, shift[i]);
    }
    walk(on.cols, write);
  }

  HWY_INLINE void run(Index first, Index last) const {
    if (first + rows > last) return;
    Lines<rows> lines = first_walk(first);
    for (; first + 2 * rows <= last; first += rows) {
      const Lines<rows> next = first_walk(first + rows);
      second_walk(first, lines);
      lines = next;
    }
    second_walk(first, lines);
  }
};

/// A function of its own for each kind: together in one, they would share its registers.
template <bool centred, Store store>
HWY_NOINLINE void all(const Operands& on, Index first, Index last) {
  for (Index j = 0; j < on.cols; ++j) on.dgamma[j] = 0;
  for (Index j = 0; centred && j < on.cols; ++j) on.dbeta[j] = 0;
  const Index pairs = (last - first) / 2 * 2;
  Walks<Kind<centred, store, 2>>{on}.run(first, first + pairs);
  Walks<Kind<centred, store, 1>>{on}.run(first + pairs, last);
}

template <bool centred>
HWY_INLINE void choose_store(const Operands& on, Index first, Index last) {
  // A line written in parts is read from memory after all.
  const bool whole_lines = on.cols % 16 == 0 && reinterpret_cast<std::uintptr_t>(on.dx) % 64 == 0;
  if (!on.stream || !whole_lines) return all<centred, Store::cached>(on, first, last);
  all<centred, Store::past_caches>(on, first, last);
  hwy::FlushStream();
}

void gradient(const Operands& on, Index first, Index last) {
  if (on.mean != nullptr) return choose_store<true>(on, first, last);
  choose_store<false>(on, first, last);
}

}  // namespace assay::layernorm_backward::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::layernorm_backward {

HWY_EXPORT(gradient);

std::vector<Tier> tiers() { return tiers_in(HWY_DISPATCH_TABLE(gradient)); }

const Register registered{[](Registry& r) {
  for_each_norm([&]<class Op>() {
    add_tiers<Op>(
        r, tiers(),
        {.name = "simd", .summary = "vectors of {}, overlapping pairs of rows, the next fetched ahead"},
        [](const Tier& tier, const Problem& p, const auto&) { return kernel_of(tier.function, p, false); });
  });
}};

}  // namespace assay::layernorm_backward
#endif
