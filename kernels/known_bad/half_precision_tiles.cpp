// Common where weights outgrow a cache: transformed weights are four times as many as those of the kernel,
// and are kept in half precision. Errors of transformed weights are multiplied up on the way back to results.

#include "known_bad/plain_winograd.hpp"

#include "assay/registry.hpp"

#include <cmath>

namespace assay::conv2d::winograd {
namespace {

/// Rounds to the 11 bits of half precision, and keeps exponents that it has not got: the best case.
float in_half(float x) {
  int exponent = 0;
  const float fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 11)), exponent - 11);
}

void run_in_half(const WinogradProblem& p, const Conv2dWinograd::Input& in, Conv2dWinograd::Output& out) {
  run_plain(p, in, out, matrices(), true, in_half);
}

const Register registered{[](Registry& r) {
  r.add<Conv2dWinograd>(
      {.name = "half_precision_tiles",
       .summary = "transformed weights kept in half precision",
       .known_bad = "half precision for transformed weights: their rounding is multiplied up",
       .precision = "transformed weights of f16",
       .run = run_in_half});
}};

}  // namespace
}  // namespace assay::conv2d::winograd
