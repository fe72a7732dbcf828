// Decides published claims by what was measured.
#include "bench/report/claims.hpp"

#include "assay/epoch.hpp"
#include "bench/compare/roofs.hpp"
#include "bench/report/content.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <regex>

namespace assay {
namespace {

/// Returns the bytes that a call allocates and the bytes that are kept between calls, added up.
double bytes_needed(const TrialResult& trial) {
  return figure_of(trial, "allocated_bytes_per_call") + figure_of(trial, "workspace_bytes");
}

/// A bound is made of medians, which have intervals themselves: it is believed until this factor is exceeded.
constexpr double believed_bound = 1.05;

/// Above this share of processor time used by others, a team of threads loses a core for milliseconds.
constexpr double most_busy_beside = 0.1;

/// Maps an interval. The ends change places where the map falls.
Interval mapped(const Interval& from, const std::function<double(double)>& map) {
  Interval out = from;
  out.low = map(from.low);
  out.middle = map(from.middle);
  out.high = map(from.high);
  if (out.low > out.high) std::swap(out.low, out.high);
  return out;
}

double saved_of(double speedup) { return 1 - 1 / speedup; }

double figure_of_speedup(ClaimedFigure figure, double speedup) {
  switch (figure) {
    case ClaimedFigure::time_saved:
    case ClaimedFigure::epoch_time_saved:
    case ClaimedFigure::composed_saved: return saved_of(speedup);
    case ClaimedFigure::slowdown: return 1 / speedup;
    default: return speedup;
  }
}

Interval figure_of_speedup(ClaimedFigure figure, const Interval& speedup) {
  return mapped(speedup, [&](double s) { return figure_of_speedup(figure, s); });
}

PartFinding open(std::string why) { return {.why = std::move(why)}; }

/// Decides by the whole interval of the value against the claimed range.
void decide_value(const ClaimPart& part, PartFinding& finding) {
  const Interval& value = *finding.value;
  const auto decide = [&](const char* why, ClaimStanding standing = ClaimStanding::not_measured) {
    finding.why = why;
    finding.standing = standing;
  };
  if (value.basis == Basis::slices || value.coverage <= 0)
    return decide("one process start says nothing about the next: more launches would decide");
  if (value.high < part.from)
    return decide("the whole interval lies below the claim", ClaimStanding::shortfall);
  if (value.low < part.from)
    return decide("undecided: the interval reaches to both sides of the claim's lower end");
  // A gain of a part is a smaller gain of the whole.
  if (part.part_of_whole)
    return decide("as much or more of what was timed, which is only a part of the whole");
  if (value.low > part.to) return decide("the whole interval lies above the claim", ClaimStanding::exceeded);
  decide("no part of the interval lies below the claim", ClaimStanding::confirmed);
}

/// A claim above its bound is OVER BOUND, unless a measurement exceeds it, too: then the bound is wrong.
void apply_bound(const ClaimPart& part, PartFinding& finding) {
  if (!finding.bound || finding.standing == ClaimStanding::wrong) return;
  if (finding.value && finding.value->low > finding.bound->most * believed_bound) {
    finding.why += "; the bound is not believed, since more than it was measured";
    finding.bound.reset();
    return;
  }
  if (part.from <= finding.bound->most) return;
  finding.standing = ClaimStanding::over_bound;
  finding.why = "the claim lies above what can be";
}

const TrialResult* other_trial(const Results& results, const TrialResult& trial, const ClaimPart& part) {
  if (!part.against_trial.empty()) {
    const std::regex against(part.against_trial);
    for (const TrialResult& one : results.trials) {
      if (is_measured(one) && std::regex_search(one.key, against)) return &one;
    }
    return nullptr;
  }
  const std::string variant = part.against.empty() ? "naive" : part.against;
  const TrialResult* found = nullptr;
  for (const TrialResult& one : results.trials) {
    if (!is_measured(one) || one.variant != variant || case_of(one) != case_of(trial)) continue;
    if (found == nullptr || one.threads == trial.threads) found = &one;
  }
  return found;
}

Interval exactly(double value) { return {value, value, value, 1}; }

std::optional<Interval> value_of(const ClaimPart& part, const TrialResult& trial, const TrialResult* other) {
  const auto saved = [](double own, double others) -> std::optional<Interval> {
    return others > 0 ? std::optional(exactly(1 - own / others)) : std::nullopt;
  };
  if (part.figure == ClaimedFigure::seconds) return time_of(trial);
  if (part.figure == ClaimedFigure::rate)
    return mapped(time_of(trial), [&](double seconds) { return part.items / seconds; });
  if (other == nullptr) return std::nullopt;
  if (part.figure == ClaimedFigure::workspace_saved)
    return saved(figure_of(trial, "workspace_bytes"), figure_of(*other, "workspace_bytes"));
  if (part.figure == ClaimedFigure::allocations_saved)
    return saved(bytes_needed(trial), bytes_needed(*other));
  const Interval ratio = speedup(*other, trial);
  if (ratio.middle <= 0) return std::nullopt;
  return figure_of_speedup(part.figure, ratio);
}

/// Returns the largest speed-up over the other trial that the roofs allow, where these are believed.
std::optional<double> bound_of(const ClaimPart& part, const Results& results, const TrialResult& trial,
                               const TrialResult& other, const std::vector<BeatenRoof>& beaten) {
  if (part.figure != ClaimedFigure::speedup && part.figure != ClaimedFigure::time_saved) return std::nullopt;
  if (!results.mixed_machines.empty()) return std::nullopt;
  const auto roof = std::ranges::find(results.roofs, trial.threads, &Roof::threads);
  if (roof == results.roofs.end()) return std::nullopt;
  Cost least = trial.cost;
  least.flops -= least.avoidable_flops;
  least.bytes_read -= least.avoidable_bytes;
  const RoofLimit limit = limit_at_roof(*roof, least, least.bytes_read + least.bytes_written);
  if (limit.seconds <= 0) return std::nullopt;
  for (const BeatenRoof& one : beaten) {
    if (one.threads == trial.threads && one.by == limit.by) return std::nullopt;
  }
  return figure_of_speedup(part.figure, time_of(other).middle / limit.seconds);
}

/// Returns the geometric mean over cases; a share s counts as the ratio 1 - s. Intervals of means are made of
/// means of ends, which is wider than the interval of the mean.
double mean_of(ClaimedFigure figure, const std::vector<double>& values) {
  const bool is_share = unit_of(figure) == "share";
  double sum = 0;
  for (const double value : values) sum += std::log(is_share ? std::max(1 - value, 1e-12) : value);
  const double mean = std::exp(sum / static_cast<double>(values.size()));
  return is_share ? 1 - mean : mean;
}

/// Joins the lower ends, middles and upper ends of all intervals. The coverage is the least of theirs.
Interval of_ends(const std::vector<Interval>& all,
                 const std::function<double(const std::vector<double>&)>& joined) {
  Interval out{.coverage = 1};
  for (double Interval::*end : {&Interval::low, &Interval::middle, &Interval::high}) {
    std::vector<double> ends;
    for (const Interval& one : all) ends.push_back(one.*end);
    out.*end = joined(ends);
  }
  for (const Interval& one : all) {
    out.coverage = std::min(out.coverage, one.coverage);
    if (one.basis == Basis::slices) out.basis = Basis::slices;
  }
  return out;
}

/// Less is better for times and slow-downs, more for all other figures.
bool is_better(ClaimedFigure figure, const Interval& value, const Interval& than) {
  const bool less = figure == ClaimedFigure::seconds || figure == ClaimedFigure::slowdown;
  return less ? value.middle < than.middle : value.middle > than.middle;
}

std::string why_no_time(const TrialResult& trial) {
  if (!trial.skipped.empty()) return trial.key + " was skipped: " + trial.skipped;
  if (trial.failure) return trial.key + " " + trial.failure->reason;
  if (!trial.impossible.empty()) return trial.key + " is faster than any kernel can be";
  return trial.key + " was not measured";
}

PartFinding by_trials(const ClaimPart& part, const ClaimEvidence& evidence) {
  std::map<std::string, DecidingCase> best;
  std::string reason = "no results hold a trial that would decide it";
  double busiest = 0;
  const std::regex deciding(part.trials);
  for (const Results& results : evidence.results) {
    if (!part.suite.empty() && results.suite != part.suite) continue;
    const std::vector<BeatenRoof> beaten = beaten_roofs(results);
    for (const TrialResult& trial : results.trials) {
      if (!std::regex_search(trial.key, deciding)) continue;
      if (disagrees(trial)) {
        return {.standing = ClaimStanding::wrong,
                .why = trial.key + " disagrees with the oracle: " + trial.agreement.detail};
      }
      if (!is_measured(trial)) {
        reason = why_no_time(trial);
        continue;
      }
      const TrialResult* other = other_trial(results, trial, part);
      const std::optional<Interval> value = value_of(part, trial, other);
      if (!value) {
        reason = trial.key + " has nothing to be compared with in the same launches";
        continue;
      }
      const bool is_alone = part.figure == ClaimedFigure::seconds || part.figure == ClaimedFigure::rate;
      DecidingCase found{.key = trial.key, .value = *value};
      if (!is_alone && other != nullptr) found.against = other->key;
      if (part.quiet || trial.threads > 1) busiest = std::max(busiest, results.weather.other_busy_share);
      if (other != nullptr) found.bound = bound_of(part, results, trial, *other, beaten);
      const auto [place, is_new] = best.emplace(case_of(trial), found);
      if (!is_new && is_better(part.figure, found.value, place->second.value)) place->second = found;
    }
  }
  PartFinding out{.why = reason};
  std::vector<double> bounds;
  std::vector<Interval> values;
  for (auto& [name, one] : best) {
    if (one.bound) bounds.push_back(*one.bound);
    values.push_back(one.value);
    out.cases.push_back(std::move(one));
  }
  if (values.empty()) return out;
  out.value = of_ends(values, [&](const auto& ends) { return mean_of(part.figure, ends); });
  // A bound of ten times the measured value, or more, says nothing.
  const auto says_something = [&](double most) {
    return part.from > most ||
           (part.figure == ClaimedFigure::speedup ? most < 10 * out.value->high : most < 0.9);
  };
  if (bounds.size() == out.cases.size() && says_something(mean_of(part.figure, bounds))) {
    out.bound = {.most = mean_of(part.figure, bounds),
                 .why = "the roofs that were measured in the same run allow no more for this work"};
  }
  if (busiest > most_busy_beside) {
    out.why = fmt::format(
        "other processes used {} of the processors, which threads that wait for each other "
        "cannot be timed beside",
        percent_text(busiest));
    return out;
  }
  decide_value(part, out);
  return out;
}

/// Without fusion all bytes of the contract are read and written. Only the reading of lines that a store
/// brings into the cache can be saved, by stores past the caches.
PartFinding by_traffic(const ClaimPart& part, const ClaimEvidence& evidence) {
  PartFinding out = open("no results hold a trial whose contract bounds it");
  std::vector<double> bounds;
  const std::regex deciding(part.trials);
  for (const Results& results : evidence.results) {
    if (!part.suite.empty() && results.suite != part.suite) continue;
    for (const TrialResult& trial : results.trials) {
      if (!std::regex_search(trial.key, deciding) || trial.cost.bytes_written <= 0) continue;
      const double saved = trial.cost.bytes_written / (trial.cost.bytes_read + 2 * trial.cost.bytes_written);
      bounds.push_back(saved);
      out.cases.push_back({.key = trial.key, .value = exactly(saved), .bound = saved});
    }
  }
  if (bounds.empty()) return out;
  out.why = "traffic is not counted here, and the contract would allow it";
  out.bound = {.most = *std::ranges::max_element(bounds),
               .why =
                   "each operand is read once and the result written once in any case; stores past the "
                   "caches save the reading of lines that are written, and nothing else can be saved "
                   "without fusion"};
  return out;
}

/// Replaces the naive variants of all other operations by their fastest ones, so that the share of
/// `operation` is its share in a program that is fast otherwise.
Results others_replaced(const Results& results, const std::string& operation) {
  Results out = results;
  out.trials.clear();
  std::map<std::string, TrialResult> fastest;
  for (const TrialResult& trial : results.trials) {
    if (trial.operation == operation) {
      out.trials.push_back(trial);
    } else if (is_measured(trial)) {
      const auto [place, is_new] = fastest.emplace(case_of(trial), trial);
      if (!is_new && time_of(trial).middle < time_of(place->second).middle) place->second = trial;
    }
  }
  for (auto& [name, trial] : fastest) {
    trial.variant = "naive";
    out.trials.push_back(std::move(trial));
  }
  return out;
}

PartFinding by_epoch(const ClaimPart& part, const ClaimEvidence& evidence) {
  const auto found = std::ranges::find(evidence.results, part.suite, &Results::suite);
  if (found == evidence.results.end()) return open("no results of suite " + part.suite + " were given");
  Results whole = *found;
  if (!part.cases.empty()) {
    const std::regex cases(part.cases);
    std::erase_if(whole.trials,
                  [&](const TrialResult& trial) { return !std::regex_search(trial.key, cases); });
  }
  if (!part.operation.empty()) whole = others_replaced(whole, part.operation);
  const std::vector<Prediction> predictions = predict(whole);
  const Composition parts = composition(whole, predictions);
  if (!parts.impossible.empty()) return open("no epoch of suite " + part.suite + ": " + parts.impossible);
  Interval gain = parts.together;
  PartFinding out;
  double limit = 0;
  if (!part.operation.empty()) {
    const auto effect = std::ranges::find(parts.effects, part.operation, &OperationEffect::operation);
    if (effect == parts.effects.end()) return open("suite " + part.suite + " has no " + part.operation);
    gain = effect->epoch;
    limit = effect->limit;
    out.bound = {.most = figure_of_speedup(part.figure, limit),
                 .why = fmt::format("{} takes {} of what is listed when all else is replaced by its fastest "
                                    "variants, and cannot give back more",
                                    part.operation, percent_text(1 - 1 / limit))};
  }
  const NaiveTrials naive_trials(whole);
  for (const Contribution& one : predictions.at(1).contributions) {
    const auto trial = std::ranges::find(whole.trials, one.key, &TrialResult::key);
    if (!part.operation.empty() && trial->operation != part.operation) continue;
    const TrialResult* naive = naive_trials.beside(*trial);
    if (naive == nullptr) continue;
    const Interval ratio = naive == &*trial ? exactly(1) : speedup(*naive, *trial);
    out.cases.push_back(
        {.key = one.key, .against = naive->key, .value = figure_of_speedup(part.figure, ratio)});
  }
  out.value = figure_of_speedup(part.figure, gain);
  decide_value(part, out);
  return out;
}

PartFinding by_model(const ClaimPart& part, const ClaimEvidence& evidence) {
  std::size_t epochs = 0, right = 0, beside_others = 0;
  for (const EpochError& one : evidence.epochs) {
    if (one.model != part.model) continue;
    if (one.other_busy_share > most_busy_beside) {
      ++beside_others;
      continue;
    }
    ++epochs;
    if (std::abs(one.error) <= part.within) ++right;
  }
  if (epochs == 0 && beside_others > 0) {
    return open(
        fmt::format("in all {} epochs other processes used more than {} of the processors, which says "
                    "nothing of {}",
                    beside_others, percent_text(most_busy_beside), part.model));
  }
  if (epochs == 0) return open("no log of epochs that " + part.model + " predicted was given");
  PartFinding out{.value = proportion(right, epochs)};
  decide_value(part, out);
  out.why = fmt::format("{} of {} epochs were predicted to {} by {}; {}", right, epochs,
                        percent_text(part.within), part.model, out.why);
  return out;
}

PartFinding by_code(const ClaimPart& part, const ClaimEvidence& evidence) {
  PartFinding out = open("no check of the code as published was given");
  for (const std::string& variant : part.wrong) {
    const auto found = std::ranges::find(evidence.known_bad, variant, &RejectedCode::name);
    if (found == evidence.known_bad.end() || found->checks == 0) continue;
    if (found->rejected > 0) {
      return {.standing = ClaimStanding::wrong,
              .why = fmt::format("{} as published disagrees with the oracle in {} of {} checks: {}", variant,
                                 found->rejected, found->checks, found->first ? found->first->detail : "")};
    }
    out.standing = ClaimStanding::confirmed;
    out.why = fmt::format("{} agrees with the oracle in all {} checks", variant, found->checks);
  }
  return out;
}

PartFinding by_arithmetic(const ClaimPart& part, const ClaimEvidence& evidence) {
  if (std::ranges::find(evidence.jobs, part.job) == evidence.jobs.end())
    return open("the figures of " + part.job + " were not given");
  std::string contradictions;
  for (const Contradiction& one : evidence.contradictions) {
    if (one.job != part.job || one.field.find(part.field) == std::string::npos) continue;
    contradictions += (contradictions.empty() ? "" : "; ") + one.text;
  }
  if (!contradictions.empty()) return {.standing = ClaimStanding::wrong, .why = contradictions};
  return {.standing = ClaimStanding::confirmed, .why = "its figures follow from each other"};
}

PartFinding by_composition(const ClaimPart& part, const ClaimsReport& so_far) {
  const Interval takes_no_time{INFINITY, INFINITY, INFINITY, 1};
  std::vector<Interval> speedups;
  PartFinding out;
  for (const ClaimShare& share : part.composed) {
    if (share.claim.empty()) {
      speedups.push_back(takes_no_time);
      continue;
    }
    const auto known =
        std::ranges::find(so_far.findings, share.claim, [](const ClaimFinding& one) { return one.claim.id; });
    if (known == so_far.findings.end() || !known->parts.front().value)
      return open(share.claim + ", of which it is composed, was not measured");
    speedups.push_back(*known->parts.front().value);
    std::ranges::copy(known->parts.front().cases, std::back_inserter(out.cases));
  }
  // By Amdahl's law over exclusive shares.
  const auto composed = [&](const std::vector<double>& of_parts) {
    double left = 1;
    for (std::size_t i = 0; i < of_parts.size(); ++i) left -= part.composed[i].share * saved_of(of_parts[i]);
    return 1 / left;
  };
  out.value = figure_of_speedup(part.figure, of_ends(speedups, composed));
  const double most = composed(std::vector<double>(part.composed.size(), INFINITY));
  if (std::isfinite(most)) {
    out.bound = {.most = figure_of_speedup(part.figure, most),
                 .why = "its parts cannot give back more than their shares"};
  }
  decide_value(part, out);
  out.why = "composed by Amdahl's law from the shares as published and the gains as measured; " + out.why;
  return out;
}

PartFinding finding_of(const ClaimPart& part, const ClaimEvidence& evidence, const ClaimsReport& so_far) {
  if (!part.not_measured.empty()) return open(part.not_measured);
  switch (part.figure) {
    case ClaimedFigure::traffic_saved: return by_traffic(part, evidence);
    case ClaimedFigure::epoch_speedup:
    case ClaimedFigure::epoch_time_saved: return by_epoch(part, evidence);
    case ClaimedFigure::composed_speedup:
    case ClaimedFigure::composed_saved: return by_composition(part, so_far);
    case ClaimedFigure::epochs_predicted: return by_model(part, evidence);
    case ClaimedFigure::agreement: return by_code(part, evidence);
    case ClaimedFigure::arithmetic: return by_arithmetic(part, evidence);
    default: return by_trials(part, evidence);
  }
}

}  // namespace

ClaimsRun run_facts(const Results& results) {
  ClaimsRun out{.suite = results.suite,
                .machine = results.machine.key,
                .date = results.date,
                .commit = results.commit,
                .command = results.command,
                .weather = results.weather};
  for (const TrialResult& trial : results.trials) {
    out.launches = std::max(out.launches, sampled_launches(trial));
  }
  return out;
}

std::size_t ClaimsReport::count(ClaimStanding standing) const {
  return static_cast<std::size_t>(std::ranges::count(findings, standing, &ClaimFinding::standing));
}

ClaimsReport judged_claims(PublishedClaims claims, const ClaimEvidence& evidence) {
  ClaimsReport out{.about = std::move(claims.about), .files = evidence.files};
  for (PublishedClaim& claim : claims.claims) {
    ClaimFinding finding;
    for (const ClaimPart& part : claim.parts) {
      PartFinding one = finding_of(part, evidence, out);
      if (part.bound && (!one.bound || part.bound->most < one.bound->most)) one.bound = part.bound;
      apply_bound(part, one);
      finding.standing = std::min(finding.standing, one.standing);
      one.part = part;
      finding.parts.push_back(std::move(one));
    }
    finding.claim = std::move(claim);
    out.findings.push_back(std::move(finding));
  }
  for (const Results& results : evidence.results) out.runs.push_back(run_facts(results));
  return out;
}

}  // namespace assay
