// A gate of two builds as JSON: every slice of every launch, so that it can be decided again elsewhere.
#include "bench/compare/words.hpp"
#include "bench/gate/two_builds.hpp"
#include "bench/measure/results_fields.hpp"
#include "core/json/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>

namespace assay {
namespace {

constexpr Index most = std::numeric_limits<std::int32_t>::max();

/// A trial that may have moved was tested.
Standing reason_from(const Fields& f, const std::string& text) {
  for (const Standing one : standings_by_weight) {
    if (!may_have_moved(one) && to_string(one) == text) return one;
  }
  f.refuse("left_out", "is '" + text + "', which is no reason to leave a trial out");
}

/// Sides take turns, so that slices stand beside each other by their number. Foreign programs, which have no
/// variants, time themselves, and may leave out a repetition.
void require_turns(const JsonField& launches, const PairedTrial& trial) {
  if (trial.trial.variant.empty()) return;
  for (std::size_t i = 0; i < trial.launches.size(); ++i) {
    const PairedLaunch& launch = trial.launches[i];
    for (const auto& [side, seconds] :
         {std::pair{"head", &launch.head}, std::pair{"control", &launch.control}}) {
      if (seconds->empty() || seconds->size() == launch.base.size()) continue;
      launches.items()[i].at(side).refuse(
          fmt::format("has {} slices, the base has {}", seconds->size(), launch.base.size()));
    }
  }
}

}  // namespace

// Beside the types, where argument-dependent lookup finds them.
void describe(Fields& f, Build& build) {
  f("name", build.name);
  f("commit", build.commit);
  f("links", build.links, {.low = 1, .high = most, .about = "differently ordered links that took turns"});
  f("layout_remark", build.layout_remark);
  f("facts", build.facts);
}

void describe(Fields& f, SequentialPolicy& policy) {
  constexpr Fields::Rule ratio{.above = 1, .most = 1e6}, share{.above = 0, .most = 1};
  f("margin", policy.margin, ratio);
  f("same_limit", policy.same_limit, ratio);
  f("level", policy.level, share);
  f("same_level", policy.same_level, share);
  f("control_margin", policy.control_margin, ratio);
  f("screen", policy.screen, {.low = 1, .high = most});
  f("family", policy.family, {.optional = true, .low = 0, .high = most});
  f("looks", policy.looks, {.low = 1, .high = most});
  if (!f.reads()) return;
  if (policy.looks.empty()) f.refuse("looks", "is empty");
  if (std::ranges::adjacent_find(policy.looks, std::greater_equal{}) != policy.looks.end()) {
    f.refuse("looks", "does not ascend");
  }
}

void describe(Fields& f, PairedLaunch& launch) {
  const Fields::Rule seconds{
      .above = 0, .most = 1e6, .seven_digits = true, .about = "per call, slice by slice"};
  f("base_link", launch.base_link, {.low = 0, .high = most});
  f("head_link", launch.head_link, {.low = 0, .high = most});
  f("base", launch.base, seconds);
  f("head", launch.head, seconds);
  f("control", launch.control, seconds);
  if (!f.reads()) return;
  if (launch.base.empty()) f.refuse("base", "is empty");
  if (launch.head.empty()) f.refuse("head", "is empty");
}

void describe(Fields& f, PairedTrial& trial) {
  describe_stored_trial(f, trial.trial);
  f.keyed("per_epoch", trial.occurrences, &Occurrence::suite, &Occurrence::per_epoch,
          {.least = 0, .most = most_amount, .about = "occurrences in an epoch, by suite"});
  f("base_code", trial.base_code);
  f("head_code", trial.head_code);
  std::string left_out = trial.tested() ? "" : std::string(to_string(trial.left_out.standing));
  f("left_out", left_out);
  f("why_left_out", trial.left_out.why, {.about = "empty for trials that were tested"});
  constexpr Fields::Rule amount{.least = 0, .most = most_amount};
  f("base_allocations", trial.base_allocations.count, amount);
  f("base_allocated_bytes", trial.base_allocations.bytes, amount);
  f("head_allocations", trial.head_allocations.count, amount);
  f("head_allocated_bytes", trial.head_allocations.bytes, amount);
  f("base_figures", trial.base_figures, {.terse = true, .about = "of its output, judged exactly"});
  f("head_figures", trial.head_figures, {.terse = true});
  f("pointers", trial.pointers, {.optional = true, .about = "where to look"});
  f("cause", trial.cause, {.terse = true, .about = "the changed file or function that they are about"});
  f("resolution", trial.resolution,
    {.terse = true, .least = 0, .most = most_amount, .about = "of the ratio, of numbers with few digits"});
  f("launches", trial.launches);
  if (!f.reads()) return;
  if (!trial.tested()) trial.left_out.standing = reason_from(f, left_out);
  require_turns(f.place().at("launches"), trial);
}

void describe(Fields& f, ComparedShard& shard) {
  describe_shard(f, shard.shard);
  f("trials", shard.trials, {.low = 0, .high = most});
  f("fingerprint", shard.fingerprint);
}

void describe(Fields& f, TwoBuilds& run) {
  f.schema(two_builds_schema);
  f("suite", run.suite);
  f("date", run.date);
  f("seed", run.seed);
  f("command", run.command, {.about = "that repeats the whole run"});
  f("busy", run.busy, {.terse = true});
  f("filter", run.filter);
  f("partial", run.partial, {.about = "interrupted"});
  constexpr Fields::Rule seconds{.least = 0, .most = most_seconds};
  f("budget_seconds", run.budget_seconds, seconds);
  f("seconds", run.seconds, seconds);
  f("screen_seconds", run.screen_seconds, {.optional = true, .least = 0, .most = most_seconds});
  f("policy", run.policy);
  f("machine", run.machine);
  f("weather", run.weather);
  f("base", run.base);
  f("head", run.head);
  f("planted", run.planted,
    {.optional = true, .least = -1, .most = most_amount, .about = "slow-downs of a self-test, by key"});
  if (f.reads()) {
    for (const auto& [key, slowdown] : std::exchange(run.planted, {})) {
      run.planted[with_present_names(key)] = slowdown;
    }
  }
  f("trials", run.trials);
  f("shard", run.shard);
  if (f.reads() && run.shard) run.command = without_options(std::move(run.command), run.shard->shard);
  f("merged_shards", run.merged_shards, {.terse = true, .low = 1});
  f("mixed_machines", run.mixed_machines, {.terse = true});
  f("unfit_shard", run.unfit_shard, {.terse = true});
  f("restriction", run.restriction, {.terse = true});
  f("timing", run.timing, {.terse = true, .about = "of programs that are not assay's"});
  const auto key = [](const PairedTrial& one) -> const std::string& { return one.trial.key; };
  f.unique("trials", run.trials, key, "repeats the trial");
}

std::string to_json(const TwoBuilds& run) { return json_text(to_value(run)); }

bool holds_two_builds(const Json& file) {
  const Json* schema = file.find("schema");
  return schema != nullptr && *schema == two_builds_schema;
}

TwoBuilds two_builds_from_json(const std::string& text, const std::string& where) {
  return two_builds_from(parse_json(text, where), where);
}

TwoBuilds two_builds_from(const Json& file, const std::string& where) {
  auto out = value_from<TwoBuilds>(JsonField(file, where, "write it anew: assay gate --base ... -o FILE"));
  require_consistent(file, where);
  return out;
}

}  // namespace assay
