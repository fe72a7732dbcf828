#include "core/machine/limits.hpp"
#include "core/machine/topology.hpp"

#include <gmock/gmock.h>

#include <map>

namespace assay {
namespace {

using ::testing::ElementsAre;

using Planted = std::map<std::string, std::string>;
ReadFile reader(Planted files) {
  return [files = std::move(files)](const std::string& path) -> std::optional<std::string> {
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(Limits, ReadsTheQuotaOfCpuMax) {
  EXPECT_EQ(quota_of_cpu_max("150000 100000\n"), 1.5);
  for (const char* text : {"max 100000\n", "", "100000", "0 100000", "1 0", "a b", "1 2 3"}) {
    EXPECT_FALSE(quota_of_cpu_max(text)) << text;
  }
}

TEST(Limits, TakesTheTightestOfAGroupAndItsParents) {
  const auto limits = limits_of_process(reader({{"/proc/self/cgroup", "0::/a/b\n"},
                                                {"/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"},
                                                {"/sys/fs/cgroup/a/cpu.max", "200000 100000\n"},
                                                {"/sys/fs/cgroup/a/b/memory.max", "1000\n"},
                                                {"/sys/fs/cgroup/a/b/memory.current", "400\n"},
                                                {"/sys/fs/cgroup/a/memory.max", "5000\n"},
                                                {"/sys/fs/cgroup/a/memory.current", "4900\n"}}));
  EXPECT_EQ(limits.processors, 2.0);
  EXPECT_EQ(limits.memory_limit_bytes, 1000.0);
  EXPECT_EQ(limits.memory_bytes, 100.0);
}

TEST(Limits, CountsReclaimablePageCacheAsFree) {
  const auto limits =
      limits_of_process(reader({{"/proc/self/cgroup", "0::/\n"},
                                {"/sys/fs/cgroup/memory.max", "1000\n"},
                                {"/sys/fs/cgroup/memory.current", "900\n"},
                                {"/sys/fs/cgroup/memory.stat", "anon 100\ninactive_file 500\n"}}));
  EXPECT_EQ(limits.memory_bytes, 600.0);
}

TEST(Limits, ReadsVersionOneAndItsWordForUnlimited) {
  const auto limits =
      limits_of_process(reader({{"/proc/self/cgroup", "4:memory:/x\n2:cpu,cpuacct:/x\n0::/\n"},
                                {"/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "300000\n"},
                                {"/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n"},
                                {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
                                {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
                                {"/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n"}}));
  EXPECT_EQ(limits.processors, 3.0);
  EXPECT_FALSE(limits.memory_bytes);
}

/// /proc/self/limits with these two soft limits.
std::string limits_file(const std::string& data, const std::string& address_space) {
  return "Limit                     Soft Limit           Hard Limit           Units     \n"
         "Max data size             " +
         data + "            unlimited            bytes     \nMax address space         " + address_space +
         "            unlimited            bytes     \n";
}

// As `ulimit -v` and `ulimit -d` set them: 1 GiB, of which 256 MiB are mapped, and 512 MiB, of which 64 MiB
// are.
TEST(Limits, OfTheProcessItselfCountAsThoseOfItsGroup) {
  const auto limits = [](const std::string& data, const std::string& address_space) {
    return limits_of_process(
        reader({{"/proc/self/limits", limits_file(data, address_space)},
                {"/proc/self/status", "Name:\tassay\nVmSize:\t  262144 kB\nVmData:\t   65536 kB\n"}}));
  };
  EXPECT_FALSE(limits("unlimited", "unlimited").memory_bytes);
  EXPECT_EQ(limits("unlimited", "1073741824").memory_limit_bytes, 0x1p30);
  EXPECT_EQ(limits("unlimited", "1073741824").memory_bytes, 0x1p30 - 0x1p28);
  EXPECT_EQ(limits("536870912", "1073741824").memory_limit_bytes, 0x1p29);
  EXPECT_EQ(limits("536870912", "1073741824").memory_bytes, 0x1p29 - 0x1p26);
  EXPECT_EQ(limits("1024", "unlimited").memory_bytes, 0.0) << "less than it has";
}

TEST(Limits, TakeTheTightestOfProcessAndGroup) {
  const std::map<std::string, std::string> group{{"/proc/self/cgroup", "0::/\n"},
                                                 {"/proc/self/limits", limits_file("unlimited", "5000")},
                                                 {"/sys/fs/cgroup/memory.max", "1000\n"},
                                                 {"/sys/fs/cgroup/memory.current", "100\n"}};
  EXPECT_EQ(limits_of_process(reader(group)).memory_bytes, 900.0);
}

TEST(Limits, AreNoneInABareChroot) {
  const auto limits = limits_of_process(reader({}));
  EXPECT_FALSE(limits.processors);
  EXPECT_FALSE(limits.memory_bytes);
  EXPECT_GT(available_memory(reader({}), limits), 0);
}

TEST(Limits, SurviveOddText) {
  for (const char* text : {":", "::", "0::", "0::relative", "a", "0::/../..", ":cpu:/"}) {
    limits_of_process(reader({{"/proc/self/cgroup", text}}));
  }
  for (const char* text : {"Max address space", "Max address space \n", "Max address space x y bytes\n"}) {
    EXPECT_FALSE(limits_of_process(reader({{"/proc/self/limits", text}})).memory_bytes) << text;
  }
}

/// On a machine of eight processors.
Allotment given(const Planted& variables) {
  return allotment(reader({{"/sys/devices/system/cpu/online", "0-7\n"}}),
                   [&](const char* name) {
                     const auto found = variables.find(name);
                     return found == variables.end() ? std::nullopt : std::optional(found->second);
                   },
                   8, {.processors = 6});
}

TEST(Allotment, IsWhatSlurmSaysOfThisNode) {
  const Allotment job = given({{"SLURM_JOB_ID", "17"}, {"SLURM_CPUS_ON_NODE", "2"}});
  EXPECT_EQ(job.processors_of_machine, 8);
  EXPECT_EQ(job.allowed, 8);
  EXPECT_EQ(job.quota, 6.0);
  EXPECT_EQ(job.slurm_job, "17");
  EXPECT_EQ(job.slurm_processors, 2);
  EXPECT_EQ(given({{"SLURM_JOB_ID", "17"}, {"SLURM_JOB_CPUS_PER_NODE", "4(x2)"}}).slurm_processors, 4);
}

TEST(Allotment, IsNotKnownWhereNodesDifferOrNobodySaysIt) {
  for (const char* text : {"4,2", "4(x2),2", "", "x"}) {
    EXPECT_FALSE(given({{"SLURM_JOB_ID", "17"}, {"SLURM_JOB_CPUS_PER_NODE", text}}).slurm_processors) << text;
  }
  EXPECT_FALSE(given({{"SLURM_JOB_ID", "17"}, {"SLURM_CPUS_ON_NODE", "1e300"}}).slurm_processors);
  EXPECT_FALSE(given({{"SLURM_CPUS_ON_NODE", "2"}}).slurm_processors) << "outside of any job";
  EXPECT_EQ(allotment(reader({}), [](const char*) { return std::nullopt; }, 8, {}).processors_of_machine, 0);
}

TEST(Limits, BoundTheMemoryThatMeminfoOffers) {
  const auto read = reader({{"/proc/meminfo", "MemTotal: 2000 kB\nMemAvailable: 1000 kB\n"}});
  EXPECT_EQ(available_memory(read, {}), 1000.0 * 1024);
  EXPECT_EQ(available_memory(read, {.memory_bytes = 5000}), 5000.0);
  EXPECT_EQ(total_memory(read, {.memory_limit_bytes = 1e9}), 2000.0 * 1024);
}

TEST(Caches, LeaveInstructionsOutAndComeByLevel) {
  const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index";
  const auto caches = data_caches(reader({{folder + "0/type", "Unified\n"},
                                          {folder + "0/level", "3\n"},
                                          {folder + "0/size", "32M\n"},
                                          {folder + "0/shared_cpu_list", "0-7\n"},
                                          {folder + "1/type", "Instruction\n"},
                                          {folder + "1/level", "1\n"},
                                          {folder + "1/size", "32K\n"},
                                          {folder + "2/type", "Data\n"},
                                          {folder + "2/level", "1\n"},
                                          {folder + "2/size", "48K\n"}}),
                                  {}, {0});
  EXPECT_THAT(caches, ElementsAre(Cache{1, 48.0 * 1024, 1}, Cache{3, 32.0 * 1024 * 1024, 8}));
}

TEST(Caches, PassOverOneWithoutASize) {
  const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index";
  const auto caches = data_caches(reader({{folder + "0/type", "Data\n"},
                                          {folder + "0/level", "1\n"},
                                          {folder + "0/size", "?\n"},
                                          {folder + "1/type", "Unified\n"},
                                          {folder + "1/level", "2\n"},
                                          {folder + "1/size", "1024K\n"}}),
                                  {}, {0});
  EXPECT_THAT(caches, ElementsAre(Cache{2, 1024.0 * 1024, 1}));
}

using ::testing::IsEmpty;

TEST(TextFields, FindsAWholeFieldNameOnly) {
  const std::string text = "isa-ext: wrong\nisa : rv64\nMemAvailable:   24337368 kB\ninactive_file 4096\n";
  EXPECT_EQ(field_of(text, "isa"), "rv64");
  EXPECT_EQ(field_of(text, "MemAvailable"), "24337368 kB");
  EXPECT_EQ(field_of(text, "inactive_file"), "4096");
  EXPECT_EQ(field_of(text, "inactive"), "");
  EXPECT_EQ(field_of("", "isa"), "");
}

TEST(TextFields, SplitsWordsAtAnyBlank) {
  EXPECT_THAT(words(" a\tb  c\r\n"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(words(" \n "), IsEmpty());
}

TEST(TextFields, ReadsSizesAsSysfsWritesThem) {
  EXPECT_EQ(size_in_bytes("48K\n"), 48.0 * 1024);
  EXPECT_EQ(size_in_bytes("32M"), 32.0 * 1024 * 1024);
  EXPECT_EQ(size_in_bytes("1 GiB"), 1024.0 * 1024 * 1024);
  EXPECT_EQ(size_in_bytes("512"), 512.0);
}

TEST(TextFields, RefusesWhatIsNoSize) {
  for (const char* text : {"", "K", "x", "-1K", "32 Q", "1K1", "nan", "inf"}) {
    EXPECT_FALSE(size_in_bytes(text)) << text;
  }
}

TEST(TextFields, RefusesNumbersWithAnythingBehindThem) {
  EXPECT_EQ(number("1.5"), 1.5);
  for (const char* text : {"", "max", "1.5x", " 1", "inf"}) EXPECT_FALSE(number(text)) << text;
}

TEST(TextFields, NamesTheProcessorsOfAList) {
  EXPECT_THAT(numbers_in_list("0\n"), ElementsAre(0));
  EXPECT_THAT(numbers_in_list("0-3,8,10-11\n"), ElementsAre(0, 1, 2, 3, 8, 10, 11));
  for (const char* text : {"", "3-0", "a", "0-", "-1", "0-3,x", "0-2147483647"})
    EXPECT_THAT(numbers_in_list(text), IsEmpty()) << text;
}

TEST(TextFields, TreatsAMissingFileAsNothing) {
  EXPECT_FALSE(try_read("/no/such/file"));
  EXPECT_EQ(first_line("/no/such/file"), "");
}

}  // namespace

}  // namespace assay
