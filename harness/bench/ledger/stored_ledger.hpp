/// Finds, checks and extends the ledger of a suite, for all gates; and the rules that these have in common.
#pragma once

#include "assay/outcome.hpp"
#include "bench/compare/outcome_of.hpp"
#include "bench/ledger/ledger.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// The folder of baselines and ledgers, unless the user names others.
inline const std::filesystem::path usual_baselines = "baselines";

using Folders = std::vector<std::filesystem::path>;

/// A ledger and the file it lies in.
struct StoredLedger {
  std::filesystem::path file;
  Ledger ledger;
};

/// Rules that gates have in common, whatever they compare with.
struct GateRules {
  Folders baselines{usual_baselines};  ///< folders of baselines and ledgers: the first that has one counts
  FailurePolicy failing;
  double drift_limit = Occasion{}.drift_limit;
  Date today{};
  bool record_step = false;  ///< into the ledger, if the gate passes
  std::string suite;         ///< file, as commands name it
};

/// Returns the ledger of the first folder of baselines that has one. Throws Error when it cannot be used, or
/// a folder that was named is not there.
std::optional<StoredLedger> find_ledger(const Folders& baselines, const std::string& suite,
                                        const std::filesystem::path& made = {});

/// Throws Error for each folder that was named and is not there: a mistyped folder would be one without
/// baselines and acceptances. `made`, the folder of --record-missing, is made when it is needed.
void require_baselines(const Folders& baselines, const std::filesystem::path& made = {});

/// The suite as commands name it, `suites/smoke.json --baselines FOLDER`: with the folder that has the
/// ledger, or else the first, unless that is the usual one.
std::string suite_in_commands(const std::string& suite, const Folders& baselines,
                              const std::optional<StoredLedger>& stored);

/// Throws Error where --record-step cannot be done, so that it does not take a measurement to find out.
void require_recordable(const std::optional<StoredLedger>& stored, const std::string& suite_in_commands,
                        const std::string& base, const std::string& head);

/// The commit itself, or the one at which the ledger ends where they differ in the ledger's file alone: a
/// step is committed after it was recorded, and that commit begins the next one. Commits that git cannot find
/// here are themselves.
std::string step_end(const StoredLedger& stored, const std::string& commit);

/// Writes the step of a gate that passed into the ledger, which it reads again first. Returns `passed` with a
/// line that says so, or the obstacle.
Outcome recorded(StoredLedger stored, Step step, Outcome passed);

}  // namespace assay
