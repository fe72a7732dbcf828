/// The plan: which trials a run consists of.
#pragma once

#include "assay/machine.hpp"
#include "assay/shard.hpp"
#include "assay/suite.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay {

/// A case run by one variant at a thread count.
struct Trial {
  const Operation* operation = nullptr;
  std::size_t variant = 0;
  Case row;
  Context context;
  std::string key;       ///< operation/variant/problem#threads
  std::string workload;  ///< hash of operation, contract version, problem, its file and seed
  std::string skipped;   ///< why it cannot run here; empty when it can
};

struct Selection {
  std::string filter;  ///< regular expression searched in keys; a leading '-' negates; empty selects all
  std::vector<int> threads;  ///< counts for threaded variants; empty means 1 and all cores
  std::uint64_t seed = 42;
  std::optional<Shard> shard;  ///< only its cases of what is selected
  Durations durations{};       ///< that balance the shards
};

/// All trials of the suite that the selection names, case by case, `naive` first. A case of which any variant
/// is selected keeps its `naive`, which speed-ups are measured against. Empty only for a shard that holds
/// none of the selected cases. Throws Error when nothing is selected, the filter is no regular expression, or
/// a case does not fit in memory.
std::vector<Trial> make_plan(const Registry& registry, const Suite& suite, const Selection& selection,
                             const Machine& machine);

/// Records what make_plan() leaves to other shards, with the same arguments; nothing without a shard.
std::optional<ShardRecord> shard_record(const Registry& registry, const Suite& suite,
                                        const Selection& selection, const Machine& machine);

/// Bytes of memory that a case of this footprint is to have: a quarter more for guards, alignment and what a
/// variant keeps, and 64 MiB for the program itself.
inline double memory_for(double footprint) { return 1.25 * footprint + 64 * 0x1p20; }

/// The hash that tells workloads apart: results of different workloads are not comparable. Of a problem that
/// `file` holds, that is by its content. Throws Error where it cannot be read.
std::string workload_hash(const Operation& operation, std::string_view problem, std::uint64_t seed,
                          const std::filesystem::path& file = {});

}  // namespace assay
