// Reads what other users of the machine do, from the text of /proc's counters and from event counters.
#pragma once

#include "assay/machine.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace assay {

// Reads /proc/stat. Returns nothing unless its first line sums up all processors.
std::optional<CpuTicks> cpu_ticks(std::string_view proc_stat);

// Seconds in which some task waited for a processor, from /proc/pressure/cpu.
std::optional<double> pressure_seconds(std::string_view proc_pressure);

// Shares of processor time between two readings of /proc/stat, of which this process used `own_seconds`.
struct CpuShares {
  double steal = 0, other_busy = 0;
};
CpuShares cpu_shares(const CpuTicks& before, const CpuTicks& after, double own_seconds,
                     double ticks_per_second);

// Whether the processor's and the kernel's event counters can be read here.
struct Counters {
  bool hardware = false, software = false;
  std::string why_not;  // why no hardware counters
};
Counters available_counters();

}  // namespace assay
