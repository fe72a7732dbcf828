// The fastest variants of ours beside the fastest libraries.
#include "bench/report/content.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

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

void take_faster(const TrialResult*& best, const TrialResult& trial) {
  if (best == nullptr || time_of(trial).middle < time_of(*best).middle) best = &trial;
}

}  // namespace

std::vector<PeerRow> peers(const Results& results) {
  std::map<std::pair<std::string, int>, std::map<std::string, Rivals>> all;
  for (const TrialResult& trial : results.trials) {
    if (!is_measured(trial) || trial.variant == "naive") continue;
    Rivals& rivals = all[{trial.operation, trial.threads}][trial.problem];
    take_faster(is_library(results, trial) ? rivals.peer : rivals.ours, trial);
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

}  // namespace assay
