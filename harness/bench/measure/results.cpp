// Results as JSON. Samples stand in parallel arrays, so that a file stays small and a launch is three lines.
#include "assay/results.hpp"

#include "bench/measure/results_value.hpp"
#include "core/json/json.hpp"
#include "core/plan/former_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

namespace assay {
namespace {

Json to_value(const Launch& launch) {
  Json seconds = Json::array(), cpu_seconds = Json::array(), calls = Json::array();
  for (const Slice& slice : launch) {
    seconds.push_back(json_number(slice.seconds));
    cpu_seconds.push_back(json_number(slice.cpu_seconds));
    calls.push_back(slice.calls);
  }
  const bool one_count =
      std::ranges::all_of(launch, [&](const Slice& s) { return s.calls == launch[0].calls; });
  if (one_count && !launch.empty()) calls = launch[0].calls;
  return {
      {"seconds", std::move(seconds)}, {"cpu_seconds", std::move(cpu_seconds)}, {"calls", std::move(calls)}};
}

Launch launch_from(const JsonField& field) {
  const auto seconds_field = field.at("seconds");
  const auto seconds = seconds_field.numbers();
  const auto cpu_field = field.find("cpu_seconds");
  const auto cpu_seconds = cpu_field ? cpu_field->numbers() : std::vector<double>(seconds.size());
  if (cpu_seconds.size() != seconds.size()) {
    cpu_field->refuse(fmt::format("has {} numbers, \"seconds\" has {}", cpu_seconds.size(), seconds.size()));
  }
  std::vector<Index> calls(seconds.size(), 1);
  constexpr Index most_calls = std::numeric_limits<Index>::max();
  if (const auto calls_field = field.find("calls")) {
    if (calls_field->value().is_array()) {
      calls.clear();
      for (const JsonField& item : calls_field->items()) calls.push_back(item.integer(1, most_calls));
      if (calls.size() != seconds.size()) {
        calls_field->refuse(fmt::format("has {} numbers, \"seconds\" has {}", calls.size(), seconds.size()));
      }
    } else {
      std::ranges::fill(calls, calls_field->integer(1, most_calls));
    }
  }
  Launch launch;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    // Comparisons take logarithms; a time that is none would spoil every figure made with it.
    if (!(seconds[i] > 0) || std::isinf(seconds[i])) {
      seconds_field.refuse(fmt::format("number {} is {}, must be a time above 0", i, seconds[i]));
    }
    launch.push_back({.seconds = seconds[i], .cpu_seconds = cpu_seconds[i], .calls = calls[i]});
  }
  return launch;
}

Json to_value(const Machine& machine) {
  Json facts = Json::array(), caches = Json::array();
  for (const Fact& fact : machine.facts) {
    facts.push_back({{"name", fact.name}, {"value", fact.value}, {"decides", fact.decides}});
  }
  for (const Cache& cache : machine.caches) {
    caches.push_back(
        {{"level", cache.level}, {"bytes", json_number(cache.bytes)}, {"sharers", cache.sharers}});
  }
  return {{"key", machine.key},
          {"cores", machine.cores},
          {"memory_bytes", json_number(machine.memory_bytes)},
          {"caches", std::move(caches)},
          {"facts", std::move(facts)}};
}

constexpr Index most_threads = 1 << 20;

Machine machine_from(const JsonField& field) {
  Machine machine{.key = field.text_or("key", ""), .memory_bytes = field.number_or("memory_bytes", 0)};
  if (const auto cores = field.find("cores"))
    machine.cores = static_cast<int>(cores->integer(1, most_threads));
  if (const auto caches = field.find("caches")) {
    for (const JsonField& one : caches->items()) {
      Cache cache{.level = static_cast<int>(one.at("level").integer(0, 9)),
                  .bytes = one.at("bytes").number()};
      if (const auto sharers = one.find("sharers")) {
        cache.sharers = static_cast<int>(sharers->integer(1, most_threads));
      }
      machine.caches.push_back(cache);
    }
  }
  if (const auto facts = field.find("facts")) {
    for (const JsonField& fact : facts->items()) {
      const auto decides = fact.find("decides");
      machine.facts.push_back({.name = fact.at("name").text(),
                               .value = fact.at("value").text(),
                               .decides = !decides || decides->boolean()});
    }
  }
  return machine;
}

Json to_value(const Roof& roof) {
  Json bandwidth = Json::array();
  for (const Bandwidth& one : roof.bandwidth) {
    bandwidth.push_back({{"level", one.level},
                         {"working_set_bytes", json_number(one.working_set_bytes)},
                         {"bytes_per_second", json_number(one.bytes_per_second)}});
  }
  return {{"threads", roof.threads},
          {"flops_per_second", json_number(roof.flops_per_second)},
          {"bandwidth", std::move(bandwidth)}};
}

Roof roof_from(const JsonField& field) {
  Roof roof{.threads = static_cast<int>(field.at("threads").integer(1, most_threads)),
            .flops_per_second = field.number_or("flops_per_second", 0)};
  if (const auto bandwidth = field.find("bandwidth")) {
    for (const JsonField& one : bandwidth->items()) {
      roof.bandwidth.push_back({.level = one.at("level").text(),
                                .working_set_bytes = one.at("working_set_bytes").number(),
                                .bytes_per_second = one.at("bytes_per_second").number()});
    }
  }
  return roof;
}

/// Members of Weather by the names they have in files.
constexpr std::array<std::pair<std::string_view, double Weather::*>, 7> weather_members{{
    {"seconds", &Weather::seconds},
    {"steal_share", &Weather::steal_share},
    {"other_busy_share", &Weather::other_busy_share},
    {"cpu_pressure_share", &Weather::cpu_pressure_share},
    {"involuntary_switches", &Weather::involuntary_switches},
    {"migrations", &Weather::migrations},
    {"major_faults", &Weather::major_faults},
}};

Json to_value(const Weather& weather) {
  Json out = Json::object();
  for (const auto& [name, member] : weather_members) out[std::string(name)] = json_number(weather.*member);
  return out;
}

Weather weather_from(const JsonField& field) {
  Weather weather;
  for (const auto& [name, member] : weather_members) weather.*member = field.number_or(name, weather.*member);
  return weather;
}

Json to_value(const TrialResult& trial) {
  Json out{{"key", trial.key},          {"operation", trial.operation},
           {"variant", trial.variant},  {"problem", trial.problem},
           {"threads", trial.threads},  {"per_step", json_number(trial.per_step)},
           {"workload", trial.workload}};
  if (!trial.note.empty()) out["note"] = trial.note;
  if (!trial.skipped.empty()) {
    out["skipped"] = trial.skipped;
    return out;
  }
  out["cost"] = {{"flops", json_number(trial.cost.flops)},
                 {"bytes_read", json_number(trial.cost.bytes_read)},
                 {"bytes_written", json_number(trial.cost.bytes_written)}};
  if (!trial.cost.f32) out["cost"]["f32"] = false;
  out["agreement"] = {{"agrees", trial.agreement.agrees},
                      {"worst_error", json_number(trial.agreement.worst_error)},
                      {"compared", trial.agreement.compared},
                      {"total", trial.agreement.total},
                      {"detail", trial.agreement.detail}};
  out["allocations_per_call"] = json_number(trial.allocations_per_call);
  out["allocated_bytes_per_call"] = json_number(trial.allocated_bytes_per_call);
  out["workspace_bytes"] = json_number(trial.workspace_bytes);
  if (!trial.remark.empty()) out["remark"] = trial.remark;
  out["launches"] = Json::array();
  for (const Launch& launch : trial.launches) out["launches"].push_back(to_value(launch));
  return out;
}

Agreement agreement_from(const JsonField& field) {
  constexpr Index most = std::numeric_limits<Index>::max();
  Agreement out{.agrees = field.at("agrees").boolean(),
                .worst_error = field.number_or("worst_error", 0),
                .detail = field.text_or("detail", "")};
  if (const auto compared = field.find("compared")) out.compared = compared->integer(0, most);
  if (const auto total = field.find("total")) out.total = total->integer(0, most);
  return out;
}

/// Keys are taken apart where rows are selected, so they must be what they are made of.
void require_own_key(const JsonField& field, const TrialResult& trial) {
  const std::string expected =
      fmt::format("{}/{}/{}#{}", trial.operation, trial.variant, trial.problem, trial.threads);
  if (trial.key == expected) return;
  field.at("key").refuse(fmt::format("is {}, but the fields beside it make {}", trial.key, expected));
}

TrialResult trial_from(const JsonField& field) {
  TrialResult trial{.key = with_present_names(field.at("key").text()),
                    .operation = field.at("operation").text(),
                    .variant = with_present_names(field.at("variant").text()),
                    .problem = field.at("problem").text(),
                    .per_step = field.number_or("per_step", 0),
                    .note = field.text_or("note", ""),
                    .workload = field.text_or("workload", ""),
                    .skipped = field.text_or("skipped", ""),
                    .allocations_per_call = field.number_or("allocations_per_call", 0),
                    .allocated_bytes_per_call = field.number_or("allocated_bytes_per_call", 0),
                    .workspace_bytes = field.number_or("workspace_bytes", 0),
                    .remark = field.text_or("remark", "")};
  if (const auto threads = field.find("threads")) {
    trial.threads = static_cast<int>(threads->integer(1, most_threads));
  }
  require_own_key(field, trial);
  if (const auto cost = field.find("cost")) {
    trial.cost = {.flops = cost->number_or("flops", 0),
                  .bytes_read = cost->number_or("bytes_read", 0),
                  .bytes_written = cost->number_or("bytes_written", 0)};
    if (const auto f32 = cost->find("f32")) trial.cost.f32 = f32->boolean();
  }
  if (const auto agreement = field.find("agreement")) trial.agreement = agreement_from(*agreement);
  if (const auto launches = field.find("launches")) {
    for (const JsonField& launch : launches->items()) trial.launches.push_back(launch_from(launch));
  }
  return trial;
}

std::vector<TrialResult> trials_from(const JsonField& field) {
  std::vector<TrialResult> out;
  std::set<std::string> keys;
  for (const JsonField& trial : field.items()) {
    out.push_back(trial_from(trial));
    const std::string& key = out.back().key;
    if (!keys.insert(key).second) trial.refuse(fmt::format("repeats the trial {}", key));
  }
  return out;
}

Json to_value(const ShardRecord& record) {
  return {{"index", record.shard.index},   {"count", record.shard.count},
          {"selection", record.selection}, {"fingerprint", record.fingerprint},
          {"cases", record.cases},         {"positions", record.positions}};
}

ShardRecord shard_from(const JsonField& field) {
  constexpr Index most = std::numeric_limits<int>::max();
  ShardRecord out{.selection = field.at("selection").text(), .fingerprint = field.at("fingerprint").text()};
  out.shard.count = static_cast<int>(field.at("count").integer(1, most));
  out.shard.index = static_cast<int>(field.at("index").integer(0, out.shard.count - 1));
  out.cases = field.at("cases").integer(1, most);
  for (const JsonField& one : field.at("positions").items()) {
    out.positions.push_back(one.integer(0, out.cases - 1));
  }
  return out;
}

}  // namespace

std::vector<double> seconds_of(const Launch& launch) {
  std::vector<double> out;
  out.reserve(launch.size());
  for (const Slice& slice : launch) out.push_back(slice.seconds);
  return out;
}

std::string case_of(const TrialResult& trial) { return trial.operation + "/" + trial.problem; }

Json results_value(const Results& results) {
  Json roofs = Json::array(), trials = Json::array();
  for (const Roof& roof : results.roofs) roofs.push_back(to_value(roof));
  for (const TrialResult& trial : results.trials) trials.push_back(to_value(trial));
  Json out{{"schema", results_schema},   {"suite", results.suite},
           {"about", results.about},     {"steps_per_epoch", json_number(results.steps_per_epoch)},
           {"date", results.date},       {"commit", results.commit},
           {"seed", results.seed},       {"command", results.command},
           {"partial", results.partial}, {"cases_left_out", results.cases_left_out}};
  if (results.shard) out["shard"] = to_value(*results.shard);
  if (results.merged_shards > 0) out["merged_shards"] = results.merged_shards;
  if (!results.mixed_machines.empty()) out["mixed_machines"] = results.mixed_machines;
  out["machine"] = to_value(results.machine);
  out["roofs"] = std::move(roofs);
  out["weather"] = to_value(results.weather);
  out["trials"] = std::move(trials);
  if (!results.again.empty()) {
    Json again = Json::array();
    for (const TrialResult& trial : results.again) again.push_back(to_value(trial));
    out["again"] = std::move(again);
  }
  return out;
}

Results results_from(const JsonField& field) {
  require_schema(field, results_schema);
  Results results{.suite = field.at("suite").text(),
                  .about = field.text_or("about", ""),
                  .steps_per_epoch = field.number_or("steps_per_epoch", 0),
                  .commit = field.text_or("commit", "unknown"),
                  .date = field.text_or("date", ""),
                  .command = field.text_or("command", "")};
  if (const auto seed = field.find("seed")) results.seed = seed->unsigned_integer();
  if (const auto partial = field.find("partial")) results.partial = partial->boolean();
  results.cases_left_out = static_cast<Index>(field.number_or("cases_left_out", 0));
  if (const auto shard = field.find("shard")) results.shard = shard_from(*shard);
  if (const auto merged = field.find("merged_shards")) {
    results.merged_shards = static_cast<int>(merged->integer(1, std::numeric_limits<int>::max()));
  }
  results.mixed_machines = field.text_or("mixed_machines", "");
  if (const auto machine = field.find("machine")) results.machine = machine_from(*machine);
  if (const auto weather = field.find("weather")) results.weather = weather_from(*weather);
  if (const auto roofs = field.find("roofs")) {
    for (const JsonField& roof : roofs->items()) results.roofs.push_back(roof_from(roof));
  }
  results.trials = trials_from(field.at("trials"));
  if (const auto again = field.find("again")) results.again = trials_from(*again);
  return results;
}

Results results_from(const Json& file, const std::string& where) {
  return results_from(JsonField(file, where, "write the file again with: assay run -o FILE"));
}

std::string to_json(const Results& results) { return json_text(results_value(results)); }

Results results_from_json(const std::string& text, const std::string& where) {
  return results_from(parse_json(text, where), where);
}

}  // namespace assay
