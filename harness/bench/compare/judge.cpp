#include "bench/compare/judge.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

std::string coverage_text(const Interval& interval) {
  return interval.coverage > 0 ? fmt::format("{:.0f} %", 100 * interval.coverage) : "no coverage";
}

/// "1.32 [1.28, 1.36]".
std::string text(const Interval& interval) {
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", interval.middle, interval.low, interval.high);
}

Interval inverse(const Interval& i) { return {1 / i.high, 1 / i.middle, 1 / i.low, i.coverage, i.basis}; }

/// Exchanges before and after in the evidence, so that faster needs no rules of its own.
Evidence mirrored(Evidence evidence) {
  evidence.time = inverse(evidence.time);
  if (evidence.beside_case) evidence.beside_case = inverse(*evidence.beside_case);
  if (evidence.beside_suite) evidence.beside_suite = inverse(*evidence.beside_suite);
  if (evidence.sure) evidence.sure = inverse(*evidence.sure);
  return evidence;
}

bool case_agrees(const Evidence& e) { return !e.beside_case || e.beside_case->middle > e.limit; }

bool is_slower(const Evidence& e) {
  if (!e.beside_case && !e.beside_suite) return e.time.low > std::max({e.limit, e.of_spread, farthest_drift});
  const double explained = std::max(e.limit, e.drift.times);
  const bool beyond =
      judged_ratio(e).low > std::max(explained, e.of_spread) || (e.sure && e.sure->low > explained);
  return beyond && case_agrees(e) && e.time.middle > e.plain_limit;
}

std::string suite_witnesses(const Evidence& e) {
  return e.suite_is_naive ? "the other naive variants" : "the other trials";
}

/// Whether the time itself stayed within the limit. Witnesses that may have changed with the row cannot tell.
bool stayed(const Evidence& e) {
  return e.suite_is_naive || !e.beside_suite || (e.time.middle <= e.limit && e.time.middle >= 1 / e.limit);
}

std::string witnesses_text(const Evidence& e) {
  std::string out = "time after / before " + text(e.time);
  if (e.beside_case) out += fmt::format(", relative to {} {}", e.case_witness, text(*e.beside_case));
  if (e.beside_suite) out += fmt::format(", relative to {} {}", suite_witnesses(e), text(*e.beside_suite));
  return fmt::format("{} ({} over {} and {} process starts, limit {:.2f})", out,
                     coverage_text(judged_ratio(e)), e.launches_before, e.launches_after, e.limit);
}

std::string doubt(const Evidence& e) {
  const Interval ratio = judged_ratio(e);
  const bool beyond = ratio.low > e.limit || ratio.high < 1 / e.limit;
  const Evidence as_slower = ratio.low > e.limit ? e : mirrored(e);
  if (beyond && e.of_spread > std::max(judged_ratio(as_slower).low, e.drift.times)) {
    return fmt::format(
        "its process starts spread so far that less than {:.3g} times may be their luck{}: ", e.of_spread,
        e.of_spread > farthest_drift ? ", if they are of one benchmark at all" : "");
  }
  if (!e.beside_case && !e.beside_suite && beyond) {
    return fmt::format("nothing was measured beside it that could tell the machine's drift from the code: ");
  }
  if (!beyond && !stayed(e)) {
    return "all trials moved alike, and none of them is naive, so code and machine cannot be told apart: ";
  }
  if (!beyond) return "the interval reaches across the limit: ";
  if (!case_agrees(as_slower)) {
    return fmt::format(
        "{} moved with it in the same process starts, so code and machine cannot be told apart: ",
        e.case_witness);
  }
  if (!e.drift.of.empty() && as_slower.time.middle > e.plain_limit) {
    return fmt::format("{}, and less than {:.3g} times may come of that: ", e.drift.of, e.drift.times);
  }
  return fmt::format("it moved relative to {}, but its own time hardly did: ", suite_witnesses(e));
}

}  // namespace

Interval judged_ratio(const Evidence& evidence) {
  if (evidence.beside_suite) return *evidence.beside_suite;
  return evidence.beside_case.value_or(evidence.time);
}

Finding judge(const Evidence& evidence) {
  if (std::min(evidence.launches_before, evidence.launches_after) < fewest_launches) {
    return {
        Standing::undecided,
        fmt::format("{} process starts before and {} after are too few to decide, which takes {} on either "
                    "side: time after / before {}",
                    evidence.launches_before, evidence.launches_after, fewest_launches, text(evidence.time))};
  }
  if (is_slower(evidence)) return {Standing::slower, "slower by every measure: " + witnesses_text(evidence)};
  if (is_slower(mirrored(evidence))) {
    return {Standing::faster, "faster by every measure: " + witnesses_text(evidence)};
  }
  const Interval ratio = judged_ratio(evidence);
  if (ratio.low >= 1 / evidence.limit && ratio.high <= evidence.limit && stayed(evidence)) {
    return {Standing::same, "within its limit: " + witnesses_text(evidence)};
  }
  return {Standing::undecided, doubt(evidence) + witnesses_text(evidence)};
}

std::optional<Finding> found_alone(const TrialResult& trial) {
  if (trial.failed) return Finding{Standing::skipped, trial.skipped};
  if (!trial.skipped.empty()) return Finding{Standing::skipped, "did not run here: " + trial.skipped};
  if (trial.failure) return Finding{standing_of(*trial.failure), trial.failure->reason};
  if (!trial.agreement.agrees) {
    return Finding{Standing::wrong, "disagrees with the oracle: " + trial.agreement.detail};
  }
  if (!trial.impossible.empty()) return Finding{Standing::impossible, trial.impossible};
  return std::nullopt;
}

}  // namespace assay
