// Topologies of machines that are not there, for tests.
#pragma once

#include "core/machine/topology.hpp"

#include <hwloc.h>

#include <string>

namespace assay::testing {

/// Whether the system says which kind of processor is the faster.
enum class Ranks { known, unknown };

/// The topology of a description of hwloc, such as `numa:2 core:4 pu:2`; empty where it is none. Its first
/// `efficient` processors are of a slower kind than the others.
inline Topology topology_of(const std::string& description, int efficient = 0, Ranks ranks = Ranks::known) {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) return {};
  Topology out;
  if (hwloc_topology_set_synthetic(made, description.c_str()) == 0 && hwloc_topology_load(made) == 0) {
    hwloc_bitmap_t slow = hwloc_bitmap_alloc(), fast = hwloc_bitmap_alloc();
    if (efficient > 0) {
      hwloc_bitmap_set_range(slow, 0, efficient - 1);
      hwloc_bitmap_andnot(fast, hwloc_topology_get_topology_cpuset(made), slow);
      const bool known = ranks == Ranks::known;
      hwloc_cpukinds_register(made, slow, known ? 0 : -1, 0, nullptr, 0);
      hwloc_cpukinds_register(made, fast, known ? 1 : -1, 0, nullptr, 0);
    }
    hwloc_bitmap_free(slow);
    hwloc_bitmap_free(fast);
    out = topology_from(*made);
  }
  hwloc_topology_destroy(made);
  return out;
}

}  // namespace assay::testing
