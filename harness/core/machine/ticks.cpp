#include "core/machine/ticks.hpp"

#include "core/machine/clock.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

namespace assay {

std::uint64_t ticks() {
#ifdef __aarch64__
  std::uint64_t out;
  asm volatile("mrs %0, cntvct_el0" : "=r"(out));
  return out;
#else
#if defined(__x86_64__) && defined(__linux__)
  // Steady where the clock of the system is made of it.
  static const bool steady = [] {
    std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    std::string source;
    return file >> source && (source == "tsc" || source == "kvm-clock");
  }();
  if (steady) return __builtin_ia32_rdtsc();
#endif
  return static_cast<std::uint64_t>(1e9 * system_seconds(CLOCK_MONOTONIC));
#endif
}

double seconds_of_a_look() {
  static const double out = [] {
    double least = 1;
    for (int i = 0; i < 100; ++i) {
      const auto start = std::chrono::steady_clock::now();
      ticks();
      ticks();
      least = std::min(least, seconds_since(start));
    }
    return least;
  }();
  return out;
}

}  // namespace assay
