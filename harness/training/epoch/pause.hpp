/// Waiting between measurements that are spread over time.
#pragma once

#include "assay/hooks.hpp"

#include <chrono>

namespace assay {

/// Until `seconds` after `start`, unless that is over, or the user wants to stop. The processor is kept busy,
/// as an epoch keeps it: after sleeping for a quarter of a second steps took 3 % longer in the median and 10
/// % for one in four, for tens of milliseconds, since the clock falls and a host gives the core to others.
inline void pause_until(std::chrono::steady_clock::time_point start, double seconds, const Hooks& hooks) {
  using Clock = std::chrono::steady_clock;
  const auto deadline =
      start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  while (Clock::now() < deadline && !hooks.stopped()) {
  }
}

}  // namespace assay
