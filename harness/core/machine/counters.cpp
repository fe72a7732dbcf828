#include "core/machine/counters.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace assay {

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
