/// Waiting between measurements that are spread over time.
#pragma once

#include "assay/check.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace assay {

/// Sleeps until `seconds` after `start`, unless that is over, or the user wants to stop.
inline void pause_until(std::chrono::steady_clock::time_point start, double seconds, const Hooks& hooks) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds nap{10};  // how late a stop may be noticed
  const auto deadline =
      start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  while (!hooks.stopped() && Clock::now() < deadline) {
    std::this_thread::sleep_until(std::min(deadline, Clock::now() + nap));
  }
}

}  // namespace assay
