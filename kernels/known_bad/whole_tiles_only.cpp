// Common in first versions: the image is divided into tiles of 4 x 4 results, and those that the last row and
// column of tiles have only a part of are forgotten. Right wherever extents of the result are multiples of 4.

#include "known_bad/plain_winograd.hpp"

#include "assay/registry.hpp"

namespace assay::conv2d::winograd {
namespace {

void run_whole(const WinogradProblem& p, const Conv2dWinograd::Input& in, Conv2dWinograd::Output& out) {
  run_plain(p, in, out, matrices(), false, [](float u) { return u; });
}

const Register registered{[](Registry& r) {
  r.add<Conv2dWinograd>({.name = "whole_tiles_only",
                         .summary = "tiles that reach past the result left out",
                         .known_bad = "an edge of less than a tile is lost",
                         .precision = "sums of transformed tiles",
                         .run = run_whole});
}};

}  // namespace
}  // namespace assay::conv2d::winograd
