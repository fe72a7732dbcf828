#include "bench/tune/variable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

using LogsOf = std::vector<double> TrialLogs::*;

/// Logarithms of the ratio to the default, one per round: the mean over trials.
std::vector<double> mean_logs(const ValueAttempt& attempt, LogsOf which) {
  std::vector<double> out;
  for (const PairedTrial& trial : attempt.trials) {
    const TrialLogs logs = logs_of(trial);
    out.resize((logs.*which).size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += (logs.*which)[i];
  }
  for (double& log : out) log /= static_cast<double>(attempt.trials.size());
  return out;
}

void decide(ValueRuling& out, const ValueAttempt& attempt, const Interval& control) {
  if (!attempt.left_out.empty()) {
    out.why = attempt.left_out;
  } else if (!attempt.wrong.empty()) {
    out.decision = Decision::wrong;
    out.why = attempt.wrong;
  } else if (has_moved(control)) {
    out.decision = Decision::confounded;
    out.why = "the default against itself was " + change_text(control);
  } else {
    out.decision = decision_on(out.ratio);
    out.why = reason_for(out.ratio);
  }
}

ValueRuling ruling_of(const ValueAttempt& attempt, const Interval& control) {
  ValueRuling out;
  if (attempt.measured()) {
    out.ratio = ratio_from(mean_logs(attempt, &TrialLogs::head));
    for (const PairedTrial& trial : attempt.trials) out.trials.push_back(ratio_from(logs_of(trial).head));
  }
  decide(out, attempt, control);
  return out;
}

/// The default, and whatever is surely faster.
bool may_be_chosen(const ValueRuling& ruling) {
  return ruling.decision == Decision::baseline || ruling.decision == Decision::retain;
}

/// Returns the ratio of one attempt to another, round by round.
Interval ratio_between(const ValueAttempt& one, const ValueAttempt& other) {
  std::vector<double> logs = mean_logs(one, &TrialLogs::head);
  const std::vector<double> others = mean_logs(other, &TrialLogs::head);
  for (std::size_t i = 0; i < logs.size(); ++i) logs[i] -= others[i];
  return ratio_from(logs);
}

}  // namespace

VariableRuling ruled(const TunedVariable& variable, const std::vector<ValueAttempt>& attempts) {
  VariableRuling out{.control = ratio_from(mean_logs(attempts.front(), &TrialLogs::control))};
  for (const ValueAttempt& attempt : attempts) out.attempts.push_back(ruling_of(attempt, out.control));
  out.attempts.front().decision = Decision::baseline;
  out.attempts.front().why = "what the others are compared with";
  for (std::size_t i = 1; i < attempts.size(); ++i) {
    if (!attempts[i].measured() || !may_be_chosen(out.attempts[i])) continue;
    if (out.attempts[i].ratio.middle < out.attempts[out.best].ratio.middle) out.best = i;
  }
  out.chosen = out.best;
  std::size_t tied = 0;
  for (std::size_t i = attempts.size(); i-- > 0;) {
    if (!attempts[i].measured() || !may_be_chosen(out.attempts[i])) continue;
    if (i != out.best && decision_on(ratio_between(attempts[i], attempts[out.best])) == Decision::reject)
      continue;
    out.attempts[i].tied_with_best = true;
    out.chosen = i;
    ++tied;
  }
  out.ties =
      tied < 2 ? fmt::format("no other {} that is faster than the default comes within what can be told apart",
                             variable.value)
               : fmt::format("{} of them cannot be told apart; the first, {}, is taken", tied, variable.preferred);
  return out;
}

std::size_t rounds_of(const std::vector<ValueAttempt>& attempts) {
  const auto& trials = attempts.front().trials;
  return trials.empty() ? 0 : trials.front().launches.size();
}

std::string name_of(const ValueAttempt& attempt) {
  return attempt.value.empty() ? "default" : attempt.value;
}

}  // namespace assay
