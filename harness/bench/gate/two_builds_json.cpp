// A gate of two builds as JSON: every slice of every launch, so that its verdicts can be reached again
// elsewhere.
#include "assay/error.hpp"
#include "bench/gate/two_builds_value.hpp"
#include "core/json/json.hpp"
#include "core/json/shortened.hpp"
#include "core/plan/former_names.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>

namespace assay {
namespace {

constexpr const char* remedy = "write it anew: assay gate --base ... -o FILE";

Json to_value(const std::vector<double>& seconds) {
  Json out = Json::array();
  for (const double value : seconds) out.push_back(shortened(value));
  return out;
}

Json to_value(const std::vector<Fact>& facts) {
  Json out = Json::array();
  for (const Fact& fact : facts) {
    out.push_back({{"name", fact.name}, {"value", fact.value}, {"decides", fact.decides}});
  }
  return out;
}

Json to_value(const Build& build) {
  return {{"name", build.name},
          {"commit", build.commit},
          {"links", build.links},
          {"layout_remark", build.layout_remark},
          {"facts", to_value(build.facts)}};
}

Json to_value(const SequentialPolicy& policy) {
  return {{"margin", policy.margin},
          {"same_limit", policy.same_limit},
          {"level", policy.level},
          {"same_level", policy.same_level},
          {"control_margin", policy.control_margin},
          {"screen", policy.screen},
          {"family", policy.family},
          {"looks", policy.looks}};
}

Json to_value(const PairedTrial& trial) {
  Json launches = Json::array();
  for (const PairedLaunch& launch : trial.launches) {
    launches.push_back({{"base_link", launch.base_link},
                        {"head_link", launch.head_link},
                        {"base", to_value(launch.base)},
                        {"head", to_value(launch.head)},
                        {"control", to_value(launch.control)}});
  }
  Json occurrences = Json::object();
  for (const Occurrence& o : trial.occurrences) occurrences[o.suite] = json_number(o.per_epoch);
  return {{"key", trial.trial.key},
          {"operation", trial.trial.operation},
          {"variant", trial.trial.variant},
          {"problem", trial.trial.problem},
          {"threads", trial.trial.threads},
          {"per_epoch", std::move(occurrences)},
          {"base_code", trial.base_code},
          {"head_code", trial.head_code},
          {"left_out", trial.tested() ? "" : std::string(to_string(trial.left_out))},
          {"why_left_out", trial.why_left_out},
          {"base_allocations", trial.base_allocations},
          {"base_allocated_bytes", trial.base_allocated_bytes},
          {"head_allocations", trial.head_allocations},
          {"head_allocated_bytes", trial.head_allocated_bytes},
          {"pointers", trial.pointers},
          {"launches", std::move(launches)}};
}

std::vector<Fact> facts_from(const JsonField& field) {
  std::vector<Fact> out;
  for (const JsonField& fact : field.items()) {
    out.push_back({.name = fact.at("name").text(),
                   .value = fact.at("value").text(),
                   .decides = fact.at("decides").boolean()});
  }
  return out;
}

constexpr Index most = std::numeric_limits<std::int32_t>::max();

std::size_t count_from(const JsonField& field, Index low) {
  return static_cast<std::size_t>(field.integer(low, most));
}

Build build_from(const JsonField& field) {
  return {.name = field.at("name").text(),
          .commit = field.at("commit").text(),
          .facts = facts_from(field.at("facts")),
          .links = count_from(field.at("links"), 1),
          .layout_remark = field.at("layout_remark").text()};
}

double number_above(const JsonField& field, double low) {
  const double value = field.number();
  if (!(value > low)) field.refuse("is not above " + std::to_string(low));
  return value;
}

SequentialPolicy policy_from(const JsonField& field) {
  SequentialPolicy out{.margin = number_above(field.at("margin"), 1),
                       .same_limit = number_above(field.at("same_limit"), 1),
                       .level = number_above(field.at("level"), 0),
                       .same_level = number_above(field.at("same_level"), 0),
                       .control_margin = number_above(field.at("control_margin"), 1),
                       .screen = count_from(field.at("screen"), 1),
                       .looks = {}};
  if (const auto family = field.find("family")) out.family = count_from(*family, 0);
  for (const JsonField& look : field.at("looks").items()) out.looks.push_back(count_from(look, 1));
  if (out.looks.empty()) field.at("looks").refuse("is empty");
  if (std::ranges::adjacent_find(out.looks, std::greater_equal{}) != out.looks.end()) {
    field.at("looks").refuse("does not ascend");
  }
  return out;
}

Json to_value(const ComparedShard& shard) {
  return {{"index", shard.shard.index},
          {"count", shard.shard.count},
          {"trials", shard.trials},
          {"fingerprint", shard.fingerprint}};
}

ComparedShard shard_from(const JsonField& field) {
  ComparedShard out{.trials = count_from(field.at("trials"), 0),
                    .fingerprint = field.at("fingerprint").text()};
  out.shard.count = static_cast<int>(field.at("count").integer(1, most));
  out.shard.index = static_cast<int>(field.at("index").integer(0, out.shard.count - 1));
  return out;
}

std::vector<double> seconds_from(const JsonField& field, bool may_be_empty) {
  std::vector<double> out = field.numbers();
  if (out.empty() && !may_be_empty) field.refuse("is empty");
  for (const double value : out) {
    if (!(value > 0) || value > 1e6) field.refuse("holds what is no time");
  }
  return out;
}

Standing left_out_from(const JsonField& field) {
  const std::string text = field.text();
  for (const Standing standing : {Standing::same, Standing::not_comparable, Standing::wrong,
                                  Standing::skipped, Standing::added, Standing::gone}) {
    if (text == to_string(standing)) return standing;
  }
  field.refuse("is '" + text + "', which is no reason to leave a trial out");
}

/// Sides take turns, so that slices stand beside each other by their number. Foreign programs, which have no
/// variants, time themselves, and may leave out a repetition.
PairedLaunch launch_from(const JsonField& field, bool in_turns) {
  PairedLaunch out{.base = seconds_from(field.at("base"), false),
                   .head = seconds_from(field.at("head"), false),
                   .control = seconds_from(field.at("control"), true),
                   .base_link = count_from(field.at("base_link"), 0),
                   .head_link = count_from(field.at("head_link"), 0)};
  for (const auto& [side, seconds] : {std::pair{"head", &out.head}, std::pair{"control", &out.control}}) {
    if (!in_turns || seconds->empty() || seconds->size() == out.base.size()) continue;
    field.at(side).refuse("has " + std::to_string(seconds->size()) + " slices, the base has " +
                          std::to_string(out.base.size()));
  }
  return out;
}

PairedTrial trial_from(const JsonField& field) {
  PairedTrial out{.trial = {.key = with_present_names(field.at("key").text()),
                            .operation = field.at("operation").text(),
                            .variant = with_present_names(field.at("variant").text()),
                            .problem = field.at("problem").text(),
                            .threads = static_cast<int>(field.at("threads").integer(1, 4096))},

                  .base_code = field.at("base_code").text(),
                  .head_code = field.at("head_code").text(),
                  .why_left_out = field.at("why_left_out").text(),
                  .base_allocations = field.at("base_allocations").number(),
                  .head_allocations = field.at("head_allocations").number(),
                  .base_allocated_bytes = field.at("base_allocated_bytes").number(),
                  .head_allocated_bytes = field.at("head_allocated_bytes").number()};
  const JsonField per_epoch = field.at("per_epoch");
  for (const auto& [suite, count] : per_epoch.value().members()) {
    out.occurrences.push_back({suite, per_epoch.at(suite).number()});
  }
  if (const auto lines = field.find("pointers")) {
    for (const JsonField& line : lines->items()) out.pointers.push_back(line.text());
  }
  if (!out.tested()) out.left_out = left_out_from(field.at("left_out"));
  for (const JsonField& launch : field.at("launches").items()) {
    out.launches.push_back(launch_from(launch, !out.trial.variant.empty()));
  }
  return out;
}

}  // namespace

std::string to_json(const TwoBuilds& run) {
  Json trials = Json::array();
  for (const PairedTrial& trial : run.trials) trials.push_back(to_value(trial));
  Json planted = Json::object();
  for (const auto& [key, slowdown] : run.planted) planted[key] = slowdown;
  Json out = {
      {"schema", two_builds_schema},
      {"suite", run.suite},
      {"date", run.date},
      {"seed", run.seed},
      {"command", run.command},
      {"filter", run.filter},
      {"partial", run.partial},
      {"budget_seconds", json_number(run.budget_seconds)},
      {"seconds", json_number(run.seconds)},
      {"screen_seconds", json_number(run.screen_seconds)},
      {"policy", to_value(run.policy)},
      {"machine",
       {{"key", run.machine.key}, {"cores", run.machine.cores}, {"facts", to_value(run.machine.facts)}}},
      {"weather",
       {{"seconds", json_number(run.weather.seconds)},
        {"steal_share", json_number(run.weather.steal_share)},
        {"other_busy_share", json_number(run.weather.other_busy_share)},
        {"cpu_pressure_share", json_number(run.weather.cpu_pressure_share)}}},
      {"base", to_value(run.base)},
      {"head", to_value(run.head)},
      {"planted", std::move(planted)},
      {"trials", std::move(trials)}};
  if (run.shard) out["shard"] = to_value(*run.shard);
  if (run.merged_shards > 0) out["merged_shards"] = run.merged_shards;
  if (!run.mixed_machines.empty()) out["mixed_machines"] = run.mixed_machines;
  if (!run.unfit_shard.empty()) out["unfit_shard"] = run.unfit_shard;
  if (!run.restriction.empty()) out["restriction"] = run.restriction;
  return json_text(out);
}

bool holds_two_builds(const Json& file) {
  const Json* schema = file.find("schema");
  return schema != nullptr && *schema == two_builds_schema;
}

TwoBuilds two_builds_from_json(const std::string& text, const std::string& where) {
  return two_builds_from(parse_json(text, where), where);
}

TwoBuilds two_builds_from(const Json& file, const std::string& where) {
  const JsonField field(file, where, remedy);
  require_schema(field, two_builds_schema);
  const JsonField machine = field.at("machine"), weather = field.at("weather");
  TwoBuilds out{.suite = field.at("suite").text(),
                .base = build_from(field.at("base")),
                .head = build_from(field.at("head")),
                .date = field.at("date").text(),
                .seed = field.at("seed").unsigned_integer(),
                .command = field.at("command").text(),
                .filter = field.at("filter").text(),
                .policy = policy_from(field.at("policy")),
                .budget_seconds = field.at("budget_seconds").number(),
                .seconds = field.at("seconds").number(),
                .partial = field.at("partial").boolean()};
  out.machine.key = machine.at("key").text();
  out.machine.cores = static_cast<int>(machine.at("cores").integer(1, 1 << 20));
  out.machine.facts = facts_from(machine.at("facts"));
  out.weather.seconds = weather.at("seconds").number();
  out.weather.steal_share = weather.at("steal_share").number();
  out.weather.other_busy_share = weather.at("other_busy_share").number();
  out.weather.cpu_pressure_share = weather.at("cpu_pressure_share").number();
  if (const auto screen = field.find("screen_seconds")) out.screen_seconds = screen->number();
  if (const auto shard = field.find("shard")) out.shard = shard_from(*shard);
  if (const auto shards = field.find("merged_shards")) {
    out.merged_shards = static_cast<int>(shards->integer(1, most));
  }
  if (const auto why = field.find("mixed_machines")) out.mixed_machines = why->text();
  if (const auto why = field.find("unfit_shard")) out.unfit_shard = why->text();
  if (const auto what = field.find("restriction")) out.restriction = what->text();
  if (const auto planted = field.find("planted")) {
    for (const auto& [key, slowdown] : planted->value().members())
      out.planted[key] = planted->at(key).number();
  }
  std::set<std::string> keys;
  for (const JsonField& trial : field.at("trials").items()) {
    out.trials.push_back(trial_from(trial));
    const std::string& key = out.trials.back().trial.key;
    if (!keys.insert(key).second) trial.refuse("repeats the trial " + key);
  }
  return out;
}

}  // namespace assay
