/// Shards of a gate of two builds: divided among jobs, and merged.
#pragma once

#include "bench/gate/two_builds.hpp"

#include <string>
#include <vector>

namespace assay {

/// Leaves the trials of one shard, balanced where there are durations, in a run that was not sampled yet. Its
/// level stays that of the whole suite: the rules go on to count the trials of all shards, so that the jobs
/// together raise a false alarm no more often than one would.
void keep_shard(TwoBuilds& run, const Shard& shard, const Durations& durations);

/// A run, and the file it comes from, which messages name.
struct GateFile {
  std::string name;
  TwoBuilds run;
};

/// Joins the runs of all shards. A trial that a shard called slower is slower in the whole; as Holm's
/// procedure goes through all trials there, it may find one more.  Throws Error naming the file for what is
/// no shard or was interrupted, for a shard that is there twice, and for another suite, filter, seed, commit,
/// code or rules; MissingShards where nothing else is wrong. Machines may differ, since both sides of a trial
/// ran on one of them; `mixed_machines` says so, and seconds are withheld.
TwoBuilds merged(std::vector<GateFile> files);

}  // namespace assay
