#include "assay/buffer.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <new>

namespace assay::detail {
namespace {

constexpr std::size_t line = 64;

/// Differs from byte to byte, so that a guard overwritten by a constant or by a shifted copy is noticed.
std::byte pattern(std::size_t i) { return static_cast<std::byte>(0xa5U ^ (i * 37U)); }

void write_pattern(std::byte* guard, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) guard[i] = pattern(i);
}

bool has_pattern(const std::byte* guard, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    if (guard[i] != pattern(i)) return false;
  }
  return true;
}

/// Pages of its own for each block, and one without access behind them.
class FencedPages final : public std::pmr::memory_resource {
 public:
  static std::size_t page() {
    static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return bytes;
  }
  static std::size_t rounded(std::size_t bytes) { return (bytes + page() - 1) / page() * page(); }

 private:
  void* do_allocate(std::size_t bytes, std::size_t) override {
    const std::size_t open = rounded(bytes);
    void* const pages =
        mmap(nullptr, open + page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    prefer_large_pages(pages, open);
    mprotect(static_cast<std::byte*>(pages) + open, page(), PROT_NONE);
    return pages;
  }
  void do_deallocate(void* pages, std::size_t bytes, std::size_t) override {
    munmap(pages, rounded(bytes) + page());
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace

void prefer_large_pages(void* begin, std::size_t bytes) {
  constexpr std::size_t many = 4 << 20;
  if (bytes < many) return;
  void* from = begin;
  std::size_t rest = bytes;
  if (std::align(FencedPages::page(), many / 2, from, rest) != nullptr)
    madvise(from, rest / FencedPages::page() * FencedPages::page(), MADV_HUGEPAGE);
}

GuardedBlock::GuardedBlock(std::size_t bytes, std::size_t skew, std::pmr::memory_resource* memory)
    : memory_(memory != nullptr ? memory : std::pmr::new_delete_resource()),
      total_(bytes + skew + 2 * guard_bytes),
      bytes_(bytes) {
  base_ = static_cast<std::byte*>(memory_->allocate(total_, line));
  payload_ = base_ + guard_bytes + skew;
  mend();
}

GuardedBlock GuardedBlock::before_fence(std::size_t bytes, std::size_t element) {
  static FencedPages pages;
  GuardedBlock out;
  out.memory_ = &pages;
  out.guarded_after_ = bytes % line == 0 ? element : 0;
  out.bytes_ = bytes;
  out.total_ = guard_bytes + bytes + out.guarded_after_;
  out.base_ = static_cast<std::byte*>(pages.allocate(out.total_, line));
  out.payload_ = out.base_ + FencedPages::rounded(out.total_) - out.guarded_after_ - bytes;
  out.mend();
  return out;
}

void GuardedBlock::mend() {
  if (base_ == nullptr) return;
  write_pattern(payload_ - guard_bytes, guard_bytes);
  write_pattern(payload_ + bytes_, guarded_after_);
}

GuardedBlock::~GuardedBlock() {
  if (base_ != nullptr) memory_->deallocate(base_, total_, line);
}

bool GuardedBlock::intact() const {
  return base_ == nullptr ||
         (has_pattern(payload_ - guard_bytes, guard_bytes) && has_pattern(payload_ + bytes_, guarded_after_));
}

}  // namespace assay::detail
