// Finds what an epoch gains by the fastest variants, from the launches that they share; and the audit as
// words, as a document and as JSON.
#include "bench/report/audit_report.hpp"

#include "assay/compare.hpp"
#include "assay/epoch.hpp"
#include "bench/compare/roofs.hpp"
#include "bench/report/content.hpp"
#include "core/json/lint.hpp"
#include "core/machine/fields.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

namespace assay {
namespace {

/// A case with the variant in use and the fastest variant.
struct Replacement {
  std::string name{};
  const TrialResult* present = nullptr;
  const TrialResult* best = nullptr;
  double weight = 1;  ///< calls in an epoch
};

/// Seconds that cases take together: a sum for each launch, or one of medians where launches are missing.
class LaunchSums {
 public:
  explicit LaunchSums(std::size_t launches) : sums_(std::max<std::size_t>(launches, 1)) {}

  void add(const TrialResult& trial, double weight) { add_launches(sums_, trial, weight); }
  /// Returns this sum / the other sum.
  Interval times_as_fast(const LaunchSums& after) const {
    return without_luck(ratio_of_pairs(sums_, after.sums_));
  }
  Interval saved(const LaunchSums& after) const {
    std::vector<double> differences;
    for (std::size_t i = 0; i < sums_.size(); ++i) differences.push_back(sums_[i] - after.sums_[i]);
    return without_luck(centre(differences));
  }
  Interval seconds() const { return without_luck(median_interval(sums_)); }

 private:
  Interval without_luck(Interval interval) const {
    if (sums_.size() == 1) interval.coverage = 0;
    return interval;
  }
  std::vector<double> sums_;
};

/// Returns the number of launches that all trials share; 0 where a trial lacks some.
std::size_t shared_launches(const std::vector<Replacement>& cases) {
  std::size_t out = 0;
  for (const Replacement& one : cases) {
    for (const TrialResult* trial : {one.present, one.best}) {
      if (sampled_launches(*trial) != trial->launches.size()) return 0;
      if (out != 0 && out != trial->launches.size()) return 0;
      out = trial->launches.size();
    }
  }
  return out;
}

std::vector<Replacement> replacements(const AuditRequest& request, bool is_network,
                                      std::vector<std::string>& not_examined) {
  const Results& results = request.results;
  std::vector<Replacement> out;
  const std::regex in_use(request.present);
  for (const TrialResult& trial : results.trials) {
    const std::string name = case_of(trial);
    if (is_network && trial.per_step <= 0) continue;
    auto known = std::ranges::find(out, name, &Replacement::name);
    if (known == out.end()) known = out.insert(known, {.name = name});
    Replacement& one = *known;
    one.weight = is_network ? trial.per_step * results.steps_per_epoch : 1;
    if (!is_measured(trial)) continue;
    const bool is_present = !request.present.empty() && std::regex_search(trial.key, in_use);
    if (is_present || (trial.variant == "naive" && one.present == nullptr)) one.present = &trial;
    if (one.best == nullptr || time_of(trial).middle < time_of(*one.best).middle) one.best = &trial;
  }
  std::erase_if(out, [&](const Replacement& one) {
    if (one.present == nullptr) not_examined.push_back(one.name + ": what is in use there has no time");
    return one.present == nullptr;
  });
  return out;
}

std::string audited_name(const TrialResult& trial) {
  return fmt::format("{}/{}#{}", trial.operation, trial.variant, trial.threads);
}

/// Returns where this program registers the variant; the program that was measured may be another build.
std::string location_of(const AuditRequest& request, const VariantInfo* info) {
  if (info == nullptr || info->source.empty()) return "not in the program that wrote this";
  const std::string line = info->line > 0 ? fmt::format(":{}", info->line) : "";
  return fmt::format("{}{} at {}", info->source, line, request.commit);
}

/// Asks the variant's declaration or, where this program lacks it, the functions that its timed code called.
bool uses_library(const Results& results, const TrialResult& trial, const VariantInfo* info) {
  if (info != nullptr) return !info->libraries.empty();
  const std::vector<Calls>* calls = calls_of(results, trial);
  return calls != nullptr && std::ranges::any_of(*calls, [](const Calls& one) {
           return one.to != "threads" && one.to != "system";
         });
}

/// Whether the whole interval says that the variant is slower than naive on another case.
bool loses_elsewhere(const Results& results, const NaiveTrials& naive_trials, const TrialResult& winner) {
  return std::ranges::any_of(results.trials, [&](const TrialResult& trial) {
    if (trial.operation != winner.operation || trial.variant != winner.variant ||
        trial.threads != winner.threads || !is_measured(trial)) {
      return false;
    }
    const TrialResult* naive = naive_trials.beside(trial);
    if (naive == nullptr || naive == &trial) return false;
    const Interval ratio = speedup(*naive, trial);
    return ratio.middle > 0 && ratio.high < 1;
  });
}

AuditPhase phase_of(const Results& results, const NaiveTrials& naive,
                    const std::vector<const Replacement*>& cases, const VariantInfo* info) {
  const bool keeps = std::ranges::any_of(cases, [](const Replacement* one) {
    return figure_of(*one->best, "workspace_bytes") > figure_of(*one->present, "workspace_bytes");
  });
  if (cases.front()->best->threads > 1 || keeps || uses_library(results, *cases.front()->best, info))
    return AuditPhase::structural;
  return loses_elsewhere(results, naive, *cases.front()->best) ? AuditPhase::tuning : AuditPhase::quick;
}

std::vector<std::string> risks_of(const AuditFinding& finding, const Results& results, int threads) {
  constexpr double near_the_bound = 0.5;
  constexpr double busy = 0.1;
  std::vector<std::string> out;
  if (finding.worst_error > near_the_bound)
    out.push_back(fmt::format("its worst error is {} of the bound", figure(finding.worst_error)));
  if (finding.allocations > 0)
    out.push_back(fmt::format("a call allocates {} times", count_text(finding.allocations)));
  if (finding.workspace_bytes > 0)
    out.push_back(fmt::format("{} are kept between calls", bytes_text(finding.workspace_bytes)));
  if (threads > 1 && results.weather.other_busy_share > busy)
    out.push_back(
        fmt::format("its {} threads were timed beside other processes, which used {} of the processors",
                    threads, percent_text(results.weather.other_busy_share)));
  if (finding.phase == AuditPhase::tuning) out.push_back("it is slower than naive on other sizes");
  return out;
}

/// The composed speed-up of the same cases in another run; nothing where one is missing there.
std::optional<Interval> in_run_before(const Results& before, const std::vector<const Replacement*>& cases) {
  std::vector<Replacement> there;
  for (const Replacement* one : cases) {
    Replacement same{.weight = one->weight};
    for (const TrialResult& trial : before.trials) {
      if (!is_measured(trial)) continue;
      if (trial.key == one->present->key) same.present = &trial;
      if (trial.key == one->best->key) same.best = &trial;
    }
    if (same.present == nullptr || same.best == nullptr) return std::nullopt;
    there.push_back(same);
  }
  LaunchSums slow(shared_launches(there)), fast(shared_launches(there));
  for (const Replacement& one : there) {
    slow.add(*one.present, one.weight);
    fast.add(*one.best, one.weight);
  }
  return slow.times_as_fast(fast);
}

std::vector<UnmeasuredFinding> unmeasured_of(const AuditRequest& request) {
  std::vector<UnmeasuredFinding> out;
  std::set<std::string> seen;
  for (const TrialResult& trial : request.results.trials) {
    if (trial.variant == "naive" || is_measured(trial)) continue;
    if (disagrees(trial) || trial.failure || !trial.impossible.empty()) continue;  // risks
    if (!seen.insert(trial.operation + "/" + trial.variant + trial.skipped).second) continue;
    out.push_back({.variant = audited_name(trial),
                   .location = location_of(request, request.find_variant(trial.operation, trial.variant)),
                   .why = trial.skipped.empty() ? "no time was taken" : trial.skipped});
  }
  return out;
}

std::vector<std::string> risks_of_run(const Results& results) {
  std::vector<std::string> out;
  for (const TrialResult& trial : results.trials) {
    if (disagrees(trial)) out.push_back(trial.key + " is WRONG: " + trial.agreement.detail);
    if (trial.failure) out.push_back(trial.key + " " + trial.failure->reason);
    if (!trial.impossible.empty()) out.push_back(trial.key + " is IMPOSSIBLE: " + trial.impossible);
  }
  if (results.partial) out.push_back("the run was interrupted");
  return out;
}

/// The present epoch, with which each finding is compared.
struct WholeRun {
  NaiveTrials naive;
  std::vector<BeatenRoof> beaten;
  std::size_t launches = 0;
  LaunchSums present;
};

AuditFinding finding_of(const AuditRequest& request, const std::vector<const Replacement*>& cases,
                        const WholeRun& whole) {
  const Results& results = request.results;
  const TrialResult& winner = *cases.front()->best;
  const VariantInfo* info = request.find_variant(winner.operation, winner.variant);
  AuditFinding out{.variant = audited_name(winner),
                   .location = location_of(request, info),
                   .change = info != nullptr ? std::string(info->summary) : "",
                   .phase = phase_of(results, whole.naive, cases, info)};
  LaunchSums before(whole.launches), after(whole.launches);
  std::set<std::string> present;
  for (const Replacement* one : cases) {
    before.add(*one->present, one->weight);
    after.add(*one->best, one->weight);
    present.insert(one->present->operation + "/" + one->present->variant);
    const TimeRow row = time_row(results, *one->best, whole.naive.beside(*one->best), whole.beaten);
    out.worst_error = std::max(out.worst_error, one->best->agreement.worst_error);
    out.allocations = std::max(out.allocations, figure_of(*one->best, "allocations_per_call"));
    out.workspace_bytes = std::max(out.workspace_bytes, figure_of(*one->best, "workspace_bytes"));
    out.prepare_seconds = std::max(out.prepare_seconds, figure_of(*one->best, "prepare_seconds"));
    out.cases.push_back({.key = one->best->key,
                         .present = one->present->key,
                         .speedup = speedup(*one->present, *one->best),
                         .share_of_roof = row.share_of_roof});
  }
  out.share = before.seconds().middle / whole.present.seconds().middle;
  out.speedup = before.times_as_fast(after);
  out.saved = before.saved(after);
  out.issue = fmt::format("{} takes {} of the whole in {}", fmt::join(present, ", "), percent_text(out.share),
                          quantity_text(std::ssize(cases), "case"));
  out.risks = risks_of(out, results, winner.threads);
  if (request.before != nullptr) {
    out.expected = in_run_before(*request.before, cases);
    out.as_expected =
        out.expected && out.expected->low <= out.speedup.high && out.speedup.low <= out.expected->high;
  }
  return out;
}

using doc::code;
using doc::Text;

constexpr std::size_t shown_cases = 8;
constexpr std::size_t most_summary_findings = 3;

std::string_view phase_word(AuditPhase phase) { return audit_phases[static_cast<std::size_t>(phase)]; }

std::string_view whole_of(const AuditReport& report) {
  return report.is_network ? "an epoch" : "a call of each case";
}

/// The lowest and the highest share of the roof; empty where none is known.
std::string roof_text(const AuditFinding& finding) {
  double low = 0, high = 0;
  for (const AuditedCase& one : finding.cases) {
    if (one.share_of_roof <= 0) return "";
    low = low == 0 ? one.share_of_roof : std::min(low, one.share_of_roof);
    high = std::max(high, one.share_of_roof);
  }
  return low == high ? percent_text(high) : percent_text(low) + " to " + percent_text(high);
}

std::string memory_text(const AuditFinding& finding) {
  if (finding.allocations <= 0 && finding.workspace_bytes <= 0) return "allocates nothing and keeps nothing";
  return fmt::format("{} allocations a call, keeps {}", count_text(finding.allocations),
                     finding.workspace_bytes > 0 ? bytes_text(finding.workspace_bytes) : "nothing");
}

doc::Section finding_section(const AuditReport& report, std::size_t at) {
  const AuditFinding& one = report.findings[at];
  const EvidenceFile file = report.files.empty() ? EvidenceFile{} : report.files.front();
  const auto item = [](const char* name, Text text) { return doc::strong(name) + ": " + text + "."; };
  doc::List facts{.items = {item("Where", one.location), item("Issue", one.issue)}};
  if (!one.change.empty()) facts.items.push_back(item("Change", one.change));
  Text measured = doc::strong("Measured") + ": " + doc::speedup(one.speedup) + ", " +
                  doc::seconds(one.saved) + " of " + whole_of(report) + ".";
  if (one.expected) measured += " Expected by the run before: " + Text(doc::speedup(*one.expected)) + ".";
  facts.items.push_back(measured);
  facts.items.push_back(item("Agreement", "its worst error is " +
                                              Text(doc::amount(one.worst_error, "ratio")) +
                                              " of the bound that the contract derives"));
  facts.items.push_back(item("Memory", memory_text(one)));
  if (one.prepare_seconds > 1e-6)
    facts.items.push_back(item("Preparation", Text("takes ") + doc::seconds(one.prepare_seconds)));
  const std::string roof = roof_text(one);
  facts.items.push_back(item("Roof", roof.empty() ? "not known, or not believed" : roof));
  facts.items.push_back(item("Evidence", code(file.name) + ", FNV-1a " + code(file.hash)));
  for (const std::string& risk : one.risks) facts.items.push_back(item("Risk", risk));
  std::vector<Text> cases;
  for (std::size_t i = 0; i < std::min(shown_cases, one.cases.size()); ++i) {
    const AuditedCase& own = one.cases[i];
    cases.push_back(code(own.key) + ": " + doc::speedup(own.speedup) + " over " + code(own.present));
  }
  if (one.cases.size() > shown_cases)
    cases.push_back(fmt::format("and {} more cases", one.cases.size() - shown_cases));
  facts.items.push_back({doc::strong("Cases") + ":", std::move(cases)});
  return {.title = fmt::format("Finding {}: ", at + 1) + code(one.variant),
          .blocks = {std::move(facts)},
          .depth = 1};
}

std::string outcome_line(const AuditReport& report) {
  if (report.findings.empty()) {
    return fmt::format("Nothing was found that makes {} faster, in {} process starts", whole_of(report),
                       report.run.launches);
  }
  const AuditTotal& last = report.totals.back();
  return fmt::format("{} as fast: {} takes {} and then {}, by {}", speedup_text(last.gain), whole_of(report),
                     seconds_text(report.present), seconds_text(last.seconds),
                     quantity_text(std::ssize(report.findings), "finding"));
}

}  // namespace

AuditReport audited(const AuditRequest& request) {
  const Results& results = request.results;
  AuditReport out{.run = run_facts(results),
                  .files = request.files,
                  .is_network = results.steps_per_epoch > 0,
                  .unmeasured = unmeasured_of(request),
                  .risks = risks_of_run(results)};
  std::vector<Replacement> cases = replacements(request, out.is_network, out.not_examined);
  std::ranges::copy(not_covered(results, std::nullopt, predict(results)),
                    std::back_inserter(out.not_examined));
  if (!results.mixed_machines.empty()) {
    out.not_examined.push_back("seconds of an epoch: " + results.mixed_machines);
    return out;
  }
  if (cases.empty()) return out;
  const std::size_t launches = shared_launches(cases);
  WholeRun whole{NaiveTrials(results), beaten_roofs(results), launches, LaunchSums(launches)};
  std::map<std::string, std::vector<const Replacement*>> by_variant;
  for (const Replacement& one : cases) {
    whole.present.add(*one.present, one.weight);
    if (one.best != one.present) by_variant[audited_name(*one.best)].push_back(&one);
  }
  out.present = whole.present.seconds();
  std::map<std::string, AuditPhase> phases;
  for (const auto& [variant, own] : by_variant) {
    AuditFinding found = finding_of(request, own, whole);
    if (found.speedup.coverage <= 0 || found.speedup.low <= 1) {
      out.not_examined.push_back(
          found.speedup.coverage <= 0
              ? fmt::format("{}: {} from one process start, or launches that differ", variant,
                            speedup_text(found.speedup))
              : fmt::format("{}: {} may be none", variant, speedup_text(found.speedup)));
      continue;
    }
    phases.emplace(variant, found.phase);
    out.findings.push_back(std::move(found));
  }
  std::ranges::stable_sort(out.findings, std::greater{},
                           [](const AuditFinding& one) { return one.saved.middle; });
  for (std::size_t i = 0; i < audit_phases.size(); ++i) {
    const auto phase = static_cast<AuditPhase>(i);
    LaunchSums after(launches);
    for (const Replacement& one : cases) {
      const auto found = phases.find(audited_name(*one.best));
      after.add(found != phases.end() && found->second <= phase ? *one.best : *one.present, one.weight);
    }
    out.totals.push_back(
        {.phase = phase,
         .findings = static_cast<std::size_t>(std::ranges::count(out.findings, phase, &AuditFinding::phase)),
         .seconds = after.seconds(),
         .gain = whole.present.times_as_fast(after)});
  }
  for (const LintFinding& one : lint(to_value(out))) out.risks.push_back(in_words(one));
  return out;
}

std::vector<Text> summary_lines(const AuditReport& report) {
  const ClaimsRun& run = report.run;
  const double coverage = report.present.coverage;
  const std::string sure =
      coverage > 0 ? "intervals hold the true value in " + percent_text(coverage) + " of such runs"
                   : "launches are too few or differ, so that there is no interval";
  std::vector<Text> out{outcome_line(report),
                        fmt::format("Suite {} at commit {}, {} process starts on {}, {}; {}", run.suite,
                                    run.commit, run.launches, run.machine, run.date, sure)};
  for (std::size_t i = 0; i < std::min(most_summary_findings, report.findings.size()); ++i) {
    const AuditFinding& one = report.findings[i];
    out.push_back(code(one.variant) + fmt::format(" saves {}, {} in its cases: {}", seconds_text(one.saved),
                                                  speedup_text(one.speedup), one.location));
  }
  for (const AuditTotal& total : report.totals) {
    if (total.findings == 0) continue;
    out.push_back(fmt::format("After {} ({}): {}, {} in all", phase_word(total.phase),
                              quantity_text(static_cast<std::int64_t>(total.findings), "finding"),
                              seconds_text(total.seconds), speedup_text(total.gain)));
  }
  const auto expected =
      std::ranges::count_if(report.findings, [](const auto& one) { return one.expected.has_value(); });
  if (expected > 0) {
    out.push_back(fmt::format("As the run before let expect: {} of {}",
                              std::ranges::count(report.findings, true, &AuditFinding::as_expected),
                              expected));
  }
  if (!report.unmeasured.empty())
    out.push_back(quantity_text(std::ssize(report.unmeasured), "variant") + " expected, not measured");
  out.push_back(fmt::format("{} of the run, {} not examined", quantity_text(std::ssize(report.risks), "risk"),
                            quantity_text(std::ssize(report.not_examined), "thing")));
  return out;
}

std::string to_text(const AuditReport& report) {
  const std::vector<Text> lines = summary_lines(report);
  std::vector<doc::Block> out{lines[1]};
  // The lines that matter most stand right above the outcome.
  for (std::size_t i = lines.size(); i-- > 2;) out.emplace_back(lines[i]);
  out.emplace_back("AUDITED: " + lines.front());
  return doc::to_text(out);
}

std::string to_markdown(const AuditReport& report) {
  const auto list = [](const std::vector<std::string>& lines, const char* none) {
    return lines.empty() ? doc::Block(none) : doc::Block(doc::list_of(lines));
  };
  doc::List summary, unmeasured;
  for (Text& line : summary_lines(report)) summary.items.emplace_back(std::move(line));
  doc::Table findings{.columns = doc::columns("number; variant; share = of the whole [share]; speedup = its "
                                              "speed-up [x]; saved = saves [s]; roof = of roof; worst_error "
                                              "[ratio]; !phase = effort"),
                      .instead = "None: nothing is faster than what is in use by its whole interval."};
  findings.columns[0].name = " ";
  doc::Table expected{
      .columns = doc::columns("variant; expected [x]; speedup = measured [x]; !as_expected = intervals meet"),
      .instead = "There is no run before that has these cases."};
  std::vector<doc::Section> sections;
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const AuditFinding& one = report.findings[i];
    findings.rows.push_back({doc::count(static_cast<double>(i + 1)), code(one.variant), doc::share(one.share),
                             doc::speedup(one.speedup), doc::seconds(one.saved), roof_text(one),
                             doc::amount(one.worst_error, "ratio"), phase_word(one.phase)});
    sections.push_back(finding_section(report, i));
    if (!one.expected) continue;
    expected.rows.push_back({code(one.variant), doc::speedup(*one.expected), doc::speedup(one.speedup),
                             one.as_expected ? Text("yes") : doc::strong("no")});
  }
  doc::Table phases{.columns = doc::columns("phase; findings; !seconds [s]; !gain = in all [x]")};
  phases.columns[2].name = std::string(whole_of(report)) + " afterwards";
  for (const AuditTotal& total : report.totals) {
    std::vector<std::string> variants;
    for (const AuditFinding& one : report.findings) {
      if (one.phase == total.phase) variants.push_back(one.variant);
    }
    phases.rows.push_back({phase_word(total.phase), doc::codes(variants), doc::seconds(total.seconds),
                           doc::speedup(total.gain)});
  }
  for (const UnmeasuredFinding& one : report.unmeasured)
    unmeasured.items.push_back(code(one.variant) + ": " + one.why + " (" + one.location + ")");
  doc::Document out{
      .title = "Audit of suite " + code(report.run.suite),
      .sections = {
          {.blocks =
               {std::move(summary),
                fmt::format(
                    "A finding replaces what is in use by one variant, in all cases in which that is the "
                    "fastest, and is ranked by the seconds that {} gains. Each number is made of the "
                    "file beside it. The fastest variant is chosen by the times that are shown, so that "
                    "gains among close ones are a little too large.",
                    whole_of(report))}},
          {.title = "Findings", .blocks = {std::move(findings)}}}};
  std::ranges::move(sections, std::back_inserter(out.sections));
  out.sections.insert(
      out.sections.end(),
      {{.title = "Expected, not measured", .blocks = {std::move(unmeasured)}, .depth = 1},
       {.title = "Phases",
        .blocks =
            {"Quick wins replace a function; structural changes bring threads, a library or memory that is "
             "kept; tuning has to find the size from which a variant pays. Totals hold all phases so far. "
             "They are composed over the process starts that all cases share, and are no sum of gains.",
             std::move(phases)}},
       {.title = "Expected and measured", .blocks = {std::move(expected)}},
       {.title = "Risks",
        .blocks = {list(report.risks,
                        "None was seen in the run; those of single findings stand beside them.")}},
       {.title = "Not examined", .blocks = {list(report.not_examined, "Nothing was left out.")}},
       {.title = "What it rests on",
        .blocks = {
            code(report.run.command) + ". While trials were timed: " + weather_text(report.run.weather),
            files_table(report.files)}}});
  return to_markdown(out);
}

void describe(Fields& f, AuditedCase& one) {
  ASSAY_FIELDS(f, one, key, present, speedup);
  f("share_of_roof", one.share_of_roof, {.about = "0 where no roof is known or believed"});
}

void describe(Fields& f, AuditFinding& one) {
  ASSAY_FIELDS(f, one, variant, location, issue, change);
  f("phase", one.phase, audit_phases);
  f("share", one.share, {.about = "of the present whole"});
  f("speedup", one.speedup);
  f("saved", one.saved, {.about = "seconds"});
  f("worst_error", one.worst_error, {.about = "in units of the bound"});
  ASSAY_FIELDS(f, one, allocations, workspace_bytes, prepare_seconds, cases, risks);
  f("expected", one.expected, {.about = "speed-up of the same cases in the run before"});
  f("as_expected", one.as_expected);
}

ASSAY_FIELDS_OF(UnmeasuredFinding, variant, location, why)

void describe(Fields& f, AuditTotal& total) {
  f("phase", total.phase, audit_phases);
  ASSAY_FIELDS(f, total, findings, seconds);
  f("gain", total.gain, {.about = "composed, of this phase and those before it"});
}

void describe(Fields& f, AuditReport& report) {
  f.schema("assay.audit/1");
  ASSAY_FIELDS(f, report, run, files);
  f("is_network", report.is_network, {.about = "seconds are those of an epoch, else of a call of each case"});
  f("present", report.present, {.about = "seconds before anything is replaced"});
  ASSAY_FIELDS(f, report, findings, unmeasured, totals, risks, not_examined);
}

}  // namespace assay
