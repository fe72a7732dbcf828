#include "app/gate_outcome.hpp"
#include "app/measuring.hpp"
#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/verb_functions.hpp"
#include "assay/report.hpp"
#include "bench/compare/words.hpp"
#include "bench/gate/gates.hpp"
#include "bench/gate/two_builds.hpp"
#include "bench/report/content.hpp"
#include "core/text/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

/// A ratio that this row keeps below when it is measured again: beyond its interval by what a case of its
/// spread moves by itself.
double acceptable(const ComparedRow& row) { return std::ceil(100 * row.ratio.high * row.limit) / 100; }

/// Says what to do about the largest slow-down, or else about the first worse figure; empty if there is none.
/// `suite` as commands name it.
std::string next_of(const Comparison& comparison, const std::string& suite) {
  std::optional<Acceptance> wanted;
  if (const ComparedRow* worst = largest_slow_down(comparison, /*crept_too=*/true)) {
    wanted = Acceptance{.key = worst->key, .ratio = acceptable(*worst)};
  }
  for (const ComparedRow& row : comparison.rows) {
    const auto figure = std::ranges::find_if(row.figures, is_worse);
    if (!wanted && figure != row.figures.end()) {
      wanted = Acceptance{.key = row.key, .figure = figure->after.name, .value = figure->after.value};
    }
  }
  if (!wanted) return "";
  return fmt::format(
      "mend it, or accept it for a time:  assay record --suite {} {} --until DATE --reason TEXT", suite,
      accepting_options(*wanted));
}

/// A part would leave the rest uncompared, or its step unsummed, without a word.
void require_whole_for_records(const GateOptions& options, const std::optional<Shard>& shard) {
  if (!options.record_missing.empty()) {
    require_whole(
        shard, "--record-missing",
        "record without shards: assay record --suite " + shell_word(options.outcome.suite.string()));
  }
  if (options.outcome.rules.record_step)
    require_whole(shard, "--record-step", "record the step in a job without shards");
}

/// The command that repeats this gate; the caller appends `-k` and a filter.
std::string command_without_filter(GateOptions options) {
  options.selection.filter.clear();
  options.shard = {};
  return command_of("gate", options);
}

/// The rows that a reader has to act on, and the outcome.
std::string short_text_of(const BaselineGate& gate, const PullRequest& page) {
  return (gate.compared ? urgent_text(page) : faults_text(gate.results)) + ending("", gate.outcome);
}

std::string text_of(const BaselineGate& gate) {
  const Results& results = gate.results;
  const bool nothing_held = results.shard && results.trials.empty();
  std::string out = nothing_held ? std::string() : to_table(results);
  if (gate.compared) {
    out += "\n" + comparison_text(gate.comparison, gate.baseline->recordings.back().results, results);
  }
  if (!gate.ledger.empty()) out += fmt::format("\n{}\n", fmt::join(gate.ledger, "\n"));
  if (results.shard && !nothing_held) out += in_words(*results.shard) + "\n";
  for (const std::string& line : gate.remarks) out += line + "\n";
  return out + ending(gate.next.empty() ? next_of(gate.comparison, gate.suite) : gate.next, gate.outcome);
}

}  // namespace

Outcome gate_verb(const GateOptions& options, const Registry& registry) {
  const OutcomeOptions& wanted = options.outcome;
  SelectionOptions selection = options.selection;
  selection.suite = wanted.suite;
  BaselineGateRequest request{.run = run_request(selection, options.launches, registry),
                              .policy = {.limit = options.limit},
                              .rules = rules_of(wanted),
                              .record_missing = options.record_missing};
  const std::optional<Shard> shard = shard_of_this_process(options.shard);
  require_whole_for_records(options, shard);
  request.run.selection.shard = shard;
  request.run.selection.durations = durations_in(options.shard.durations);
  const BaselineGate gate =
      gate_against_baseline(request, registry, sample_in_new_process, Progress(wanted.quiet).hooks());
  const Results& results = gate.results;
  const Report report = make_report(
      results, gate.baseline, gate.compared ? std::optional(gate.comparison) : std::nullopt, gate.outcome);
  PullRequest page = pull_request_of(
      gate.comparison, gate.baseline ? gate.baseline->recordings.back().results : Results{}, results);
  put(wanted.json, wanted.quiet ? short_text_of(gate, page) : text_of(gate), to_json(report));
  if (!wanted.output.empty()) write_file(wanted.output, to_json(results) + "\n");
  if (!options.reports.empty()) {
    print_visible(stderr, "report: {}\n", write_report(report, options.reports).string());
  }
  write_page(wanted.page, [&] { return report_page(report); });
  page.command = command_without_filter(options);
  write_outputs(wanted, std::move(page), results, gate.outcome);
  return gate.outcome;
}

}  // namespace assay
