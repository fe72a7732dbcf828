// A program of Google Benchmark that knows nothing of assay. With ASSAY_PLANT=slower=2 one of its two
// benchmarks takes one and a half times as long.

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>
#include <string_view>

namespace {

void spin(benchmark::State& state, std::chrono::nanoseconds time) {
  for (auto _ : state) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
  }
}

bool slower() {
  const char* const plant = std::getenv("ASSAY_PLANT");
  return plant != nullptr && std::string_view(plant).starts_with("slower");
}

void steady(benchmark::State& state) { spin(state, std::chrono::microseconds(20)); }
void moved(benchmark::State& state) { spin(state, std::chrono::microseconds(slower() ? 30 : 20)); }

BENCHMARK(steady);
BENCHMARK(moved);

}  // namespace

BENCHMARK_MAIN();
