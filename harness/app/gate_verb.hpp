/// Rules of a gate, and its outcome told: on the terminal, in files, and to CI engines.
#pragma once

#include "app/verbs.hpp"
#include "assay/outcome.hpp"
#include "bench/gate/two_builds.hpp"
#include "bench/ledger/ledger.hpp"
#include "core/machine/clock.hpp"

namespace assay {

/// The day in UTC on which acceptances are judged; that of ASSAY_TODAY where it is set, so that a gate can be
/// repeated, which is said on standard error. SOURCE_DATE_EPOCH does not count: build systems set it to a day
/// long past, on which no acceptance has run out. Throws Error when it is no day.
Date today();

GateRules rules_of(const OutcomeOptions& options);

/// Judges a gate of two builds, prints the outcome, writes the samples where `-o` says and the other files,
/// and returns the outcome: the same for samples just taken and for stored ones.
Outcome end_two_builds(const OutcomeOptions& options, const TwoBuilds& run);

}  // namespace assay
