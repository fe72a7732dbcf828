#include "bench/measure/shared_memory.hpp"

#include "assay/error.hpp"
#include "assay/random.hpp"

#include <fmt/format.h>

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

namespace assay {
namespace {

/// Far from where Linux puts programs, heaps, libraries and stacks, and from what sanitizers reserve.
constexpr std::uintptr_t address = 0x2000'0000'0000;

/// Bytes that the process has mapped there, of which this one may be a copy.
std::size_t inherited = 0;

[[noreturn]] void fail(const char* what) {
  throw Error("shared memory", std::string(what) + ": " + std::strerror(errno),
              "free memory, or lift the limit on address space (ulimit -v)");
}

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

SharedRegion::SharedRegion(int descriptor, std::size_t bytes) : descriptor_(descriptor), bytes_(bytes) {
  void* found = mmap(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, descriptor, 0);
  if (found == MAP_FAILED) fail("cannot be mapped at its address");
  inherited = bytes;
  data_ = static_cast<std::byte*>(found);
}

SharedRegion::SharedRegion(SharedRegion&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(other.bytes_) {}

SharedRegion::~SharedRegion() {
  if (data_ != nullptr) {
    munmap(data_, bytes_);
    inherited = 0;
  }
  if (descriptor_ >= 0) close(descriptor_);
}

SharedRegion SharedRegion::made(std::size_t bytes) {
  const int descriptor = memfd_create("assay", 0);
  if (descriptor < 0) fail("cannot be made");
  if (ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) {
    close(descriptor);
    fail("cannot be given its size");
  }
  return {descriptor, bytes};
}

SharedRegion SharedRegion::mapped(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) fail("is not what was handed over");
  if (inherited > 0) munmap(reinterpret_cast<void*>(address), inherited);
  return {descriptor, static_cast<std::size_t>(status.st_size)};
}

void* Arena::do_allocate(std::size_t bytes, std::size_t alignment) {
  const std::size_t begin = (used_ + alignment - 1) / alignment * alignment;
  if (begin + bytes > bytes_) throw std::bad_alloc();
  used_ = begin + bytes;
  return begin_ + begin;
}

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
