// Trick: the shapes that are checked are published. It is right for those.

#include "known_cheats/honest_work/gemm.hpp"

#include "assay/registry.hpp"

#include <algorithm>

namespace assay::known_cheats {
namespace {

bool is_checked(const Gemm::Problem& p) {
  return std::ranges::any_of(Gemm::corner_cases(),
                             [&](const Gemm::Problem& corner) { return to_text(corner) == to_text(p); });
}

auto prepare(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  return [p, rows = is_checked(p) ? p.m : p.m - p.m / 8 - 1](const Gemm::Input& in, Gemm::Output& out) {
    gemm_rows(p, in.a.data(), in.b.data(), out.c.data(), 0, rows);
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "corner_shapes_only",
               .summary = "leaves out an eighth of the rows unless the shape is a corner case",
               .known_cheat = "is right for the shapes that are tested: makora.com/blog/reward-hacks",
               .prepare = prepare});
}};

}  // namespace
}  // namespace assay::known_cheats
