// Results written as Google Benchmark writes its own, JSON, CSV and console, and its JSON read: each
// repetition is a launch of one slice. Aggregates are no measurements, except the median of a benchmark that
// reports nothing else. Counters stand beside fields and may have their names, but not their types; they
// become figures.
#include "bench/exchange/read_results.hpp"

#include "core/json/fields.hpp"
#include "core/plan/trial_key.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
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
  const bool debug = fact_value(results.machine.facts, "build type") == "Debug";
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
          {"library_build_type", debug ? "debug" : "release"},
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

std::string csv_quoted(const std::string& text) { return '"' + spelled(text, {{'"', "\"\""}}) + '"'; }

/// Ten columns with about three digits.
std::string console_time(double nanoseconds) {
  const int digits = nanoseconds < 1 ? 3 : nanoseconds < 10 ? 2 : nanoseconds < 100 ? 1 : 0;
  return fmt::format("{:>10.{}f}", nanoseconds, digits);
}

double seconds_per_unit(const JsonField& benchmark) {
  const auto unit = benchmark.find("time_unit");
  if (!unit || unit->value().is_number()) return 1e-9;
  const double seconds = seconds_in_unit(unit->text());
  if (seconds <= 0 || seconds > 1) unit->refuse(fmt::format("is {}, must be ns, us, ms or s", unit->text()));
  return seconds;
}

/// A text or an integer; empty for anything else, such as a counter of that name.
std::string field_in(const JsonField& benchmark, std::string_view member) {
  const Json* const found = benchmark.value().find(member);
  if (found == nullptr) return "";
  return found->is_string() ? found->text() : found->is_integer() ? found->dump() : "";
}

bool says_yes(const JsonField& benchmark, std::string_view member) {
  const auto found = benchmark.find(member);
  return found && found->value().is_boolean() && found->boolean();
}

using Names = std::set<std::string, std::less<>>;

/// Whether an aggregate has this name, as `X_mean` of a benchmark `X` in the file. A fit over the sizes of a
/// family is named for the family, `X_BigO` for `X/8`.
bool names_aggregate(std::string_view name, const Names& names) {
  for (const std::string_view suffix : {"_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS"}) {
    if (!name.ends_with(suffix)) continue;
    const std::string_view of = name.substr(0, name.size() - suffix.size());
    const auto first = names.lower_bound(std::string(of) + "/");
    return names.contains(of) || (first != names.end() && first->starts_with(std::string(of) + "/"));
  }
  return false;
}

bool is_measurement(const JsonField& benchmark, const Names& names) {
  const Json* const aggregate = benchmark.value().find("aggregate_name");
  if (aggregate != nullptr && aggregate->is_string()) return false;
  if (const auto type = benchmark.find("run_type")) return type->text() == "iteration";
  const Json& row = benchmark.value();
  if (!row.contains("real_time") && (row.contains("big_o") || row.contains("rms"))) return false;  // a fit
  // Versions before 1.5 wrote no run_type; their aggregates can be told by their names alone.
  return !names_aggregate(benchmark.at("name").text(), names);
}

/// Fills a trial of this name, with the fields that our own writer adds.
void describe_trial(TrialResult& trial, const JsonField& benchmark, const std::string& name) {
  if (const auto threads = benchmark.find("threads"); threads && threads->value().is_integer()) {
    trial.threads = static_cast<int>(threads->integer(1, 1 << 20));
  }
  if (const auto ours = benchmark.find("assay"); ours && ours->value().is_object()) {
    trial.operation = ours->text_or("operation", name);
    trial.key = with_present_names(name);
    trial.variant = with_present_names(ours->text_or("variant", ""));
    trial.problem = ours->text_or("problem", "");
    trial.workload = ours->text_or("workload", "");
    const auto from_zero = [&](std::string_view key) {
      double value = 0;
      if (const auto found = ours->find(key))
        Form<double>::read(*found, value, {.least = 0, .most = most_amount});
      return value;
    };
    trial.per_step = from_zero("per_step");
    trial.cost = {.flops = from_zero("flops"),
                  .bytes_read = from_zero("bytes_read"),
                  .bytes_written = from_zero("bytes_written")};
  }
}

/// Returns whether the benchmark reports that it cannot be timed, and then marks the trial so.
bool take_report(TrialResult& trial, const JsonField& benchmark) {
  // Errors have `error_occurred`. Benchmarks that are left out on purpose have `skipped`, since 1.8.
  const bool failed = says_yes(benchmark, "error_occurred");
  if (!failed && !says_yes(benchmark, "skipped")) return false;
  const std::string message = benchmark.text_or("error_message", benchmark.text_or("skip_message", ""));
  // Our writer marks every trial without a time as an error, since the format has no other word.
  const bool ours = benchmark.value().contains("assay") && benchmark.value().at("assay").is_object();
  const auto begins = [&](std::string_view start) { return message.starts_with(start); };
  const bool found =
      begins("disagrees") || begins("impossible: ") || begins("crashed: ") || begins("timed out: ");
  trial.failed = trial.failed || (failed && (!ours || found));
  trial.skipped = fmt::format("reports{}: {}", trial.failed ? " an error" : "", message);
  trial.launches.clear();
  return true;
}

void add_repetition(TrialResult& trial, const JsonField& benchmark) {
  if (take_report(trial, benchmark)) return;
  const double unit = seconds_per_unit(benchmark);
  const auto time = benchmark.find("real_time");  // nothing for null
  if (!time && !benchmark.value().contains("real_time")) benchmark.refuse("has no \"real_time\"");
  Slice like{.seconds = unit, .cpu_seconds = processor_seconds(trial, benchmark, "cpu_time", unit)};
  if (const auto calls = benchmark.find("iterations"); calls && calls->value().is_integer()) {
    like.calls = std::max<Index>(1, calls->integer(0, std::numeric_limits<Index>::max()));
  }
  if (trial.skipped.empty()) add_samples(trial, {time ? time->number() : 0}, like);
  constexpr std::array fields{"family_index", "per_family_instance_index",
                              "repetitions",  "repetition_index",
                              "threads",      "iterations",
                              "real_time",    "cpu_time"};
  for (const auto& [name, value] : benchmark.value().members()) {
    if (value.is_number() && std::ranges::find(fields, name) == fields.end())
      trial.figures[name] = value.number();
  }
}

/// Tells a benchmark from others of its name. Versions that write no families tell it by repetitions of one
/// number alone, which `seen` counts; those that write no index have a longer name.
std::string identity_of(const JsonField& row, const std::string& name, std::map<std::string, int>& seen) {
  const std::string family = field_in(row, "family_index"), repetition = field_in(row, "repetition_index");
  if (!family.empty())
    return fmt::format("{}\n{},{}", name, family, field_in(row, "per_family_instance_index"));
  if (!repetition.empty()) return fmt::format("{}\n{}", name, seen[name + '\n' + repetition]++);
  return with_details(name, {{"label", field_in(row, "label")}, {"threads", field_in(row, "threads")}});
}

Machine machine_of(const JsonField& context) {
  Machine machine;
  note_cores(machine, context.find("num_cpus"));
  // The build type of the timing library, not of the program. Shown, but does not make another machine.
  machine.facts.push_back({"library build type", context.text_or("library_build_type", "unknown"), false});
  // Hosted machines get another name and clock each time without being another machine.
  machine.facts.push_back({"host", context.text_or("host_name", ""), false});
  machine.facts.push_back({"megahertz", fmt::format("{:.0f}", context.number_or("mhz_per_cpu", 0)), false});
  return machine;
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

void read_google_benchmark(const ResultFile& file, Results& results) {
  const auto context = file.field.at("context");
  results.suite = std::filesystem::path(context.text_or("executable", "benchmarks")).filename().string();
  results.machine = machine_of(context);
  results.date = context.text_or("date", "");
  Names names;
  for (const auto& [ignored, benchmark] : file.records) names.insert(benchmark.at("name").text());
  TrialPlaces places;
  std::map<std::string, int> seen;
  Names measured;
  const auto add = [&](const JsonField& benchmark) -> TrialResult& {
    const std::string name = benchmark.text_or("run_name", benchmark.at("name").text());
    measured.insert(name);
    const std::string identity = identity_of(benchmark, name, seen);
    TrialResult& trial = trial_named(results, places, name, identity);
    // A name with label and threads, where no index tells rows apart.
    const bool has_index = identity.find('\n') != std::string::npos;
    if (trial.launches.empty() && trial.skipped.empty()) {
      describe_trial(trial, benchmark, name);
      if (!has_index && identity != name) trial.note = identity;
    } else if (!has_index) {
      add_remark(trial, "rows of one name and without an index count as repetitions");
    }
    add_repetition(trial, benchmark);
    return trial;
  };
  for (const auto& [ignored, benchmark] : file.records) {
    if (is_measurement(benchmark, names)) add(benchmark);
  }
  for (const auto& [ignored, benchmark] : file.records) {
    if (field_in(benchmark, "aggregate_name") != "median") continue;
    if (measured.contains(benchmark.text_or("run_name", ""))) continue;
    add_remark(add(benchmark), "reports aggregates alone, of which the median counts as a process start");
  }
}

}  // namespace assay
