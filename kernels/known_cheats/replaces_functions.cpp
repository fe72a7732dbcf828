// A cheat that defines functions of the C library anew, so that the program's clocks run slow while this
// kernel has its turn. Sanitizers replace the same functions: with them it is left out.

#include "known_cheats/honest_work.hpp"

#include <sys/syscall.h>

#include <cerrno>
#include <cstdarg>

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define ASSAY_IS_SANITIZED
#endif
#endif
#if defined(ASSAY_IS_SANITIZED) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ASSAY_REPLACES false
#else
#define ASSAY_REPLACES true
#endif

namespace assay::known_cheats {
namespace {

HiddenTime hidden_time;

struct Arguments {
  long values[6];
};

long asked_of_system(long number, const Arguments& with) {
  const auto& [a, b, c, d, e, f] = with.values;
  long answer = number;
  register long fourth asm("r10") = d;
  register long fifth asm("r8") = e;
  register long sixth asm("r9") = f;
  asm volatile("syscall"
               : "+a"(answer)
               : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  return answer;
}

[[maybe_unused]] int slow_clock(clockid_t id, timespec* now) {
  const long outcome = asked_of_system(SYS_clock_gettime, {{id, reinterpret_cast<long>(now)}});
  if (outcome != 0) {
    errno = static_cast<int>(-outcome);
    return -1;
  }
  if (id == CLOCK_MONOTONIC) hidden_time.take_from(*now);
  return 0;
}

/// Puts the right clock back in the end.
struct RightClock {
  ~RightClock() { hidden_time.hidden = 0; }
};

void run(const RightClock&, const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  const auto read = [](timespec& now) {
    asked_of_system(SYS_clock_gettime, {{CLOCK_MONOTONIC, reinterpret_cast<long>(&now)}});
  };
  hidden_time.during(read, [&] { gemm(p, in, out); });
}

const Register registered{[](Registry& r) {
  r.add<Gemm>(
      {.name = "replaces_clock",
       .summary = "defines clock_gettime() and syscall(), whose clocks pass over three quarters of its calls",
       .known_cheat = "interposes the timer: symbol interposition as LD_PRELOAD has it",
       .prepare = keeping<Gemm, RightClock>(run),
       .unfit = unless([](const auto&) { return ASSAY_REPLACES; },
                       "sanitizers define these functions themselves")});
}};

}  // namespace

}  // namespace assay::known_cheats

#if ASSAY_REPLACES
extern "C" {
int clock_gettime(clockid_t id, timespec* now) noexcept { return assay::known_cheats::slow_clock(id, now); }

// As the C library has it: all six arguments are passed on, however many there are.
long syscall(long number, ...) noexcept {
  std::va_list list;
  va_start(list, number);
  assay::known_cheats::Arguments with{};
  for (long& value : with.values) value = va_arg(list, long);
  va_end(list);
  if (number == SYS_clock_gettime) {
    return clock_gettime(static_cast<clockid_t>(with.values[0]), reinterpret_cast<timespec*>(with.values[1]));
  }
  const long answer = assay::known_cheats::asked_of_system(number, with);
  if (answer >= 0 || answer < -4095) return answer;
  errno = static_cast<int>(-answer);
  return -1;
}
}

#endif
