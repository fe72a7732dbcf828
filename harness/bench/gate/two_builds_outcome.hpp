/// The end of a gate of two builds: the same for samples just taken and for stored ones.
#pragma once

#include "bench/gate/gate_rules.hpp"
#include "bench/gate/two_builds.hpp"

namespace assay {

struct TwoBuildsOutcome {
  GateFindings findings;
  LedgerFindings ledger;
  Outcome outcome;
};

/// Rules, applies the ledger, decides, and records the step where it is asked to. With a ledger, what was
/// accepted does not fail, and what crept since the release does.
TwoBuildsOutcome judged(const TwoBuilds& run, const std::optional<StoredLedger>& ledger,
                        const GateRules& rules);

/// One side as results, for outputs that show times.
Results base_results(const TwoBuilds& run);
Results head_results(const TwoBuilds& run);

}  // namespace assay
