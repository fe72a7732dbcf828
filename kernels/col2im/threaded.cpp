// The idea: the best SIMD tier on threads that are already running. They share out the image: rows, pieces of
// flat planes, or by patch channels, so that one thread sums each pixel.

#include "im2col/threaded.hpp"

namespace assay::im2col {

/// Elements of col below which one thread computes all. Measured as in im2col/threaded.cpp: 0.61 at 25,600
/// elements, 0.93 at 51,200, 1.21 at 102,400, 1.8 at 204,800. By patch an element costs more, but less in
/// small planes; the break-even by patch is not measured.
constexpr Index break_even = 65536;

const Register registered{[](Registry& r) {
  add_threaded<Col2im>(r, "the best SIMD tier, the image divided among OpenMP threads",
                       [](const Problem& p, const auto&, const Context& context) {
                         const int threads = started_team(context, p.col_size() < break_even);
                         return kernel_of<Col2im>(best_of(tiers<Col2im>()).function, p, threads);
                       });
}};

}  // namespace assay::im2col
