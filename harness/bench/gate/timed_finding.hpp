/// Tests whether a variant is rejected when it is timed by `run` or by a gate of two builds.
#pragma once

#include "assay/measure.hpp"
#include "bench/measure/sides.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace assay {

/// The fate of a variant that was timed beside naive. Both texts are empty if both were judged to be right.
struct TimedFinding {
  std::string reason;  ///< why the variant was rejected
  /// A fault elsewhere: naive was rejected, though it is always right, or all ended and nobody was named.
  std::string astray;
  bool rejected() const { return !reason.empty() && astray.empty(); }
};

/// One variant, and how it is timed.
struct TimedCase {
  const Operation& operation;
  std::size_t variant;
  std::string problem;
  std::uint64_t seed = 42;
  double time_limit = 0;
};

/// Checked and then timed by `sample`, as `run` does it.
TimedFinding rejected_by_run(const TimedCase& timed, const Sample& sample, const Hooks& hooks);

/// By `sample`, as a gate of two builds does it, with `program` for both of them.
TimedFinding rejected_by_gate(const TimedCase& timed, const std::filesystem::path& program,
                              const SampleSides& sample, const Hooks& hooks);

}  // namespace assay
