#include "bench/report/content.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace assay {
namespace {

constexpr std::array standings{Standing::same,     Standing::faster,    Standing::slower,
                               Standing::accepted, Standing::undecided, Standing::not_comparable,
                               Standing::wrong,    Standing::skipped,   Standing::added,
                               Standing::gone,     Standing::crashed,   Standing::timed_out};

/// Two times stand behind it; the other standings say why there are not two.
bool is_judged(const Verdict& verdict) {
  return verdict.standing == Standing::same || verdict.standing == Standing::faster ||
         verdict.standing == Standing::slower || verdict.standing == Standing::accepted ||
         verdict.standing == Standing::undecided;
}

/// Relative slow-down from which the lower end of the interval would have been past the limit, by the spread
/// that this trial showed.
double visible(const Verdict& verdict) {
  return verdict.limit * verdict.ratio.middle / verdict.ratio.low - 1;
}

std::string are(std::size_t number, const std::string& one, const std::string& many) {
  return fmt::format("{} {}", count_text(static_cast<Index>(number)), number == 1 ? one : many);
}

void find_visible(Outcome& out, const Comparison& comparison) {
  std::vector<double> changes;
  for (const Verdict& verdict : comparison.verdicts) {
    if (is_judged(verdict) && verdict.ratio.low > 0) changes.push_back(visible(verdict));
  }
  if (changes.empty()) return;
  std::ranges::sort(changes);
  out.visible_in_half = changes[(changes.size() - 1) / 2];
  out.visible_in_most = changes[(9 * (changes.size() - 1) + 9) / 10];
}

void decide(Outcome& out, const Results& results, const std::optional<Comparison>& comparison,
            std::size_t wrong, std::size_t ran) {
  const auto standing = [&](Standing s) { return comparison ? comparison->count(s) : 0; };
  const std::string of_all = fmt::format(" of {}", count_text(static_cast<Index>(ran)));
  const auto failed = static_cast<std::size_t>(std::ranges::count_if(
      results.trials, [](const TrialResult& trial) { return trial.failure.has_value(); }));
  if (failed > 0) {
    out.word = "CRASHED";
    out.sentence = are(failed, "trial", "trials") + of_all + " crashed or did not end in time";
  } else if (wrong > 0 || standing(Standing::wrong) > 0) {
    const std::size_t number = std::max(wrong, standing(Standing::wrong));
    out.word = "WRONG";
    out.sentence = are(number, "trial", "trials") + of_all + " " + (number == 1 ? "disagrees" : "disagree") +
                   " with the oracle";
  } else if (standing(Standing::slower) > 0) {
    const std::size_t number = standing(Standing::slower);
    out.word = "REGRESSION";
    out.sentence = are(number, "trial is", "trials are") + " slower than the limit, of " +
                   are(comparison->verdicts.size(), "trial", "trials");
  } else if (comparison && !comparison->objections.empty()) {
    out.word = "EXPIRED";
    out.sentence = are(comparison->objections.size(), "acceptance", "acceptances") +
                   " of a slow-down ran out and " + (comparison->objections.size() == 1 ? "is" : "are") +
                   " neither withdrawn nor renewed";
  } else if (results.partial) {
    out.word = "INCOMPLETE";
    out.sentence = fmt::format("the run was interrupted with {} measured trials", out.measured);
  } else if (results.shard && results.trials.empty()) {
    out.word = "NOTHING TO DO";
    out.sentence = fmt::format("this shard holds none of the {} cases", results.shard->cases);
  } else if (out.measured == 0) {
    out.word = "NOTHING MEASURED";
    out.sentence = are(out.trials, "trial was", "trials were") + " planned and none was timed";
  } else if (comparison &&
             (!comparison->comparable || std::ranges::none_of(comparison->verdicts, is_judged))) {
    out.word = "NOT COMPARABLE";
    out.sentence = "all trials agree with the oracle; no time could be compared";
  } else if (comparison && !comparison->unfit.empty()) {
    out.word = "MACHINE UNFIT";
    out.sentence = fmt::format("all {} trials agree with the oracle; {}", ran, comparison->unfit);
  } else if (comparison &&
             standing(Standing::same) + standing(Standing::faster) + standing(Standing::accepted) == 0) {
    out.word = "UNDECIDED";
    out.sentence = fmt::format("all {} trials agree with the oracle; no verdict could be reached", ran);
  } else if (comparison) {
    const std::size_t open = standing(Standing::undecided) + standing(Standing::not_comparable);
    out.word = "PASSED";
    out.sentence =
        fmt::format("all {} trials agree with the oracle and none is shown to be slower than its limit", ran);
    if (const std::size_t accepted = standing(Standing::accepted); accepted > 0) {
      out.sentence += fmt::format("; {} accepted for now", are(accepted, "slow-down is", "slow-downs are"));
    }
    if (open > 0) out.sentence += fmt::format("; {} could not be decided", are(open, "verdict", "verdicts"));
  } else {
    out.word = "MEASURED";
    out.sentence = fmt::format("all {} trials agree with the oracle; nothing was compared", ran);
  }
}

}  // namespace

Outcome outcome_of(const Results& results, const std::optional<Comparison>& comparison) {
  Outcome out{.trials = results.trials.size()};
  std::size_t wrong = 0, failed = 0, skipped = 0;
  for (const TrialResult& trial : results.trials) {
    if (!trial.skipped.empty()) ++skipped;
    if (disagrees(trial)) ++wrong;
    if (trial.failure) ++failed;
    if (!was_measured(trial)) continue;
    const std::size_t launches = sampled_launches(trial);
    out.fewest_launches = out.measured == 0 ? launches : std::min(out.fewest_launches, launches);
    out.most_launches = std::max(out.most_launches, launches);
    ++out.measured;
  }
  const std::size_t ran = out.trials - skipped;
  out.counts = {{"agree", ran - wrong - failed},
                {"disagree", wrong},
                {"measured", out.measured},
                {"agree but not measured", ran - wrong - failed - out.measured},
                {"did not run here", skipped}};
  if (failed > 0) out.counts.push_back({"crashed or timed out", failed});
  if (comparison) {
    for (const Standing s : standings) {
      if (has_failed(s) && comparison->count(s) == 0) continue;
      out.counts.push_back({"verdict: " + std::string(to_string(s)), comparison->count(s)});
    }
    find_visible(out, *comparison);
  }
  decide(out, results, comparison, wrong, ran);
  return out;
}

}  // namespace assay
