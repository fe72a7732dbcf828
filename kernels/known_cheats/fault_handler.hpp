// Pages that call back when they are touched: what a program can do about reads and writes of its memory by
// others.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace assay::known_cheats {

/// Whole pages of an array.
struct Pages {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;

  /// Those that hold nothing else.
  static Pages within(const void* data, std::size_t size) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto first = (reinterpret_cast<std::uintptr_t>(data) + page - 1) / page * page;
    const auto last = (reinterpret_cast<std::uintptr_t>(data) + size) / page * page;
    if (last <= first) return {};
    return {reinterpret_cast<std::byte*>(first), last - first};
  }
  bool hold(const void* address) const {
    const auto* at = static_cast<const std::byte*>(address);
    return at >= begin && at < begin + bytes;
  }
  void allow(int protection) const {
    if (bytes > 0) mprotect(begin, bytes, protection);
  }
};

/// Takes the signal of a fault; what it did before is lost, but is done for faults that are not ours.
inline void on_fault(void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
}
inline void fault_as_usual() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(SIGSEGV, &action, nullptr);
}

}  // namespace assay::known_cheats
