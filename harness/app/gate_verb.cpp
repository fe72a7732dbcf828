#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/verbs.hpp"
#include "assay/error.hpp"
#include "assay/report.hpp"
#include "bench/compare/words.hpp"
#include "bench/exchange/annotations.hpp"
#include "bench/gate/gates.hpp"
#include "bench/report/content.hpp"
#include "core/files/this_program.hpp"
#include "core/text/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <utility>

namespace assay {
namespace {

std::size_t size_of(const std::string& file) {
  std::error_code none;
  const auto size = std::filesystem::file_size(file, none);
  return none ? 0 : static_cast<std::size_t>(size);
}

void put_github_outputs(const std::string& json, const PullRequest& page, const Results& after,
                        const Outcome& outcome) {
  print_visible(json == "-" ? stderr : stdout, "{}", github_annotations(page, after.suite));
  if (const std::string file = variable("GITHUB_STEP_SUMMARY").value_or(""); !file.empty()) {
    // A blank line before it: what stands there may end in a paragraph.
    const std::size_t room = most_summary_bytes - std::min(most_summary_bytes, size_of(file) + 1);
    append_to_file(file, "\n" + pull_request_markdown(page, room),
                   "check GITHUB_STEP_SUMMARY, which names it");
  }
  if (const std::string file = variable("GITHUB_OUTPUT").value_or(""); !file.empty())
    append_to_file(file, github_outputs(page.comparison, std::string(outcome.ci_word())),
                   "check GITHUB_OUTPUT, which names it");
}

/// `after` holds the times of the judged side. Throws Error when a file cannot be written.
void write_outputs(const OutcomeOptions& options, PullRequest page, const Results& after,
                   const Outcome& outcome) {
  page.outcome = outcome.line();
  page.kept =
      options.output.empty() ? "-o FILE keeps them" : options.output.filename().string() + " has them";
  if (!options.markdown.empty()) write_file(options.markdown, pull_request_markdown(page));
  if (!options.junit.empty()) {
    const int code = outcome.exit_code();
    const bool is_open = code == exit_code::undecided || code == exit_code::interrupted;
    write_file(options.junit, to_junit(page.comparison, after, page.command, is_open ? outcome.line() : ""));
  }
  if (!options.code_quality.empty()) {
    const std::string suite = options.suite.empty() ? after.suite : options.suite.string();
    write_file(options.code_quality, gitlab_code_quality(page, suite));
  }
  if (!variable("GITHUB_ACTIONS").value_or("").empty())
    put_github_outputs(options.json, page, after, outcome);
}

/// Says what to do about the largest slow-down, or else about the first worse figure; empty if there is none.
/// `suite` as commands name it.
std::string next_of(const Comparison& comparison, const std::string& suite) {
  std::optional<Acceptance> wanted;
  if (const ComparedRow* worst = largest_slow_down(comparison, /*crept_too=*/true)) {
    // Beyond its interval by what a case of its spread moves by itself: it keeps below when measured again.
    const double ratio = std::ceil(100 * worst->ratio.high * worst->limit) / 100;
    wanted = Acceptance{.key = worst->key, .ratio = ratio};
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

Date today() {
  constexpr const char* name = "ASSAY_TODAY";
  const auto given = variable(name);
  if (!given) return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  const auto day = date_from(*given);
  if (!day) {
    throw Error(name, fmt::format("is \"{}\", which is no day", *given),
                "unset it, or write it as 2026-10-01");
  }
  print_visible(stderr, "today is taken to be {}, as {} says\n", date_text(*day), name);
  return *day;
}

GateRules rules_of(const OutcomeOptions& options) {
  GateRules out = options.rules;
  out.today = today();
  out.suite = options.suite.string();
  return out;
}

Outcome end_two_builds(const OutcomeOptions& options, const TwoBuilds& run) {
  const TwoBuildsOutcome end =
      judged(run, find_ledger(options.rules.baselines, run.suite), rules_of(options));
  const Comparison& comparison = end.findings.comparison;
  PullRequest page = pull_request_of(run, end.findings);
  std::string text = pull_request_text(page);
  if (!end.ledger.empty()) text += fmt::format("{}\n", fmt::join(end.ledger, "\n"));
  // No repetition of this gate shows what several steps add up to.
  const ComparedRow* worst = largest_slow_down(comparison, /*crept_too=*/false);
  const std::string next = run.partial || worst == nullptr ? "" : repeat_command(run.command, worst->key);
  put(options.json,
      options.quiet ? urgent_text(page) + ending("", end.outcome) : text + ending(next, end.outcome),
      to_json(comparison));
  if (!options.output.empty()) write_file(options.output, to_json(run) + "\n");
  std::ranges::copy(end.ledger, std::back_inserter(page.remarks));
  write_page(options.page, [&] { return pull_request_page(page); });
  write_outputs(options, std::move(page), head_results(run), end.outcome);
  return end.outcome;
}

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
  const auto urgent = [&] { return gate.compared ? urgent_text(page) : faults_text(results); };
  put(wanted.json, wanted.quiet ? urgent() + ending("", gate.outcome) : text_of(gate), to_json(report));
  if (!wanted.output.empty()) write_file(wanted.output, to_json(results) + "\n");
  if (!options.reports.empty()) {
    print_visible(stderr, "report: {}\n", write_report(report, options.reports).string());
  }
  write_page(wanted.page, [&] { return report_page(report); });
  page.command = command_of("gate", options);
  write_outputs(wanted, std::move(page), results, gate.outcome);
  return gate.outcome;
}

}  // namespace assay
