#include "app/interrupt.hpp"

#include "core/files/child_process.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>

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

constexpr bool sanitized = ASSAY_SANITIZED;

volatile std::sig_atomic_t stop_requested = 0;
std::atomic<std::int64_t> requested_at = 0;  // of the steady clock, in milliseconds
static_assert(std::atomic<std::int64_t>::is_always_lock_free);
volatile std::sig_atomic_t interrupted_code = 0, crashed_code = 0;  // that handlers exit with
char running[512] = "";

std::int64_t milliseconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// Two signals within this time are one request: `timeout` signals its child and then its group, and no person
// presses Ctrl-C twice so fast. In milliseconds.
constexpr std::int64_t one_request = 300;

void on_interrupt(int signal, siginfo_t* about, void*) {
  if (about != nullptr && is_sent_by_kernel(signal, *about)) return;
  const std::int64_t now = milliseconds_now();
  if (stop_requested == 0) {
    requested_at = now;
    stop_requested = 1;
  } else if (now - requested_at > one_request) {
    _exit(interrupted_code);
  }
}

/// Only what POSIX allows in a handler: write and _exit.
void write_text(const char* text) {
  const auto written = write(STDERR_FILENO, text, std::strlen(text));
  static_cast<void>(written);
}

void on_crash(int signal) {
  const char* name = signal == SIGSEGV  ? "segmentation fault"
                     : signal == SIGBUS ? "bus error"
                     : signal == SIGFPE ? "arithmetic fault"
                     : signal == SIGILL ? "illegal instruction"
                                        : "abort";
  write_text("assay: crashed (");
  write_text(name);
  write_text(") during: ");
  write_text(running);
  write_text("\n");
  _exit(crashed_code);
}

void handle_interrupt(int signal) {
  struct sigaction action {};
  action.sa_sigaction = on_interrupt;
  action.sa_flags = SA_SIGINFO;
  sigaction(signal, &action, nullptr);
}

}  // namespace

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
  if (sanitized) return;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, on_crash);
}

void now_running(std::string_view what) {
  const std::size_t length = std::min(what.size(), sizeof running - 1);
  std::memcpy(running, what.data(), length);
  running[length] = '\0';
}

}  // namespace assay
