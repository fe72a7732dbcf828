#include "assay/results.hpp"

#include "bench/measure/results_fields.hpp"
#include "core/json/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace assay {
namespace {

/// The slices of one launch, one array for each member.
struct Columns {
  std::vector<double> seconds;
  std::optional<std::vector<double>> cpu_seconds;
  Json calls;  ///< one count for all slices, or a list
};

void describe(Fields& f, Columns& columns) {
  f("seconds", columns.seconds, {.about = "per call, of each slice"});
  f("cpu_seconds", columns.cpu_seconds);
  f("calls", columns.calls, {.optional = true, .about = "of each slice: a list, or one number for all"});
}

void require_as_many(const JsonField& launch, const char* column, std::size_t count, std::size_t seconds) {
  if (count == seconds) return;
  launch.at(column).refuse(fmt::format("has {} numbers, \"seconds\" has {}", count, seconds));
}

}  // namespace

Json Form<Launch>::schema(const Fields::Rule&) {
  Json out = schema_of<Columns>();
  const Fields::Rule above_zero{.low = 1};
  out["properties"]["calls"]["anyOf"] =
      Json::array({Form<Index>::schema(above_zero), Form<std::vector<Index>>::schema(above_zero)});
  return out;
}

Json Form<Launch>::json(const Launch& launch, const Fields::Rule&) {
  Columns columns{
      .seconds = seconds_of(launch), .cpu_seconds = std::vector<double>(), .calls = Json::array()};
  for (const Slice& slice : launch) {
    columns.cpu_seconds->push_back(slice.cpu_seconds);
    columns.calls.push_back(slice.calls);
  }
  const bool one_count = std::ranges::all_of(
      launch, [&](Index n) { return n == launch[0].calls; }, &Slice::calls);
  if (one_count && !launch.empty()) columns.calls = launch[0].calls;
  return to_value(columns);
}

void Form<Launch>::read(const JsonField& field, Launch& launch, const Fields::Rule& rule) {
  const std::vector<double> seconds = numbers_from(field.at("seconds"), rule);
  const std::size_t count = seconds.size();
  launch.resize(count);
  for (std::size_t i = 0; i < count; ++i) launch[i].seconds = seconds[i];
  if (const auto column = field.find("cpu_seconds")) {
    const auto values = numbers_from(*column, {.least = std::min(rule.above, 0.0), .most = rule.most});
    require_as_many(field, "cpu_seconds", values.size(), count);
    for (std::size_t i = 0; i < count; ++i) launch[i].cpu_seconds = values[i];
  }
  const auto calls = field.find("calls");
  if (!calls) return;
  std::vector<Index> counts(count);
  const Fields::Rule above_zero{.low = 1, .high = Index{1} << 40};  // their sums stay numbers
  if (calls->value().is_array()) {
    Form<std::vector<Index>>::read(*calls, counts, above_zero);
    require_as_many(field, "calls", counts.size(), count);
  } else {
    Form<Index>::read(*calls, launch.empty() ? counts.emplace_back() : counts[0], above_zero);
    std::ranges::fill(counts, counts[0]);
  }
  for (std::size_t i = 0; i < count; ++i) launch[i].calls = counts[i];
}

void describe(Fields& f, Failure& failure) {
  static constexpr std::array<std::string_view, 2> kinds{"crashed", "timed out"};
  f("kind", failure.kind, kinds);
  f("reason", failure.reason);
}

void describe(Fields& f, Audit& audit) {
  f("slices", audit.slices, {.low = 0, .about = "that were timed"});
  f("judged", audit.judged, {.low = 0, .about = "slices whose output was compared with the oracle's"});
  f("compared", audit.compared, {.low = 0, .about = "elements, in all slices that were judged"});
  f("squares", audit.squares,
    {.optional = true,
     .least = 0,
     .most = most_amount,
     .about = "sum of the squares of errors in units of the bound"});
  f("rounded", audit.rounded, {.optional = true, .low = 0, .about = "numbers in that sum"});
  f("figures", audit.figures, {.terse = true, .about = "of one call on the input that was checked"});
  f("fault", audit.fault, {.terse = true, .about = "what was wrong in one of them"});
}

void describe(Fields& f, Picked& picked) {
  f("variant", picked.variant);
  f("reason", picked.reason, {.terse = true, .about = "follows: because"});
}

void describe(Fields& f, TrialResult& trial) {
  constexpr Fields::Rule optional{.optional = true}, terse{.terse = true};
  describe_stored_trial(f, trial);
  // Keys are taken apart where rows are selected, so they must be what they are made of.
  if (f.reads()) {
    const std::string made = TrialKey{trial.operation, trial.variant, trial.problem, trial.threads}.text();
    if (trial.key != made)
      f.refuse("key", fmt::format("is {}, but the fields beside it make {}", trial.key, made));
  }
  f("per_step", trial.per_step,
    {.optional = true, .least = 0, .most = most_amount, .about = "occurrences in one training step"});
  f("workload", trial.workload, {.optional = true, .about = "other workloads are not comparable"});
  f("note", trial.note, {.terse = true, .about = "of the case"});
  f("skipped", trial.skipped, {.terse = true, .about = "why it did not run"});
  if (f.writes() && !trial.skipped.empty()) return;
  f("cost", trial.cost, optional);
  f("agreement", trial.agreement, optional);
  f("failure", trial.failure, {.about = "how it ended, where it did not come back"});
  f("figures", trial.figures,
    {.terse = true, .least = 0, .most = most_amount, .about = "by tag: measured besides times"});
  for (const Figure& figure : measured_figures()) {
    double former = 0;
    if (f.tells()) f(figure.tag, former, {.optional = true, .about = "in files of earlier versions"});
    if (!f.reads()) continue;
    if (const auto found = f.place().find(figure.tag))
      Form<double>::read(*found, trial.figures[figure.tag], {.least = 0, .most = most_amount});
  }
  f("picked", trial.picked, {.about = "the variant that did the work, for one that picks"});
  f("audit", trial.audit, {.optional = true, .about = "of the slices that were timed"});
  f("remark", trial.remark, terse);
  f("impossible", trial.impossible,
    {.terse = true, .about = "why no kernel can be so fast; its times are not used"});
  // Comparisons take logarithms; a time that is none would spoil every figure made with it.
  f("launches", trial.launches, {.optional = true, .above = shortest_seconds, .most = most_seconds});
}

void describe(Fields& f, VariantCalls& one) {
  f("variant", one.variant, {.about = "operation/variant"});
  f.keyed("calls", one.calls, &Calls::to, &Calls::names,
          {.terse = true, .about = "functions by what they belong to: threads, system, or a library"});
}

void describe(Fields& f, VariantStep& one) {
  f("variant", one.variant, {.about = "operation/variant"});
  f("after", one.after, {.about = "the variant that it takes further, without a tier"});
}

void describe_shard(Fields& f, Shard& shard) {
  f("count", shard.count, {.low = 1, .high = most_shards});
  const Index last = (f.reads() ? shard.count : most_shards) - 1;
  f("index", shard.index, {.low = 0, .high = last});
  f("durations", shard.durations, {.terse = true, .about = "the earlier results that balanced the shards"});
  f("places", shard.places,
    {.terse = true, .low = 0, .high = last, .about = "the shard of each case, where durations decided"});
}

void describe(Fields& f, ShardRecord& record) {
  constexpr Index most = std::numeric_limits<int>::max();
  describe_shard(f, record.shard);
  f("selection", record.selection, {.about = "filter and thread counts, or all, as on the command line"});
  f("fingerprint", record.fingerprint, {.about = "equal in all shards of one whole"});
  f("cases", record.cases, {.low = 1, .high = most, .about = "of all shards"});
  f("positions", record.positions, {.low = 0, .high = f.reads() ? record.cases - 1 : most});
}

std::vector<double> seconds_of(const Launch& launch) {
  std::vector<double> out;
  out.reserve(launch.size());
  for (const Slice& slice : launch) out.push_back(slice.seconds);
  return out;
}

bool is_measured(const TrialResult& trial) {
  return trial.skipped.empty() && trial.agreement.agrees && trial.impossible.empty() &&
         std::ranges::any_of(trial.launches, [](const Launch& launch) { return !launch.empty(); });
}

double figure_of(const TrialResult& trial, std::string_view tag) {
  const auto found = trial.figures.find(std::string(tag));
  return found == trial.figures.end() ? 0 : found->second;
}

std::string case_of(const TrialResult& trial) { return trial.operation + "/" + trial.problem; }

void describe(Fields& f, Results& results) {
  constexpr Fields::Rule optional{.optional = true}, terse{.terse = true};
  if (f.reads()) results.commit = "unknown";
  f.schema(results_schema);
  f("suite", results.suite);
  f("about", results.about, optional);
  f("steps_per_epoch", results.steps_per_epoch,
    {.optional = true, .least = 0, .most = most_amount, .about = "0: no epoch is predicted"});
  f("date", results.date, {.optional = true, .about = "UTC, ISO 8601"});
  f("commit", results.commit, optional);
  f("seed", results.seed, optional);
  f("command", results.command, {.optional = true, .about = "that repeats the whole run"});
  f("partial", results.partial, {.optional = true, .about = "interrupted: some trials are missing"});
  f("cases_left_out", results.cases_left_out, {.optional = true, .low = 0, .about = "by the selection"});
  f("shard", results.shard);
  if (f.reads() && results.shard)
    results.command = without_options(std::move(results.command), results.shard->shard);
  f("merged_shards", results.merged_shards, {.terse = true, .low = 1});
  f("mixed_machines", results.mixed_machines, terse);
  f("machine", results.machine, optional);
  f("roofs", results.roofs, optional);
  f("weather", results.weather, optional);
  f("calls", results.calls, {.optional = true, .about = "beyond run-times; of other variants not known"});
  f("steps", results.steps, {.terse = true, .about = "from naive to the fastest, idea by idea"});
  if (f.reads()) results.figures = measured_figures();  // of a file from before they were described
  f("figures", results.figures, {.optional = true, .about = "those of trials, without values"});
  f("trials", results.trials);
  f("again", results.again, {.terse = true, .about = "measured a second time"});
  f.unique("trials", results.trials, &TrialResult::key, "repeats the trial");
  f.unique("again", results.again, &TrialResult::key, "repeats the trial");
}

Results results_from(const Json& file, const std::string& where) {
  auto out = value_from<Results>(JsonField(file, where, "write the file again with: assay run -o FILE"));
  require_consistent(file, where);
  return out;
}

std::string to_json(const Results& results) { return json_text(to_value(results)); }

Results results_from_json(const std::string& text, const std::string& where) {
  return results_from(parse_json(text, where), where);
}

}  // namespace assay
