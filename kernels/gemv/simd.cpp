// The idea: read A once, in memory order, with enough sums in flight that memory is the limit. For A x, rows
// are dotted with x. For A^T x, eight rows at a time are scaled by eight elements of x and added to y, so y
// is read and written once per eight rows.

#include "gemv/part.hpp"
#include "tiers.hpp"

#include "assay/registry.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemv/simd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first, since it chooses the target that highway.h is read for.
#include "gemv/rows_inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::gemv {
namespace HWY_NAMESPACE {

void multiply(const Part& p) {
  const Matrix a{.a = p.a, .m = p.m, .n = p.n, .lda = p.n};
  if (p.transposed) {
    add_all_rows(a, {.x = p.x}, p.begin, p.end, false, p.y);
  } else {
    dot_all_rows(a, p.x, p.begin, p.end, [&](Index i, float sum) HWY_ATTR { p.y[i] = sum; });
  }
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
