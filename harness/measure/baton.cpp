#include "measure/baton.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace assay {
namespace {

/// One bit per side: exactly the one whose turn comes is woken. Another one that woke only to sleep again
/// would do so within a slice, since all share a core.
std::uint32_t bit(int side) { return 1U << side; }

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, std::uint32_t bits) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr, nullptr,
                 bits);
}

}  // namespace

void Baton::wait() {
  for (std::uint32_t now = board_.step.load(std::memory_order_acquire); now != step_;
       now = board_.step.load(std::memory_order_acquire)) {
    futex(board_.step, FUTEX_WAIT_BITSET, now, bit(side_));
  }
}

void Baton::pass_to(int next) {
  board_.step.store(step_ + 1, std::memory_order_release);
  if (next != side_) futex(board_.step, FUTEX_WAKE_BITSET, 1, bit(next));
}

}  // namespace assay
