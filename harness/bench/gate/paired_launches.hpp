/// Launches of two real programs for sample_two_builds().
#pragma once

#include "bench/gate/two_builds.hpp"
#include "bench/measure/sides.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace assay {

struct PairedPrograms {
  std::vector<std::filesystem::path> base, head;  ///< links of each side, which take turns launch by launch
  /// Slow-downs of the head, by key: 0.03 for 3 %. For self-tests.
  std::map<std::string, double> planted;
  TurnPolicy policy;
  std::size_t shared_bytes = 0;  ///< the most that a case may take
};

/// Returns which of its links a launch runs. All take turns in a drawn order: each runs once before any runs
/// again. Both sides run the link of the same number, so that unchanged functions lie at the same place in
/// both as often as possible.
std::size_t link_of(std::uint64_t seed, int launch, std::size_t links);

/// Each launch runs base, head and a copy of that base. The first one checks all variants on both sides:
/// those that disagree with the oracle leave the tested family.
PairedSample paired_launches(PairedPrograms programs, const Hooks& hooks);

/// Shared memory for a case, in bytes: its footprint, guards and alignment; and for the largest of several.
std::size_t shared_bytes_for(double footprint);
std::size_t shared_bytes_for(const Registry& registry, const std::vector<Case>& cases);

}  // namespace assay
