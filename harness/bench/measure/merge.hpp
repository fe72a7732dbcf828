/// Shards put together again.
#pragma once

#include "assay/results.hpp"

#include <string>
#include <vector>

namespace assay {

/// Results, and the file they come from, which messages name.
struct ShardFile {
  std::string name;
  Results results;
};

/// The results of all shards of one selection as those of one run, cases in the order of the suite.
///
/// Throws Error naming the file for what is no shard, for a shard that is there twice, for another suite,
/// selection, seed, commit or build, and for a case or trial that two shards hold; MissingShards where
/// nothing else is wrong. Machines may differ, since a case was measured on one of them. Seconds of different
/// cases do not belong together then: roofs are left out, and `mixed_machines` says why for everything that
/// is made of the results. The samples stay.
Results merged(std::vector<ShardFile> files);

}  // namespace assay
