/// Finds, checks and extends the ledger of a suite, for all that judge by one.
#pragma once

#include "assay/outcome.hpp"
#include "bench/ledger/ledger.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// Where baselines and ledgers are looked for when nobody says where.
inline const std::filesystem::path usual_baselines = "baselines";

using Folders = std::vector<std::filesystem::path>;

/// A ledger and the file it lies in.
struct StoredLedger {
  std::filesystem::path file;
  Ledger ledger;
};

/// Returns the ledger of the first folder of baselines that has one. Throws Error when it cannot be used, or
/// a folder that was named is not there.
std::optional<StoredLedger> find_ledger(const Folders& baselines, const std::string& suite,
                                        const std::filesystem::path& made = {});

/// A mistyped folder would be one without baselines and acceptances. Throws Error for each that was named and
/// is not there, but for `made`, the folder of --record-missing, which is made when it is needed.
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

/// Writes the step of a gate that passed into the ledger as it is by now. Returns `passed` with a line that
/// says so, or what is in the way.
Outcome recorded(StoredLedger stored, Step step, Outcome passed);

}  // namespace assay
