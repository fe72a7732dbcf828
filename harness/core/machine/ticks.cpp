#include "core/machine/ticks.hpp"

#include "core/machine/clock.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

namespace assay {

bool ticks_without_system() {
#if defined(__x86_64__) && defined(__linux__)
  static const bool out = [] {
    std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    std::string source;
    return file >> source && (source == "tsc" || source == "kvm-clock");
  }();
  return out;
#else
  return false;
#endif
}

std::uint64_t ticks() {
#if defined(__x86_64__) && defined(__linux__)
  if (ticks_without_system()) return __builtin_ia32_rdtsc();
#endif
  return static_cast<std::uint64_t>(1e9 * system_seconds(CLOCK_MONOTONIC));
}

double seconds_of_a_look() {
  static const double out = [] {
    double least = 1;
    for (int i = 0; i < 100; ++i) least = std::min(least, seconds_since(std::chrono::steady_clock::now()));
    return least;
  }();
  return out;
}

}  // namespace assay
