/// Which processors of a machine share a core or a memory, which are fast, and which caches they have.
#pragma once

#include "assay/machine.hpp"
#include "core/machine/limits.hpp"

#include <optional>
#include <string>
#include <vector>

struct hwloc_topology;

namespace assay {

/// A core, or a hardware thread of a core: the system schedules a thread on it.
struct LogicalProcessor {
  int number = 0;   ///< as the system numbers them
  int core = 0;     ///< siblings have the same
  int sibling = 0;  ///< 0 for the first of its core, 1 for the next
  int node = 0;     ///< of memory (NUMA)
  int kind = 0;     ///< larger is faster: 0 for efficiency cores, and for all where none is known to be
  bool operator==(const LogicalProcessor&) const = default;
};

/// In ascending order of their numbers; none where hwloc could not read them.
using Topology = std::vector<LogicalProcessor>;

/// Returns the topology of this machine, which is read once.
const Topology& this_topology();
Topology topology_from(hwloc_topology& loaded);

/// The order in which threads are given processors, out of those `allowed`: `first`, which must be one of
/// them, or -1 for the best; then one processor of each core before their siblings, fast cores before slow
/// ones, and before cores of another memory than the first's. Processors that the topology does not know
/// count as cores of their own.
std::vector<int> placing_order(const Topology& topology, const std::vector<int>& allowed, int first = -1);

/// Returns one allowed processor of each core of the fastest kind.
std::vector<int> fast_cores(const Topology& topology, const std::vector<int>& allowed);

/// `16 processors on 8 cores, 1 memory`, and which of the cores are slower; of those allowed.
std::string topology_text(const Topology& topology, const std::vector<int>& allowed);
int cores_of(const Topology& topology, const std::vector<int>& allowed);
/// Returns the number of threads to plan for: one for each of these cores, but no more than the quota has
/// whole processors, since who takes a fraction more is throttled.
int usable_cores(const Topology& topology, const std::vector<int>& allowed, std::optional<double> quota);

// Lists by level the data caches of the core on which the first thread is placed, from sysfs, or from the C
// library where sysfs is missing. Where the system does not say who shares the last level, all cores do.
std::vector<Cache> data_caches(const ReadFile& read, const Topology& topology,
                               const std::vector<int>& allowed);

}  // namespace assay
