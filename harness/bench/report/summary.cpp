#include "bench/compare/words.hpp"
#include "bench/report/content.hpp"

#include <algorithm>
#include <utility>

namespace assay {
namespace {

/// Returns the least slow-down that would put the lower end of the interval above the limit, with the spread
/// of this trial.
double visible(const ComparedRow& verdict) {
  return verdict.limit * verdict.ratio.middle / verdict.ratio.low - 1;
}

void find_visible(Summary& out, const Comparison& comparison) {
  std::vector<double> changes;
  for (const ComparedRow& verdict : comparison.rows) {
    if (is_judged(verdict.standing) && verdict.ratio.low > 0) changes.push_back(visible(verdict));
  }
  if (changes.empty()) return;
  std::ranges::sort(changes);
  out.visible_in_half = changes[(changes.size() - 1) / 2];
  out.visible_in_most = changes[(9 * (changes.size() - 1) + 9) / 10];
}

}  // namespace

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

}  // namespace assay
