/// Rules that gates have in common, whatever they compare with.
#pragma once

#include "bench/compare/outcome_of.hpp"
#include "bench/ledger/stored_ledger.hpp"

namespace assay {

struct GateRules {
  Folders baselines{usual_baselines};  ///< folders of baselines and ledgers, the first that has one counts
  FailurePolicy failing;
  double drift_limit = Occasion{}.drift_limit;
  Date today{};
  bool record_step = false;  ///< into the ledger, where the gate passes
  std::string suite;         ///< file, as commands name it
};

}  // namespace assay
