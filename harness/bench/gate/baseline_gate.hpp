/// A gate against the baseline of this machine.
#pragma once

#include "assay/pipeline.hpp"
#include "bench/ledger/stored_ledger.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay {

struct BaselineGateRequest {
  RunRequest run;
  GatePolicy policy;
  GateRules rules;
  std::filesystem::path record_missing;  ///< folder for a baseline where none compares; empty: not recorded
};

struct BaselineGate {
  Results results;
  std::optional<Baseline> baseline;  ///< of this machine, if there is one
  bool compared = false;             ///< false: the rows below say why they were not
  Comparison comparison;
  std::vector<std::string> ledger;  ///< its findings, line by line
  std::string suite;  ///< as commands name it, with the folder of baselines where that is not the usual one
  std::vector<std::string> remarks;  ///< recordings of other machines, and the one made now, line by line
  std::string next;  ///< the command that makes a baseline, where there was none to compare with
  Outcome outcome;
};

/// Runs, compares with the baseline, measures what looks slower a second time, applies the ledger of the
/// suite, decides, and records what it was asked to. Throws Error for a baseline or ledger that cannot be
/// used, before anything is measured.
BaselineGate gate_against_baseline(const BaselineGateRequest& request, const Registry& registry,
                                   const Sample& sample, const Hooks& hooks);

}  // namespace assay
