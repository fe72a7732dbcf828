// Requests in the order in which an allocator meets them.
#pragma once

#include "memory_pool/sorter.hpp"

#include "assay/ops/memory_pool.hpp"

#include <span>

namespace assay::memory_pool {

/// Maps an Index to an unsigned key in the same order: the least Index becomes 0.
constexpr std::uint64_t sortable(Index number) {
  return static_cast<std::uint64_t>(number) ^ (std::uint64_t{1} << 63);
}

/// Starts and ends of requests in order of time. Storage is allocated beforehand.
class Events {
 public:
  explicit Events(Index most) : starts_(most), ends_(most) {}

  /// Calls enter(i) in order of start, equal starts by position, and before it leave(i) for each request that
  /// has ended by then: a life ends before the step of its end.
  template <class Enter, class Leave>
  void replay(std::span<const Request> requests, const Enter& enter, const Leave& leave) {
    const auto count = static_cast<Index>(requests.size());
    Index first = std::numeric_limits<Index>::max();
    for (const Request& r : requests) first = std::min(first, r.start);
    const std::uint64_t origin = sortable(first);
    const auto key = [&](Index step) { return sortable(step) - origin; };
    const auto at = [&](Index i) -> const Request& { return requests[static_cast<std::size_t>(i)]; };
    const auto starts = starts_.sorted(count, [&](Index i) { return key(at(i).start); });
    const auto ends = ends_.sorted(count, [&](Index i) { return key(at(i).end); });
    std::size_t next = 0;
    for (const auto& [start, position] : starts) {
      // The last end is past every start and stops this loop.
      for (; ends[next].key <= start; ++next) leave(static_cast<Index>(ends[next].position));
      enter(static_cast<Index>(position));
    }
  }

 private:
  Sorter<std::uint64_t> starts_, ends_;
};

}  // namespace assay::memory_pool
