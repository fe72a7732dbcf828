/// Rules of a gate, and its outcome told: on the terminal, in files, and to CI engines.
#pragma once

#include "app/verbs.hpp"
#include "assay/outcome.hpp"
#include "bench/gate/two_builds.hpp"
#include "bench/ledger/ledger.hpp"
#include "core/machine/clock.hpp"

#include <functional>
#include <string>

namespace assay {

/// The day in UTC on which acceptances are judged; that of ASSAY_TODAY where it is set, so that a gate can be
/// repeated, which is said on standard error. SOURCE_DATE_EPOCH does not count: build systems set it to a day
/// long past, on which no acceptance has run out. Throws Error when it is no day.
Date today();

GateRules rules_of(const OutcomeOptions& options);

/// A run of a gate of two builds, of which nothing was measured yet: `command` repeats it, but for the
/// filter, and `usual_limit` is the time ratio that is still the same where the user gave none.
TwoBuilds new_run(const ProgramsOptions& options, std::string command, double usual_limit);

/// Lets `gate` measure under a line that shows how far it is, and ends with the outcome.
Outcome measured_and_ended(const OutcomeOptions& options, const std::function<TwoBuilds(const Hooks&)>& gate);

/// Judges a gate of two builds, prints the outcome, writes the samples where `-o` says and the other files,
/// and returns the outcome: the same for samples just taken and for stored ones.
Outcome end_two_builds(const OutcomeOptions& options, const TwoBuilds& run);

}  // namespace assay
