#include "core/machine/topology.hpp"

#include "core/text/figures.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
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

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using HwlocBitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, FreeBitmap>;

HwlocTopology begun() {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) return nullptr;
  HwlocTopology out(made);
  hwloc_topology_set_cache_types_filter(made, HWLOC_TYPE_FILTER_KEEP_NONE);
  // This backend would visit each processor, although the system has told everything.
  hwloc_topology_set_components(made, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
  return out;
}

Topology read(hwloc_topology_t topology) {
  Topology out;
  std::map<unsigned, int> siblings;
  hwloc_obj_t unit = nullptr;
  while ((unit = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, unit)) != nullptr) {
    LogicalProcessor& processor = out.emplace_back();
    processor.number = static_cast<int>(unit->os_index);
    const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit);
    const unsigned index = core == nullptr ? unit->logical_index : core->logical_index;
    processor.core = static_cast<int>(index);
    processor.sibling = siblings[index]++;
    processor.node = std::max(0, hwloc_bitmap_first(unit->nodeset));
    processor.kind = std::max(0, hwloc_cpukinds_get_by_cpuset(topology, unit->cpuset, 0));
  }
  std::ranges::sort(out, {}, &LogicalProcessor::number);
  return out;
}

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

}  // namespace

const Topology& this_topology() {
  static const Topology out = [] {
    const HwlocTopology topology = begun();
    return topology != nullptr && hwloc_topology_load(topology.get()) == 0 ? read(topology.get())
                                                                           : Topology();
  }();
  return out;
}

Topology topology_of(const std::string& description, int efficient) {
  const HwlocTopology topology = begun();
  if (topology == nullptr || hwloc_topology_set_synthetic(topology.get(), description.c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    return {};
  }
  if (efficient > 0) {
    const HwlocBitmap slow(hwloc_bitmap_alloc()), fast(hwloc_bitmap_alloc());
    hwloc_bitmap_set_range(slow.get(), 0, efficient - 1);
    hwloc_bitmap_andnot(fast.get(), hwloc_topology_get_topology_cpuset(topology.get()), slow.get());
    hwloc_cpukinds_register(topology.get(), slow.get(), 0, 0, nullptr, 0);
    hwloc_cpukinds_register(topology.get(), fast.get(), 1, 0, nullptr, 0);
  }
  return read(topology.get());
}

std::vector<int> placing_order(const Topology& topology, const std::vector<int>& allowed, int first) {
  Topology left = known(topology, allowed);
  // Siblings are counted among those allowed: where the first of a core is not, the second has it for itself.
  std::map<int, int> taken;
  if (first >= 0) taken[known(topology, first).core] = 1;
  for (LogicalProcessor& processor : left) {
    processor.sibling = processor.number == first ? 0 : taken[processor.core]++;
  }
  const auto order = [&](int node) {
    return [node](const LogicalProcessor& a) {
      return std::tuple(a.sibling, -a.kind, a.node != node, a.node, a.number);
    };
  };
  if (first < 0 && !left.empty()) first = std::ranges::min_element(left, {}, order(-1))->number;
  const auto begins = std::ranges::find(left, first, &LogicalProcessor::number);
  std::vector<int> out;
  if (begins != left.end()) {
    const int node = begins->node;
    out.push_back(first);
    left.erase(begins);
    std::ranges::sort(left, {}, order(node));
  }
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

std::string topology_text(const Topology& topology, const std::vector<int>& allowed) {
  const Topology all = known(topology, allowed);
  std::string out = fmt::format("{} on {}, {}", quantity_text(std::ssize(all), "processor"),
                                quantity_text(different(all, &LogicalProcessor::core), "core"),
                                quantity_text(different(all, &LogicalProcessor::node), "memory", "memories"));
  if (all.empty()) return out;
  const int fastest = std::ranges::max(all, {}, &LogicalProcessor::kind).kind;
  Topology slower = all;
  std::erase_if(slower, [&](const LogicalProcessor& processor) { return processor.kind == fastest; });
  if (!slower.empty()) {
    out +=
        fmt::format(", {} of the cores slower than the others", different(slower, &LogicalProcessor::core));
  }
  return out;
}

}  // namespace assay
