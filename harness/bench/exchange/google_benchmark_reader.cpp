// Reads Google Benchmark's JSON: each repetition is a launch of one slice. Aggregates are no measurements,
// except the median of a benchmark that reports nothing else. A bare NaN or Infinity, which counters may hold
// and JSON may not, counts as null.
#include "bench/exchange/foreign_results.hpp"
#include "core/json/fields.hpp"
#include "core/plan/trial_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace assay {
namespace {

double seconds_per_unit(const JsonField& benchmark) {
  const std::string unit = benchmark.text_or("time_unit", "ns");
  const std::map<std::string, double, std::less<>> known{{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  const auto found = known.find(unit);
  if (found == known.end())
    benchmark.at("time_unit").refuse(fmt::format("is {}, must be ns, us, ms or s", unit));
  return found->second;
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
  if (benchmark.find("aggregate_name")) return false;
  if (const auto type = benchmark.find("run_type")) return type->text() == "iteration";
  // Versions before 1.5 wrote no run_type; their aggregates can be told by their names alone.
  return !names_aggregate(benchmark.at("name").text(), names);
}

/// Fills a trial of this name, with the fields that our own writer adds.
void describe_trial(TrialResult& trial, const JsonField& benchmark, const std::string& name) {
  if (const auto threads = benchmark.find("threads")) {
    trial.threads = static_cast<int>(threads->integer(1, 1 << 20));
  }
  if (const auto ours = benchmark.find("assay")) {
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

/// Returns seconds, and nothing for a number that is not finite. Throws Error for one that is negative or
/// beyond all times.
std::optional<double> real_time_of(const JsonField& benchmark, double unit) {
  const auto time = benchmark.find("real_time");
  if (!time) {
    if (benchmark.value().contains("real_time")) return std::nullopt;
    benchmark.refuse("has no \"real_time\"");
  }
  const double value = time->number();
  if (!std::isfinite(value) && !(value < 0)) return std::nullopt;
  if (value < 0 || value * unit > most_seconds) time->refuse(fmt::format("is {}, must be a time", value));
  return value * unit;
}

/// Returns whether the benchmark reports that it cannot be timed, and then marks the trial so.
bool take_report(TrialResult& trial, const JsonField& benchmark) {
  // Errors have `error_occurred`. Benchmarks that are left out on purpose have `skipped`, since 1.8.
  const auto error = benchmark.find("error_occurred");
  const bool failed = error && error->boolean();
  if (!failed && !benchmark.find("skipped")) return false;
  const std::string message = benchmark.text_or("error_message", benchmark.text_or("skip_message", ""));
  // Our writer marks every trial without a time as an error, since the format has no other word.
  const bool ours = benchmark.find("assay").has_value();
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
  const double seconds = real_time_of(benchmark, unit).value_or(0);
  if (!(seconds > 0)) {
    trial.remark = "some repetitions report no finite time above 0 and were left out";
    return;
  }
  Slice slice{.seconds = seconds, .cpu_seconds = processor_seconds(benchmark, "cpu_time", unit)};
  if (const auto calls = benchmark.find("iterations")) {
    slice.calls = std::max<Index>(1, calls->integer(0, std::numeric_limits<Index>::max()));
  }
  if (trial.skipped.empty()) trial.launches.push_back({slice});
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

std::string with_nulls(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  bool quoted = false;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (quoted && c == '\\' && i + 1 < text.size()) {
      out += text.substr(i, 2);
      i += 2;
      continue;
    }
    if (c == '"') quoted = !quoted;
    if (!quoted) {
      const auto rest = std::string_view(text).substr(i);
      const auto words = {"-Infinity", "Infinity", "-NaN", "NaN", "-inf", "inf", "-nan", "nan"};
      const auto word = std::ranges::find_if(words, [&](std::string_view w) { return rest.starts_with(w); });
      if (word != words.end()) {
        out += "null";
        i += std::string_view(*word).size();
        continue;
      }
    }
    out += c;
    ++i;
  }
  return out;
}

void read_google_benchmark(const ResultFile& file, Results& results) {
  const auto context = file.field.at("context");
  results.suite = std::filesystem::path(context.text_or("executable", "benchmarks")).filename().string();
  results.machine = machine_of(context);
  results.date = context.text_or("date", "");
  const auto benchmarks = file.field.at("benchmarks").items();
  Names names;
  for (const JsonField& benchmark : benchmarks) names.insert(benchmark.at("name").text());
  NamedTrials trials(results);
  const auto add = [&](const JsonField& benchmark) -> TrialResult& {
    const std::string name = benchmark.text_or("run_name", benchmark.at("name").text());
    const bool is_new = !trials.has(name);
    TrialResult& trial = trials.at(name);
    if (is_new) describe_trial(trial, benchmark, name);
    add_repetition(trial, benchmark);
    return trial;
  };
  for (const JsonField& benchmark : benchmarks) {
    if (is_measurement(benchmark, names)) add(benchmark);
  }
  for (const JsonField& benchmark : benchmarks) {
    if (benchmark.text_or("aggregate_name", "") != "median") continue;
    if (trials.has(benchmark.text_or("run_name", ""))) continue;
    add(benchmark).remark = "reports aggregates alone, of which the median counts as a process start";
  }
}

}  // namespace assay
