// Machines that are not there, large, small and uneven: what is chosen on each of them.

#include "core/machine/described_topology_test.hpp"
#include "core/machine/processor.hpp"
#include "core/machine/roofline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <map>
#include <numeric>
#include <set>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using testing::Ranks;
using ::testing::SizeIs;
using testing::topology_of;

std::vector<int> numbers(int begin, int end) {
  std::vector<int> out(static_cast<std::size_t>(end - begin));
  std::iota(out.begin(), out.end(), begin);
  return out;
}

/// Joined.
std::vector<int> operator+(std::vector<int> a, const std::vector<int>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Two sockets of 64 cores, numbered as Linux does: the second hardware thread of core 5 is processor 133.
Topology two_sockets() {
  std::vector<int> order;
  for (int core = 0; core < 128; ++core) order = order + std::vector{core, core + 128};
  return topology_of(fmt::format("numa:2 core:64 pu:2(indexes={})", fmt::join(order, ",")));
}

/// Eight fast cores of two hardware threads each, then eight slow ones, as Intel numbers them.
Topology uneven() {
  Topology out;
  for (int number = 0; number < 16; ++number)
    out.push_back({.number = number, .core = number / 2, .sibling = number % 2, .kind = 1});
  for (int number = 16; number < 24; ++number) out.push_back({.number = number, .core = number - 8});
  return out;
}

/// Four slow cores, then four fast ones, as Arm numbers them.
Topology big_little() { return topology_of("core:8 pu:1", 4); }

struct Simulated {
  const char* name;
  Topology topology;
  std::vector<int> allowed;
  int cores;
  const char* text;  ///< as the doctor says it
  std::vector<int> order, fast;
};

std::vector<Simulated> machines() {
  return {
      {"two sockets", two_sockets(), numbers(0, 256), 128, "256 processors on 128 cores, 2 memories",
       numbers(0, 256), numbers(0, 128)},
      {"one socket of two", two_sockets(), numbers(64, 128) + numbers(192, 256), 64,
       "128 processors on 64 cores, 1 memory", numbers(64, 128) + numbers(192, 256), numbers(64, 128)},
      {"a CPU set with holes",
       two_sockets(),
       {1, 6, 70, 129, 198, 250},
       4,
       "6 processors on 4 cores, 2 memories",
       {1, 6, 70, 250, 129, 198},
       {1, 6, 70, 250}},
      {"two hardware threads of a core",
       two_sockets(),
       {3, 131},
       1,
       "2 processors on 1 core, 1 memory",
       {3, 131},
       {3}},
      {"second hardware threads alone",
       two_sockets(),
       {130, 131},
       2,
       "2 processors on 2 cores, 1 memory",
       {130, 131},
       {130, 131}},
      {"big.LITTLE", big_little(), numbers(0, 8), 8,
       "8 processors on 8 cores, 1 memory, 4 of the cores slower than the others",
       numbers(4, 8) + numbers(0, 4), numbers(4, 8)},
      {"little cores of big.LITTLE",
       big_little(),
       {1, 3},
       2,
       "2 processors on 2 cores, 1 memory",
       {1, 3},
       {1, 3}},
      {"uneven",
       uneven(),
       numbers(0, 24),
       16,
       "24 processors on 16 cores, 1 memory, 8 of the cores slower than the others",
       {0, 2, 4, 6, 8, 10, 12, 14, 16, 17, 18, 19, 20, 21, 22, 23, 1, 3, 5, 7, 9, 11, 13, 15},
       {0, 2, 4, 6, 8, 10, 12, 14}},
      {"one core", topology_of("core:1 pu:1"), {0}, 1, "1 processor on 1 core, 1 memory", {0}, {0}},
      {"one core of two hardware threads",
       topology_of("core:1 pu:2"),
       {0, 1},
       1,
       "2 processors on 1 core, 1 memory",
       {0, 1},
       {0}},
      {"unknown", {}, {2, 5}, 2, "2 processors on 2 cores, 1 memory", {2, 5}, {2, 5}},
  };
}

TEST(SimulatedMachines, GetWhatAPersonWouldChoose) {
  for (const Simulated& one : machines()) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(usable_cores(one.topology, one.allowed, std::nullopt), one.cores);
    EXPECT_EQ(topology_text(one.topology, one.allowed), one.text);
    EXPECT_EQ(placing_order(one.topology, one.allowed), one.order);
    EXPECT_EQ(fast_cores(one.topology, one.allowed), one.fast);
  }
}

// Whichever processor is the freest.
TEST(SimulatedMachines, GetAThreadOnEachCoreFirstAndNoneOutsideTheirCpuSet) {
  for (const Simulated& one : machines()) {
    SCOPED_TRACE(one.name);
    for (const int first : one.fast) {
      const std::vector<int> order = placing_order(one.topology, one.allowed, first);
      EXPECT_EQ(order.front(), first);
      EXPECT_EQ(std::set<int>(order.begin(), order.end()),
                std::set<int>(one.allowed.begin(), one.allowed.end()));
      ASSERT_THAT(order, SizeIs(one.allowed.size()));
      EXPECT_EQ(cores_of(one.topology, {order.begin(), order.begin() + one.cores}), one.cores);
      const auto fast = static_cast<std::ptrdiff_t>(one.fast.size());
      EXPECT_EQ(fast_cores(one.topology, {order.begin(), order.begin() + fast}).size(), one.fast.size());
    }
  }
}

TEST(SimulatedMachines, KeepTheirThreadsInTheMemoryOfTheFirst) {
  EXPECT_EQ(placing_order(two_sockets(), numbers(0, 256), 70), std::vector{70} + numbers(64, 70) +
                                                                   numbers(71, 128) + numbers(0, 64) +
                                                                   numbers(192, 256) + numbers(128, 192));
}

TEST(SimulatedMachines, HaveNoMoreThreadsThanTheirQuota) {
  EXPECT_EQ(usable_cores(two_sockets(), numbers(0, 256), 0.5), 1) << "half a core";
  EXPECT_EQ(usable_cores(two_sockets(), numbers(0, 256), 2.5), 2) << "a third thread would be throttled";
  EXPECT_EQ(usable_cores(two_sockets(), numbers(0, 256), 200), 128) << "more than one for each core";
  EXPECT_EQ(usable_cores(two_sockets(), {3, 131}, 2), 1);
  EXPECT_EQ(usable_cores(topology_of("core:1 pu:1"), {0}, 4), 1);
  EXPECT_EQ(usable_cores({}, {}, std::nullopt), 1) << "where the system says nothing";
}

TEST(SimulatedMachines, HaveCoresThatAreAlikeWhereNobodySaysWhichAreFaster) {
  const Topology alike = topology_of("core:8 pu:1", 4, Ranks::unknown);
  EXPECT_EQ(placing_order(alike, numbers(0, 8)), numbers(0, 8));
  EXPECT_EQ(fast_cores(alike, numbers(0, 8)), numbers(0, 8));
}

TEST(SimulatedMachines, AreNamedByTheirCores) {
  const Processor processor{.model = "AMD EPYC 9554 64-Core Processor",
                            .family = 25,
                            .model_number = 17,
                            .features = {"avx2", "fma"}};
  const auto key = [&](const std::vector<int>& allowed, std::optional<double> quota) {
    return machine_key(processor, usable_cores(two_sockets(), allowed, quota));
  };
  EXPECT_EQ(key(numbers(0, 256), {}), "amd_epyc_9554_64_core_25_17_128c_avx2");
  EXPECT_EQ(key({3, 131}, {}), "amd_epyc_9554_64_core_25_17_1c_avx2");
  EXPECT_EQ(key(numbers(0, 256), 0.5), "amd_epyc_9554_64_core_25_17_1c_avx2");
}

/// Files of sysfs that tell of one cache each of these levels for a processor.
struct SysfsCache {
  const char *level, *size, *shared;
};
ReadFile sysfs(std::map<int, std::vector<SysfsCache>> of_processors) {
  std::map<std::string, std::string> files;
  for (const auto& [processor, caches] : of_processors) {
    for (std::size_t i = 0; i < caches.size(); ++i) {
      const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}/", processor, i);
      files[folder + "type"] = "Unified\n";
      files[folder + "level"] = caches[i].level;
      files[folder + "size"] = caches[i].size;
      files[folder + "shared_cpu_list"] = caches[i].shared;
    }
  }
  return [files](const std::string& path) -> std::optional<std::string> {
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(SimulatedMachines, CountTheCoresThatShareACacheAndNotTheirHardwareThreads) {
  const ReadFile files =
      sysfs({{0, {{"1", "32K", "0,128"}, {"2", "1024K", "0,128"}, {"3", "32M", "0-7,128-135"}}}});
  const std::vector<Cache> caches = data_caches(files, two_sockets(), numbers(0, 256));
  EXPECT_THAT(caches, ElementsAre(Cache{1, 32.0 * 1024, 1}, Cache{2, 1024.0 * 1024, 1},
                                  Cache{3, 32.0 * 1024 * 1024, 8}));
  // A thread on each of 128 cores reaches 128 caches of the second level, and 16 of the third.
  const auto levels = roof_levels({.cores = 128, .memory_bytes = 1e12, .caches = caches}, 128);
  ASSERT_THAT(levels, SizeIs(4));
  EXPECT_EQ(levels[1].holds_bytes, 128 * 1024.0 * 1024);
  EXPECT_EQ(levels[2].holds_bytes, 16 * 32.0 * 1024 * 1024);
}

TEST(SimulatedMachines, AreMeasuredByTheCachesOfTheCoreThatIsMeasured) {
  const ReadFile files =
      sysfs({{0, {{"1", "32K", "0"}}}, {1, {{"1", "32K", "1"}}}, {4, {{"1", "64K", "4"}}}});
  EXPECT_THAT(data_caches(files, big_little(), numbers(0, 8)),
              ElementsAre(Field(&Cache::bytes, 64.0 * 1024)));
  EXPECT_THAT(data_caches(files, big_little(), {1, 3}), ElementsAre(Field(&Cache::bytes, 32.0 * 1024)));
}

// 1 GiB of memory: working sets of the roof take a quarter of it at most, whatever the cores and the caches.
// Half of this last level would take 2 GiB on 128 cores; and half of the other, with 64 threads on each of
// two cores, 16 GiB.
TEST(SimulatedMachines, MeasureSmallerWorkingSetsWhereMemoryIsShort) {
  const Machine many{.cores = 128, .memory_bytes = 0x1p30, .caches = {{1, 0x1p15, 1}, {3, 0x1p28, 8}}},
      few{.cores = 2, .memory_bytes = 0x1p30, .caches = {{1, 0x1p15, 1}, {3, 0x1p29, 2}}};
  for (const Machine& machine : {many, few}) {
    for (const int threads : {1, 2, 128}) {
      const std::vector<RoofLevel> levels = roof_levels(machine, threads);
      EXPECT_THAT(levels, SizeIs(3)) << "no level is left out";
      for (const RoofLevel& level : levels)
        EXPECT_LE(level.bytes_per_thread * threads, 0x1p28) << level.name << ", " << threads;
    }
  }
}

}  // namespace
}  // namespace assay
