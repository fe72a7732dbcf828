// Results with round numbers, for tests that are verified by hand.
#pragma once

#include "assay/measure.hpp"
#include "assay/results.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace assay::hand_made {

inline constexpr double micro = 1e-6;

/// A trial of one thread that agreed, with one slice per launch.
inline TrialResult trial(const std::string& operation, const std::string& variant, const std::string& problem,
                         std::vector<double> microseconds) {
  TrialResult out{.key = fmt::format("{}/{}/{}#1", operation, variant, problem),
                  .operation = operation,
                  .variant = variant,
                  .problem = problem,
                  .workload = operation + problem,
                  .agreement = {.compared = 4096, .total = 4096}};
  for (const double time : microseconds) out.launches.push_back({Slice{.seconds = time * micro}});
  return out;
}

/// gemm 64^3, three times a step: naive 100, 102, 104 µs, packed half of each. 2 * 64^3 = 524,288 operations,
/// 3 * 4 * 64^2 = 49,152 bytes.
/// elementwise_add of 1,000 elements, twice a step: naive always 10 µs, simd 12.5 µs. 1,000 operations,
/// 12,000 bytes. packed calls OpenBLAS, and its preparation takes 1 ms; the calls of elementwise_add/naive
/// are not known. Ten steps per epoch. Roof: 100 GFLOP/s; 100 GB/s up to 32 KiB, 10 GB/s beyond.
inline Results network() {
  Results out{
      .suite = "tiny",
      .about = "two cases",
      .steps_per_epoch = 10,
      .machine = {.key = "cpu_1c", .facts = {{"processor", "a CPU", true}, {"system", "Linux", false}}},
      .commit = "abc123",
      .date = "2026-01-02T03:04:05Z",
      .seed = 42,
      .command = "assay run --suite suites/tiny.json",
      .roofs = {{.threads = 1,
                 .flops_per_second = 1e11,
                 .bandwidth = {{"L1", 32768, 1e11}, {"memory", 0x1p30, 1e10}}}},
      .weather = {.seconds = 2.5,
                  .steal_share = 0.01,
                  .other_busy_share = 0.02,
                  .cpu_pressure_share = -1,
                  .involuntary_switches = 7,
                  .migrations = -1}};
  const std::string square = "m=64,n=64,k=64", flat = "n=1,c=1,h=1,w=1000";
  out.trials = {trial("gemm", "naive", square, {100, 102, 104}),
                trial("gemm", "packed", square, {50, 51, 52}),
                trial("elementwise_add", "naive", flat, {10, 10, 10}),
                trial("elementwise_add", "simd@avx2", flat, {12.5, 12.5, 12.5})};
  for (TrialResult& one : out.trials) {
    const bool gemm = one.operation == "gemm";
    one.per_step = gemm ? 3 : 2;
    one.note = gemm ? "layer" : "residual";
    one.cost = gemm ? Cost{524288, 32768, 16384} : Cost{1000, 8000, 4000};
  }
  out.trials[1].agreement.worst_error = 0.25;
  out.calls = {
      {.variant = "gemm/naive"},
      {.variant = "gemm/packed", .calls = {{"openblas", {"cblas_sgemm"}}, {"threads", {"GOMP_parallel"}}}},
      {.variant = "elementwise_add/simd@avx2", .calls = {{"system", {"close", "mmap", "munmap", "open"}}}}};
  out.steps = {{.variant = "gemm/packed", .after = "naive"}};
  out.figures = measured_figures();
  out.trials[1].figures["prepare_seconds"] = 1e-3;
  for (TrialResult& one : out.trials) one.audit = {.slices = 45, .judged = 9, .compared = 144};
  return out;
}

/// The same results with `packed` found wrong, hence never timed.
inline Results network_with_a_disagreement() {
  Results out = network();
  out.trials[1].agreement = {false, 226, "c[1, 32] is 0.5, expected 0.25", 4096, 4096};
  out.trials[1].launches.clear();
  return out;
}

}  // namespace assay::hand_made
