// The idea: each thread computes its own part of y, from rows of A for A x and from columns for A^T x, so no
// sum crosses threads. Past the caches it gains as far as two cores draw more from memory than one.

#include "gemv/part.hpp"
#include "team.hpp"

namespace assay::gemv {
namespace {

// Elements of A below which one thread computes all. Measured on two cores of a Zen 5: 512 x 512 is 1.5 times
// as fast on two threads, and 256 x 256 took 1.7 times as long.
constexpr double break_even = 0x1p18;
// Parts of y begin at cache lines if y does.
constexpr Index unit = 16;

auto prepare(const Gemv::Problem& p, const Gemv::Input&, const Context& context) {
  const bool alone = static_cast<double>(p.m) * static_cast<double>(p.n) < break_even;
  const int threads = started_team(context, alone, pieces(p.results(), unit));
  return [p, threads, multiply = best_of(tiers()).function](const Gemv::Input& in, Gemv::Output& out) {
    on_team(threads, threads, [&](int part) {
      multiply(part_of(p, in, out, cut(p.results(), unit, part, threads),
                       cut(p.results(), unit, part + 1, threads)));
    });
  };
}

const Register registered{
    [](Registry& r) { add_threaded<Gemv>(r, "best tier of simd on a part of y per thread", prepare); }};

}  // namespace
}  // namespace assay::gemv
