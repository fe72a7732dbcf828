// The idea: read A once, in the order in which it lies, with enough sums under way that memory is the limit.
// For A x, four rows at a time share each vector of x, with two vectors of sums per row. For A^T x, eight
// rows at a time are added to y, scaled by eight elements of x, so that y is read and written once per eight
// rows.

#include "gemv/part.hpp"
#include "tiers.hpp"

#include "assay/registry.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemv/simd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first, since it chooses the target that highway.h is read for.
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::gemv {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

constexpr Index lanes = HWY_LANES(float);

// Rows of A x at a time, each with its own stream through memory.
constexpr Index most_rows = 4;

// y[r] = sum_j a[r * n + j] x[j] for `rows` rows.
template <Index rows>
HWY_INLINE void dot_rows(const float* a, const float* x, Index n, float* y) {
  const Floats d;
  Vector first[static_cast<std::size_t>(rows)], second[static_cast<std::size_t>(rows)];
  for (Index r = 0; r < rows; ++r) first[r] = second[r] = hn::Zero(d);
  Index j = 0;
  for (; j + 2 * lanes <= n; j += 2 * lanes) {
    const Vector x0 = hn::LoadU(d, x + j), x1 = hn::LoadU(d, x + j + lanes);
    for (Index r = 0; r < rows; ++r) {
      first[r] = hn::MulAdd(hn::LoadU(d, a + r * n + j), x0, first[r]);
      second[r] = hn::MulAdd(hn::LoadU(d, a + r * n + j + lanes), x1, second[r]);
    }
  }
  if (j + lanes <= n) {
    const Vector x0 = hn::LoadU(d, x + j);
    for (Index r = 0; r < rows; ++r) first[r] = hn::MulAdd(hn::LoadU(d, a + r * n + j), x0, first[r]);
    j += lanes;
  }
  for (Index r = 0; r < rows; ++r) {
    float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(first[r], second[r])));
    for (Index i = j; i < n; ++i) sum += a[r * n + i] * x[i];
    y[r] = sum;
  }
}

// y[j] (+)= sum_r a[r * n + j] x[r] for `rows` rows and j in [begin, end).
template <Index rows>
HWY_INLINE void add_rows(const float* a, const float* x, Index n, Index begin, Index end, bool first,
                         float* y) {
  const Floats d;
  Vector scale[static_cast<std::size_t>(rows)];
  for (Index r = 0; r < rows; ++r) scale[r] = hn::Set(d, x[r]);
  Index j = begin;
  for (; j + lanes <= end; j += lanes) {
    // Two sums, since one alone waits for each of its eight additions.
    Vector even = first ? hn::Zero(d) : hn::LoadU(d, y + j), odd = hn::Zero(d);
    for (Index r = 0; r < rows; ++r) {
      Vector& sum = r % 2 == 0 ? even : odd;
      sum = hn::MulAdd(hn::LoadU(d, a + r * n + j), scale[r], sum);
    }
    hn::StoreU(hn::Add(even, odd), d, y + j);
  }
  for (; j < end; ++j) {
    float sum = first ? 0 : y[j];
    for (Index r = 0; r < rows; ++r) sum += a[r * n + j] * x[r];
    y[j] = sum;
  }
}

void multiply(const Part& p) {
  if (!p.transposed) {
    Index i = p.begin;
    for (; i + most_rows <= p.end; i += most_rows) dot_rows<most_rows>(p.a + i * p.n, p.x, p.n, p.y + i);
    for (; i < p.end; ++i) dot_rows<1>(p.a + i * p.n, p.x, p.n, p.y + i);
    return;
  }
  constexpr Index together = 8;
  Index i = 0;
  for (; i + together <= p.m; i += together) {
    add_rows<together>(p.a + i * p.n, p.x + i, p.n, p.begin, p.end, i == 0, p.y);
  }
  for (; i < p.m; ++i) add_rows<1>(p.a + i * p.n, p.x + i, p.n, p.begin, p.end, i == 0, p.y);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::gemv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::gemv {

HWY_EXPORT(multiply);

std::vector<Tier> tiers() { return tiers_in(HWY_DISPATCH_TABLE(multiply)); }

namespace {

const Register registered{[](Registry& r) {
  for (const Tier& tier : tiers()) {
    r.add<Gemv>({.name = "simd@" + tier.name,
                 .summary = "rows of A in groups, compiled for " + tier.name,
                 .prepare =
                     [tier](const Gemv::Problem& p, const Gemv::Input&, const Context&) {
                       return [tier, p](const Gemv::Input& in, Gemv::Output& out) {
                         tier.function({.a = in.a.data(),
                                        .x = in.x.data(),
                                        .y = out.y.data(),
                                        .m = p.m,
                                        .n = p.n,
                                        .transposed = p.transposed(),
                                        .begin = 0,
                                        .end = p.results()});
                       };
                     },
                 .unfit = [unfit = tier.unfit](const Gemv::Problem&, const Context&) { return unfit; }});
  }
}};

}  // namespace
}  // namespace assay::gemv
#endif
