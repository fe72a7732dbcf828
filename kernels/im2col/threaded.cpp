// The idea: the best SIMD tier on threads that are already running. They share out tap rows by channels and
// rows of patches by patch, in the order of col, and each thread splits the rows that it needs.

#include "im2col/threaded.hpp"

namespace assay::im2col {

/// Elements of col below which one thread computes all. Measured by channels on two cores of a Zen 5 beside
/// other load, images of 14 x 14, 3 x 3 taps, fastest tenth of 90 slices, one thread in units of two: 0.67
/// at 28,224 elements, 1.07 at 56,448, 1.38 at 112,896, 1.6 at 225,792.
constexpr Index break_even = 65536;

const Register registered{[](Registry& r) {
  add_threaded<Im2col>(r, "the best SIMD tier, rows of col divided among OpenMP threads",
                       [](const Problem& p, const auto&, const Context& context) {
                         const int threads = started_team(context, p.col_size() < break_even);
                         return kernel_of<Im2col>(best_of(tiers<Im2col>()).function, p, threads);
                       });
}};

}  // namespace assay::im2col
