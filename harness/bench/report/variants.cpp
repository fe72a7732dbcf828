// Variants compared: ours and the libraries, each idea over the one before, from which size on one is faster.
#include "bench/report/content.hpp"
#include "core/text/parts.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

namespace assay {
namespace {

/// Whether the variant is a library: it is named as a library, or as a library that its code calls.
bool is_library(const Results& results, const TrialResult& trial) {
  constexpr std::array<std::string_view, 3> libraries{"openblas", "onednn", "tbb"};
  if (std::ranges::find(libraries, trial.variant) != libraries.end()) return true;
  const std::vector<Calls>* calls = calls_of(results, trial);
  return calls != nullptr && std::ranges::find(*calls, trial.variant, &Calls::to) != calls->end();
}

/// The fastest trials of one problem with the same number of threads.
struct Rivals {
  const TrialResult* ours = nullptr;
  const TrialResult* peer = nullptr;
};

std::string_view without_tier(std::string_view variant) { return variant.substr(0, variant.find('@')); }

/// Trials of one operation: the fastest tier by variant without tier, problem and threads.
struct FastestTiers {
  FastestTiers(const Results& results, const std::string& operation) {
    for (const TrialResult& trial : results.trials) {
      if (trial.operation != operation || !is_measured(trial)) continue;
      const std::string variant(without_tier(trial.variant));
      most_threads[variant] = std::max(most_threads[variant], trial.threads);
      const TrialResult*& best = fastest[{variant, trial.problem, trial.threads}];
      if (best == nullptr || time_of(trial).middle < time_of(*best).middle) best = &trial;
      problems.insert(trial.problem);
    }
  }

  std::map<std::tuple<std::string, std::string, int>, const TrialResult*>
      fastest;                              ///< null where there is none
  std::map<std::string, int> most_threads;  ///< by variant
  std::set<std::string> problems;
};

/// Returns the step with its gains; without any where it was not measured beside the variant before.
LadderStep measured(FastestTiers& tiers, LadderStep step) {
  step.threads = std::max(1, tiers.most_threads[step.step]);
  std::vector<CaseRatio> in_all;
  for (const std::string& problem : tiers.problems) {
    const TrialResult* now = tiers.fastest[{step.step, problem, step.threads}];
    const TrialResult* before = tiers.fastest[{step.after, problem, 1}];
    const TrialResult* naive = tiers.fastest[{"naive", problem, 1}];
    if (now == nullptr || before == nullptr) continue;
    const Interval gain = speedup(*before, *now);
    if (gain.middle <= 0) continue;  // they share no launch
    step.ratios.push_back({problem, now->variant, before->variant, gain});
    const Interval over_naive = naive == nullptr ? Interval{} : speedup(*naive, *now);
    if (over_naive.middle > 0) in_all.push_back({problem, now->variant, "naive", over_naive});
  }
  std::ranges::stable_sort(step.ratios, {}, [](const CaseRatio& one) { return one.ratio.middle; });
  if (!step.ratios.empty()) step.mean = geometric_mean(step.ratios);
  if (!in_all.empty()) step.in_all = geometric_mean(in_all);
  return step;
}

/// A problem's text, taken apart: fields with numbers are extents; other fields tell kinds of problems apart.
struct Parts {
  std::string extents, kind;
};

Parts taken_apart(const std::string& problem) {
  Parts out;
  for (const std::string_view field : parts_of(problem, ',')) {
    const std::size_t value = std::min(field.find('='), field.size() - 1) + 1;
    const bool number = field.find_first_not_of("-0123456789", value) == std::string::npos;
    std::string& side = number ? out.extents : out.kind;
    side.append(side.empty() ? "" : ",").append(field);
  }
  return out;
}

/// Returns the trial to beat: naive or, for several threads, the same variant with one thread.
const TrialResult* rival_of(const Results& results, const NaiveTrials& naive, const TrialResult& trial) {
  if (trial.threads == 1) return naive.beside(trial);
  for (const TrialResult& other : results.trials) {
    if (other.threads == 1 && other.variant == trial.variant && other.problem == trial.problem &&
        other.operation == trial.operation && is_measured(other)) {
      return &other;
    }
  }
  return nullptr;
}

/// Finds the size from which on the variant is faster.
void judge(BreakEven& row) {
  std::ranges::stable_sort(row.points, {}, &BreakEvenSize::bytes);
  bool faster_so_far = true;  // from the largest down
  for (auto size = row.points.rbegin(); size != row.points.rend(); ++size) {
    const bool faster = size->ratio.low > 1;
    faster_so_far = faster_so_far && faster;
    if (faster_so_far) {
      row.from = size->extents;
      row.from_bytes = size->bytes;
    }
    if (faster) continue;
    auto& list = size->ratio.high < 1 ? row.slower : row.undecided;
    list.insert(list.begin(), size->extents);
  }
}

}  // namespace

std::vector<PeerRow> peers(const Results& results) {
  std::map<std::pair<std::string, int>, std::map<std::string, Rivals>> all;
  for (const TrialResult& trial : results.trials) {
    if (!is_measured(trial) || trial.variant == "naive") continue;
    Rivals& rivals = all[{trial.operation, trial.threads}][trial.problem];
    const TrialResult*& best = is_library(results, trial) ? rivals.peer : rivals.ours;
    if (best == nullptr || time_of(trial).middle < time_of(*best).middle) best = &trial;
  }
  std::vector<PeerRow> out;
  for (const auto& [which, problems] : all) {
    PeerRow row{.operation = which.first, .threads = which.second};
    for (const auto& [problem, rivals] : problems) {
      if (rivals.ours == nullptr || rivals.peer == nullptr) continue;
      const CaseRatio one{problem, rivals.ours->variant, rivals.peer->variant,
                          speedup(*rivals.peer, *rivals.ours)};
      if (one.ratio.middle <= 0) continue;
      if (std::ranges::find(row.libraries, one.peer) == row.libraries.end())
        row.libraries.push_back(one.peer);
      row.ratios.push_back(one);
    }
    if (row.ratios.empty()) continue;
    row.mean = geometric_mean(row.ratios);
    std::ranges::stable_sort(row.ratios, {}, [](const CaseRatio& one) { return one.ratio.middle; });
    out.push_back(std::move(row));
  }
  std::ranges::stable_sort(out, {}, &PeerRow::mean);
  return out;
}

std::vector<LadderStep> ladder(const Results& results) {
  // By operation; a step with several tiers is listed once.
  std::map<std::string, std::vector<LadderStep>> steps;
  for (const VariantStep& one : results.steps) {
    const std::size_t slash = one.variant.find('/');
    LadderStep step{.operation = one.variant.substr(0, slash),
                    .step = std::string(without_tier(one.variant.substr(slash + 1))),
                    .after = one.after};
    auto& known = steps[step.operation];
    if (step.step == "naive") continue;  // where all steps begin
    if (std::ranges::find(known, step.step, &LadderStep::step) == known.end())
      known.push_back(std::move(step));
  }
  std::vector<LadderStep> out;
  for (const auto& one : steps) {
    const std::vector<LadderStep>& known = one.second;
    FastestTiers tiers(results, one.first);
    // From naive up; a step stands below the variant that it takes further.
    const auto add = [&](const auto& self, const std::string& after) -> void {
      for (const LadderStep& step : known) {
        if (step.after != after) continue;
        if (LadderStep gain = measured(tiers, step); !gain.ratios.empty()) out.push_back(std::move(gain));
        self(self, step.step);
      }
    };
    add(add, "naive");
  }
  return out;
}

std::vector<BreakEven> break_even(const Results& results) {
  const NaiveTrials naive(results);
  std::vector<BreakEven> out;
  for (const TrialResult& trial : results.trials) {
    const TrialResult* rival = is_measured(trial) ? rival_of(results, naive, trial) : nullptr;
    if (rival == nullptr || rival == &trial) continue;
    const Interval ratio = speedup(*rival, trial);
    if (ratio.middle <= 0) continue;  // they share no launch
    const Parts parts = taken_apart(trial.problem);
    const std::string name = with_threads(trial.variant, trial.threads);
    auto row = std::ranges::find_if(out, [&](const BreakEven& known) {
      return known.operation == trial.operation && known.kind == parts.kind && known.trial == name;
    });
    if (row == out.end()) {
      row = out.insert(row, {.operation = trial.operation,
                             .kind = parts.kind,
                             .trial = name,
                             .rival = with_threads(rival->variant, rival->threads)});
    }
    row->points.push_back({parts.extents, trial.cost.bytes_read + trial.cost.bytes_written, ratio});
  }
  std::ranges::for_each(out, judge);
  std::erase_if(out, [](const BreakEven& row) { return row.points.size() == 1 && row.slower.empty(); });
  return out;
}

}  // namespace assay
