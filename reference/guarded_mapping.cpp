#include "assay/ops/guarded_mapping.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <utility>
#include <vector>

namespace assay {
namespace {

/// A mapping as the handler sees it: no locks, no memory of the heap.
struct Place {
  std::atomic<bool> taken = false;
  std::atomic<std::uintptr_t> begin = 0, end = 0;  ///< nothing while begin is 0
  std::atomic<bool> lost = false;
};

/// Room for as many mappings as a process holds at once; a workload holds one or two per variant.
std::array<Place, 512> places;

struct sigaction handler_before;

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

/// Whether the address was in a mapping of ours and can be read now.
bool replaced_by_zeros(std::uintptr_t address) {
  for (Place& place : places) {
    const std::uintptr_t begin = place.begin.load(std::memory_order_acquire);
    const std::uintptr_t end = place.end.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address >= end) continue;
    place.lost.store(true, std::memory_order_release);
    // Maps to the end at once: page by page, a kernel that reads at random would leave a mapping for each.
    const std::uintptr_t page = address / page_bytes() * page_bytes();
    // Called by number, because sanitizers wrap mmap() in code that must not run inside a handler.
    const long status = ::syscall(SYS_mmap, page, end - page, PROT_READ,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    return static_cast<std::uintptr_t>(status) == page;
  }
  return false;
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  const bool ours = replaced_by_zeros(reinterpret_cast<std::uintptr_t>(info->si_addr));
  errno = saved;
  if (ours) return;
  if ((handler_before.sa_flags & SA_SIGINFO) != 0) {
    handler_before.sa_sigaction(signal, info, context);
  } else if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN) {
    handler_before.sa_handler(signal);
  } else {
    // The read is tried again, and the fault ends the program as it would have without us.
    ::sigaction(SIGBUS, &handler_before, nullptr);
  }
}

void install_once() {
  static const bool done = [] {
    page_bytes();  // a function's static is not initialised inside a handler
    struct sigaction action = {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&action.sa_mask);
    return ::sigaction(SIGBUS, &action, &handler_before) == 0;
  }();
  static_cast<void>(done);
}

/// Returns -1 when all are taken.
int take_place(const std::byte* begin, std::size_t bytes) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    bool expected = false;
    if (!places[i].taken.compare_exchange_strong(expected, true)) continue;
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    places[i].lost.store(false);
    places[i].end.store(first + (bytes + page_bytes() - 1) / page_bytes() * page_bytes());
    places[i].begin.store(first);
    return static_cast<int>(i);
  }
  return -1;
}

void give_back(int place) {
  Place& mine = places[static_cast<std::size_t>(place)];
  mine.begin.store(0);
  mine.end.store(0);
  mine.taken.store(false);
}

}  // namespace

GuardedMapping::GuardedMapping(int descriptor, Index bytes, Pages pages) {
  install_once();
  const auto size = static_cast<std::size_t>(bytes);
  const int flags = MAP_SHARED | (pages == Pages::populated ? MAP_POPULATE : 0);
  void* const at = ::mmap(nullptr, size, PROT_READ, flags, descriptor, 0);
  if (at == MAP_FAILED) return;
  const int place = take_place(static_cast<const std::byte*>(at), size);
  if (place < 0) {
    ::munmap(at, size);
    errno = EMFILE;
    return;
  }
  if (pages == Pages::at_random) ::madvise(at, size, MADV_RANDOM);
  data_ = static_cast<std::byte*>(at);
  bytes_ = bytes;
  place_ = place;
}

GuardedMapping::~GuardedMapping() {
  if (data_ == nullptr) return;
  // The place first: once unmapped, the addresses may be another mapping's.
  give_back(place_);
  ::munmap(data_, static_cast<std::size_t>(bytes_));
}

void GuardedMapping::swap(GuardedMapping& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(place_, other.place_);
}

bool GuardedMapping::lost() const {
  return place_ >= 0 && places[static_cast<std::size_t>(place_)].lost.load(std::memory_order_acquire);
}

double GuardedMapping::resident() const {
  if (data_ == nullptr) return 0;
  const std::size_t pages = (static_cast<std::size_t>(bytes_) + page_bytes() - 1) / page_bytes();
  std::vector<unsigned char> in_memory(pages);
  if (::mincore(data_, static_cast<std::size_t>(bytes_), in_memory.data()) != 0) return 0;
  const auto count = std::ranges::count_if(in_memory, [](unsigned char page) { return (page & 1) != 0; });
  return static_cast<double>(count) / static_cast<double>(pages);
}

void GuardedMapping::map_pages() const {
  // MADV_POPULATE_READ is not enough: on virtual machines the first read of a page that is mapped costs
  // microseconds, too, while the host's translation of it is found.
  const auto step = static_cast<Index>(page_bytes());
  for (Index at = 0; at < bytes_; at += step) {
    static_cast<void>(*reinterpret_cast<const volatile char*>(data_ + at));
  }
}

void GuardedMapping::unmap_pages() const {
  if (data_ != nullptr) ::madvise(data_, static_cast<std::size_t>(bytes_), MADV_DONTNEED);
}

}  // namespace assay
