/// Tells a verdict everywhere it is waited for: on the terminal, in files, and to CI engines.
#pragma once

#include "app/options.hpp"
#include "assay/compare.hpp"
#include "assay/outcome.hpp"
#include "bench/gate/gate_rules.hpp"
#include "bench/gate/two_builds.hpp"

#include <filesystem>
#include <functional>
#include <string>

namespace assay {

GateRules rules_of(const RuleOptions& options, const std::filesystem::path& suite, bool record_step);
GateRules rules_of(const OutcomeOptions& options);

/// A run of a gate of two builds, of which nothing was measured yet: `command` repeats it, but for the
/// filter, and `usual_limit` is the time ratio that is still the same where the user gave none.
TwoBuilds new_run(const ProgramsOptions& options, std::string command, double usual_limit);

/// Lets `gate` measure under a line that shows how far it is, and ends with the verdict.
Outcome measured_and_ended(const OutcomeOptions& options, const std::function<TwoBuilds(const Hooks&)>& gate);

/// Judges a gate of two builds, prints the verdict, writes the samples where `-o` says and the other files,
/// and returns the outcome: the same for samples just taken and for stored ones.
Outcome end_two_builds(const OutcomeOptions& options, const TwoBuilds& run);

/// A verdict as CI engines need it.
struct CiOutcome {
  const Comparison& comparison;
  const Results& after;
  const PullRequest& page;
  const Outcome& outcome;
  std::string command;  ///< that repeats it for the rows that a `-k` behind it selects
  std::string suite;    ///< its file, or its name where no file is known
};

/// Writes the files that are named, and what GitHub Actions reads, when this runs there:
/// annotations, to standard output unless JSON goes there, a summary and outputs. Throws Error when a file
/// cannot be written.
void put_ci_outputs(const CiFiles& files, const std::string& json, const CiOutcome& ci);

}  // namespace assay
