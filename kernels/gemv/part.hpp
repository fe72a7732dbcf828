// The product behind the variants `simd` and `threaded` of gemv: part of y per call.
#pragma once

#include "assay/ops/gemv.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::gemv {

/// y[begin, end) of y = A x for A[m, n], or of y = A^T x.
struct Part {
  const float* a = nullptr;
  const float* x = nullptr;
  float* y = nullptr;
  Index m = 0, n = 0;
  bool transposed = false;
  Index begin = 0, end = 0;
};

/// The product compiled for one SIMD target.
struct Tier {
  std::string name;
  std::optional<std::string> unfit;  ///< why this processor cannot run it
  void (*multiply)(const Part& part) = nullptr;
};

/// Every target that was built, best first.
std::vector<Tier> tiers();

}  // namespace assay::gemv
