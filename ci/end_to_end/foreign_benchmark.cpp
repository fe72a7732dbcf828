// A program of Google Benchmark that knows nothing of assay, with benchmarks of every kind that there is.
// FOREIGN_PLANT makes `moved` take one and a half times as long (slower), report an error (errors), crash
// (crashes), hang (hangs), or count one more that was lost (loses). What it does is work and no wait: it
// takes as much processor time however often it is interrupted.

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace {

bool planted(std::string_view what) {
  const char* const plant = std::getenv("FOREIGN_PLANT");
  return plant != nullptr && std::string_view(plant).starts_with(what);
}

void work(int thousands) {
  double x = 1;
  for (int i = 0; i < 1000 * thousands; ++i) x = x * 0.999999 + 1e-6;
  benchmark::DoNotOptimize(x);
}

void repeat(benchmark::State& state, int thousands) {
  for (auto _ : state) work(thousands);
}

void steady(benchmark::State& state) {
  repeat(state, 10);
  state.counters["unknown"] = std::numeric_limits<double>::quiet_NaN();
}

void moved(benchmark::State& state) {
  // Asked once: to look for a variable that is there takes 50 ns longer than for one that is not.
  const bool crashes = planted("crashes"), hangs = planted("hangs");
  const int thousands = planted("slower") ? 15 : 10;
  if (planted("errors")) state.SkipWithError("boom");
  for (auto _ : state) {
    if (crashes) {
      std::fprintf(stderr, "about to crash\n");
      std::abort();
    }
    while (hangs) work(1);
    work(thousands);
  }
  state.counters["lost"] = planted("loses") ? 101 : 100;
}

void by_hand(benchmark::State& state) {
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    work(10);
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
}

void small(benchmark::State& state) { repeat(state, 10); }
void large(benchmark::State& state) { repeat(state, 4000); }

BENCHMARK(steady);
BENCHMARK(moved);
BENCHMARK(by_hand)->UseManualTime();
BENCHMARK(small)->UseRealTime();
BENCHMARK(small)->Threads(2);
BENCHMARK(small)->Repetitions(3)->ReportAggregatesOnly();
BENCHMARK(large);

}  // namespace

int main(int argc, char** argv) {
  std::puts("steady as it goes, version 7");
  benchmark::RegisterBenchmark("odd [1]{2}|(3).*+?^$\\ \"x\"/a:b", small);
  benchmark::RegisterBenchmark("twice", small);
  benchmark::RegisterBenchmark("twice", large);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
