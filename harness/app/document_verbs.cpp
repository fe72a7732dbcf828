// The verbs that read files instead of measuring: compare and report; and doctor.

#include "app/output.hpp"
#include "app/verb_functions.hpp"
#include "assay/compare.hpp"
#include "assay/pipeline.hpp"
#include "assay/report.hpp"
#include "bench/compare/outcome_of.hpp"
#include "bench/compare/pull_request.hpp"
#include "bench/compare/words.hpp"
#include "bench/exchange/read_results.hpp"
#include "bench/ledger/stored_ledger.hpp"
#include "bench/report/content.hpp"
#include "core/text/command.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <vector>

namespace assay {
namespace {

/// Lists the remarks on the times of a side, each once with its trials.
std::string remarks(std::string_view side, const Results& results) {
  std::map<std::string, std::vector<std::string>> keys;
  for (const TrialResult& trial : results.trials) {
    if (!trial.remark.empty()) keys[trial.remark].push_back(trial.key);
  }
  std::string out;
  for (const auto& [remark, of] : keys) {
    out += fmt::format("{}, {}: {}\n", side,
                       of.size() == 1 ? of.front() : fmt::format("{} trials", of.size()), remark);
  }
  return out;
}

}  // namespace

Outcome compare_verb(const CompareOptions& options) {
  const Results before = read_any_results(options.before);
  const Results after = read_any_results(options.after);
  const Comparison comparison = compare(before, after, {.limit = options.limit});
  Outcome outcome = outcome_of(comparison, {.against = Against::baseline, .measured = after.trials.size()});
  if (const std::size_t failures = comparison.failures.size(); failures > 0 && !fails(outcome.word)) {
    outcome.add(Word::wrong, fmt::format("{} {} a time before and {} an error now", failures,
                                         failures == 1 ? "trial had" : "trials had",
                                         failures == 1 ? "reports" : "report"));
  }
  PullRequest page = pull_request_of(comparison, before, after);
  page.outcome = outcome.line();
  page.kept = "--json FILE writes them";
  // A command that selects trials already takes no second selection.
  if (after.command.find(" -k ") == std::string::npos) page.command = after.command;
  if (options.as_markdown) {
    put_document(options.json, pull_request_markdown(page), to_json(comparison));
  } else {
    const std::string text =
        remarks("before", before) + remarks("after", after) + comparison_text(comparison, before, after);
    const ComparedRow* worst = largest_slow_down(comparison, /*crept_too=*/true);
    const bool repeats = worst != nullptr && !page.command.empty();
    put(options.json,
        options.quiet ? urgent_text(page) + ending("", outcome)
                      : text + ending(repeats ? repeat_command(page.command, worst->key) : "", outcome),
        to_json(comparison));
  }
  write_page(options.page, [&] { return pull_request_page(page); });
  return outcome;
}

Outcome report_verb(const ReportOptions& options) {
  const Results results = results_from_json(read_file(options.results), options.results.string());
  require_baselines(options.baselines);
  std::optional<Baseline> baseline;
  for (const auto& folder : options.baselines) {
    if (!baseline) baseline = load_baseline(baseline_path(folder, results.machine.key, results.suite));
  }
  std::optional<Comparison> comparison;
  if (baseline) comparison = compare(results, *baseline, {.limit = options.limit});
  const Outcome outcome =
      comparison ? outcome_of(results, *comparison, Against::baseline) : outcome_of(results);
  const Report report = make_report(results, baseline, comparison, outcome);
  if (options.reports.empty()) {
    put_document(options.json, to_markdown(report), to_json(report));
  } else {
    fmt::print("{}\n", write_report(report, options.reports).string());
  }
  write_page(options.page, [&] { return report_page(report); });
  return {};
}

Outcome remedy_verb(const RemedyOptions&) {
  const std::string remedy = openblas_remedy();
  if (!remedy.empty()) fmt::print("{}\n", remedy);
  return {};
}

Outcome doctor_verb(const DoctorOptions& options) {
  const Examination examination = examine();
  put(options.json, to_text(examination), to_json(examination));
  return {};
}

}  // namespace assay
