/// Durations of cases in an earlier run, by which shards are balanced.
#pragma once

#include "assay/shard.hpp"

#include <filesystem>

namespace assay {

/// Returns, from a file of `run`, `gate` or `merge`, the seconds in which all trials of a case were timed,
/// launch by launch. Cases without a time are left out. No file gives no durations. Throws Error naming the
/// file when it is none of these, or holds no time at all.
Durations durations_in(const std::filesystem::path& file);

}  // namespace assay
