#include "core/machine/roof_levels.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {

std::vector<RoofLevel> roof_levels(const Machine& machine, int threads) {
  constexpr double mib = 1024.0 * 1024;
  std::vector<RoofLevel> out;
  double inner = 0;       // bytes of the level before, for one core
  double last_level = 0;  // bytes of all instances of the last level that `threads` cores can reach
  for (const auto& cache : machine.caches) {
    const double share = cache.bytes / cache.sharers;
    const int instances = (threads + cache.sharers - 1) / cache.sharers;
    last_level = cache.bytes * instances;
    // Two thirds of L1 leave room for the stack; half of what is further out leaves room for others, since
    // those caches hold code too and may be shared. Clear of the level before, or it is that one again.
    const double measured = cache.level == 1 ? share * 2 / 3 : std::max(share / 2, inner * 1.5);
    inner = share;
    if (measured > share) continue;
    out.push_back({fmt::format("L{}", cache.level), measured, last_level});
  }
  // Four times the last level, so that little of a pass survives to the next;
  // what the machine has is the cap.
  const double memory = std::min(
      {std::max(4 * last_level, 64 * mib), 1024 * mib, std::max(machine.memory_bytes / 4, 16 * mib)});
  out.push_back({"memory", memory / threads, memory});
  return out;
}

}  // namespace assay
