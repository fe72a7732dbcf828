#include "bench/measure/sampler.hpp"
#include "core/machine/clock.hpp"

#include <benchmark/benchmark.h>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace assay {
namespace {

/// Times that the system took the processor from this thread.
double involuntary_switches() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return static_cast<double>(used.ru_nivcsw);
}

/// Prints nothing: slices keep their own time.
class Silence : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

/// Random interleaving is a global flag of the library and can be set on its command line only.
void initialize_once() {
  static const bool done = [] {
    char program[] = "assay";
    char interleave[] = "--benchmark_enable_random_interleaving=true";
    char* arguments[] = {program, interleave, nullptr};
    int count = 2;
    benchmark::Initialize(&count, arguments);
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace

Slice slice_of(const AuditedSlices::Taken& taken) {
  const auto calls = static_cast<double>(taken.calls);
  return {.seconds = taken.seconds / calls, .cpu_seconds = taken.cpu_seconds / calls, .calls = taken.calls};
}

std::vector<Launch> sample_mixed(const std::vector<Burst>& bursts, const Hooks& hooks,
                                 const StepReporter& reporter) {
  initialize_once();
  benchmark::ClearRegisteredBenchmarks();
  std::vector<Launch> out(bursts.size());
  std::vector<double> switches(bursts.size());
  for (std::size_t i = 0; i < bursts.size(); ++i) {
    const Burst& burst = bursts[i];
    // Keys hold '/' and ':', which the library parses in names: a number stands in.
    const std::string name = "burst" + std::to_string(i);
    const auto slice = [&burst, &reporter, &hooks, &launch = out[i],
                        &switched = switches[i]](benchmark::State& state) {
      while (state.KeepRunning()) {
        state.SetIterationTime(1e-9);  // any time: the number of iterations is fixed
        // A kernel that was found at fault is not called again: it would spoil the restored input.
        if (hooks.stopped() || !burst.trial->audit().fault.empty()) continue;
        const double before = involuntary_switches();
        reporter.call(burst.step, burst.limit_seconds,
                      [&] { launch.push_back(slice_of(burst.trial->take(burst.calls, burst.warm_up))); });
        switched += involuntary_switches() - before;
      }
    };
    benchmark::RegisterBenchmark(name.c_str(), slice)
        ->Iterations(1)
        ->Repetitions(burst.slices)
        ->ReportAggregatesOnly(false)
        ->UseManualTime();
  }
  Silence silence;
  if (!bursts.empty()) benchmark::RunSpecifiedBenchmarks(&silence);
  benchmark::ClearRegisteredBenchmarks();
  for (std::size_t i = 0; i < bursts.size(); ++i) {
    double calls = 0;
    for (const Slice& slice : out[i]) calls += static_cast<double>(slice.calls);
    if (bursts[i].figures != nullptr && calls > 0)
      (*bursts[i].figures)["involuntary_switches_per_call"] = switches[i] / calls;
  }
  return out;
}

double seconds_for(Timed& timed, Index calls) {
  const auto start = std::chrono::steady_clock::now();
  timed.repeat(calls);
  return seconds_since(start);
}

double calibrated(Timed& timed, double first_call, double slice_seconds) {
  double call = first_call;
  for (Index calls = 1; call * static_cast<double>(calls) < slice_seconds / 4; calls *= 2) {
    call = std::max(seconds_for(timed, calls) / static_cast<double>(calls), 1e-10);
  }
  return call;
}

double renewal_seconds(Timed& timed) {
  double least = 1;
  constexpr double long_enough = 1e-3;
  for (int i = 0; i < 3 && (i == 0 || least < long_enough); ++i) {
    const auto start = std::chrono::steady_clock::now();
    timed.renew(secret(), Renewal::timed);
    least = std::min(least, seconds_since(start));
  }
  static_cast<void>(timed.settle(false));
  return least;
}

Index calls_per_slice(double seconds, double slice_seconds) {
  return std::max<Index>(1, static_cast<Index>(std::ceil(slice_seconds / seconds)));
}

}  // namespace assay
