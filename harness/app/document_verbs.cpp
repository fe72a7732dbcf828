// The verbs that read files instead of measuring: compare, merge, report and its kin; and doctor.

#include "app/known_verbs.hpp"
#include "app/output.hpp"
#include "app/step_audit.hpp"
#include "app/verbs.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "assay/report.hpp"
#include "bench/compare/judge.hpp"
#include "bench/compare/pull_request.hpp"
#include "bench/compare/words.hpp"
#include "bench/exchange/read_results.hpp"
#include "bench/measure/merge.hpp"
#include "bench/measure/results_fields.hpp"
#include "bench/report/audit_report.hpp"
#include "bench/report/claims.hpp"
#include "bench/report/content.hpp"
#include "bench/report/history.hpp"
#include "core/json/fields.hpp"
#include "core/machine/build_info.hpp"
#include "core/plan/trial_key.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/command.hpp"
#include "core/text/figures.hpp"
#include "core/text/utf8.hpp"
#include "training/epoch/epoch_prediction.hpp"
#include "training/epoch/forecast.hpp"
#include "training/job/read_job.hpp"
#include "training/job/trace.hpp"
#include "training/job/traced_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace assay {
namespace {

/// Lists the remarks on the times of a side's selected trials, each once with its trials.
std::string remarks(std::string_view side, const Results& results, const Filter& filter) {
  std::map<std::string, std::vector<std::string>> keys;
  for (const TrialResult& trial : results.trials) {
    if (!trial.remark.empty() && filter.selects(trial.key)) keys[trial.remark].push_back(trial.key);
  }
  std::string out;
  for (const auto& [remark, of] : keys) {
    const std::string trials = of.size() == 1 ? of.front() : fmt::format("{} trials", of.size());
    out += wrapped(fmt::format("{}, {}: {}", side, trials, remark), terminal_width, "  ") + "\n";
  }
  return out;
}

/// Returns the figures and the processor time of a trial.
FigureValues figures_of(const TrialResult& trial) {
  FigureValues out = trial.figures;
  std::vector<double> seconds;
  for (const Launch& launch : trial.launches)
    std::ranges::transform(launch, std::back_inserter(seconds), &Slice::cpu_seconds);
  if (!seconds.empty() && median(seconds) > 0) out["processor time"] = median(seconds);
  return out;
}

/// Says which times were compared, and what else the selected trials have, with the one in which that moved
/// farthest.
std::string compared_text(const Results& before, const Results& after, const Filter& filter, double limit) {
  std::map<std::string, std::pair<double, std::string>> others;  // how far as a logarithm, and in words
  const TrialsByKey earlier = by_key(before.trials);
  for (const TrialResult& now : after.trials) {
    const auto found = earlier.find(now.key);
    if (found == earlier.end() || !filter.selects(now.key)) continue;
    if (found->second->launches.empty() != now.launches.empty()) continue;
    const FigureValues was = figures_of(*found->second), is = figures_of(now);
    FigureValues either = was;
    either.insert(is.begin(), is.end());
    for (const auto& [name, ignored] : either) {
      auto& [farthest, words] = others[name];
      const double old = was.contains(name) ? was.at(name) : NAN,
                   value = is.contains(name) ? is.at(name) : NAN;
      const bool has_ratio = old > 0 && value > 0;
      const double far = has_ratio ? std::abs(std::log(value / old)) : old == value ? 0 : INFINITY;
      if (far <= std::max(std::log(limit), farthest)) continue;
      farthest = far;
      const auto text = [](double x) { return std::isnan(x) ? "none" : figure(x); };
      words = has_ratio ? fmt::format(" ({:.2f} times in {})", value / old, now.key)
                        : fmt::format(" ({} before, {} after in {})", text(old), text(value), now.key);
    }
  }
  std::string out;
  for (const auto& [name, moved] : others)
    out += (out.empty() ? "; not compared: " : ", ") + name + moved.second;
  return "compared: " + fact_value(after.machine.facts, "clock", "wall time") + out;
}

/// Returns the limits of trials that a file gives one. Throws Error for a filter that selects none.
std::map<std::string, double, std::less<>> limits_in(const std::filesystem::path& file, const Results& before,
                                                     const Results& after) {
  std::map<std::string, double, std::less<>> out;
  if (file.empty()) return out;
  const auto all = value_from<TrialLimits>(read_file(file), file.string(), "see assay schema limits");
  for (const TrialLimit& one : all.limits) {
    const Filter filter(one.filter, Registry{},
                        fmt::format("{}: limits[{}].filter", file.string(), &one - all.limits.data()));
    bool selects = false;
    for (const Results* side : {&before, &after}) {
      for (const TrialResult& trial : side->trials) {
        if (!filter.selects(trial.key)) continue;
        selects = true;
        out.emplace(trial.key, one.limit);
      }
    }
    if (!selects)
      filter.throw_selects_nothing("either file", after.trials.empty() ? "" : after.trials.front().key);
  }
  return out;
}

Json parsed(const std::filesystem::path& file) { return parse_json(read_file(file), file.string()); }

/// Reads the shards, each parsed once: the first one already is, since it says what all of them are.
template <class File, class Read>
std::vector<File> files_of(const MergeOptions& options, const Json& first, const Read& read) {
  std::vector<File> out;
  for (const auto& file : options.shards) {
    const std::string name = file.string();
    out.push_back({name, out.empty() ? read(first, name) : read(parsed(file), name)});
  }
  return out;
}

/// Options that judge: results of runs are merged without a judgement, and settings without rules.
void require_no_gate_options(const OutcomeOptions& options, bool has_document) {
  const std::string given = has_document                 ? first_given(options.rules)
                            : !options.markdown.empty()  ? "--md"
                            : !options.page.html.empty() ? "--html"
                            : !options.page.svg.empty()  ? "--svg"
                                                         : first_given(options.rules);
  if (given.empty()) return;
  throw Error(given, "is for shards of a gate of two builds, and these are of none",
              fmt::format("leave it out; judge a run that is merged: assay compare BEFORE {}",
                          options.output.string()));
}

Outcome merge(const MergeOptions& options) {
  const std::filesystem::path& output = options.outcome.output;
  for (const auto& file : options.shards) {
    std::error_code ignored;
    if (std::filesystem::equivalent(file, output, ignored)) {
      throw Error(output.string(), "is one of the shards", "write the whole into another file");
    }
  }
  const Json first = parsed(options.shards.front());
  if (holds_two_builds(first))
    return end_two_builds(options.outcome,
                          merged(files_of<NamedRun<TwoBuilds>>(options, first, two_builds_from)));
  const auto read = [](const Json& file, const std::string& where) { return results_from(file, where); };
  const Results results = merged(files_of<NamedRun<Results>>(options, first, read));
  const bool of_settings = results.suite == settings_suite;
  require_no_gate_options(options.outcome, of_settings);
  if (of_settings) return end_settings(options.outcome, results);
  write_file(output, to_json(results) + "\n");
  const Outcome outcome = outcome_of(results);
  std::string text = options.outcome.quiet ? faults_text(results) : to_table(results);
  const std::string merged =
      fmt::format("{} trials of suite {}, of {} shards, into {}", results.trials.size(), results.suite,
                  results.merged_shards, output.string());
  const std::string next = options.outcome.quiet ? "" : fmt::format("assay report {}", output.string());
  // A failure weighs more, and is the outcome then.
  const bool merely_merged = outcome.word == Word::measured;
  if (!merely_merged && !options.outcome.quiet) text += fmt::format("merged: {}\n", merged);
  text += ending(next, merely_merged ? Outcome{Word::merged, merged} : outcome);
  std::string doubt;  // a commit with changes is any number of programs
  if (results.commit.find("+changes") != std::string::npos) {
    doubt = fmt::format("warning: built from {}: nothing tells whether all shards ran the same program\n",
                        results.commit);
  }
  put(options.outcome.json, doubt + text, to_json(results));
  return outcome;
}

/// Adds a file, whose kind the schema at its beginning tells.
void add(ClaimEvidence& evidence, const std::filesystem::path& file) {
  const std::string text = read_file(file), where = file.string();
  const std::string_view beginning = std::string_view(text).substr(0, 4096);
  const auto is = [&](std::string_view schema) {
    return beginning.find(fmt::format("\"assay.{}/", schema)) != std::string_view::npos;
  };
  std::string what;
  if (is("epoch_log")) {
    for (const LoggedEpoch& epoch : epoch_log_from(text, where)) {
      for (const LoggedModel& one : epoch.models) {
        evidence.epochs.push_back(
            {one.model, one.seconds.middle / epoch.seconds - 1, epoch.other_busy_share});
      }
    }
    what = "epochs that were predicted and then run";
  } else if (is("known_bad")) {
    auto found = value_from<TriedVariants<RejectedCode>>(
        text, where, "write it again: assay check --known-bad --json FILE");
    std::ranges::move(found.variants, std::back_inserter(evidence.known_bad));
    what = "checks of published code that is known to be bad";
  } else if (is("job")) {
    const Job job = read_phases_json(text, where);
    evidence.jobs.push_back(job.name);
    for (const LintFinding& one : lint(job)) {
      if (one.contradiction) evidence.contradictions.push_back({job.name, one.field, one.text});
    }
    what = "figures as published";
  } else if (is("result")) {
    evidence.results.push_back(results_from_json(text, where));
    what = "results of suite " + evidence.results.back().suite;
  } else {
    throw Error(where, "is no evidence for a claim",
                "give results of `assay run -o`, what `assay check --known-bad --json` wrote, a job, or a "
                "log of epochs");
  }
  evidence.files.push_back(evidence_file(file, text, std::move(what)));
}

const VariantInfo* variant_in(const Registry& registry, const std::string& operation,
                              const std::string& variant) {
  for (const Operation* one : registry.operations()) {
    const auto found = one->name() == operation ? one->variant_named(variant) : std::nullopt;
    if (found) return &one->variants()[*found];
  }
  return nullptr;
}

void require_expression_of_keys(const std::string& text) {
  const std::string why = why_no_expression(text);
  if (why.empty()) return;
  throw Error("--present", fmt::format("\"{}\" is no regular expression: {}", text, why),
              "name keys, such as 'gemm/packed'");
}

/// Nothing counts as a case that `run` would refuse.
std::function<void(const OperatorCase&)> as_cases_of(const Registry& registry) {
  return [&](const OperatorCase& one) { registry.at(one.operation).canonical("a call", one.problem); };
}

}  // namespace

Outcome compare_verb(const CompareOptions& options) {
  const std::vector<Results> both = read_compared({options.before, options.after});
  const Results &before = both.front(), &after = both.back();
  Comparison comparison =
      compare(before, after, {.limit = options.limit, .limits = limits_in(options.limits, before, after)});
  const TrialsByKey earlier = by_key(before.trials), present = by_key(after.trials);
  for (ComparedRow& row : comparison.rows) {
    const auto then = earlier.find(row.key);
    if (row.standing != Standing::skipped || then == earlier.end() || !is_measured(*then->second)) continue;
    // Nobody knows its time now, as of one that is gone. Errors count anyway.
    if (!present.at(row.key)->failed) row.standing = Standing::not_comparable;
  }
  // Rows that are not shown stay witnesses.
  const Filter filter(options.filter, Registry{}, "-k");
  std::erase_if(comparison.rows, [&](const ComparedRow& row) { return !filter.selects(row.key); });
  std::erase_if(comparison.failures, [&](const std::string& one) {
    return !filter.selects(one.substr(0, one.find(" had a time before")));
  });
  if (comparison.rows.empty() && !options.filter.empty())
    filter.throw_selects_nothing("either file", after.trials.empty() ? "" : after.trials.front().key);
  Outcome outcome = outcome_of(comparison, {.against = Against::baseline, .measured = comparison.rows.size()},
                               {.undecided_fails = options.undecided_fails});
  if (const std::size_t failures = comparison.failures.size(); failures > 0 && !fails(outcome.word)) {
    outcome.add(Word::wrong, fmt::format("{} had a time before and an error now",
                                         quantity_text(static_cast<Index>(failures), "trial")));
  }
  PullRequest page = pull_request_of(comparison, before, after);
  page.outcome = outcome.line();
  page.kept = "--json FILE writes them";
  page.notes.push_back(compared_text(before, after, filter, options.limit));
  // A command that selects trials already takes no second selection.
  if (after.command.find(" -k ") == std::string::npos) page.command = after.command;
  if (options.as_markdown) {
    put_document(options.json, pull_request_markdown(page), to_json(comparison));
  } else {
    const std::string text = remarks("before", before, filter) + remarks("after", after, filter) +
                             wrapped(page.notes.back(), terminal_width, "  ") + "\n" +
                             comparison_text(comparison, before, after);
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
    print_visible(stdout, "{}\n", write_report(report, options.reports).string());
  }
  write_page(options.page, [&] { return report_page(report); });
  return {};
}

Outcome remedy_verb(const RemedyOptions&) {
  const std::string remedy = openblas_remedy();
  if (!remedy.empty()) print_visible(stdout, "{}\n", remedy);
  return {};
}

Outcome doctor_verb(const DoctorOptions& options) {
  const Examination examination = examine();
  put(options.json, to_text(examination), to_json(examination));
  return {};
}

Outcome claims_verb(const ClaimsOptions& options) {
  PublishedClaims claims = claims_from_json(read_file(options.claims), options.claims.string());
  ClaimEvidence evidence;
  for (const std::filesystem::path& file : options.evidence) add(evidence, file);
  const ClaimsReport report = judged_claims(std::move(claims), evidence);
  if (!options.markdown.empty()) write_file(options.markdown, to_markdown(report));
  put(options.json, to_text(report), to_json(report));
  // Verdicts that are all NOT MEASURED are no answer.
  const bool nothing = report.count(ClaimStanding::not_measured) == report.findings.size();
  return {nothing ? Word::not_measured : Word::done};
}

Outcome suite_verb(const SuiteOptions& options, const Registry& registry) {
  TracedStep step = read_traced_step(options.trace, as_cases_of(registry));
  if (!options.output.empty()) {
    const std::string name = options.output.stem().string();
    std::string csv;
    try {
      if (step.has_memory) csv = requests_csv(read_memory_events(options.trace));
    } catch (const Error& unusable) {
      step.notes.push_back(fmt::format("no plan of memory: {}", unusable.what()));
    }
    const std::string requests = csv.empty() ? "" : name + ".requests.csv";
    if (!csv.empty()) write_file(options.output.parent_path() / requests, csv);
    write_file(options.output, suite_json(step, name, options.steps_per_epoch, requests));
  }
  publish(options.outputs, document_of(step));
  return {};
}

Outcome step_audit_verb(const StepAuditOptions& options, const Registry& registry) {
  require_expression_of_keys(options.audit.present);
  const Results results = read_any_results(options.audit.results);
  publish(options.audit.outputs, document_of(audited(read_traced_step(options.trace, as_cases_of(registry)),
                                                     results, registry, options.audit.present)));
  return {Word::audited};
}

Outcome audit_verb(const AuditOptions& options, const Registry& registry) {
  require_expression_of_keys(options.present);
  std::vector<EvidenceFile> files;
  const auto read = [&](const std::filesystem::path& file, std::string_view what) {
    const std::string text = read_file(file);
    Results results = results_from_json(text, file.string());
    files.push_back(evidence_file(file, text, fmt::format("{}, suite {}", what, results.suite)));
    return results;
  };
  const Results now = read(options.results, "results");
  std::optional<Results> before;
  if (!options.before.empty()) before = read(options.before, "results before");
  const AuditReport report =
      audited({.results = now,
               .before = before ? &*before : nullptr,
               .files = std::move(files),
               .commit = build_info().commit,
               .present = options.present,
               .find_variant = [&](const std::string& operation, const std::string& variant) {
                 return variant_in(registry, operation, variant);
               }});
  if (!options.outputs.markdown.empty()) write_file(options.outputs.markdown, to_markdown(report));
  put(options.outputs.json, to_text(report), to_json(report));
  return {report.present.middle > 0 ? Word::audited : Word::not_measured};
}

Outcome history_verb(const HistoryOptions& options) {
  std::vector<NamedRun<Results>> runs;
  for (Results& results : read_compared(options.results))
    runs.push_back({options.results[runs.size()].filename().string(), std::move(results)});
  const std::optional<StoredLedger> stored = find_ledger(options.baselines, runs.front().run.suite);
  const History history = history_of(std::move(runs), {.limit = options.limit},
                                     stored ? stored->ledger.acceptances : std::vector<Acceptance>());
  const auto write = [](const std::filesystem::path& file, const std::string& text) {
    if (!file.empty()) write_file(file, text);
  };
  write(options.markdown, to_markdown(history));
  write(options.csv, history_csv(history));
  write(options.bencher, history_bencher(history));
  write(options.github_action_benchmark, history_github_action_benchmark(history));
  write(options.openmetrics, history_openmetrics(history));
  put(options.json, to_text(history), to_json(history));
  return {history.rows.empty() ? Word::not_measured : Word::done};
}

/// If shards are missing, nothing is written and the exit code is 3: a part would be taken for the whole.
Outcome merge_verb(const MergeOptions& options) {
  try {
    return merge(options);
  } catch (const MissingShards& failure) {
    print_visible(stderr, "assay: {}\n", failure.what());
    return {Word::undecided};
  }
}

}  // namespace assay
