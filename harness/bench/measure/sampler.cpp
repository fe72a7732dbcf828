#include "bench/measure/sampler.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>

namespace assay {
namespace {

/// Keeps what each repetition took instead of printing it.
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      const double calls = static_cast<double>(run.iterations);
      slices[run.run_name.function_name].push_back({.seconds = run.real_accumulated_time / calls,
                                                    .cpu_seconds = run.cpu_accumulated_time / calls,
                                                    .calls = run.iterations});
    }
  }
  std::map<std::string, Launch> slices;
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

std::vector<Launch> sample_mixed(const std::vector<Burst>& bursts, const Hooks& hooks,
                                 const StepReporter& reporter) {
  initialize_once();
  benchmark::ClearRegisteredBenchmarks();
  std::vector<std::vector<bool>> ran(bursts.size());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < bursts.size(); ++i) {
    const Burst& burst = bursts[i];
    // Keys hold '/' and ':', which the library parses in names: a number stands in.
    names.push_back("burst" + std::to_string(i));
    const auto slice = [&burst, &reporter, &hooks, &ran_here = ran[i]](benchmark::State& state) {
      const bool stopped = hooks.stopped();
      ran_here.push_back(!stopped);
      reporter.call(burst.step, burst.limit_seconds, [&] {
        if (!stopped && burst.warm_up) burst.timed->repeat(1);
        while (state.KeepRunningBatch(burst.calls)) {
          if (!stopped) burst.timed->repeat(burst.calls);
        }
      });
    };
    benchmark::RegisterBenchmark(names.back().c_str(), slice)
        ->Iterations(burst.calls)
        ->Repetitions(burst.slices)
        ->ReportAggregatesOnly(false)
        ->Unit(benchmark::kNanosecond);
  }
  Collector collector;
  if (!bursts.empty()) benchmark::RunSpecifiedBenchmarks(&collector);
  benchmark::ClearRegisteredBenchmarks();

  std::vector<Launch> out(bursts.size());
  for (std::size_t i = 0; i < bursts.size(); ++i) {
    const Launch& all = collector.slices[names[i]];
    for (std::size_t s = 0; s < std::min(all.size(), ran[i].size()); ++s) {
      if (ran[i][s]) out[i].push_back(all[s]);
    }
  }
  return out;
}

}  // namespace assay
