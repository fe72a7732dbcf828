#include "training/tune/attempt.hpp"

#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace assay {
namespace {

/// Clocks and the call of a phase: so much faster than a step alone is still possible.
constexpr double bound_slack = 0.02;

/// Returns a ratio from logarithms, round by round.
Interval ratio_of(const Attempt& attempt, const Attempt& other, double RoundTimes::*of) {
  std::vector<double> logs;
  for (std::size_t i = 0; i < std::min(attempt.rounds.size(), other.rounds.size()); ++i)
    logs.push_back(std::log(attempt.rounds[i].*of / (other.rounds[i].*of)));
  return ratio_from(logs);
}

double median_of(const Attempt& attempt, double RoundTimes::*of) {
  std::vector<double> values;
  for (const RoundTimes& round : attempt.rounds) values.push_back(round.*of);
  return median(values);
}

/// Returns whether rounds were faster than a step alone, beyond doubt.
bool beats_its_bound(const Attempt& attempt) {
  std::vector<double> logs;
  for (const RoundTimes& round : attempt.rounds) logs.push_back(std::log(round.seconds / round.alone));
  return centre(logs).high < std::log1p(-bound_slack);
}

void decide(AttemptRuling& out, const Attempt& attempt) {
  if (!attempt.wrong.empty()) {
    out.decision = Decision::wrong;
    out.why = attempt.wrong;
  } else if (beats_its_bound(attempt)) {
    out.decision = Decision::over_bound;
    out.why = fmt::format("takes {} per sample, and a step alone {}", seconds_text(out.seconds),
                          seconds_text(median_of(attempt, &RoundTimes::alone)));
  } else if (has_moved(out.control)) {
    out.decision = Decision::confounded;
    out.why = "steps of the job as it is, without loading, were " + change_text(out.control) +
              " meanwhile, which no setting can reach";
  } else {
    out.decision = decision_on(out.ratio);
    out.why = reason_for(out.ratio);
  }
}

bool may_be_chosen(const AttemptRuling& ruling) {
  return ruling.decision == Decision::baseline || ruling.decision == Decision::retain ||
         ruling.decision == Decision::no_change || ruling.decision == Decision::reject;
}

/// Cheaper settings first.
auto price_of(const TrainingPlan& plan) {
  return std::tuple{plan.workers, plan.workers * plan.prefetch, !plan.in_order, plan.threads, plan.batch};
}

}  // namespace

TuneRuling ruled(const std::vector<Attempt>& attempts) {
  TuneRuling out{.bound_seconds = median_of(attempts.front(), &RoundTimes::alone)};
  for (const Attempt& attempt : attempts) {
    AttemptRuling& one = out.attempts.emplace_back();
    one.ratio = ratio_of(attempt, attempts.front(), &RoundTimes::seconds);
    one.control = ratio_of(attempt, attempts.front(), &RoundTimes::control);
    one.seconds = median_of(attempt, &RoundTimes::seconds);
    decide(one, attempt);
    if (&attempt == &attempts.front() && one.decision != Decision::wrong &&
        one.decision != Decision::over_bound) {
      one.decision = Decision::baseline;
      one.why = "what the others are compared with";
    }
  }
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    if (!may_be_chosen(out.attempts[i])) continue;
    if (!may_be_chosen(out.attempts[out.best]) || out.attempts[i].seconds < out.attempts[out.best].seconds)
      out.best = i;
  }
  out.chosen = out.best;
  // Cheaper, and as fast as can be told, is no reason to leave the job for what was not shown to be faster.
  const bool shown = out.attempts[out.best].decision == Decision::retain;
  std::size_t tied = 0;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    if (!may_be_chosen(out.attempts[i])) continue;
    const Interval behind = ratio_of(attempts[i], attempts[out.best], &RoundTimes::seconds);
    if (i != out.best && decision_on(behind) == Decision::reject) continue;
    out.attempts[i].tied_with_best = true;
    ++tied;
    if (shown && out.attempts[i].decision != Decision::retain) continue;
    if (price_of(attempts[i].plan) < price_of(attempts[out.chosen].plan)) out.chosen = i;
  }
  out.ties = tied < 2 ? "no other setting comes within what can be told apart"
                      : fmt::format(
                            "{} settings cannot be told apart from the fastest; the one with the fewest "
                            "workers and batches ahead is taken{}",
                            tied, shown ? ", of those that are faster than the job as it is" : "");
  return out;
}

}  // namespace assay
