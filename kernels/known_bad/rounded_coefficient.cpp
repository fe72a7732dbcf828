// Common where matrices are copied from a paper: one coefficient with fewer digits than it has. 225/256 of
// the transformation of pixels became 0.88, a thousandth too much, which no picture shows.

#include "known_bad/plain_winograd.hpp"

#include "assay/registry.hpp"

namespace assay::conv2d::winograd {
namespace {

void run_rounded(const WinogradProblem& p, const Conv2dWinograd::Input& in, Conv2dWinograd::Output& out) {
  Matrices m = matrices();
  m.b[0][0] = 0.88;
  run_plain(p, in, out, m, true, [](float u) { return u; });
}

const Register registered{[](Registry& r) {
  r.add<Conv2dWinograd>({.name = "rounded_coefficient",
                         .summary = "0.88 for 225/256 in the transformation of pixels",
                         .known_bad = "a coefficient with two digits: a sum off by a thousandth of a pixel",
                         .precision = "sums of transformed tiles",
                         .run = run_rounded});
}};

}  // namespace
}  // namespace assay::conv2d::winograd
