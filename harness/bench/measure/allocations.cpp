#include "bench/measure/allocations.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> counting = false;
std::atomic<long> count = 0;
std::atomic<long> bytes = 0;
std::atomic<long> live = 0;  ///< bytes taken and not given back, as the heap rounds them

/// Bytes that the heap set aside for it.
long extent(void* memory) { return static_cast<long>(malloc_usable_size(memory)); }

/// `memory`, counted; nullptr when there was none.
void* noted(void* memory, std::size_t size) {
  if (memory != nullptr && counting.load(std::memory_order_relaxed)) {
    count.fetch_add(1, std::memory_order_relaxed);
    bytes.fetch_add(static_cast<long>(size), std::memory_order_relaxed);
    live.fetch_add(extent(memory), std::memory_order_relaxed);
  }
  return memory;
}

void give(void* memory) noexcept {
  if (memory != nullptr && counting.load(std::memory_order_relaxed)) {
    live.fetch_sub(extent(memory), std::memory_order_relaxed);
  }
  std::free(memory);
}

/// nullptr when there is no memory.
void* take(std::size_t size) noexcept { return noted(std::malloc(size > 0 ? size : 1), size); }

void* take(std::size_t size, std::align_val_t alignment) noexcept {
  const auto line = static_cast<std::size_t>(alignment);
  return noted(std::aligned_alloc(line, (std::max<std::size_t>(size, 1) + line - 1) / line * line), size);
}

void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// Replacing these is the standard's way to see every allocation (C++20, [new.delete]). All of them, since the
// address sanitizer brings its own of each, and memory must go back where it came from.
// clang-format off
void* operator new(std::size_t n) { return or_throw(take(n)); }
void* operator new[](std::size_t n) { return or_throw(take(n)); }
void* operator new(std::size_t n, std::align_val_t a) { return or_throw(take(n, a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return or_throw(take(n, a)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return take(n); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return take(n); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept { return take(n, a); }
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept { return take(n, a); }
void operator delete(void* p) noexcept { give(p); }
void operator delete[](void* p) noexcept { give(p); }
void operator delete(void* p, std::size_t) noexcept { give(p); }
void operator delete[](void* p, std::size_t) noexcept { give(p); }
void operator delete(void* p, std::align_val_t) noexcept { give(p); }
void operator delete[](void* p, std::align_val_t) noexcept { give(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { give(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { give(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { give(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { give(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { give(p); }
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { give(p); }
// clang-format on

namespace assay {
namespace {

/// Counts the use of the heap while `work` runs.
template <class Work>
void counted(const Work& work) {
  count = bytes = live = 0;
  counting = true;
  work();
  counting = false;
}

}  // namespace

Allocations allocations_of_one_call(Timed& timed) {
  counted([&] { timed.repeat(1); });
  return {.count = static_cast<double>(count.load()), .bytes = static_cast<double>(bytes.load())};
}

double bytes_kept_by(const std::function<void()>& work) {
  counted(work);
  return static_cast<double>(std::max(live.load(), 0L));
}

}  // namespace assay
