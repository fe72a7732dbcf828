/// Finds where a program spends the time of one trial, by the sampling profiler `perf`, where there is one.
#pragma once

#include "assay/measure.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

struct HotSymbol {
  std::string name;
  double share = 0;  ///< of the samples of the whole launch, which fills inputs too
};

/// Largest share first. Nothing if there is no `perf`, it may not sample here, or the program failed: a
/// missing profile is no fault.
std::optional<std::vector<HotSymbol>> hot_symbols(const std::filesystem::path& program,
                                                  const TrialRequest& trial, std::uint64_t seed,
                                                  const Hooks& hooks);

/// Reads the output of `perf report --stdio -q --sort symbol`: `  61.20%  [.] name`. Other lines are skipped.
std::vector<HotSymbol> hot_symbols_from(const std::string& report);

}  // namespace assay
