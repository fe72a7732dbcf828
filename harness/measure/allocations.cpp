#include "measure/allocations.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> counting = false;
std::atomic<long> count = 0;
std::atomic<long> bytes = 0;

void note(std::size_t size) {
  if (!counting.load(std::memory_order_relaxed)) return;
  count.fetch_add(1, std::memory_order_relaxed);
  bytes.fetch_add(static_cast<long>(size), std::memory_order_relaxed);
}

/// nullptr when there is no memory.
void* take(std::size_t size) noexcept {
  note(size);
  return std::malloc(size > 0 ? size : 1);
}

void* take(std::size_t size, std::align_val_t alignment) noexcept {
  note(size);
  const auto line = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(line, (std::max<std::size_t>(size, 1) + line - 1) / line * line);
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
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }
// clang-format on

namespace assay {

Allocations allocations_of_one_call(Timed& timed) {
  count = 0;
  bytes = 0;
  counting = true;
  timed.repeat(1);
  counting = false;
  return {.count = static_cast<double>(count.load()), .bytes = static_cast<double>(bytes.load())};
}

}  // namespace assay
