// The idea: read A once, in memory order, with enough sums in flight that memory is the limit. For A x, rows
// are dotted with x. For A^T x, eight rows at a time are scaled by eight elements of x and added to y, so y
// is read and written once per eight rows.

#include "gemv/part.hpp"

#define HWY_TARGET_INCLUDE "gemv/simd.cpp"
#include "vectors_inl.hpp"

#include "gemv/rows_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::gemv::HWY_NAMESPACE {

void multiply(const Part& p) {
  const Matrix a{.a = p.a, .m = p.m, .n = p.n, .lda = p.n};
  if (p.transposed) {
    add_all_rows(a, {.x = p.x}, p.begin, p.end, false, p.y);
  } else {
    dot_all_rows(a, p.x, p.begin, p.end, [&](Index i, float sum) HWY_ATTR { p.y[i] = sum; });
  }
}

}  // namespace assay::gemv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::gemv {

HWY_EXPORT(multiply);

std::vector<Tier> tiers() { return tiers_in(HWY_DISPATCH_TABLE(multiply)); }

const Register registered{[](Registry& r) {
  add_tiers<Gemv>(r, tiers(), {.name = "simd", .summary = "rows of A in groups, compiled for {}"},
                  [](const Tier& tier, const Gemv::Problem& p, const auto&) {
                    return [p, multiply = tier.function](const Gemv::Input& in, Gemv::Output& out) {
                      multiply(part_of(p, in, out, 0, p.results()));
                    };
                  });
}};

}  // namespace assay::gemv
#endif
