// Reads Google Benchmark's JSON: each repetition is a launch of one slice. Aggregates are no measurements,
// except the median of a benchmark that reports nothing else. Counters stand beside fields and may have their
// names, but not their types; they become figures.
#include "bench/exchange/foreign_results.hpp"
#include "core/json/fields.hpp"
#include "core/plan/trial_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace assay {
namespace {

double seconds_per_unit(const JsonField& benchmark) {
  const auto unit = benchmark.find("time_unit");
  if (!unit || unit->value().is_number()) return 1e-9;
  const double seconds = seconds_in_unit(unit->text());
  if (seconds <= 0 || seconds > 1) unit->refuse(fmt::format("is {}, must be ns, us, ms or s", unit->text()));
  return seconds;
}

bool is_aggregate(const JsonField& benchmark) {
  const auto name = benchmark.find("aggregate_name");
  return name && name->value().is_string();
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
  if (is_aggregate(benchmark)) return false;
  if (const auto type = benchmark.find("run_type")) return type->text() == "iteration";
  // Versions before 1.5 wrote no run_type; their aggregates can be told by their names alone.
  return !names_aggregate(benchmark.at("name").text(), names);
}

/// Fills a trial of this name, with the fields that our own writer adds.
void describe_trial(TrialResult& trial, const JsonField& benchmark, const std::string& name) {
  if (const auto threads = benchmark.find("threads"); threads && threads->value().is_integer()) {
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

/// Returns seconds, 0 for null.
double real_time_of(const JsonField& benchmark, double unit) {
  const auto time = benchmark.find("real_time");
  if (!time && !benchmark.value().contains("real_time")) benchmark.refuse("has no \"real_time\"");
  return time ? time->number() * unit : 0;
}

/// Returns whether the benchmark reports that it cannot be timed, and then marks the trial so.
bool take_report(TrialResult& trial, const JsonField& benchmark) {
  // Errors have `error_occurred`. Benchmarks that are left out on purpose have `skipped`, since 1.8.
  const bool failed = says_yes(benchmark, "error_occurred");
  if (!failed && !says_yes(benchmark, "skipped")) return false;
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
  Slice slice{.seconds = real_time_of(benchmark, unit),
              .cpu_seconds = processor_seconds(benchmark, "cpu_time", unit)};
  if (const auto calls = benchmark.find("iterations"); calls && calls->value().is_integer()) {
    slice.calls = std::max<Index>(1, calls->integer(0, std::numeric_limits<Index>::max()));
  }
  if (trial.skipped.empty()) add_launch(trial, slice);
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
/// number alone; `seen` counts those.
std::string identity_of(const JsonField& benchmark, const std::string& name,
                        std::map<std::string, int>& seen) {
  const auto number = [&](std::string_view member) {
    const auto found = benchmark.find(member);
    return found && found->value().is_integer() ? found->value().dump() : "";
  };
  const std::string family = number("family_index"), repetition = number("repetition_index");
  if (!family.empty()) return fmt::format("{}\n{},{}", name, family, number("per_family_instance_index"));
  return repetition.empty() ? name : fmt::format("{}\n{}", name, seen[name + '\n' + repetition]++);
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

void read_google_benchmark(const ResultFile& file, Results& results) {
  const auto context = file.field.at("context");
  results.suite = std::filesystem::path(context.text_or("executable", "benchmarks")).filename().string();
  results.machine = machine_of(context);
  results.date = context.text_or("date", "");
  const auto benchmarks = file.field.at("benchmarks").items();
  Names names;
  for (const JsonField& benchmark : benchmarks) names.insert(benchmark.at("name").text());
  NamedTrials trials(results);
  std::map<std::string, int> seen;
  Names measured;
  const auto add = [&](const JsonField& benchmark) -> TrialResult& {
    const std::string name = benchmark.text_or("run_name", benchmark.at("name").text()),
                      identity = identity_of(benchmark, name, seen);
    const bool is_new = !trials.has(identity);
    TrialResult& trial = trials.at(identity, name);
    measured.insert(name);
    if (is_new) describe_trial(trial, benchmark, name);
    add_repetition(trial, benchmark);
    return trial;
  };
  for (const JsonField& benchmark : benchmarks) {
    if (is_measurement(benchmark, names)) add(benchmark);
  }
  for (const JsonField& benchmark : benchmarks) {
    if (!is_aggregate(benchmark) || benchmark.at("aggregate_name").text() != "median") continue;
    if (measured.contains(benchmark.text_or("run_name", ""))) continue;
    add(benchmark).remark = "reports aggregates alone, of which the median counts as a process start";
  }
}

}  // namespace assay
