#include "bench/measure/baton.hpp"

#include "assay/error.hpp"
#include "assay/random.hpp"

#include <fmt/format.h>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace assay {
namespace {

/// One bit per side: exactly the one whose turn comes is woken. Another one that woke only to sleep again
/// would do so within a slice, since all share a core.
std::uint32_t bit(int side) { return 1U << side; }

/// The deadline of a wait is absolute, by the monotonic clock.
long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, std::uint32_t bits,
           const timespec* deadline = nullptr) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, deadline, nullptr,
                 bits);
}

timespec monotonic_now() {
  timespec out{};
  clock_gettime(CLOCK_MONOTONIC, &out);
  return out;
}

}  // namespace

SliceSeed::SliceSeed(Board& board, std::int64_t slice)
    : board_(board), value_(board.slice == slice ? board.seed : secret()) {
  board.slice = slice;
  board.seed = 0;
}

void Baton::wait() {
  timespec deadline{};
  for (std::uint32_t now = board_.step.load(std::memory_order_acquire); now != step_;
       now = board_.step.load(std::memory_order_acquire)) {
    if (deadline.tv_sec == 0) {
      deadline = monotonic_now();
      deadline.tv_sec += longest_.count();
    }
    if (futex(board_.step, FUTEX_WAIT_BITSET, now, bit(side_), &deadline) == 0 || errno != ETIMEDOUT)
      continue;
    throw Error("turns", fmt::format("another side did not end its turn within {} s", longest_.count()),
                "a kernel of one of the builds hangs: find it with `check`");
  }
}

void Baton::pass_to(int next) {
  board_.step.store(step_ + 1, std::memory_order_release);
  if (next != side_) futex(board_.step, FUTEX_WAKE_BITSET, 1, bit(next));
}

}  // namespace assay
