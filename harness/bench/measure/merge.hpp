/// Shards put together again, once they have in common what they must and each is there once.
#pragma once

#include "assay/error.hpp"
#include "assay/results.hpp"
#include "assay/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// A file, the first one, which it is compared with, and what to do when the two are of different runs.
struct OneRun {
  std::string name, first;
  std::string remedy;
};

/// Throws Error naming both files when what one holds differs from what the other does; `what` it is.
template <class T>
void require_equal(const OneRun& files, std::string_view what, const T& is, const T& expected) {
  if (is == expected) return;
  throw Error(files.name, fmt::format("has the {} '{}', and {} has '{}'", what, is, files.first, expected),
              files.remedy);
}

/// A run, and the file it comes from, which messages name.
template <class Run>
struct NamedRun {
  std::string name;
  Run run;
};

/// Throws Error for a file that holds no shard; `writers` are the commands that write one.
template <class Run>
void require_shard(const NamedRun<Run>& file, std::string_view writers) {
  if (file.run.shard) return;
  const int merged = file.run.merged_shards;
  throw Error(file.name, merged > 0 ? fmt::format("was merged already, of {} shards", merged) : "is no shard",
              fmt::format("merge what {} wrote with --shard-index and --shard-count", writers));
}

/// A shard, and the file it comes from.
struct NamedShard {
  std::string name;
  Shard shard;
};

/// The shards that are there belong together, and others are missing: with the commands that run these.
class MissingShards : public Error {
 public:
  using Error::Error;
};

/// Shards of one count, in the order of their index; `command` runs all of them in one go. Throws Error
/// naming the file for one that is there twice, and MissingShards.
void require_each_once(std::span<const NamedShard> shards, const std::string& command);
/// Sorts by index, and throws unless each is there once. `command`: that of a run.
template <class Run, class Command>
void put_in_order(std::vector<NamedRun<Run>>& files, Command command) {
  std::ranges::stable_sort(files, {}, [](const NamedRun<Run>& file) { return file.run.shard->shard.index; });
  std::vector<NamedShard> shards;
  for (const NamedRun<Run>& file : files) shards.push_back({file.name, file.run.shard->shard});
  require_each_once(shards, std::invoke(command, files.front().run));
}

/// The results of all shards of one selection as those of one run, cases in the order of the suite.
///
/// Throws Error naming the file for what is no shard, for a shard that is there twice, for another suite,
/// selection, seed, commit or build, and for a case or trial that two shards hold; MissingShards where
/// nothing else is wrong. Machines may differ, since a case was measured on one of them. Seconds of different
/// cases do not belong together then: roofs are left out, and `mixed_machines` says why for everything that
/// is made of the results. The samples stay.
Results merged(std::vector<NamedRun<Results>> files);

}  // namespace assay
