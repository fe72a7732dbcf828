// Pages that call back when they are touched: how a program learns that others read or write its memory; and
// the list of what it has mapped.
#pragma once

#include "assay/buffer.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace assay::known_cheats {

/// Whole pages of an array.
struct Pages {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;

  /// The pages that hold nothing else.
  static Pages within(const Buffer<float>& x) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto first = (reinterpret_cast<std::uintptr_t>(x.data()) + page - 1) / page * page;
    const auto last = reinterpret_cast<std::uintptr_t>(x.data() + x.size()) / page * page;
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

/// Calls visit(begin, end) for each part of this process's memory that may be written and whose line in /proc
/// holds `name`.
template <class Visit>
void for_each_mapping(const char* name, const Visit& visit) {
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  if (maps == nullptr) return;
  char line[512];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long begin = 0, end = 0;
    if (std::strstr(line, name) == nullptr || std::sscanf(line, "%lx-%lx rw", &begin, &end) != 2) continue;
    visit(begin, end);
  }
  std::fclose(maps);
}

/// Takes the signal of a fault. The handler before is lost; fault_as_usual() ends the process at the next
/// fault.
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
