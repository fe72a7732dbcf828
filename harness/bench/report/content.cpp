#include "bench/report/content.hpp"

#include "assay/measure.hpp"
#include "bench/compare/words.hpp"
#include "bench/report/claims.hpp"
#include "core/json/fields.hpp"
#include "core/json/lint.hpp"
#include "core/machine/fields.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace assay {
namespace {

std::vector<AgreementRow> agreement_of(const Results& results) {
  std::vector<AgreementRow> out;
  std::map<std::string, std::set<std::string>> variants, cases;
  for (const TrialResult& trial : results.trials) {
    if (!trial.skipped.empty()) continue;
    auto row = std::ranges::find(out, trial.operation, &AgreementRow::operation);
    if (row == out.end()) row = out.insert(out.end(), {.operation = trial.operation});
    variants[trial.operation].insert(trial.variant);
    cases[trial.operation].insert(trial.problem);
    ++row->trials;
    row->compared += trial.agreement.compared;
    row->total += trial.agreement.total;
    if (disagrees(trial)) {
      ++row->disagreeing;
    } else {
      row->worst_error = std::max(row->worst_error, trial.agreement.worst_error);
    }
  }
  for (AgreementRow& row : out) {
    row.variants = variants[row.operation].size();
    row.cases = cases[row.operation].size();
  }
  return out;
}

/// Returns a row for each value of a figure in a case; the values of a figure stand together.
std::vector<FigureRow> figures_of(const Results& results) {
  std::vector<FigureRow> out;
  std::map<std::pair<std::string, std::string>, std::size_t> trials;  // that have a figure, by case and name
  for (const TrialResult& trial : results.trials) {
    if (!trial.agreement.agrees) continue;
    for (const Figure& figure : trial.agreement.figures) {
      const std::string of = case_of(trial);
      const auto same_figure = [&](const FigureRow& row) {
        return row.problem_case == of && row.figure.name == figure.name;
      };
      auto row = std::ranges::find_if(out, [&](const FigureRow& known) {
        return same_figure(known) && known.figure.value == figure.value && known.figure.bound == figure.bound;
      });
      if (row == out.end()) {
        const auto last = std::find_if(out.rbegin(), out.rend(), same_figure);
        row = out.insert(last == out.rend() ? out.end() : last.base(),
                         {.problem_case = of, .figure = figure, .trials = {}});
      }
      row->trials.push_back(fmt::format("{}#{}", trial.variant, trial.threads));
      ++trials[{of, figure.name}];
    }
  }
  for (FigureRow& row : out) row.of_all = row.trials.size() == trials[{row.problem_case, row.figure.name}];
  return out;
}

std::vector<std::string> commands(const Results& results) {
  std::vector<std::string> out;
  const std::string commit = results.commit.substr(0, results.commit.find('+'));
  if (!commit.empty() && commit != "unknown") out.push_back("git checkout " + commit);
  out.insert(out.end(), {"cmake --preset release", "cmake --build --preset release"});
  if (!results.command.empty()) {
    out.push_back(results.command);
    if (results.shard) out.back() += " " + to_options(results.shard->shard);
  }
  return out;
}

constexpr double handle_seconds = 1e-6;

/// Returns the number of calls after which the time gained over naive exceeds the preparation.
double repaid_after(const TrialResult* naive, const TrialResult& trial) {
  if (naive == nullptr || !is_measured(trial) || figure_of(trial, "prepare_seconds") < handle_seconds)
    return 0;
  const double gained = time_of(*naive).middle - time_of(trial).middle;
  return gained > 0 ? std::ceil(figure_of(trial, "prepare_seconds") / gained) : 0;
}

std::vector<TrustRow> trust_of(const Results& results) {
  std::vector<TrustRow> out;
  for (const TrialResult& trial : results.trials) {
    if (trial.audit.slices == 0) continue;
    const std::string name = trial.operation + "/" + trial.variant;
    auto row = std::ranges::find(out, name, &TrustRow::variant);
    if (row == out.end()) {
      row = out.insert(out.end(), {.variant = name});
      if (const std::vector<Calls>* calls = calls_of(results, trial)) row->calls = *calls;
    }
    row->audit.add(trial.audit);
  }
  return out;
}

void find_visible(Summary& out, const Comparison& comparison) {
  std::vector<double> changes;
  for (const ComparedRow& verdict : comparison.rows) {
    if (!is_judged(verdict.standing) || verdict.ratio.low <= 0) continue;
    // The least slow-down that would put the interval's lower end above the limit, with this trial's spread.
    changes.push_back(verdict.limit * verdict.ratio.middle / verdict.ratio.low - 1);
  }
  if (changes.empty()) return;
  std::ranges::sort(changes);
  out.visible_in_half = changes[(changes.size() - 1) / 2];
  out.visible_in_most = changes[(9 * (changes.size() - 1) + 9) / 10];
}

Summary summary_of(const Results& results, const std::optional<Comparison>& comparison, Outcome outcome) {
  Summary out{.outcome = std::move(outcome), .trials = results.trials.size()};
  std::size_t wrong = 0, failed = 0, impossible = 0, skipped = 0;
  for (const TrialResult& trial : results.trials) {
    if (!trial.skipped.empty()) ++skipped;
    if (disagrees(trial)) ++wrong;
    if (trial.failure) ++failed;
    if (!trial.impossible.empty()) ++impossible;
    if (!is_measured(trial)) continue;
    const std::size_t launches = sampled_launches(trial);
    out.fewest_launches = out.measured == 0 ? launches : std::min(out.fewest_launches, launches);
    out.most_launches = std::max(out.most_launches, launches);
    ++out.measured;
  }
  const std::size_t ran = out.trials - skipped;
  out.counts = {{"agree", ran - wrong - failed},
                {"disagree", wrong},
                {"measured", out.measured},
                {"agree but not measured", ran - wrong - failed - impossible - out.measured},
                {"did not run here", skipped}};
  if (failed > 0) out.counts.push_back({"crashed or timed out", failed});
  if (impossible > 0) out.counts.push_back({"faster than any kernel can be", impossible});
  if (comparison) {
    for (std::size_t i = 0; i < standing_count; ++i) {
      const auto s = static_cast<Standing>(i);
      if (s != Standing::wrong && is_fault(s) && comparison->count(s) == 0) continue;
      out.counts.push_back({"verdict: " + std::string(to_string(s)), comparison->count(s)});
    }
    find_visible(out, *comparison);
  }
  return out;
}

std::vector<std::string> gaps_of_trials(const Results& results) {
  const NaiveTrials naive(results);
  std::vector<std::string> out;
  std::set<std::string> without_naive, unknown_calls;
  Index wrong = 0, impossible = 0, unmeasured = 0, unchecked = 0, sampled = 0;
  for (const TrialResult& trial : results.trials) {
    if (!trial.skipped.empty()) continue;
    if (disagrees(trial)) ++wrong;
    if (!trial.impossible.empty()) ++impossible;
    if (trial.agreement.agrees && sampled_launches(trial) == 0) ++unmeasured;
    if (is_measured(trial) && trial.agreement.compared == 0) ++unchecked;
    if (trial.agreement.compared < trial.agreement.total) ++sampled;
    if (is_measured(trial) && naive.beside(trial) == nullptr) without_naive.insert(case_of(trial));
    if (calls_of(results, trial) == nullptr) unknown_calls.insert(trial.operation + "/" + trial.variant);
    if (!trial.remark.empty()) out.push_back(fmt::format("{}: {}", trial.key, trial.remark));
  }
  const auto add = [&](Index number, const char* one, const char* words) {
    if (number > 0) out.push_back(quantity_text(number, one) + " " + words);
  };
  add(wrong, "trial", "not timed, since the numbers are wrong");
  add(impossible, "trial", "not used, being faster than any kernel can be");
  add(unmeasured, "trial", "agreed but had no time measured");
  add(std::ssize(unknown_calls), "variant", "of which it is not known what the code calls");
  add(unchecked, "trial", "timed with no output compared: not to be believed");
  add(sampled, "trial", "checked on a seeded sample of the outputs, since the oracle is slow at that size");
  for (const std::string& name : without_naive)
    out.push_back(name + ": no speed-up, since naive has no time");
  return out;
}

constexpr Fields::Rule null_if_none{.null = true};
/// Fields absent where "impossible" is set.
constexpr Fields::Rule if_possible{.optional = true};

/// Writes null where the value is not known.
std::optional<double> known_if(bool known, double value) {
  return known ? std::optional(value) : std::nullopt;
}

}  // namespace

std::size_t sampled_launches(const TrialResult& trial) {
  return static_cast<std::size_t>(
      std::ranges::count_if(trial.launches, [](const Launch& launch) { return !launch.empty(); }));
}

std::size_t slices_of(const TrialResult& trial) {
  return std::accumulate(trial.launches.begin(), trial.launches.end(), std::size_t{0},
                         [](std::size_t sum, const Launch& launch) { return sum + launch.size(); });
}

std::vector<std::vector<double>> samples_of(const TimeRow& row) {
  std::vector<std::vector<double>> out;
  if (row.seconds.middle <= 0) return out;
  for (const Launch& launch : row.trial.launches) out.push_back(seconds_of(launch));
  return out;
}

double geometric_mean(const std::vector<CaseRatio>& ratios) {
  double logs = 0;
  for (const CaseRatio& one : ratios) logs += std::log(one.ratio.middle);
  return std::exp(logs / static_cast<double>(ratios.size()));
}

std::string with_threads(const std::string& variant, int threads) {
  return threads == 1 ? variant : fmt::format("{}#{}", variant, threads);
}

const std::vector<Calls>* calls_of(const Results& results, const TrialResult& trial) {
  const auto known =
      std::ranges::find(results.calls, trial.operation + "/" + trial.variant, &VariantCalls::variant);
  return known == results.calls.end() ? nullptr : &known->calls;
}

void add_launches(std::vector<double>& sums, const TrialResult& trial, double weight) {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] += weight * (sums.size() > 1 ? median(seconds_of(trial.launches[i])) : time_of(trial).middle);
  }
}

std::vector<std::pair<std::string, Index>> skipped_by(const Results& results,
                                                      std::string (*reason)(const TrialResult&)) {
  std::vector<std::pair<std::string, Index>> out;
  for (const TrialResult& trial : results.trials) {
    if (trial.skipped.empty()) continue;
    const std::string own = reason(trial);
    auto known = std::ranges::find(out, own, &std::pair<std::string, Index>::first);
    if (known == out.end()) known = out.insert(out.end(), {own, 0});
    ++known->second;
  }
  return out;
}

bool disagrees(const TrialResult& trial) {
  return trial.skipped.empty() && !trial.agreement.agrees && !trial.failure;
}

NaiveTrials::NaiveTrials(const Results& results) {
  for (const TrialResult& one : results.trials) {
    if (one.variant == "naive" && is_measured(one)) by_case_.try_emplace({one.operation, one.problem}, &one);
  }
}

const TrialResult* NaiveTrials::beside(const TrialResult& trial) const {
  const auto found = by_case_.find({trial.operation, trial.problem});
  return found == by_case_.end() ? nullptr : found->second;
}

TimeRow time_row(const Results& results, const TrialResult& trial, const TrialResult* naive,
                 const std::vector<BeatenRoof>& beaten) {
  TimeRow row{.trial = trial, .seconds = time_of(trial), .repaid_after = repaid_after(naive, trial)};
  if (naive != nullptr && naive != &trial) {
    const Interval found = speedup(*naive, trial);
    if (found.middle > 0) row.speedup = found;  // 0 when they share no launch
  }
  if (!results.mixed_machines.empty()) {
    row.seconds = {};
    return row;
  }
  const double bytes = trial.cost.bytes_read + trial.cost.bytes_written;
  row.flops_per_second = trial.cost.flops / row.seconds.middle;
  row.bytes_per_second = bytes / row.seconds.middle;
  const auto roof = std::ranges::find(results.roofs, trial.threads, &Roof::threads);
  if (roof != results.roofs.end()) {
    const RoofLimit limit = limit_at_roof(*roof, trial.cost, bytes);
    row.roof_not_believed = std::ranges::any_of(
        beaten, [&](const BeatenRoof& one) { return one.threads == trial.threads && one.by == limit.by; });
    // A roof is not beaten by an interval that reaches below it, and no share exceeds 1.
    if (!row.roof_not_believed) row.share_of_roof = std::min(1.0, limit.seconds / row.seconds.middle);
  }
  return row;
}

doc::Column column_of(const Figure& figure) {
  return {.tag = figure.tag, .name = figure.name, .unit = figure.unit, .about = figure.about};
}

doc::Text figure_cell(const Figure& figure, const FigureValues& values) {
  const auto found = values.find(figure.tag);
  if (found == values.end() || (figure.unit == "s" && found->second < handle_seconds)) return {};
  return doc::amount(found->second, figure.unit);
}

std::string weather_text(const Weather& weather) {
  if (weather.seconds <= 0) return "the weather was not recorded.";
  const std::string pressure =
      weather.cpu_pressure_share < 0
          ? "pressure not visible here"
          : "some task waited for a processor " + percent_text(weather.cpu_pressure_share) + " of the time";
  const std::string migrations =
      weather.migrations < 0 ? "migrations not visible here" : count_text(weather.migrations) + " migrations";
  return fmt::format(
      "{}; {} of processor time stolen by the hypervisor, {} used by other processes; {}; {} involuntary "
      "switches, {}, {} major faults.",
      seconds_text(weather.seconds), percent_text(weather.steal_share),
      percent_text(weather.other_busy_share), pressure, count_text(weather.involuntary_switches), migrations,
      count_text(weather.major_faults));
}

doc::Table files_table(const std::vector<EvidenceFile>& files) {
  doc::Table out{.columns = doc::columns("file; !what = holds; hash = FNV-1a of its content")};
  for (const EvidenceFile& file : files)
    out.rows.push_back({doc::code(file.name), file.what, doc::code(file.hash)});
  return out;
}

Report make_report(const Results& results, const std::optional<Baseline>& baseline,
                   const std::optional<Comparison>& comparison, Outcome outcome) {
  const NaiveTrials naive(results);
  Report out{.results = results,
             .summary = summary_of(results, comparison, std::move(outcome)),
             .agreement = agreement_of(results),
             .figures = figures_of(results),
             .trust = trust_of(results),
             .comparison = comparison,
             .reproduce = commands(results)};
  const std::vector<BeatenRoof> beaten = beaten_roofs(results);
  out.roofs_not_believed = why_not_believed(beaten, results.roofs);
  for (const TrialResult& trial : results.trials) {
    if (disagrees(trial) || trial.failure) out.disagreements.push_back({trial.key, trial.agreement.detail});
    if (!trial.impossible.empty()) out.impossible.push_back({trial.key, trial.impossible});
    if (is_measured(trial)) out.times.push_back(time_row(results, trial, naive.beside(trial), beaten));
  }
  out.peers = peers(results);
  out.ladder = ladder(results);
  // Sizes that were measured on different machines do not show from which size on a variant pays.
  if (results.mixed_machines.empty()) out.break_even = break_even(results);
  const bool recorded = baseline && !baseline->recordings.empty();
  const Recording* const last = recorded ? &baseline->recordings.back() : nullptr;
  if (recorded) {
    out.baseline = fmt::format("{} on {}, the last of {} at commit {}: {}",
                               quantity_text(std::ssize(baseline->recordings), "recording"),
                               baseline->machine_key, last->results.date, last->results.commit, last->reason);
  }
  out.predictions = predict(results, recorded ? &last->results : nullptr);
  out.composition = composition(results, out.predictions);
  out.not_covered = not_covered(results, comparison, out.predictions);
  std::ranges::copy(out.roofs_not_believed, std::back_inserter(out.not_covered));
  for (const LintFinding& one : lint(to_value(out))) out.not_covered.push_back(in_words(one));
  return out;
}

std::vector<std::string> not_covered(const Results& results, const std::optional<Comparison>& comparison,
                                     const std::vector<Prediction>& predictions) {
  std::vector<std::string> out;
  if (results.partial) out.push_back("the run was interrupted: some trials are missing");
  if (results.shard && results.shard->shard.count > 1) {
    const ShardRecord& record = *results.shard;
    out.push_back(fmt::format("this is shard {} of 0 to {}: {} of the {} selected cases are in the others",
                              record.shard.index, record.shard.count - 1,
                              record.cases - static_cast<Index>(record.positions.size()), record.cases));
  }
  if (!results.mixed_machines.empty()) {
    out.push_back("times, rates, roofs and break-even sizes are withheld: " + results.mixed_machines);
  }
  const auto reason = [](const TrialResult& trial) {
    return fmt::format("{}/{}: {}", trial.operation, trial.variant, trial.skipped);
  };
  for (const auto& [why, trials] : skipped_by(results, reason))
    out.push_back(quantity_text(trials, "trial") + " did not run: " + why);
  for (const Fact& fact : results.machine.facts) {
    if (fact.value == "not linked" && fact.name == "OpenBLAS") {
      out.push_back("OpenBLAS was not built in: nothing is measured against it");
    }
  }
  std::ranges::move(gaps_of_trials(results), std::back_inserter(out));
  if (!comparison) {
    out.push_back(
        "no trial was compared: there is no baseline of this suite for this machine, or none was asked for");
  } else if (!comparison->comparable) {
    out.push_back("no time was compared: the deciding facts of the machine or the build differ (section 2)");
  }
  if (results.roofs.empty() && results.mixed_machines.empty())
    out.push_back("no roof was measured: shares of the roof are unknown");
  for (const Prediction& prediction : predictions) {
    if (prediction.impossible.empty()) continue;
    out.push_back(fmt::format("no epoch predicted ({}): {}", prediction.label, prediction.impossible));
  }
  if (results.commit.empty() || results.commit == "unknown") {
    out.push_back("the commit of the program is unknown");
  } else if (results.commit.find('+') != std::string::npos) {
    out.push_back("the program was built from changes that are in no commit: " + results.commit);
  }
  return out;
}

void describe(Fields& f, Summary& summary) {
  f.derived("word", std::string(to_string(summary.outcome.word)));
  f("sentence", summary.outcome.sentence);
  ASSAY_FIELDS(f, summary, trials, measured, fewest_launches, most_launches);
  f.keyed("counts", summary.counts, &Summary::Count::state, &Summary::Count::trials);
  ASSAY_FIELDS(f, summary, visible_in_half, visible_in_most);
}

void describe(Fields& f, TrustRow& row) {
  f("variant", row.variant, {.about = "operation/variant"});
  f("slices", row.audit.slices, {.about = "timed"});
  f("judged", row.audit.judged, {.about = "of them, after their calls"});
  f("compared", row.audit.compared, {.about = "elements of outputs in the slices that were judged"});
  std::vector<Calls> calls = row.calls.value_or(std::vector<Calls>());
  if (!f.writes() || row.calls) {
    f.keyed("calls", calls, &Calls::to, &Calls::names,
            {.optional = true,
             .about = "beyond run-times: threads, system, and libraries; not known where missing"});
  }
}

void describe(Fields& f, AgreementRow& row) {
  ASSAY_FIELDS(f, row, operation, variants, cases, trials, disagreeing);
  f("worst_error_in_bounds", row.worst_error);
  ASSAY_FIELDS(f, row, compared, total);
}

ASSAY_FIELDS_OF(Disagreement, key, detail)

void describe(Fields& f, FigureRow& row) {
  f("case", row.problem_case);
  f("figure", row.figure);
  f("trials", row.trials, {.about = "variant#threads"});
}

ASSAY_FIELDS_OF(ImpossibleTime, key, why)

void describe(Fields& f, TimeRow& row) {
  const bool has_seconds = row.seconds.middle > 0;
  TrialResult& trial = row.trial;
  std::string problem_case = case_of(trial);
  std::size_t launches = sampled_launches(trial), slices = slices_of(trial);
  f("key", trial.key);
  f("case", problem_case);
  ASSAY_FIELDS(f, trial, note, variant, threads);
  f.derived("seconds", has_seconds ? std::optional(row.seconds) : std::nullopt, null_if_none);
  f("launches", launches);
  f("slices", slices);
  f("speedup", row.speedup, null_if_none);
  f.derived("flops_per_second", known_if(has_seconds, row.flops_per_second), null_if_none);
  f.derived("bytes_per_second", known_if(has_seconds, row.bytes_per_second), null_if_none);
  f.derived("share_of_roof", known_if(row.share_of_roof > 0, row.share_of_roof), null_if_none);
  f("roof_not_believed", row.roof_not_believed);
  if (f.tells()) {
    for (const Figure& figure : measured_figures()) trial.figures[figure.tag] = 0;
  }
  for (auto& [tag, value] : trial.figures) f(tag, value, {.optional = true});
  f("repaid_after", row.repaid_after,
    {.about = "calls, beside naive, that repay its preparation; 0: never, or naive has no time"});
  if (f.tells() || trial.picked) {
    Picked picked = trial.picked.value_or(Picked());
    f("picked", picked.variant, {.optional = true, .about = "the variant that did the work"});
    f("picked_because", picked.reason, {.terse = true});
  }
  f("remark", trial.remark);
  std::vector<std::vector<double>> samples = samples_of(row);
  f("samples", samples,
    {.terse = true, .seven_digits = true, .about = "seconds per call of slices by launch, in run order"});
}

void describe(Fields& f, LadderStep& one) {
  ASSAY_FIELDS(f, one, operation, step, after, threads);
  std::size_t cases = one.ratios.size();
  f("cases", cases);
  f("mean", one.mean, {.about = "geometric, of times before / times after"});
  f("in_all", one.in_all, {.about = "the same, of naive"});
  if (f.tells()) one.ratios.emplace_back();
  f("worst", one.ratios.front().ratio);
  f("worst_problem", one.ratios.front().problem);
  f("best", one.ratios.back().ratio);
  f("best_problem", one.ratios.back().problem);
}

void describe(Fields& f, BreakEvenSize& one) {
  f("extents", one.extents);
  f("bytes", one.bytes, {.about = "of a call"});
  f("ratio", one.ratio, {.about = "time of the rival / time of the variant"});
}

void describe(Fields& f, BreakEven& row) {
  const bool found = !row.from.empty();
  ASSAY_FIELDS(f, row, operation, kind, trial, rival);
  std::size_t sizes = row.points.size();
  f("sizes", sizes);
  f.derived("from", found ? std::optional(row.from) : std::nullopt, null_if_none);
  f.derived("from_bytes", known_if(found, row.from_bytes), null_if_none);
  ASSAY_FIELDS(f, row, slower, undecided);
  f("points", row.points, {.terse = true, .about = "all sizes, by the bytes of a call"});
}

void describe(Fields& f, CaseRatio& one) {
  ASSAY_FIELDS(f, one, problem, ours, peer);
  f("ratio", one.ratio, {.about = "time of the library / time of ours"});
}

void describe(Fields& f, PeerRow& row) {
  ASSAY_FIELDS(f, row, operation, threads, libraries);
  f("geometric_mean", row.mean);
  f("ratios", row.ratios, {.about = "one per case, the worst first"});
}

void describe(Fields& f, Contribution& part) {
  ASSAY_FIELDS(f, part, key, note, per_step, seconds, seconds_per_step);
  f("share_percent", part.share);
}

void describe(Fields& f, Prediction& prediction) {
  f("label", prediction.label);
  f("impossible", prediction.impossible, {.terse = true, .about = "why there is none"});
  if (f.writes() && !prediction.impossible.empty()) return;
  f("seconds", prediction.seconds, if_possible);
  f("steps_per_epoch", prediction.steps_per_epoch, if_possible);
  f.derived("interval_from", std::string(to_string(prediction.source)));
  f("launches", prediction.launches, if_possible);
  f("contributions", prediction.contributions, if_possible);
  f("left_out", prediction.left_out, if_possible);
}

void describe(Fields& f, OperationEffect& one) {
  f("operation", one.operation);
  f("share_percent", one.share);
  f("speedup", one.speedup);
  f("epoch_speedup", one.epoch);
  f.derived("limit", known_if(!std::isinf(one.limit), one.limit), null_if_none);
  f("share_left_percent", one.share_left);
  f.derived("limit_left", known_if(!std::isinf(one.limit_left), one.limit_left), null_if_none);
}

void describe(Fields& f, Composition& composition) {
  f("impossible", composition.impossible, {.terse = true, .about = "why there is none"});
  if (f.writes() && !composition.impossible.empty()) return;
  f("together", composition.together, if_possible);
  f("operations", composition.effects, if_possible);
}

void describe(Fields& f, Report& report) {
  Results& results = report.results;
  f.schema("assay.report/1");
  ASSAY_FIELDS(f, results, suite, about, date, commit, seed);
  f("outcome", report.summary);
  ASSAY_FIELDS(f, results, machine, roofs);
  f("roofs_not_believed", report.roofs_not_believed);
  f("weather", results.weather);
  ASSAY_FIELDS(f, report, agreement, disagreements);
  f("figures", report.figures, {.terse = true, .about = "of outputs, besides their times"});
  f("trust", report.trust);
  f.derived("withheld", results.mixed_machines.empty() ? std::nullopt : std::optional(results.mixed_machines),
            null_if_none);
  f("measured", results.figures, {.terse = true, .about = "the figures of times, without values"});
  f("times", report.times);
  f("impossible", report.impossible, {.terse = true, .about = "times that no kernel can reach"});
  f("peers", report.peers, {.optional = true, .about = "libraries that were measured beside ours"});
  f("ladder", report.ladder, {.optional = true, .about = "what each idea gained over the one before"});
  ASSAY_FIELDS(f, report, break_even, baseline);
  f("comparison", report.comparison, null_if_none);
  ASSAY_FIELDS(f, report, predictions, composition, not_covered, reproduce);
}

std::string to_json(const Report& report) { return json_text(to_value(report)) + "\n"; }

}  // namespace assay
