/// Prints a gate of two builds and decides how it exits: the same for samples just taken and for stored ones.
#pragma once

#include "app/ledger_use.hpp"
#include "app/options.hpp"
#include "bench/gate/two_builds.hpp"

namespace assay {

/// With a ledger, what was accepted does not fail, and what crept since the release does. The verdict is
/// printed first; then the samples go where `-o` says, and the other files are written.
int end_two_builds(const VerdictOptions& options, const TwoBuilds& run,
                   const std::optional<StoredLedger>& ledger);

}  // namespace assay
