#include "core/machine/topology.hpp"

#include "assay/caches.hpp"
#include "assay/csv.hpp"
#include "assay/error.hpp"
#include "core/files/processor_set.hpp"
#include "core/text/figures.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <type_traits>

namespace assay {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using HwlocTopology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, DestroyTopology>;

/// Returns the entry of a processor, or one with a core of its own where the topology lacks it.
LogicalProcessor known(const Topology& topology, int number) {
  const auto found = std::ranges::lower_bound(topology, number, {}, &LogicalProcessor::number);
  if (found != topology.end() && found->number == number) return *found;
  return {.number = number, .core = -1 - number};
}

Topology known(const Topology& topology, const std::vector<int>& allowed) {
  Topology out;
  for (const int number : allowed) out.push_back(known(topology, number));
  return out;
}

template <class Member>
std::int64_t different(const Topology& topology, Member member) {
  std::set<int> out;
  for (const LogicalProcessor& processor : topology) out.insert(processor.*member);
  return std::ssize(out);
}

std::vector<Cache> from_sysfs(const ReadFile& read, const Topology& topology, int processor) {
  std::vector<Cache> out;
  for (int index = 0;; ++index) {
    const auto folder = fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}/", processor, index);
    const auto type = read(folder + "type");
    if (!type) return out;
    const auto level = number(csv::trimmed(read(folder + "level").value_or("")));
    const auto bytes = size_in_bytes(read(folder + "size").value_or(""));
    if (csv::trimmed(*type) == "Instruction" || !level || !bytes || *bytes <= 0) continue;
    const auto sharers = numbers_in_list(read(folder + "shared_cpu_list").value_or(""));
    out.push_back({static_cast<int>(*level), *bytes, std::max(1, cores_of(topology, sharers))});
  }
}

std::vector<Cache> from_c_library(int cores) {
  std::vector<Cache> out;
#ifdef _SC_LEVEL1_DCACHE_SIZE
  int level = 0;
  for (const int name : {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE}) {
    ++level;
    const auto bytes = sysconf(name);
    if (bytes > 0) out.push_back({level, static_cast<double>(bytes), level == 3 ? cores : 1});
  }
#endif
  return out;
}

}  // namespace

const Topology& this_topology() {
  static const Topology out = [] {
    hwloc_topology_t made = nullptr;
    if (hwloc_topology_init(&made) != 0) return Topology();
    const HwlocTopology topology(made);
    hwloc_topology_set_cache_types_filter(made, HWLOC_TYPE_FILTER_KEEP_NONE);
    // Processors outside of the CPU set share caches with those in it.
    hwloc_topology_set_flags(made, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    // This backend would visit each processor, although the system has told everything.
    hwloc_topology_set_components(made, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    return hwloc_topology_load(made) == 0 ? topology_from(*made) : Topology();
  }();
  return out;
}

Topology topology_from(hwloc_topology& loaded) {
  Topology out;
  std::map<unsigned, int> siblings;
  hwloc_obj_t unit = nullptr;
  while ((unit = hwloc_get_next_obj_by_type(&loaded, HWLOC_OBJ_PU, unit)) != nullptr) {
    LogicalProcessor& processor = out.emplace_back();
    processor.number = static_cast<int>(unit->os_index);
    const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(&loaded, HWLOC_OBJ_CORE, unit);
    const unsigned index = core == nullptr ? unit->logical_index : core->logical_index;
    processor.core = static_cast<int>(index);
    processor.sibling = siblings[index]++;
    processor.node = std::max(0, hwloc_bitmap_first(unit->nodeset));
    // Kinds have numbers, too, where it is not known which is faster: then the rank stays below 0.
    const int kind = hwloc_cpukinds_get_by_cpuset(&loaded, unit->cpuset, 0);
    int rank = -1;
    hwloc_cpukinds_get_info(&loaded, static_cast<unsigned>(kind), nullptr, &rank, nullptr, nullptr, 0);
    processor.kind = std::max(0, rank);
  }
  std::ranges::sort(out, {}, &LogicalProcessor::number);
  return out;
}

std::vector<int> placing_order(const Topology& topology, const std::vector<int>& allowed, int first) {
  Topology left = known(topology, allowed);
  // Siblings are counted among those allowed: where the first of a core is not, the second has it for itself.
  std::map<int, int> taken;
  if (first >= 0) taken[known(topology, first).core] = 1;
  for (LogicalProcessor& processor : left) {
    processor.sibling = processor.number == first ? 0 : taken[processor.core]++;
  }
  int node = -1;
  const auto order = [&](const LogicalProcessor& a) {
    return std::tuple(a.number != first, a.sibling, -a.kind, a.node != node, a.node, a.number);
  };
  if (!left.empty()) node = std::ranges::min_element(left, {}, order)->node;
  std::ranges::sort(left, {}, order);
  std::vector<int> out;
  std::ranges::transform(left, std::back_inserter(out), &LogicalProcessor::number);
  return out;
}

std::vector<int> fast_cores(const Topology& topology, const std::vector<int>& allowed) {
  std::vector<int> out;
  std::set<int> seen;
  const Topology all = known(topology, allowed);
  if (all.empty()) return out;
  const int fastest = std::ranges::max(all, {}, &LogicalProcessor::kind).kind;
  for (const LogicalProcessor& processor : all) {
    if (processor.kind == fastest && seen.insert(processor.core).second) out.push_back(processor.number);
  }
  return out;
}

int cores_of(const Topology& topology, const std::vector<int>& allowed) {
  return static_cast<int>(different(known(topology, allowed), &LogicalProcessor::core));
}

int usable_cores(const Topology& topology, const std::vector<int>& allowed, std::optional<double> quota) {
  const int cores = cores_of(topology, allowed);
  return std::max(1, quota && *quota < cores ? static_cast<int>(*quota) : cores);
}

std::string topology_text(const Topology& topology, const std::vector<int>& allowed) {
  const Topology all = known(topology, allowed);
  const std::int64_t cores = different(all, &LogicalProcessor::core),
                     slower = cores - std::ssize(fast_cores(topology, allowed));
  return fmt::format("{} on {}, {}{}", quantity_text(std::ssize(all), "processor"),
                     quantity_text(cores, "core"),
                     quantity_text(different(all, &LogicalProcessor::node), "memory", "memories"),
                     slower > 0 ? fmt::format(", {} of the cores slower than the others", slower) : "");
}

std::vector<Cache> data_caches(const ReadFile& read, const Topology& topology,
                               const std::vector<int>& allowed) {
  const std::vector<int> order = placing_order(topology, allowed);
  auto out = from_sysfs(read, topology, order.empty() ? 0 : order.front());
  if (out.empty()) out = from_c_library(cores_of(topology, allowed));
  std::ranges::sort(out, {}, &Cache::level);
  return out;
}

CacheSizes caches_of_the_system() {
  CacheSizes out{32.0 * 1024, 256.0 * 1024, 32.0 * 1024 * 1024};
  for (const Cache& cache : data_caches(try_read, this_topology(), ProcessorSet::of_thread().numbers())) {
    if (cache.level == 1) out.first = cache.bytes;
    if (cache.level == 2) out.second = cache.bytes;
    if (cache.level >= 2) out.last = cache.bytes;  // by level
  }
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
