#include "bench/run/suspects.hpp"

#include "bench/compare/roofs.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace assay {
namespace {

std::string remark_on(const AboveRoof& before, const std::vector<AboveRoof>& above,
                      const std::vector<BeatenRoof>& not_believed) {
  const auto still = std::ranges::find(above, before.key, &AboveRoof::key);
  if (still == above.end())
    return fmt::format("was {}x the roof of {} beside others; measured again alone", figure(before.times),
                       before.by);
  const bool believed = std::ranges::none_of(not_believed, [&](const BeatenRoof& roof) {
    return roof.threads == still->threads && roof.by == still->by;
  });
  return fmt::format("above the roof of {}: {}x, also alone with every slice judged{}", still->by,
                     figure(still->times), believed ? "; suspect" : "");
}

}  // namespace

void measure_suspects_alone(Results& results, const MeasurePolicy& policy, const Sample& sample,
                            const Hooks& hooks) {
  // Where a roof was measured far too low, most trials are above it: the farthest tell enough.
  constexpr std::size_t most = 8;
  std::vector<AboveRoof> suspects = trials_above_roof(results);
  std::ranges::sort(suspects, std::greater{}, &AboveRoof::times);
  if (suspects.size() > most) suspects.resize(most);
  const auto trial_of = [&](const AboveRoof& suspect) {
    return std::ranges::find(results.trials, suspect.key, &TrialResult::key);
  };
  MeasurePolicy closely = policy;
  closely.judge_every = true;
  for (const AboveRoof& suspect : suspects) {
    hooks.say("measure alone, since it is above the roof: " + suspect.key);
    Results alone = results;
    alone.trials = {*trial_of(suspect)};
    measure(alone, closely, sample, hooks);
    if (hooks.stopped()) {
      results.partial = true;
      return;
    }
    *trial_of(suspect) = std::move(alone.trials[0]);
  }
  const std::vector<AboveRoof> above = trials_above_roof(results);
  const std::vector<BeatenRoof> not_believed = beaten_roofs(results);
  for (const AboveRoof& suspect : suspects) {
    TrialResult& trial = *trial_of(suspect);
    if (!trial.agreement.agrees) continue;
    trial.remark += (trial.remark.empty() ? "" : "; ") + remark_on(suspect, above, not_believed);
  }
}

}  // namespace assay
