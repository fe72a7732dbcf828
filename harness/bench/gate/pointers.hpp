/// Points to the code to look at when a trial became slower.
#pragma once

#include "assay/registry.hpp"
#include "bench/gate/two_builds.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// Fills PairedTrial::pointers and cause of each trial that the run shows to be slower: functions that its
/// variant reaches and that differ between the two programs, with their file, and where `perf` can sample,
/// what share of the samples each side's hot functions have. `registry` knows the source files. A program
/// that cannot be read is named there, too.
void note_pointers(TwoBuilds& run, const std::filesystem::path& base, const std::filesystem::path& head,
                   const Registry& registry, const Hooks& hooks);

struct HotSymbol {
  std::string name;
  double share = 0;  ///< of the samples of the whole launch, which fills inputs too
};

/// Where a program spends the time of one trial, by the sampling profiler `perf`, largest share first.
/// Nothing if there is no `perf`, it may not sample here, or the program failed: a missing profile is no
/// fault.
std::optional<std::vector<HotSymbol>> hot_symbols(const std::filesystem::path& program,
                                                  const TrialRequest& trial, std::uint64_t seed,
                                                  const Hooks& hooks);

/// Reads the output of `perf report --stdio -q --sort symbol`: `  61.20%  [.] name`. Other lines are skipped.
std::vector<HotSymbol> hot_symbols_from(const std::string& report);

}  // namespace assay
