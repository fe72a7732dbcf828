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

constexpr int most_measurements = 4;

}  // namespace

std::vector<BeatenRoof> beaten_roofs(const Results& results) {
  if (!results.mixed_machines.empty()) return {};
  std::map<std::pair<int, std::string>, BeatenRoof> out;
  for (const TrialResult& trial : results.trials) {
    const auto roof = std::ranges::find(results.roofs, trial.threads, &Roof::threads);
    const Interval seconds = time_of(trial);
    if (roof == results.roofs.end() || seconds.middle <= 0) continue;
    const RoofLimit limit =
        limit_at_roof(*roof, trial.cost, trial.cost.bytes_read + trial.cost.bytes_written);
    if (limit.seconds <= seconds.high * (1 + roof_uncertainty)) continue;
    BeatenRoof& beaten = out[{trial.threads, limit.by}];
    const double times = limit.seconds / seconds.middle;
    if (beaten.trials++ == 0 || times > beaten.times) {
      beaten.threads = trial.threads;
      beaten.by = limit.by;
      beaten.times = times;
      beaten.key = trial.key;
    }
  }
  std::vector<BeatenRoof> list;
  for (auto& [where, beaten] : out) list.push_back(std::move(beaten));
  return list;
}

void measure_beaten_roofs_again(Results& results, const std::function<Roof(int threads)>& measure) {
  // A roof that is measured again raises what other trials are held against, so all are judged anew each
  // time.
  for (int measurements = 1; measurements < most_measurements; ++measurements) {
    std::set<int> beaten;
    for (const BeatenRoof& one : beaten_roofs(results)) beaten.insert(one.threads);
    if (beaten.empty()) return;
    for (Roof& roof : results.roofs) {
      if (beaten.contains(roof.threads)) raise(roof, measure(roof.threads));
    }
  }
}

std::vector<std::string> why_not_believed(const std::vector<BeatenRoof>& beaten,
                                          const std::vector<Roof>& roofs) {
  std::vector<std::string> out;
  for (const BeatenRoof& one : beaten) {
    std::string text = fmt::format(
        "the roof of {} with {} thread{} is not believed, and no share of it is shown: {} was {} times as "
        "fast as "
        "it allows",
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

}  // namespace assay
