#include "bench/gate/impossible_trials.hpp"

#include "assay/suite.hpp"
#include "bench/compare/roofs.hpp"
#include "core/machine/roofline.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace assay {
namespace {

/// Slower trials need no measured roof. Every x86-64 processor reaches this one in one thread:
/// four lanes of a product and of a sum, and one load of 16 bytes, at 1 GHz.
std::vector<Roof> least_roofs() {
  return {{.threads = 1, .flops_per_second = 8e9, .bandwidth = {{"L1", 0, 16e9}}}};
}

/// The trials that are too fast for these roofs, by their position.
std::map<std::size_t, Finding> too_fast(TwoBuilds& run, const std::vector<Roof>& roofs,
                                        const Registry& registry) {
  const Results base = base_results(run), head = head_results(run);
  std::map<std::size_t, Finding> out;
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    const PairedTrial& trial = run.trials[i];
    if (!trial.tested() || trial.launches.empty()) continue;
    const Operation& operation = registry.at(trial.trial.operation);
    const auto variant = std::ranges::find(operation.variants(), trial.trial.variant, &VariantInfo::name);
    const std::string fields = fields_of(operation, trial.trial.problem, trial.trial.file);
    // If a plug-in alone has the variant, this program knows its operation and nothing else.
    const Cost cost =
        variant == operation.variants().end()
            ? operation.cost(fields)
            : operation.cost_of(static_cast<std::size_t>(variant - operation.variants().begin()), fields);
    const auto why = [&](const Results& side) {
      return why_impossible(time_of(side.trials[i]), cost, trial.trial.threads, roofs);
    };
    if (const std::string of_head = why(head); !of_head.empty()) {
      out[i] = {Standing::impossible, of_head};
    } else if (const std::string of_base = why(base); !of_base.empty()) {
      out[i] = {Standing::not_comparable, "the base " + of_base};
    }
  }
  return out;
}

}  // namespace

MeasureRoof roof_of_one_thread(const Machine& machine) {
  constexpr double seconds = 0.3;
  return [machine] { return measure_roof(machine, 1, seconds); };
}

void leave_out_impossible(TwoBuilds& run, std::vector<Roof>& roofs, const Registry& registry,
                          const MeasureRoof& measure) {
  if (roofs.empty()) {
    if (too_fast(run, least_roofs(), registry).empty()) return;
    roofs.push_back(measure());
  }
  std::map<std::size_t, Finding> found = too_fast(run, roofs, registry);
  while (!found.empty() && roofs.front().measurements < most_roof_measurements) {
    raise(roofs.front(), measure());
    found = too_fast(run, roofs, registry);
  }
  for (auto& [i, finding] : found) run.trials[i].left_out = std::move(finding);
}

}  // namespace assay
