/// Results of options, for run, record and gates alike; shards as the verbs meet them; and the rules of a
/// gate, and its outcome told: on the terminal, in files, and to CI engines.
#pragma once

#include "app/verbs.hpp"
#include "assay/outcome.hpp"
#include "assay/pipeline.hpp"
#include "bench/gate/two_builds.hpp"
#include "bench/ledger/ledger.hpp"
#include "core/machine/clock.hpp"

#include <optional>
#include <string>

namespace assay {

RunRequest run_request(const SelectionOptions& selection, int launches, const Registry& registry);

/// The shard that this process is to run, by options and variables. Says on standard error which it is, and
/// touches the status files of test runners. Throws Error as chosen_shard() does.
std::optional<Shard> shard_of_this_process(const ShardOptions& options);

/// For a request that is not divided: says on standard error that the variables of a test runner change
/// nothing, since each of its jobs would otherwise be taken for a part. No status file is touched.
void say_undivided(const std::string& what);

/// Throws Error when something that speaks for the whole suite is asked of one of several shards.
void require_whole(const std::optional<Shard>& shard, const std::string& option, const std::string& remedy);

/// The day in UTC on which acceptances are judged; that of ASSAY_TODAY where it is set, so that a gate can be
/// repeated, which is said on standard error. SOURCE_DATE_EPOCH does not count: build systems set it to a day
/// long past, on which no acceptance has run out. Throws Error when it is no day.
Date today();

GateRules rules_of(const OutcomeOptions& options);

/// Judges a gate of two builds, prints the outcome, writes the samples where `-o` says and the other files,
/// and returns the outcome: the same for samples just taken and for stored ones.
Outcome end_two_builds(const OutcomeOptions& options, const TwoBuilds& run);

}  // namespace assay
