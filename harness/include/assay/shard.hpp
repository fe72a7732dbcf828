/// Shards: one selection of cases, divided among jobs that know nothing of each other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// A larger count is a mistake: no suite has so many cases.
inline constexpr int most_shards = 100'000;

/// One of `count` parts. The whole is part 0 of 1.
struct Shard {
  int index = 0;  ///< from 0
  int count = 1;
  std::string
      durations{};  ///< the file of earlier results that balanced the parts; empty: names alone decide
  /// The part of each case that was placed by its duration, by `operation/problem`. Others go by their name.
  std::map<std::string, int> places{};
  bool operator==(const Shard&) const = default;
};

/// The part that the name of a case gives it: FNV-1a of `operation/problem` modulo `count`. It depends on
/// nothing else, so a case that is added or left out moves no other. All variants of a case stay together,
/// since ratios are taken within a case.
int shard_of(std::string_view operation, std::string_view problem, int count);

bool contains(const Shard& shard, std::string_view operation, std::string_view problem);

/// Seconds of cases by `operation/problem`, and the file that they are from; no file is no durations.
struct Durations {
  std::string file{};
  std::map<std::string, double> seconds{};
};

/// The shard with a place for each of the cases: the longest first, each into the part that has the least to
/// do until then. A case that the file does not know takes as long as the median of those that it knows. That
/// depends on nothing but the arguments, and not on the order of the cases, so that it is the same on every
/// machine; a case more may move others. Without durations, the shard as it is. Throws Error naming the file
/// when it knows none of the cases.
Shard balanced(Shard shard, const std::vector<std::string>& cases, const Durations& durations);

/// The record that results keep of a shard, so that a merge can tell whether it has all parts of one whole.
struct ShardRecord {
  Shard shard;
  std::string selection;  ///< filter and thread counts as on the command line; may be empty
  /// Hash of all selected cases, their weights, their places and the seed: equal in all shards.
  std::string fingerprint;
  std::int64_t cases = 0;               ///< selected in all shards together
  std::vector<std::int64_t> positions;  ///< of this shard's among them, in order
};

/// `shard 1 of 0 to 3 holds 6 of the 23 selected cases`, or `holds none of`.
std::string in_words(const ShardRecord& record);

/// The options of the command line about shards.
struct ShardOptions {
  std::optional<std::int64_t> index, count;
  bool detect = false;  ///< `--shard=auto`: believe the variables of CI engines and job arrays too
  std::filesystem::path durations{};  ///< earlier results, by which the shards are balanced
};

/// A variable's value, or null when it is not set.
using Environment = std::function<const char*(const char* name)>;

struct ShardChoice {
  std::optional<Shard> shard;  ///< nothing when neither options nor variables speak of shards
  std::string source;          ///< the options and variables that say so, for readers
  /// Files that must be there when the run begins: test runners see in them that shards are honoured.
  std::vector<std::string> status_files;
};

/// The shard that this process is to run. Test runners (GoogleTest, Bazel) are believed without being asked,
/// CI engines only with `detect`: a pipeline may run jobs in parallel for another reason, and would measure a
/// part without a word. Throws Error naming the option or variable: sources that differ, half of a pair, no
/// number, an index beyond the count, a job array with gaps, `detect` where no engine is seen, durations
/// without shards. A Slurm array that has another number of tasks than `count` is a part of the shards, run
/// again: its tasks have the numbers of their shards.
ShardChoice chosen_shard(const ShardOptions& options, const Environment& environment);

/// Writes a shard as the command line spells it, with another index than its own, such as a variable of the
/// shell, or with its own.
std::string to_options(const Shard& shard, std::string_view index);
inline std::string to_options(const Shard& shard) { return to_options(shard, std::to_string(shard.index)); }

/// The command of a whole run, as a file holds it. Older files of a shard hold its options as well.
std::string without_options(std::string command, const Shard& shard);

}  // namespace assay
