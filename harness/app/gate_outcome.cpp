#include "app/gate_outcome.hpp"

#include "app/output.hpp"
#include "app/progress.hpp"
#include "assay/error.hpp"
#include "bench/compare/words.hpp"
#include "bench/exchange/annotations.hpp"
#include "bench/gate/gates.hpp"
#include "core/machine/clock.hpp"
#include "core/text/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace assay {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The line of an outcome that leaves open what was asked; empty for others.
std::string nothing_decided(const Outcome& outcome) {
  const int code = outcome.exit_code();
  return code == exit_code::undecided || code == exit_code::interrupted ? outcome.line() : "";
}

std::size_t size_of(const std::string& file) {
  std::error_code none;
  const auto size = std::filesystem::file_size(file, none);
  return none ? 0 : static_cast<std::size_t>(size);
}

void put_github_outputs(const std::string& json, const PullRequest& page, const Results& after,
                        const Outcome& outcome) {
  print_visible(json == "-" ? stderr : stdout, "{}", github_annotations(page, after.suite));
  if (const std::string file = variable("GITHUB_STEP_SUMMARY"); !file.empty()) {
    // A blank line before it: what stands there may end in a paragraph.
    const std::size_t room = most_summary_bytes - std::min(most_summary_bytes, size_of(file) + 1);
    append_to_file(file, "\n" + pull_request_markdown(page, room),
                   "check GITHUB_STEP_SUMMARY, which names it");
  }
  if (const std::string file = variable("GITHUB_OUTPUT"); !file.empty())
    append_to_file(file, github_outputs(page.comparison, std::string(outcome.ci_word())),
                   "check GITHUB_OUTPUT, which names it");
}

/// The command that repeats the largest slow-down; no repetition of this gate shows what several steps add up
/// to.
std::string next_command(const TwoBuilds& run, const Comparison& comparison) {
  const ComparedRow* worst = largest_slow_down(comparison, /*crept_too=*/false);
  return run.partial || worst == nullptr ? "" : repeat_command(run.command, worst->key);
}

}  // namespace

Date today() {
  constexpr const char* variable = "ASSAY_TODAY";
  const char* const given = std::getenv(variable);
  if (given == nullptr) return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  const auto day = date_from(given);
  if (!day) {
    throw Error(variable, fmt::format("is \"{}\", which is no day", given),
                "unset it, or write it as 2026-10-01");
  }
  print_visible(stderr, "today is taken to be {}, as {} says\n", date_text(*day), variable);
  return *day;
}

GateRules rules_of(const OutcomeOptions& options) {
  GateRules out = options.rules;
  out.today = today();
  out.suite = options.suite.string();
  return out;
}

TwoBuilds new_run(const ProgramsOptions& options, std::string command, double usual_limit) {
  return {.base = {.name = options.base},
          .head = {.name = options.head.empty() ? "this program" : options.head},
          .machine = this_machine(),
          .date = utc_now(),
          .seed = options.seed,
          .command = std::move(command),
          .filter = options.filter,
          .policy = policy_with(options.limit.value_or(usual_limit)),
          .budget_seconds = options.budget_seconds};
}

Outcome measured_and_ended(const OutcomeOptions& options,
                           const std::function<TwoBuilds(const Hooks&)>& gate) {
  const TwoBuilds run = gate(Progress(options.quiet).hooks());
  return end_two_builds(options, run);
}

Outcome end_two_builds(const OutcomeOptions& options, const TwoBuilds& run) {
  const TwoBuildsOutcome end =
      judged(run, find_ledger(options.rules.baselines, run.suite), rules_of(options));
  const Comparison& comparison = end.findings.comparison;
  PullRequest page = pull_request_of(run, end.findings);
  std::string text = pull_request_text(page);
  if (!end.ledger.empty()) text += fmt::format("{}\n", fmt::join(end.ledger, "\n"));
  put(options.json,
      options.quiet ? urgent_text(page) + ending("", end.outcome)
                    : text + ending(next_command(run, comparison), end.outcome),
      to_json(comparison));
  if (!options.output.empty()) write_file(options.output, to_json(run) + "\n");
  std::ranges::copy(end.ledger, std::back_inserter(page.remarks));
  write_page(options.page, [&] { return pull_request_page(page); });
  write_outputs(options, std::move(page), head_results(run), end.outcome);
  return end.outcome;
}

void write_outputs(const OutcomeOptions& options, PullRequest page, const Results& after,
                   const Outcome& outcome) {
  page.outcome = outcome.line();
  page.kept =
      options.output.empty() ? "-o FILE keeps them" : options.output.filename().string() + " has them";
  if (!options.markdown.empty()) write_file(options.markdown, pull_request_markdown(page));
  const CiFiles& files = options.ci;
  if (!files.junit.empty())
    write_file(files.junit, to_junit(page.comparison, after, page.command, nothing_decided(outcome)));
  if (!files.code_quality.empty()) {
    const std::string suite = options.suite.empty() ? after.suite : options.suite.string();
    write_file(files.code_quality, gitlab_code_quality(page, suite));
  }
  if (!variable("GITHUB_ACTIONS").empty()) put_github_outputs(options.json, page, after, outcome);
}

}  // namespace assay
