/// Trials that times reject: those of two builds that are faster than any kernel can be, and whether a
/// variant is rejected when it is timed by `run` or by a gate of two builds.
#pragma once

#include "assay/measure.hpp"
#include "assay/registry.hpp"
#include "bench/gate/two_builds.hpp"
#include "bench/measure/sides.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace assay {

/// Measures the roof of one thread, which says what more of them can do at most.
using MeasureRoof = std::function<Roof()>;
MeasureRoof roof_of_one_thread(const Machine& machine);

/// Leaves out trials of which a side is faster than floor_of(): impossible if it is the head, not comparable
/// if it is the base. Ratios need no roof, so that it is measured, into `roofs`, only if a time is
/// suspiciously short, and again while a trial lies below its floor. Roofs from an earlier gate are kept.
void leave_out_impossible(TwoBuilds& run, std::vector<Roof>& roofs, const Registry& registry,
                          const MeasureRoof& measure);

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
