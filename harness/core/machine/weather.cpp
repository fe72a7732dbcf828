// WeatherStation: the activity of others on the machine between two readings.

#include "core/machine/limits.hpp"

#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>

namespace assay {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double ticks_per_second() {
  static const auto ticks = sysconf(_SC_CLK_TCK);
  return ticks > 0 ? static_cast<double>(ticks) : 100.0;
}

// A counter of this process and of the threads that it starts from now on; a negative number when refused.
int open_counter(unsigned type, unsigned long long event) {
  perf_event_attr what{};
  what.type = type;
  what.size = sizeof what;
  what.config = event;
  what.inherit = 1;
  // Counting the kernel as well needs a privilege that a test machine seldom gives.
  what.exclude_kernel = type == PERF_TYPE_HARDWARE ? 1 : 0;
  const long opened = syscall(SYS_perf_event_open, &what, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  return static_cast<int>(opened);
}

double migrations() {
  // Opened at the first reading and kept: a counter per station would miss threads that started before it.
  static const int counter = open_counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS);
  std::uint64_t count = 0;
  if (counter < 0 || ::read(counter, &count, sizeof count) != sizeof count) return -1;
  return static_cast<double>(count);
}

}  // namespace

std::optional<CpuTicks> cpu_ticks(std::string_view text) {
  // cpu user nice system idle iowait irq softirq steal guest guest_nice; guests are counted in user already.
  const auto line = words(text.substr(0, text.find('\n')));
  if (line.size() < 5 || line.front() != "cpu") return std::nullopt;
  CpuTicks out;
  for (std::size_t i = 1; i < std::min<std::size_t>(line.size(), 9); ++i) {
    const auto ticks = number(line[i]);
    if (!ticks) return std::nullopt;
    out.total += *ticks;
    const bool idle = i == 4 || i == 5, stolen = i == 8;
    if (stolen) out.steal += *ticks;
    if (!idle && !stolen) out.busy += *ticks;
  }
  return out;
}

std::optional<double> pressure_seconds(std::string_view text) {
  for (const auto& word : words(field_of(text, "some"))) {
    constexpr std::string_view key = "total=";
    if (!word.starts_with(key)) continue;
    const auto microseconds = number(std::string_view(word).substr(key.size()));
    if (microseconds) return *microseconds * 1e-6;
  }
  return std::nullopt;
}

CpuShares cpu_shares(const CpuTicks& before, const CpuTicks& after, double own_seconds, double per_second) {
  const double total = after.total - before.total;
  if (total <= 0) return {};
  // Our own time is exact and theirs comes in ticks: over a short while the difference may be negative.
  const double others = after.busy - before.busy - own_seconds * per_second;
  return {.steal = std::clamp((after.steal - before.steal) / total, 0.0, 1.0),
          .other_busy = std::clamp(others / total, 0.0, 1.0)};
}

WeatherStation::Reading WeatherStation::read() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  rusage self{}, children{};
  getrusage(RUSAGE_SELF, &self);
  // Programs that a gate starts and waits for are ours too.
  getrusage(RUSAGE_CHILDREN, &children);
  double own = 0;
  for (const auto& usage : {self, children}) own += seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  return {.seconds = std::chrono::duration<double>(now).count(),
          .own = own,
          .pressure = pressure_seconds(try_read("/proc/pressure/cpu").value_or("")).value_or(-1),
          .switches = static_cast<double>(self.ru_nivcsw + children.ru_nivcsw),
          .migrations = migrations(),
          .faults = static_cast<double>(self.ru_majflt + children.ru_majflt),
          .ticks = cpu_ticks(try_read("/proc/stat").value_or("")).value_or(CpuTicks{})};
}

WeatherStation::WeatherStation() : start_(read()) {}

Weather WeatherStation::since() const {
  const Reading now = read();
  const double seconds = now.seconds - start_.seconds;
  const CpuShares shares = cpu_shares(start_.ticks, now.ticks, now.own - start_.own, ticks_per_second());
  const bool pressure_known = now.pressure >= 0 && start_.pressure >= 0 && seconds > 0;
  const bool migrations_known = now.migrations >= 0 && start_.migrations >= 0;
  return {.seconds = seconds,
          .steal_share = shares.steal,
          .other_busy_share = shares.other_busy,
          .cpu_pressure_share =
              pressure_known ? std::clamp((now.pressure - start_.pressure) / seconds, 0.0, 1.0) : -1,
          .involuntary_switches = now.switches - start_.switches,
          .migrations = migrations_known ? now.migrations - start_.migrations : -1,
          .major_faults = now.faults - start_.faults};
}

Counters available_counters() {
  Counters out;
  const auto try_one = [](unsigned type, unsigned long long event) {
    const int descriptor = open_counter(type, event);
    if (descriptor >= 0) close(descriptor);
    return descriptor >= 0;
  };
  out.software = try_one(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS);
  out.hardware = try_one(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
  if (!out.hardware) {
    const bool forbidden = errno == EACCES || errno == EPERM;
    out.why_not = forbidden ? "not permitted" : "not available";
  }
  return out;
}

}  // namespace assay
