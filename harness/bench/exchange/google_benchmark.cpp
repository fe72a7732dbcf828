// Results written as Google Benchmark writes its own: JSON, CSV and console.
#include "bench/exchange/google_benchmark.hpp"

#include "core/json/json.hpp"
#include "core/statistics/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace assay {
namespace {

/// A launch of a trial as the formats write it, or a trial without launches.
struct Repetition {
  double real_nanoseconds = 0, cpu_nanoseconds = 0;
  Index iterations = 0;
  std::string error;  ///< empty when there are times
};

Repetition repetition_of(std::span<const Slice> launch) {
  Repetition out;
  std::vector<double> real, cpu;
  for (const Slice& slice : launch) {
    real.push_back(slice.seconds);
    cpu.push_back(slice.cpu_seconds);
    out.iterations += slice.calls;
  }
  out.real_nanoseconds = 1e9 * median(real);
  out.cpu_nanoseconds = 1e9 * median(cpu);
  return out;
}

std::vector<Repetition> repetitions_of(const TrialResult& trial) {
  if (!trial.skipped.empty()) return {{.error = "skipped: " + trial.skipped}};
  if (trial.failure)
    return {{.error = fmt::format("{}: {}", to_string(trial.failure->kind), trial.failure->reason)}};
  if (!trial.agreement.agrees) return {{.error = "disagrees with the oracle: " + trial.agreement.detail}};
  if (!trial.impossible.empty()) return {{.error = "impossible: " + trial.impossible}};
  std::vector<Repetition> out;
  for (const Launch& launch : trial.launches) {
    if (launch.empty()) continue;
    if (trial.launches.size() > 1) {
      out.push_back(repetition_of(launch));
    } else {
      for (const Slice& slice : launch) out.push_back(repetition_of({&slice, 1}));
    }
  }
  if (out.empty()) out.push_back({.error = "was not measured"});
  return out;
}

Json context_of(const Results& results) {
  const Fact* const build_type = find_fact(results.machine.facts, "build type");
  Json caches = Json::array();
  for (const Cache& cache : results.machine.caches) {
    caches.push_back({{"type", cache.level == 1 ? "Data" : "Unified"},
                      {"level", cache.level},
                      {"size", static_cast<Index>(cache.bytes)},
                      {"num_sharing", cache.sharers}});
  }
  // mhz_per_cpu and load_avg are expected by readers and not known here.
  return {{"date", results.date},
          {"host_name", results.machine.key},
          {"executable", "assay"},
          {"num_cpus", results.machine.cores},
          {"mhz_per_cpu", 0},
          {"cpu_scaling_enabled", false},
          {"caches", std::move(caches)},
          {"load_avg", Json::array()},
          {"library_build_type", build_type != nullptr && build_type->value == "Debug" ? "debug" : "release"},
          {"assay",
           {{"suite", results.suite},
            {"commit", results.commit},
            {"seed", results.seed},
            {"command", results.command}}}};
}

Json extras_of(const TrialResult& trial) {
  Json out{{"operation", trial.operation},
           {"variant", trial.variant},
           {"problem", trial.problem},
           {"workload", trial.workload},
           {"per_step", json_number(trial.per_step)},
           {"flops", json_number(trial.cost.flops)},
           {"bytes_read", json_number(trial.cost.bytes_read)},
           {"bytes_written", json_number(trial.cost.bytes_written)},
           {"worst_error", json_number(trial.agreement.worst_error)}};
  for (const auto& [tag, value] : trial.figures) out[tag] = json_number(value);
  return out;
}

std::string csv_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

/// Ten columns with about three digits.
std::string console_time(double nanoseconds) {
  const int digits = nanoseconds < 1 ? 3 : nanoseconds < 10 ? 2 : nanoseconds < 100 ? 1 : 0;
  return fmt::format("{:>10.{}f}", nanoseconds, digits);
}

}  // namespace

std::string google_benchmark_json(const Results& results) {
  Json benchmarks = Json::array();
  std::size_t family = 0;
  for (const TrialResult& trial : results.trials) {
    const auto repetitions = repetitions_of(trial);
    for (std::size_t i = 0; i < repetitions.size(); ++i) {
      const Repetition& one = repetitions[i];
      Json entry{{"name", trial.key},     {"family_index", family},  {"per_family_instance_index", 0},
                 {"run_name", trial.key}, {"run_type", "iteration"}, {"repetitions", repetitions.size()},
                 {"repetition_index", i}, {"threads", trial.threads}};
      if (!one.error.empty()) {
        entry["error_occurred"] = true;
        entry["error_message"] = one.error;
      }
      entry["iterations"] = one.iterations;
      entry["real_time"] = one.real_nanoseconds;
      entry["cpu_time"] = one.cpu_nanoseconds;
      entry["time_unit"] = "ns";
      entry["assay"] = extras_of(trial);
      benchmarks.push_back(std::move(entry));
    }
    ++family;
  }
  return json_text({{"context", context_of(results)}, {"benchmarks", std::move(benchmarks)}});
}

std::string google_benchmark_csv(const Results& results) {
  std::string out =
      "name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,error_occurred,"
      "error_message\n";
  for (const TrialResult& trial : results.trials) {
    for (const Repetition& one : repetitions_of(trial)) {
      out += one.error.empty()
                 ? fmt::format("{},{},{:.6g},{:.6g},ns,,,,,\n", csv_quoted(trial.key), one.iterations,
                               one.real_nanoseconds, one.cpu_nanoseconds)
                 : fmt::format("{},,,,,,,,true,{}\n", csv_quoted(trial.key), csv_quoted(one.error));
    }
  }
  return out;
}

std::string google_benchmark_console(const Results& results) {
  std::size_t width = 10;
  for (const TrialResult& trial : results.trials) width = std::max(width, trial.key.size());
  const std::string header =
      fmt::format("{:<{}} {:>13} {:>15} {:>12}\n", "Benchmark", width, "Time", "CPU", "Iterations");
  const std::string line(header.size() - 1, '-');
  std::string out = line + '\n' + header + line + '\n';
  for (const TrialResult& trial : results.trials) {
    for (const Repetition& one : repetitions_of(trial)) {
      out += one.error.empty() ? fmt::format("{:<{}} {} ns   {} ns   {:>10}\n", trial.key, width,
                                             console_time(one.real_nanoseconds),
                                             console_time(one.cpu_nanoseconds), one.iterations)
                               : fmt::format("{:<{}} ERROR OCCURRED: '{}'\n", trial.key, width, one.error);
    }
  }
  return out;
}

}  // namespace assay
