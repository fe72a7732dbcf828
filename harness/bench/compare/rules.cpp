// The rules by which the evidence about a row is judged, and what is said of it.
#include "bench/compare/judge.hpp"

#include "core/statistics/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

/// The ratio that is judged against the limits: with the machine's own movement taken out where it is known.
Interval judged_ratio(const Evidence& evidence) {
  if (evidence.beside_suite) return *evidence.beside_suite;
  return evidence.beside_case.value_or(evidence.time);
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

/// The ratio that a drift of the machine may explain.
double explained_by_drift(const Evidence& e) {
  return e.beside_case || e.beside_suite ? e.drift.times : farthest_drift;
}

/// Whether every measure lies above its limit, whatever may explain that.
bool looks_slower(const Evidence& e) {
  return judged_ratio(e).low > e.limit && case_agrees(e) && e.time.middle > e.plain_limit;
}

bool is_slower(const Evidence& e) {
  const double explained = std::max(e.limit, explained_by_drift(e));
  return looks_slower(e) &&
         (judged_ratio(e).low > std::max(explained, e.of_spread) || (e.sure && e.sure->low > explained));
}

std::string suite_witnesses(const Evidence& e) {
  return e.suite_is_naive ? "the other naive variants" : "the other trials";
}

/// Whether the time itself stayed within the limit. Witnesses that may have changed with the row cannot tell.
bool stayed(const Evidence& e) {
  return e.suite_is_naive || !e.beside_suite || is_within(e.time.middle, e.limit);
}

/// Whether no measure shows a slow-down, though drift had hidden some of it.
bool is_not_slower(const Evidence& e) {
  return (e.beside_case || e.beside_suite) && judged_ratio(e).high * e.drift.times <= e.plain_limit &&
         !(e.beside_case && case_agrees(e)) && (e.suite_is_naive || e.time.middle <= e.limit);
}

std::string witnesses_text(const Evidence& e) {
  std::string out = "time after / before " + text(e.time);
  if (e.beside_case) out += fmt::format(", relative to {} {}", e.case_witness, text(*e.beside_case));
  if (e.beside_suite) out += fmt::format(", relative to {} {}", suite_witnesses(e), text(*e.beside_suite));
  const double coverage = judged_ratio(e).coverage;
  return fmt::format("{} ({} over {} and {} process starts, limit {:.2f})", out,
                     coverage > 0 ? fmt::format("{:.0f} %", 100 * coverage) : "no coverage",
                     e.launches_before, e.launches_after, e.limit);
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
  if (!beyond && is_within(ratio.low, e.limit) && is_within(ratio.high, e.limit))
    return fmt::format("it is within what it varies by, which is more than {:.3g} times: ", e.plain_limit);
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

bool is_within(double ratio, double limit) { return ratio <= limit && ratio >= 1 / limit; }

double chance_of_slower(const Evidence& e) {
  constexpr double narrowest = 1e-9;
  const Interval ratio = judged_ratio(e);
  const double own = std::log(ratio.high / ratio.low) / (2 * deviations_of_end) + narrowest,
               explained = std::log(std::max(explained_by_drift(e), e.of_spread)) / 2;
  return normal_tail(-std::log(ratio.middle / e.limit) / std::hypot(own, explained));
}

Interval shown_ratio(const Evidence& e) {
  const Interval ratio = judged_ratio(e);
  if (e.suite_is_naive) {
    if (is_within(ratio.middle, e.limit)) return ratio;
    const Evidence as_slower = ratio.middle > 1 ? e : mirrored(e);
    if (!case_agrees(as_slower)) return *e.beside_case;
    return as_slower.time.middle > e.plain_limit ? ratio : e.time;
  }
  const auto outside = [&](double x) { return is_within(x, e.limit) ? 0 : x > 1 ? 1 : -1; };
  const bool alike = outside(e.time.middle / ratio.middle) == 0;
  const bool both = outside(e.time.middle) * outside(ratio.middle) > 0;
  return alike || both ? ratio : e.time;
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
  if (is_within(ratio.low, evidence.plain_limit) && is_within(ratio.high, evidence.plain_limit) &&
      stayed(evidence)) {
    return {Standing::same, "within its limit: " + witnesses_text(evidence)};
  }
  if (is_not_slower(evidence)) {
    return {Standing::not_slower, "no slower by any measure: " + witnesses_text(evidence)};
  }
  return {looks_slower(evidence) ? Standing::probably_slower : Standing::undecided,
          doubt(evidence) + witnesses_text(evidence)};
}

}  // namespace assay
