/// Any two programs that were built with Google Benchmark, gated against each other.
#pragma once

#include "bench/gate/two_builds.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace assay {

/// The names of the benchmarks of a program that `filter`, an expression of Google Benchmark, selects;
/// nothing when it is no program of Google Benchmark. Throws Error when it cannot be started, and Stopped
/// after an interrupt.
std::optional<std::vector<std::string>> benchmarks_of(const std::filesystem::path& program,
                                                      const std::string& filter, const Hooks& hooks);

/// The benchmarks of both as trials; those that one side lacks are left out with the reason.
std::vector<PairedTrial> matched(const std::vector<std::string>& base, const std::vector<std::string>& head);

/// Launches of short runs there and back: base, head, a copy of the base, and the same in reverse. Their
/// slices cannot be interleaved more finely, since each program times by itself: expect less of them than of
/// builds of assay. `seconds` is the least that each benchmark runs for in each of these runs.
PairedSample benchmark_launches(std::filesystem::path base, std::filesystem::path head, double seconds,
                                const Hooks& hooks);

}  // namespace assay
