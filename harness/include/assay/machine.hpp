/// The machine a result belongs to: who it is, how fast it can be at best, and what else it did meanwhile.
#pragma once

#include "assay/operation.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// One line of the fingerprint.
struct Fact {
  std::string name;
  std::string value;
  /// Results whose deciding facts differ are not comparable; other facts are shown when they differ.
  bool decides = true;
  bool operator==(const Fact&) const = default;
};

/// One data cache as one core sees it.
struct Cache {
  int level = 0;
  double bytes = 0;
  int sharers = 1;  ///< cores that share it
  bool operator==(const Cache&) const = default;
};

struct Machine {
  /// Names the folder of baselines and reports: processor, cores and instruction set, `[a-z0-9_]+`.
  std::string key;
  std::vector<Fact> facts;
  int cores = 1;  ///< available to this process; hardware threads of one count once
  /// The memory that a workload may use: available now, within the limits of process and control group.
  double memory_bytes = 0;
  std::vector<Cache> caches;  ///< data and unified caches, by level
};

/// Reads the machine; takes a few milliseconds and measures nothing.
Machine this_machine();

/// The fact of that name; null where there is none.
const Fact* find_fact(const std::vector<Fact>& facts, std::string_view name);
/// Its value, or `otherwise`.
std::string fact_value(const std::vector<Fact>& facts, std::string_view name,
                       std::string_view otherwise = "(absent)");

/// Lists the facts that differ, as `name: before -> after`; deciding facts only, or all.
std::vector<std::string> differences(const std::vector<Fact>& before, const std::vector<Fact>& after,
                                     bool deciding_only);

/// The activity of the machine between two readings.
struct Weather {
  double seconds = 0;
  double steal_share = 0;         ///< of processor time, taken by the hypervisor
  double other_busy_share = 0;    ///< of processor time, used by other processes
  double cpu_pressure_share = 0;  ///< of the time, some task waited for a processor; -1 where not available
  double involuntary_switches = 0;
  double migrations = 0;  ///< -1 where not available
  double major_faults = 0;
};

/// Bandwidth where `written_share` of the bytes are written: 0 of a sum, a half of a copy, 1 of a fill.
struct TrafficMix {
  double written_share = 0;
  double bytes_per_second = 0;
};

/// Bandwidth of one level of the memory hierarchy, reached by a streaming loop;
/// reads and writes both counted.
struct Bandwidth {
  std::string level;             ///< `L1`, `L2`, `L3` or `memory`
  double working_set_bytes = 0;  ///< the largest that the level serves; measured with less, so that it fits
  double bytes_per_second = 0;   ///< of two reads and one write
  std::vector<TrafficMix> mixes = {};  ///< of others, by growing share; none in older files
};

/// Bandwidth of a level at a mix of traffic. Time per byte lies on the line between those of the two mixes
/// around it that were measured, since a loop could do its share of each in turn; outside them it is that of
/// the nearest.
double bandwidth_at(const Bandwidth& level, double written_share);

/// The best this machine did, measured here, with that many threads.
struct Roof {
  int threads = 1;
  double flops_per_second = 0;       ///< f32 fused multiply-add, widest vectors; one FMA is two
  std::vector<Bandwidth> bandwidth;  ///< by growing working set
  int measurements = 1;              ///< the larger of each figure was kept
  std::optional<Weather> weather;    ///< during the last measurement of which a figure was kept
};

/// Measures the roof; takes about `seconds`.
Roof measure_roof(const Machine& machine, int threads, double seconds);

/// The shortest time that a call can take under a roof.
struct RoofLimit {
  double seconds = 0;  ///< 0 when the roof is unknown
  std::string by;      ///< `arithmetic`, or the level of the memory hierarchy whose bandwidth takes that long
};

/// Arithmetic or traffic, whichever takes longer, with the bandwidth of the smallest level that holds the
/// working set, at the mix of reads and writes of the call.
RoofLimit limit_at_roof(const Roof& roof, const Cost& cost, double working_set_bytes);

/// The time that no kernel can beat with so many threads, whatever it is: what took less did not do the work
/// of the call. Seconds are 0 where it is not known.
///
/// Bytes. What a contract reads and writes, each byte once, passes between a core and its first cache, and no
/// level moves more than that one. The loops that measure L1 come near what a core's ports move (162 of 192
/// bytes a cycle where this was fixed), but other mixes of loads and stores, another clock and quieter
/// neighbours lie beyond them. So bytes take no less than at twice the bandwidth of L1. Where that is not
/// known they do not count, since it is not the bandwidth of L2 that bounds a kernel in L1.
///
/// FLOPs, of f32. Some algorithms need fewer than the definition: Strassen's saves an eighth with each level,
/// so that a quarter is left after eleven, and Winograd's F(4 x 4, 3 x 3) leaves a quarter of the products
/// and adds sums. So FLOPs take no less than at four times the arithmetic roof. Contracts of which more can
/// be spared say how much, in Cost.
///
/// Threads. So many do at most so many times what one does. A roof that was measured beside other work is too
/// low, so that roofs of fewer threads count as well, and the largest figure is taken.
RoofLimit floor_of(const std::vector<Roof>& roofs, const Cost& cost, int threads);

/// Processor time of the whole machine since it started, in ticks.
struct CpuTicks {
  double busy = 0;   ///< everything but idle, waiting for devices, and stolen
  double steal = 0;  ///< the hypervisor ran something else
  double total = 0;
};

/// Reads the counters at construction; since() gives the weather from then to now.
class WeatherStation {
 public:
  WeatherStation();
  Weather since() const;

 private:
  struct Reading {
    double seconds, own, pressure, switches, migrations, faults;
    CpuTicks ticks;
  };
  static Reading read();
  Reading start_;
};

/// A short A/A probe: one kernel timed against itself in alternation.
/// All in this process: what differs between two builds or two process starts comes on top.
struct NoiseProbe {
  double spread = 0;  ///< relative half-width of the middle 95 % of the ratios of groups of slices
  double smallest_visible =
      0;  ///< relative change that a gate of 30 launches could see now, in 95 of 100 runs
  Weather weather;
};
NoiseProbe probe_noise(double seconds);

/// One line of `assay doctor`.
struct Diagnosis {
  enum class Severity { fine, note, warning };
  std::string topic;
  std::string text;  ///< at most 90 columns
  Severity severity = Severity::fine;
  std::string remedy;  ///< empty when there is nothing to do
};
/// Everything the doctor knows; takes a few seconds since it measures roofs and noise.
struct Examination {
  Machine machine;
  std::vector<Roof> roofs;  ///< one thread, then all
  /// Cache lines that one thread fetches from memory in random order: what bounds the gathering of small
  /// records. 0 where memory is too small to tell.
  double random_lines_per_second = 0;
  NoiseProbe noise;
  std::vector<Diagnosis> findings;
  bool fit_for_five_percent_gate = false;
};
Examination examine();

/// For the terminal: one line per finding with its remedy below, and what the machine is fit for at the end.
std::string to_text(const Examination& examination);
std::string to_json(const Examination& examination);

/// The environment setting that makes OpenBLAS use its best kernels here, such as
/// `OPENBLAS_CORETYPE=SkylakeX`; empty when it does already or OpenBLAS is not linked.
std::string openblas_remedy();

}  // namespace assay
