#include "core/machine/caches.hpp"

#include "assay/caches.hpp"
#include "assay/error.hpp"
#include "core/machine/text_fields.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

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

CacheSizes caches_of_the_system() {
  CacheSizes out{32.0 * 1024, 256.0 * 1024, 0};
  double last = 0;
  for (const Cache& cache : data_caches(try_read, 1)) {
    if (cache.level == 1) out.first = cache.bytes;
    if (cache.level == 2) out.second = cache.bytes;
    if (cache.level >= 2) last = cache.bytes;  // by level
  }
  out.last = last > 0 ? last : 32.0 * 1024 * 1024;
  return out;
}

const CacheSizes& caches() {
  static const CacheSizes all = [] {
    const char* told = std::getenv(caches_variable);
    return told == nullptr ? caches_of_the_system() : cache_sizes_from(told, caches_variable);
  }();
  return all;
}

CacheSizes cache_sizes_from(std::string_view text, std::string_view where) {
  const auto refuse = [&](const std::string& what) -> Error {
    return Error(std::string(where), fmt::format("\"{}\" {}", text, what),
                 "give the bytes of the first, the second and the last cache, as 32K/512K/32M");
  };
  const std::vector<std::string_view> parts = parts_of(text, '/');
  std::array<double, 3> sizes{};
  for (std::size_t i = 0; i < std::min(sizes.size(), parts.size()); ++i) {
    std::string_view one = parts[i];
    const double unit = one.ends_with('K') ? 1024 : one.ends_with('M') ? 1024.0 * 1024 : 1;
    if (unit > 1) one.remove_suffix(1);
    const auto count = number_from<std::uint32_t>(one);
    if (!count || *count == 0) throw refuse(fmt::format("has no size as number {}", i + 1));
    sizes[i] = *count * unit;
  }
  if (parts.size() != sizes.size()) throw refuse("does not have three sizes");
  if (!std::ranges::is_sorted(sizes)) throw refuse("has a cache that is smaller than the one before");
  return {sizes[0], sizes[1], sizes[2]};
}

std::string to_text(const CacheSizes& sizes) {
  const auto one = [](double bytes) {
    const auto whole = static_cast<std::int64_t>(bytes);
    constexpr std::int64_t kib = 1024, mib = 1024 * kib;
    if (whole % mib == 0) return fmt::format("{}M", whole / mib);
    return whole % kib == 0 ? fmt::format("{}K", whole / kib) : fmt::format("{}", whole);
  };
  return one(sizes.first) + "/" + one(sizes.second) + "/" + one(sizes.last);
}

}  // namespace assay
