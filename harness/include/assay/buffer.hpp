/// Storage for inputs and outputs: aligned, poisoned, and guarded on both sides.
#pragma once

#include "assay/problem.hpp"

#include <bit>
#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <span>
#include <type_traits>
#include <utility>

namespace assay {

/// The place that the buffers of a workload come from.
struct Placement {
  /// Source of memory; nullptr means the heap. A resource must outlive the buffers taken from it.
  std::pmr::memory_resource* memory = nullptr;
  bool shared = false;  ///< by processes that take turns
  /// Elements by which every buffer starts past a 64-byte boundary: 1 makes vector loads misaligned.
  Index skew = 0;
  /// Every buffer ends where a page begins that nobody may touch, or one element before it where it would
  /// start at a 64-byte boundary otherwise. `memory` and `skew` then count for nothing.
  bool fenced = false;
};

/// Returns the value that every element holds before anything is written. For floating types it is a NaN with
/// a payload of its own, so that an element that was read before it was written, or never written, is
/// recognised by its bits.
template <class T>
T poison_value() {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(std::uint32_t{0x7fc0dead});
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(std::uint64_t{0x7ff8dead7ff8dead});
  } else {
    T value;
    std::memset(&value, 0xad, sizeof value);
    return value;
  }
}

/// Whether `value` still holds the bits of poison_value().
template <class T>
bool is_poison(const T& value) {
  const T poison = poison_value<T>();
  return std::memcmp(&value, &poison, sizeof(T)) == 0;
}

namespace detail {

/// Asks for large pages for memory of 4 MiB and more that is touched outside of all times: to give small ones
/// takes virtual machines longer than to compute what is stored there.
void prefer_large_pages(void* begin, std::size_t bytes);

/// Raw guarded memory: `guard_bytes` of a known pattern on both sides of the payload.
class GuardedBlock {
 public:
  static constexpr std::size_t guard_bytes = 256;

  GuardedBlock() = default;
  /// Payload of `bytes`, starting `skew` bytes past a 64-byte boundary.
  GuardedBlock(std::size_t bytes, std::size_t skew, std::pmr::memory_resource* memory);
  /// Payload of `bytes`, before a fence, or `element` bytes before it where it would be aligned otherwise.
  static GuardedBlock before_fence(std::size_t bytes, std::size_t element);
  /// Payload of `bytes` with elements of `element` bytes.
  static GuardedBlock placed(std::size_t bytes, std::size_t element, const Placement& placement) {
    if (placement.fenced) return before_fence(bytes, element);
    return {bytes, static_cast<std::size_t>(placement.skew) * element, placement.memory};
  }
  GuardedBlock(GuardedBlock&& other) noexcept { swap(other); }
  GuardedBlock& operator=(GuardedBlock&& other) noexcept {
    GuardedBlock(std::move(other)).swap(*this);
    return *this;
  }
  ~GuardedBlock();

  std::byte* payload() const { return payload_; }
  bool intact() const;
  void mend();

 private:
  void swap(GuardedBlock& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(base_, other.base_);
    std::swap(total_, other.total_);
    std::swap(payload_, other.payload_);
    std::swap(bytes_, other.bytes_);
    std::swap(guarded_after_, other.guarded_after_);
  }

  std::pmr::memory_resource* memory_ = nullptr;
  std::byte* base_ = nullptr;
  std::size_t total_ = 0;
  std::byte* payload_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t guarded_after_ = guard_bytes;  ///< bytes of the guard that follows
};

}  // namespace detail

/// A fixed number of elements in guarded memory, poisoned at construction. Moves, never copies.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(Index count, const Placement& placement = {})
      : block_(
            detail::GuardedBlock::placed(static_cast<std::size_t>(count) * sizeof(T), sizeof(T), placement)),
        count_(count) {
    poison();
  }

  T* data() { return reinterpret_cast<T*>(block_.payload()); }
  const T* data() const { return reinterpret_cast<const T*>(block_.payload()); }
  Index size() const { return count_; }
  T* begin() { return data(); }
  T* end() { return data() + count_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + count_; }
  T& operator[](Index i) { return data()[i]; }
  const T& operator[](Index i) const { return data()[i]; }
  operator std::span<T>() { return {data(), static_cast<std::size_t>(count_)}; }
  operator std::span<const T>() const { return {data(), static_cast<std::size_t>(count_)}; }

  void poison() {
    const T value = poison_value<T>();
    for (Index i = 0; i < count_; ++i) data()[i] = value;
  }

  /// False when something wrote within 256 bytes before or after the payload.
  bool guards_intact() const { return block_.intact(); }
  detail::GuardedBlock& block() { return block_; }

 private:
  detail::GuardedBlock block_;
  Index count_ = 0;
};

}  // namespace assay
