/// Points to the code to look at when a trial became slower.
#pragma once

#include "assay/registry.hpp"
#include "bench/gate/two_builds.hpp"

#include <filesystem>

namespace assay {

/// Fills PairedTrial::pointers and cause of each trial that the run shows to be slower: functions that its
/// variant reaches and that differ between the two programs, with their file, and where `perf` can sample,
/// what share of the samples each side's hot functions have. `registry` knows the source files. A program
/// that cannot be read is named there, too.
void note_pointers(TwoBuilds& run, const std::filesystem::path& base, const std::filesystem::path& head,
                   const Registry& registry, const Hooks& hooks);

}  // namespace assay
