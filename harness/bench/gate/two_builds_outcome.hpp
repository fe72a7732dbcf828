/// Judges a gate of two builds: the same for samples just taken and for stored ones.
#pragma once

#include "bench/gate/two_builds.hpp"
#include "bench/ledger/stored_ledger.hpp"

namespace assay {

struct TwoBuildsOutcome {
  GateFindings findings;
  std::vector<std::string> ledger;  ///< its findings, line by line
  Outcome outcome;
};

/// Judges the samples, applies the ledger, decides, and records the step if it is asked to. With a ledger,
/// accepted slow-downs do not fail, and slow-downs that crept since the release do.
TwoBuildsOutcome judged(const TwoBuilds& run, const std::optional<StoredLedger>& ledger,
                        const GateRules& rules);

/// One side as results, for readers of times.
Results base_results(const TwoBuilds& run);
Results head_results(const TwoBuilds& run);

}  // namespace assay
