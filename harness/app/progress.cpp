#include "app/progress.hpp"

#include "app/output.hpp"
#include "core/files/child_process.hpp"
#include "core/machine/clock.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstring>

// Sanitizers report crashes themselves, and say more.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ASSAY_SANITIZED true
#elif defined(__has_feature)
#define ASSAY_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define ASSAY_SANITIZED false
#endif

namespace assay {
namespace {

constexpr std::size_t line_width = 79;
constexpr double seconds_between_plain_lines = 30;
constexpr double seconds_between_rewrites = 0.1;
constexpr double seconds_between_ticks = 1;  // with nothing new to say

double now() { return seconds_since({}); }

volatile std::sig_atomic_t stop_requested = 0;
std::atomic<double> requested_at = 0;  // of the steady clock
static_assert(std::atomic<double>::is_always_lock_free);
volatile std::sig_atomic_t interrupted_code = 0, crashed_code = 0;  // that handlers exit with
char running[512] = "";

// Two signals within this time are one request: `timeout` signals its child and then its group, and no person
// presses Ctrl-C twice so fast. In seconds.
constexpr double one_request = 0.3;

void on_interrupt(int signal, siginfo_t* about, void*) {
  if (about != nullptr && is_sent_by_kernel(signal, *about)) return;
  const double time = system_seconds(CLOCK_MONOTONIC);
  if (stop_requested == 0) {
    requested_at = time;
    stop_requested = 1;
  } else if (time - requested_at > one_request) {
    _exit(interrupted_code);
  }
}

/// Only what POSIX allows in a handler: write and _exit.
void on_crash(int signal) {
  const char* name = signal == SIGSEGV  ? "segmentation fault"
                     : signal == SIGBUS ? "bus error"
                     : signal == SIGFPE ? "arithmetic fault"
                     : signal == SIGILL ? "illegal instruction"
                                        : "abort";
  const std::array<const char*, 5> texts{"assay: crashed (", name, ") during: ", running, "\n"};
  for (const char* text : texts) static_cast<void>(!write(STDERR_FILENO, text, std::strlen(text)));
  _exit(crashed_code);
}

void handle_interrupt(int signal) {
  struct sigaction action {};
  action.sa_sigaction = on_interrupt;
  action.sa_flags = SA_SIGINFO;
  sigaction(signal, &action, nullptr);
}

}  // namespace

std::string progress_line(double seconds, std::optional<double> left, std::string_view what) {
  constexpr double worth_telling = 5, known_after = 2;
  const bool told = left && seconds >= known_after && seconds + *left > worth_telling;
  return fmt::format("{:4.0f} s{}  {}", seconds, told ? ", " + remaining_text(*left) : "",
                     visible(what, Lines::one));
}

Progress::Progress(bool quiet)
    : quiet_(quiet), terminal_(may_rewrite_lines(STDERR_FILENO)), started_(now()), shown_at_(started_) {}

Progress::~Progress() {
  if (terminal_ && !quiet_) fmt::print(stderr, "\r{:{}}\r", "", line_width);
}

Hooks Progress::hooks() {
  return {.progress = [this](std::string_view what, std::optional<double> done) { say(what, done); },
          .stop =
              [this] {
                // The wait for a child asks this ten times a second.
                show_after(seconds_between_ticks);
                return interrupted();
              }};
}

void Progress::say(std::string_view what, std::optional<double> done) {
  now_running(what);
  if (done) remaining_.note(now(), *done);
  what_ = what;
  show_after(seconds_between_rewrites);
}

void Progress::show_after(double seconds) {
  const double time = now();
  if (time - shown_at_ < (terminal_ ? seconds : seconds_between_plain_lines)) return;
  shown_at_ = time;
  if (quiet_) return;
  const std::string line = progress_line(time - started_, remaining_.left(time), what_);
  if (terminal_) {
    fmt::print(stderr, "\r{:{}.{}}", line, line_width, line_width);
    std::fflush(stderr);
  } else {
    fmt::print(stderr, "{}\n", line);
  }
}

void RemainingTime::note(double time, double share) {
  if (last_ && share < last_->share / 2) *this = {};
  if (!first_) {
    first_ = last_ = Point{time, share};
    return;
  }
  if (share <= last_->share) return;
  const double passed = time - first_->time, since = time - last_->time;
  last_ = Point{time, share};
  if (passed <= 0) return;
  const double whole = time + (1 - share) * passed / (share - first_->share);
  constexpr double follows_within = 0.1, least_seconds = 0.5;
  const bool earlier = whole_ && whole < *whole_;
  const double weight = earlier ? 1 - std::exp(-since / std::max(least_seconds, follows_within * passed)) : 1;
  whole_ = earlier ? *whole_ + weight * (whole - *whole_) : whole;
}

std::optional<double> RemainingTime::left(double time) const {
  if (!whole_) return std::nullopt;
  return std::max(*whole_ - time, (time - last_->time) / 4);
}

std::string remaining_text(double seconds) {
  constexpr double minute = 60, hour = 3600;
  // Rounds up to a step that grows with the time, since the estimate is not exact.
  const auto up_to = [&](double step) { return step * std::ceil(seconds / step); };
  if (seconds <= minute)
    return fmt::format("about {:.0f} s left", std::max(1.0, up_to(seconds < 10 ? 1 : 5)));
  if (seconds <= 2 * minute) return fmt::format("about {:.0f} s left", up_to(10));
  if (seconds <= hour) return fmt::format("about {:.0f} min left", up_to(minute) / minute);
  const double rounded = up_to(5 * minute), hours = std::floor(rounded / hour);
  return fmt::format("about {:.0f} h {:.0f} min left", hours, (rounded - hours * hour) / minute);
}

void catch_interrupts(int code) {
  interrupted_code = code;
  handle_interrupt(SIGINT);
  handle_interrupt(SIGTERM);
  // nohup ignores it, and a program that it starts is to go on.
  struct sigaction hang_up {};
  sigaction(SIGHUP, nullptr, &hang_up);
  if (hang_up.sa_handler != SIG_IGN) handle_interrupt(SIGHUP);
}

bool interrupted() { return stop_requested != 0; }

void report_crashes(int code) {
  crashed_code = code;
  if (ASSAY_SANITIZED) return;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, on_crash);
}

void now_running(std::string_view what) {
  const std::size_t length = std::min(what.size(), sizeof running - 1);
  std::memcpy(running, what.data(), length);
  running[length] = '\0';
}

}  // namespace assay
