/// What verbs do with the ledger of a suite.
#pragma once

#include "app/measuring.hpp"
#include "app/options.hpp"
#include "compare/ledger.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace assay {

/// A ledger and the file it lies in.
struct StoredLedger {
  std::filesystem::path file;
  Ledger ledger;
};

/// The first folder of baselines that has one. Throws Error when it cannot be used.
std::optional<StoredLedger> find_ledger(const Options& options, const std::string& suite);

/// The day in UTC; that of SOURCE_DATE_EPOCH where it is set, so that a run can be repeated.
/// Throws Error when it is no number of seconds.
Date today();

/// Throws Error where --record-step could not be done, so that it does not take a measurement to find out.
void require_recordable(const Options& options, const std::optional<StoredLedger>& stored,
                        const std::string& base, const std::string& head);

/// The commit itself, or the one at which the ledger ends where they differ in the ledger's file alone: a
/// step is committed after it was recorded, and that commit begins the next one. Commits that git cannot find
/// here are themselves.
std::string step_end(const StoredLedger& stored, const std::string& commit);

/// Writes the step of a gate that passed into the ledger: `passed` with a line that says so, or what is in
/// the way.
Ending recorded(StoredLedger stored, Step step, const Ending& passed);

}  // namespace assay
