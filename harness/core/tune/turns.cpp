#include "core/tune/turns.hpp"

#include "assay/random.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace assay {
namespace {

using CaseTimes = std::vector<std::vector<double>> Turn::*;

/// Clocks and calls cost time: a turn may be so much faster than its bound.
constexpr double bound_slack = 0.02;

/// The logarithm of a ratio of times. A disturbance of both cancels within a pair of slices, and a
/// disturbance of one slice does not move the median.
double log_ratio(std::span<const double> slices, std::span<const double> others) {
  std::vector<double> logs;
  for (std::size_t i = 0; i < std::min(slices.size(), others.size()); ++i)
    logs.push_back(std::log(slices[i] / others[i]));
  return median(logs);
}

/// Logarithms of the ratio of one case, round by round.
std::vector<double> logs_of_case(const Candidate& one, const Candidate& other, CaseTimes times,
                                 std::size_t at) {
  std::vector<double> out;
  for (std::size_t i = 0; i < std::min(one.turns.size(), other.turns.size()); ++i)
    out.push_back(log_ratio((one.turns[i].*times)[at], (other.turns[i].*times)[at]));
  return out;
}

std::size_t case_count(const Candidate& candidate) {
  return candidate.turns.empty() ? 0 : candidate.turns.front().seconds.size();
}

/// Logarithms of the ratio, round by round: the mean over cases.
std::vector<double> logs_of_all(const Candidate& one, const Candidate& other, CaseTimes times) {
  std::vector<double> out(std::min(one.turns.size(), other.turns.size()));
  const std::size_t cases = case_count(one);
  for (std::size_t at = 0; at < cases; ++at) {
    const std::vector<double> logs = logs_of_case(one, other, times, at);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += logs[i] / static_cast<double>(cases);
  }
  return out;
}

bool is_look(int done, const TuneRounds& rounds) {
  if (done < static_cast<int>(fewest_rounds) || done == rounds.rounds) return false;
  for (int look = 1; look <= rounds.looks; ++look)
    if (done == rounds.rounds * look / (rounds.looks + 1)) return true;
  return false;
}

/// The error of 5 %, shared by so many tests (Bonferroni).
double shared_coverage(std::size_t tests) {
  return 1 - (1 - wanted_coverage) / static_cast<double>(std::max<std::size_t>(1, tests));
}

/// Removes candidates that have lost; the present setting stays.
void drop_losers(std::vector<std::size_t>& taking_part, const std::vector<Candidate>& candidates,
                 const TuneRounds& rounds) {
  const double coverage = shared_coverage((candidates.size() - 1) * static_cast<std::size_t>(rounds.looks));
  std::erase_if(taking_part, [&](std::size_t i) {
    if (i < rounds.kept) return false;
    if (has_moved(ratio_from(logs_of_all(candidates[i], candidates.front(), &Turn::control)))) return false;
    const Interval log = centre(logs_of_all(candidates[i], candidates.front(), &Turn::seconds), coverage);
    return log.coverage >= coverage && decision_on(exponential(log)) == Decision::reject;
  });
}

double median_seconds(const Candidate& candidate) {
  std::vector<double> all;
  for (const Turn& turn : candidate.turns) all.push_back(median(turn.seconds.front()));
  return median(all);
}

/// The median bound where turns were faster than their bounds beyond doubt, else 0.
double beaten_bound(const Candidate& candidate) {
  std::vector<double> logs, bounds;
  for (const Turn& turn : candidate.turns) {
    if (turn.bound <= 0) return 0;
    logs.push_back(std::log(median(turn.seconds.front()) / turn.bound));
    bounds.push_back(turn.bound);
  }
  return centre(logs).high < std::log1p(-bound_slack) ? median(bounds) : 0;
}

void rule_on(Candidate& one, const Candidate& present, const TuneWords& words, double coverage) {
  if (one.measured()) {
    one.ratio = ratio_between(one, present, coverage);
    one.control = ratio_from(logs_of_all(one, present, &Turn::control));
    for (std::size_t at = 0; at < case_count(one); ++at)
      one.cases.push_back(ratio_from(logs_of_case(one, present, &Turn::seconds, at)));
    if (one.cases.size() == 1) one.seconds = median_seconds(one);
  }
  const double bound = one.measured() ? beaten_bound(one) : 0;
  if (!one.left_out.empty()) {
    one.why = one.left_out;
  } else if (!one.wrong.empty()) {
    one.decision = Decision::wrong;
    one.why = one.wrong;
  } else if (bound > 0) {
    one.decision = Decision::over_bound;
    one.why =
        fmt::format("takes {}, and cannot take less than {}", seconds_text(one.seconds), seconds_text(bound));
  } else if (&one == &present) {
    one.decision = Decision::baseline;
    one.why = "what the others are compared with";
  } else if (has_moved(one.control)) {
    one.decision = Decision::confounded;
    one.why = fmt::format(fmt::runtime(words.control), change_text(one.control));
  } else {
    one.decision = decision_on(one.ratio);
    one.why = reason_for(one.ratio);
  }
}

}  // namespace

TakeTurns one_by_one(std::function<Turn(std::size_t candidate)> take_turn, const Hooks& hooks) {
  return [take_turn = std::move(take_turn), hooks](std::span<const std::size_t> order, int) {
    std::vector<Turn> out;
    for (const std::size_t i : order) {
      out.push_back(take_turn(i));
      if (hooks.stopped()) return std::vector<Turn>();
    }
    return out;
  };
}

void measure_rounds(std::vector<Candidate>& candidates, const TuneRounds& rounds, const TakeTurns& take_turns,
                    const Hooks& hooks) {
  Rng rng(rounds.seed);
  std::vector<std::size_t> taking_part(candidates.size());
  std::iota(taking_part.begin(), taking_part.end(), std::size_t{0});
  for (int round = 0; round < rounds.rounds; ++round) {
    std::erase_if(taking_part, [&](std::size_t i) { return !candidates[i].measured(); });
    if (!candidates.front().measured()) return;
    hooks.say(fmt::format("round {} of {}: {} settings", round + 1, rounds.rounds, taking_part.size()),
              static_cast<double>(round) / rounds.rounds);
    const std::vector<std::size_t> order = shuffled(taking_part, rng);
    std::vector<Turn> turns = take_turns(order, round);
    if (turns.empty() || hooks.stopped()) return;
    for (std::size_t i = 0; i < order.size(); ++i) candidates[order[i]].turns.push_back(std::move(turns[i]));
    for (Candidate& candidate : candidates) {
      if (!candidate.measured()) candidate.turns.clear();
    }
    if (is_look(round + 1, rounds)) drop_losers(taking_part, candidates, rounds);
  }
}

Interval ratio_between(const Candidate& one, const Candidate& other, double coverage) {
  return exponential(centre(logs_of_all(one, other, &Turn::seconds), coverage));
}

std::size_t rounds_of(const std::vector<Candidate>& candidates) { return candidates.front().turns.size(); }

std::string_view to_string(Advice advice) {
  constexpr std::array<std::string_view, 3> words{"TAKE", "KEEP", "UNDECIDED"};
  return words[static_cast<std::size_t>(advice)];
}

TuneRuling ruled(const TuneWords& words, std::vector<Candidate> candidates) {
  TuneRuling out{.candidates = std::move(candidates)};
  const auto measured = std::ranges::count_if(out.candidates, &Candidate::measured);
  const double coverage =
      shared_coverage(static_cast<std::size_t>(std::max<std::ptrdiff_t>(2, measured) - 1));
  for (Candidate& one : out.candidates) rule_on(one, out.candidates.front(), words, coverage);
  const auto is = [&](std::size_t i, Decision decision) {
    return out.candidates[i].measured() && out.candidates[i].decision == decision;
  };
  const bool sound = is(0, Decision::baseline);
  bool faster = false, told = false;
  for (std::size_t i = 1; i < out.candidates.size(); ++i) {
    told = told || is(i, Decision::retain) || is(i, Decision::reject) || is(i, Decision::no_change);
    if (!is(i, Decision::retain)) continue;
    if (!(sound || faster) || out.candidates[i].ratio.middle < out.candidates[out.best].ratio.middle)
      out.best = i;
    faster = true;
  }
  out.chosen = out.best;
  for (std::size_t i = 0; i < out.candidates.size(); ++i) {
    if (!is(i, Decision::baseline) && !is(i, Decision::retain) && !is(i, Decision::no_change)) continue;
    Candidate& one = out.candidates[i];
    const Interval behind = ratio_between(one, out.candidates[out.best]);
    if (i != out.best && decision_on(behind) == Decision::reject) continue;
    one.tied_with_best = true;
    ++out.tied;
    // A candidate that is as fast as can be told, and cheaper, is not shown to be faster than the present
    // setting.
    if (faster && !is(i, Decision::retain)) continue;
    if (one.price < out.candidates[out.chosen].price) out.chosen = i;
  }
  for (std::size_t i = 0; i < out.candidates.size() && out.chosen == 0 && out.doubt.empty(); ++i) {
    const Candidate& one = out.candidates[i];
    if (!told && (is(i, Decision::confounded) || is(i, Decision::over_bound))) out.doubt = one.why;
    if (is(i, Decision::no_change) && one.ratio.low * (1 + gain_that_decides) < 1)
      out.doubt = fmt::format("{} may be faster by a factor of {:.2f}", one.name, 1 / one.ratio.low);
  }
  out.advice = out.chosen != 0 ? Advice::take : out.doubt.empty() ? Advice::keep : Advice::undecided;
  return out;
}

}  // namespace assay
