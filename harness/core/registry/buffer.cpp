#include "assay/buffer.hpp"

#include <algorithm>
#include <cstdint>

namespace assay::detail {
namespace {

constexpr std::size_t line = 64;

/// Differs from byte to byte, so that a guard overwritten by a constant or by a shifted copy is noticed.
std::byte pattern(std::size_t i) { return static_cast<std::byte>(0xa5U ^ (i * 37U)); }

void write_pattern(std::byte* guard) {
  for (std::size_t i = 0; i < GuardedBlock::guard_bytes; ++i) guard[i] = pattern(i);
}

bool has_pattern(const std::byte* guard) {
  for (std::size_t i = 0; i < GuardedBlock::guard_bytes; ++i) {
    if (guard[i] != pattern(i)) return false;
  }
  return true;
}

}  // namespace

GuardedBlock::GuardedBlock(std::size_t bytes, std::size_t skew, std::pmr::memory_resource* memory)
    : memory_(memory != nullptr ? memory : std::pmr::new_delete_resource()),
      total_(bytes + skew + 2 * guard_bytes),
      bytes_(bytes) {
  base_ = static_cast<std::byte*>(memory_->allocate(total_, line));
  payload_ = base_ + guard_bytes + skew;
  mend();
}

void GuardedBlock::mend() {
  if (base_ == nullptr) return;
  write_pattern(payload_ - guard_bytes);
  write_pattern(payload_ + bytes_);
}

GuardedBlock::~GuardedBlock() {
  if (base_ != nullptr) memory_->deallocate(base_, total_, line);
}

bool GuardedBlock::intact() const {
  return base_ == nullptr || (has_pattern(payload_ - guard_bytes) && has_pattern(payload_ + bytes_));
}

}  // namespace assay::detail
