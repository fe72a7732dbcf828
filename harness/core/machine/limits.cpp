#include "core/machine/limits.hpp"

#include "assay/csv.hpp"
#include "core/text/parts.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <sstream>
#include <utility>

namespace assay {
namespace {

constexpr std::string_view blanks = " \t\r\n";

void tighten(std::optional<double>& limit, std::optional<double> other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

std::optional<double> number_in(const ReadFile& read, const std::string& path) {
  return number(csv::trimmed(read(path).value_or("")));
}

// The folders of a group and of each of its parents under these mounts. In a container the path that
// /proc/self/cgroup names often does not exist under the mount, whose top is the container's own group.
std::vector<std::string> group_and_parents(std::initializer_list<std::string> mounts, std::string group) {
  std::vector<std::string> out(mounts);
  for (; group.size() > 1; group.resize(group.rfind('/')))
    for (const std::string& mount : mounts) out.push_back(mount + group);
  return out;
}

void tighten_memory(Limits& limits, std::optional<double> limit, double used) {
  // Version 1 writes "unlimited" as a number near 2^63.
  constexpr double unlimited = 1e18;
  if (!limit || *limit >= unlimited) return;
  tighten(limits.memory_limit_bytes, limit);
  tighten(limits.memory_bytes, std::max(0.0, *limit - used));
}

// A limit is a word, "unlimited" or a number.
void read_own_limits(const ReadFile& read, Limits& limits) {
  const std::string all = read("/proc/self/limits").value_or(""),
                    used = read("/proc/self/status").value_or("");
  for (const auto& [name, field] : {std::pair{"Max address space", "VmSize"}, {"Max data size", "VmData"}}) {
    const auto soft_and_hard = words(field_of(all, name));
    if (!soft_and_hard.empty()) tighten_memory(limits, number(soft_and_hard.front()), bytes_in(used, field));
  }
}

struct MemoryFiles {
  const char *limit, *used, *inactive_cache;
};

void read_memory(const ReadFile& read, const std::string& folder, const MemoryFiles& files, Limits& limits) {
  const double used = number_in(read, folder + "/" + files.used).value_or(0);
  const double cache =
      number(field_of(read(folder + "/memory.stat").value_or(""), files.inactive_cache)).value_or(0);
  tighten_memory(limits, number_in(read, folder + "/" + files.limit), used - cache);
}

void read_version_2(const ReadFile& read, const std::string& group, Limits& limits) {
  constexpr MemoryFiles files{"memory.max", "memory.current", "inactive_file"};
  for (const auto& folder : group_and_parents({"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}, group)) {
    tighten(limits.processors, quota_of_cpu_max(read(folder + "/cpu.max").value_or("")));
    read_memory(read, folder, files, limits);
  }
}

void read_version_1(const ReadFile& read, std::string_view controller, const std::string& group,
                    Limits& limits) {
  if (controller == "cpu") {
    for (const auto& folder :
         group_and_parents({"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"}, group)) {
      const std::string quota = read(folder + "/cpu.cfs_quota_us").value_or("");
      tighten(limits.processors, quota_of_cpu_max(quota + read(folder + "/cpu.cfs_period_us").value_or("")));
    }
  } else if (controller == "memory") {
    constexpr MemoryFiles files{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
    for (const auto& folder : group_and_parents({"/sys/fs/cgroup/memory"}, group))
      read_memory(read, folder, files, limits);
  }
}

// Bytes of a field of /proc/meminfo, or of so many pages where it is not there, within the limit.
double memory(const ReadFile& read, std::string_view field, int pages, std::optional<double> limit) {
  double bytes = bytes_in(read("/proc/meminfo").value_or(""), field);
  const auto count = sysconf(pages), size = sysconf(_SC_PAGESIZE);
  if (bytes <= 0 && count > 0 && size > 0) bytes = static_cast<double>(count) * static_cast<double>(size);
  return limit ? std::min(bytes, *limit) : bytes;
}

// `4`, or `4(x2)` for two nodes of four each; nothing where nodes differ, as the text does not say which.
std::optional<int> processors_per_node(const std::string& text) {
  const auto count = number_from<int>(std::string_view(text).substr(0, text.find('(')));
  return text.find(',') != std::string::npos || !count || *count < 1 ? std::nullopt : count;
}

}  // namespace

std::optional<std::string> try_read(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::ostringstream content;
  // Reading the files of a process that ends meanwhile fails, and an empty file gives nothing.
  if (file.peek() != std::ifstream::traits_type::eof()) content << file.rdbuf();
  if (file.bad()) return std::nullopt;
  return content.str();
}

std::string first_line(const std::string& path) {
  const std::string text = try_read(path).value_or("");
  return std::string(csv::trimmed(std::string_view(text).substr(0, text.find('\n'))));
}

std::vector<std::string> words(std::string_view text) {
  std::istringstream in{std::string(text)};
  return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
}

std::string field_of(std::string_view text, std::string_view name) {
  for (const std::string_view line : parts_of(text, '\n')) {
    if (!line.starts_with(name)) continue;
    std::string_view rest = line.substr(name.size());
    // `isa` must not find `isa-ext`: after the name come blanks, then perhaps a colon.
    if (!rest.empty() && rest.front() != ':' && blanks.find(rest.front()) == std::string_view::npos) continue;
    std::string_view value = csv::trimmed(rest);
    if (value.starts_with(':')) value = csv::trimmed(value.substr(1));
    return std::string(value);
  }
  return "";
}

double bytes_in(std::string_view text, std::string_view name) {
  const auto value = words(field_of(text, name));
  return value.empty() ? 0 : number(value.front()).value_or(0) * 1024;
}

std::optional<double> number(std::string_view word) { return number_from<double>(word); }

std::optional<double> size_in_bytes(std::string_view text) {
  std::string_view word = csv::trimmed(text);
  if (word.ends_with("iB")) word.remove_suffix(2);
  if (word.empty()) return std::nullopt;
  const char letter = word.back();
  const double unit = letter == 'k' || letter == 'K' ? 0x1p10
                      : letter == 'M'                ? 0x1p20
                      : letter == 'G'                ? 0x1p30
                                                     : 1;
  if (unit > 1) word.remove_suffix(1);
  const auto value = number(csv::trimmed(word));
  if (!value || *value < 0) return std::nullopt;
  return *value * unit;
}

std::vector<int> numbers_in_list(std::string_view text) {
  std::vector<int> out;
  for (const std::string_view item : parts_of(csv::trimmed(text), ',')) {
    const auto dash = item.find('-');
    // No system has more processors.
    const auto from = number_from<std::uint16_t>(item.substr(0, dash));
    const auto to = dash == std::string_view::npos ? from : number_from<std::uint16_t>(item.substr(dash + 1));
    if (!from || !to || *to < *from) return {};
    for (int i = *from; i <= *to; ++i) out.push_back(i);
  }
  return out;
}

std::optional<double> quota_of_cpu_max(std::string_view text) {
  const auto parts = words(text);
  if (parts.size() != 2) return std::nullopt;
  const auto quota = number(parts[0]), period = number(parts[1]);
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

Limits limits_of_process(const ReadFile& read) {
  Limits limits;
  read_own_limits(read, limits);
  const std::string text = read("/proc/self/cgroup").value_or("0::/\n1:cpu:/\n2:memory:/\n");
  // hierarchy:controller,controller:/group
  for (const auto& line : words(text)) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string group = line.substr(second + 1);
    if (!group.starts_with('/')) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controllers.empty()) read_version_2(read, group, limits);
    for (const std::string_view one : parts_of(controllers, ',')) read_version_1(read, one, group, limits);
  }
  return limits;
}

Allotment allotment(const ReadFile& read, const ReadVariable& value_of, int allowed, const Limits& limits) {
  const auto online = numbers_in_list(read("/sys/devices/system/cpu/online").value_or(""));
  Allotment out{.processors_of_machine = static_cast<int>(online.size()),
                .allowed = allowed,
                .quota = limits.processors,
                .slurm_job = value_of("SLURM_JOB_ID").value_or(""),
                .slurm_processors = std::nullopt};
  if (out.slurm_job.empty()) return out;
  for (const char* name : {"SLURM_CPUS_ON_NODE", "SLURM_JOB_CPUS_PER_NODE"}) {
    if (!out.slurm_processors) out.slurm_processors = processors_per_node(value_of(name).value_or(""));
  }
  return out;
}

double available_memory(const ReadFile& read, const Limits& limits) {
  return memory(read, "MemAvailable", _SC_AVPHYS_PAGES, limits.memory_bytes);
}

double total_memory(const ReadFile& read, const Limits& limits) {
  return memory(read, "MemTotal", _SC_PHYS_PAGES, limits.memory_limit_bytes);
}

}  // namespace assay
