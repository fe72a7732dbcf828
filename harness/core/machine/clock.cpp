#include "core/machine/clock.hpp"

#include "core/text/parts.hpp"

#include <fmt/chrono.h>

#include <sys/syscall.h>

#include <algorithm>
#include <ctime>
#include <fstream>

namespace assay {

double system_seconds(clockid_t clock) {
  timespec now{};
#if defined(__x86_64__) && defined(__linux__)
  long answer = SYS_clock_gettime;
  asm volatile("syscall" : "+a"(answer) : "D"(long{clock}), "S"(&now) : "rcx", "r11", "memory");
#elif defined(__aarch64__) && defined(__linux__)
  register long number asm("x8") = SYS_clock_gettime;
  register long answer asm("x0") = clock;
  register timespec* place asm("x1") = &now;
  asm volatile("svc #0" : "+r"(answer) : "r"(number), "r"(place) : "memory");
#else
  clock_gettime(clock, &now);
#endif
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::uint64_t ticks() {
#ifdef __aarch64__
  std::uint64_t out;
  asm volatile("mrs %0, cntvct_el0" : "=r"(out));
  return out;
#elif defined(__x86_64__) && defined(__linux__)
  // Steady where the clock of the system is made of it.
  static const bool steady = [] {
    std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    std::string source;
    return file >> source && (source == "tsc" || source == "kvm-clock");
  }();
  if (steady) return __builtin_ia32_rdtsc();
#endif
  return static_cast<std::uint64_t>(1e9 * system_seconds(CLOCK_MONOTONIC));
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

std::string utc_now() { return fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr))); }

std::optional<Date> date_from(std::string_view text) {
  constexpr std::string_view form = "2026-10-01";
  if (text.size() != form.size()) return std::nullopt;
  const auto number = [&](std::size_t from, std::size_t digits) {
    return number_from<unsigned>(text.substr(from, digits)).value_or(0);
  };
  const std::chrono::year_month_day parts{std::chrono::year(static_cast<int>(number(0, 4))),
                                          std::chrono::month(number(5, 2)), std::chrono::day(number(8, 2))};
  if (!parts.ok()) return std::nullopt;
  const Date date(parts);
  // Written again it differs wherever anything but digits and dashes was there.
  return date_text(date) == text ? std::optional(date) : std::nullopt;
}

std::string date_text(Date date) {
  const std::chrono::year_month_day parts(date);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(parts.year()),
                     static_cast<unsigned>(parts.month()), static_cast<unsigned>(parts.day()));
}

}  // namespace assay
