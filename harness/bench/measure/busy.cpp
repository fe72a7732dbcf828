#include "bench/measure/busy.hpp"

#include "core/files/child_process.hpp"

#include <sys/wait.h>

#include <csignal>
#include <vector>

namespace assay {
namespace {

/// Bursts of arithmetic, and of copying more than fits in most caches.
[[noreturn]] int work() {
  std::vector<double> data(4 << 20, 1.0);
  volatile double sink = 0;
  for (;;) {
    double sum = 1;
    for (int i = 0; i < 20'000'000; ++i) sum = sum * 0.999999 + 1e-6;
    for (double& x : data) x += sum;
    sink = sink + data[static_cast<std::size_t>(sum)];
  }
}

}  // namespace

BusyCore::BusyCore() : child_(fork_child(work)) {}

BusyCore::~BusyCore() {
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
}

}  // namespace assay
