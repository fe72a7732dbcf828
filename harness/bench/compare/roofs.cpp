#include "bench/compare/roofs.hpp"

#include "assay/compare.hpp"
#include "core/machine/roofline.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace assay {
namespace {

/// Roofs are samples too: measured within one run on a shared machine they differed by up to 3 %.
constexpr double roof_uncertainty = 0.05;

std::string why_impossible(const TrialResult& trial, const std::vector<Roof>& roofs) {
  return why_impossible(time_of(trial), trial.cost, trial.threads, roofs);
}

/// The time at the roof beside that of a trial: its figure, and so many times as fast.
struct AtRoof {
  std::string by;
  double times = 0, least_times = 0;  ///< by the middle and the upper end of its interval; 0: not known
};

AtRoof at_roof(const TrialResult& trial, const std::vector<Roof>& roofs) {
  const auto roof = std::ranges::find(roofs, trial.threads, &Roof::threads);
  const Interval seconds = time_of(trial);
  if (roof == roofs.end() || seconds.middle <= 0 || !trial.impossible.empty()) return {};
  const RoofLimit limit = limit_at_roof(*roof, trial.cost, trial.cost.bytes_read + trial.cost.bytes_written);
  return {limit.by, limit.seconds / seconds.middle, limit.seconds / seconds.high};
}

/// Whether another variant comes near this roof: it is no faster than the machine then, and the roof is too
/// low.
bool others_come_near(const Results& results, const BeatenRoof& beaten) {
  constexpr double near = 0.7;
  const auto fastest = std::ranges::find(results.trials, beaten.key, &TrialResult::key);
  return std::ranges::any_of(results.trials, [&](const TrialResult& other) {
    if (other.threads != beaten.threads) return false;
    if (other.operation == fastest->operation && other.variant == fastest->variant) return false;
    const AtRoof its = at_roof(other, results.roofs);
    return its.by == beaten.by && its.times >= near;
  });
}

/// Thread counts of trials that are above the roof of their level, or are faster than any kernel can be.
std::set<int> threads_to_doubt(const Results& results) {
  std::set<int> out;
  for (const AboveRoof& one : trials_above_roof(results)) out.insert(one.threads);
  if (!results.mixed_machines.empty()) return out;
  for (const TrialResult& trial : results.trials) {
    if (!why_impossible(trial, results.roofs).empty()) out.insert(trial.threads);
  }
  return out;
}

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

std::string why_impossible(const Interval& seconds, const Cost& cost, int threads,
                           const std::vector<Roof>& roofs) {
  const RoofLimit floor = floor_of(roofs, cost, threads);
  if (seconds.high <= 0 || seconds.high >= floor.seconds) return "";
  const bool flops = floor.by == "arithmetic";
  return fmt::format("took {} a call, and its {} take {} at {}", seconds_text(seconds),
                     flops ? "FLOPs" : "bytes", seconds_text(floor.seconds),
                     flops ? "four times the arithmetic roof" : "twice the bandwidth of " + floor.by);
}

void find_impossible(Results& results) {
  if (!results.mixed_machines.empty()) return;
  for (TrialResult& trial : results.trials) trial.impossible = why_impossible(trial, results.roofs);
}

std::vector<AboveRoof> trials_above_roof(const Results& results) {
  std::vector<AboveRoof> out;
  if (!results.mixed_machines.empty()) return out;
  for (const TrialResult& trial : results.trials) {
    const AtRoof its = at_roof(trial, results.roofs);
    if (its.least_times > 1 + roof_uncertainty) out.push_back({trial.key, trial.threads, its.by, its.times});
  }
  return out;
}

std::vector<BeatenRoof> beaten_roofs(const Results& results) {
  std::map<std::pair<int, std::string>, BeatenRoof> out;
  for (const AboveRoof& trial : trials_above_roof(results)) {
    BeatenRoof& beaten = out[{trial.threads, trial.by}];
    if (beaten.trials++ == 0 || trial.times > beaten.times) static_cast<AboveRoof&>(beaten) = trial;
  }
  std::vector<BeatenRoof> list;
  for (auto& [where, beaten] : out) {
    if (others_come_near(results, beaten)) list.push_back(std::move(beaten));
  }
  return list;
}

void measure_beaten_roofs_again(Results& results, const std::function<Roof(int threads)>& measure) {
  // A roof that is measured again raises what other trials are held against, so all are judged anew each
  // time.
  for (int measurements = 1; measurements < most_roof_measurements; ++measurements) {
    const std::set<int> doubtful = threads_to_doubt(results);
    if (doubtful.empty()) return;
    for (Roof& roof : results.roofs) {
      if (doubtful.contains(roof.threads)) raise(roof, measure(roof.threads));
    }
  }
}

std::vector<std::string> why_not_believed(const std::vector<BeatenRoof>& beaten,
                                          const std::vector<Roof>& roofs) {
  std::vector<std::string> out;
  for (const BeatenRoof& one : beaten) {
    std::string text = fmt::format(
        "the roof of {} with {} thread{} is not believed, and no share of it is shown: {} was {} times as "
        "fast as it allows",
        one.by == "arithmetic" ? one.by : one.by + " bandwidth", one.threads, one.threads == 1 ? "" : "s",
        one.key, figure(one.times));
    if (one.trials > 1) text += fmt::format(", {} trials were faster", one.trials);
    const auto roof = std::ranges::find(roofs, one.threads, &Roof::threads);
    if (roof != roofs.end()) {
      if (roof->measurements > 1)
        text += fmt::format(", though it was measured {} times", roof->measurements);
      if (roof->weather) {
        text += fmt::format(
            "; meanwhile other processes used {} of the processors, and the hypervisor stole {}",
            percent_text(roof->weather->other_busy_share), percent_text(roof->weather->steal_share));
      }
    }
    out.push_back(std::move(text));
  }
  return out;
}

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
