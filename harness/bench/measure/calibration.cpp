#include "bench/measure/calibration.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace assay {

double seconds_for(Timed& timed, Index calls) {
  const auto start = std::chrono::steady_clock::now();
  timed.repeat(calls);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double calibrated(Timed& timed, double first_call, double slice_seconds) {
  double call = first_call;
  for (Index calls = 1; call * static_cast<double>(calls) < slice_seconds / 4; calls *= 2) {
    call = std::max(seconds_for(timed, calls) / static_cast<double>(calls), 1e-10);
  }
  return call;
}

Index calls_per_slice(double call_seconds, double slice_seconds) {
  return std::max<Index>(1, static_cast<Index>(std::ceil(slice_seconds / call_seconds)));
}

}  // namespace assay
