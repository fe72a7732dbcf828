/// Results of options, for run, record and gate alike, and shards as the verbs meet them.
#pragma once

#include "app/verbs.hpp"
#include "assay/pipeline.hpp"

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

}  // namespace assay
