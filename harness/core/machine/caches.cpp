#include "core/machine/caches.hpp"

#include "core/machine/text_fields.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace assay {
namespace {

std::vector<Cache> from_sysfs(const ReadFile& read) {
  std::vector<Cache> out;
  for (int index = 0;; ++index) {
    const auto folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    const auto type = read(folder + "type");
    if (!type) return out;
    const auto level = number(trimmed(read(folder + "level").value_or("")));
    const auto bytes = size_in_bytes(read(folder + "size").value_or(""));
    if (trimmed(*type) == "Instruction" || !level || !bytes || *bytes <= 0) continue;
    out.push_back({.level = static_cast<int>(*level),
                   .bytes = *bytes,
                   .sharers = std::max(1, count_in_list(read(folder + "shared_cpu_list").value_or("")))});
  }
}

std::vector<Cache> from_c_library(int cores) {
  std::vector<Cache> out;
#ifdef _SC_LEVEL1_DCACHE_SIZE
  int level = 0;
  for (const int name : {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE}) {
    ++level;
    const auto bytes = sysconf(name);
    if (bytes <= 0) continue;
    out.push_back({.level = level, .bytes = static_cast<double>(bytes), .sharers = level == 3 ? cores : 1});
  }
#endif
  return out;
}

}  // namespace

std::vector<Cache> data_caches(const ReadFile& read, int cores) {
  auto out = from_sysfs(read);
  if (out.empty()) out = from_c_library(cores);
  std::ranges::sort(out, {}, &Cache::level);
  return out;
}

}  // namespace assay
