// The processors and the memory that this process may use, within its limits and those of its control groups;
// what other users of the machine do, from /proc's counters and from event counters; and reading the small
// text files of /proc and /sys: fields, words, numbers and sizes. Odd text gives nothing.
#pragma once

#include "assay/machine.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// The content of a file; nothing when it cannot be read, as in a bare chroot.
std::optional<std::string> try_read(const std::string& path);
// The first line of the file without blanks at the ends; empty when it cannot be read.
std::string first_line(const std::string& path);

std::vector<std::string> words(std::string_view text);

// The value of the first line `name : value` or `name value`; empty when there is none.
std::string field_of(std::string_view text, std::string_view name);

// The bytes of the first line `name: 24337368 kB`; 0 when there is none.
double bytes_in(std::string_view text, std::string_view name);

// A whole word that is a number.
std::optional<double> number(std::string_view word);
// `32K`, `1024K`, `32M`, `1G` or plain bytes.
std::optional<double> size_in_bytes(std::string_view text);
// Returns the processors that `0-3,8` names; none for text that is no such list.
std::vector<int> numbers_in_list(std::string_view text);

// The content of a file; nothing when it cannot be read. Tests plant their own files.
using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;

struct Limits {
  std::optional<double> processors;    // quota, as processors' worth of time; may be a fraction
  std::optional<double> memory_bytes;  // still free under the tightest limit; page cache counts as free
  std::optional<double> memory_limit_bytes;
};

// Reads limits of this process (`ulimit -v`, `-d`), its control groups and their parents, versions 1 and 2.
Limits limits_of_process(const ReadFile& read);

// `max 100000` or `150000 100000` of cpu.max, or two files of version 1 with that; nothing when unlimited.
std::optional<double> quota_of_cpu_max(std::string_view text);

// The part of a machine that this process was given. Users of the rest may slow it through shared memory
// bandwidth, last cache and clock.
struct Allotment {
  int processors_of_machine = 0;        // that are online; 0 where that cannot be seen
  int allowed = 0;                      // by affinity and the CPU sets of control groups
  std::optional<double> quota;          // of their time, as processors' worth
  std::string slurm_job;                // its number; empty outside of one
  std::optional<int> slurm_processors;  // that Slurm gave the job here
};

// The value of a variable of the environment; nothing where it is not set.
using ReadVariable = std::function<std::optional<std::string>(const char* name)>;
Allotment allotment(const ReadFile& read, const ReadVariable& value_of, int allowed, const Limits& limits);

// Bytes: MemAvailable of /proc/meminfo, or the rest under the limits when that is less.
double available_memory(const ReadFile& read, const Limits& limits);
// Bytes: the whole memory, or the limit when that is less. Unlike available memory it stays the same.
double total_memory(const ReadFile& read, const Limits& limits);

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
