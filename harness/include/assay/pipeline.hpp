/// The whole program: register, plan, check, measure, compare, report.
#pragma once

#include "assay/hooks.hpp"
#include "assay/measure.hpp"
#include "assay/plan.hpp"
#include "assay/registry.hpp"
#include "assay/results.hpp"
#include "assay/suite.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace assay {

struct RunRequest {
  Suite suite;
  Selection selection;
  MeasurePolicy measuring;
  Containment checking;                    ///< of kernels that have not been called yet
  std::filesystem::path passed_corners{};  ///< the file of kernels whose corner cases passed; empty: none did
  double roof_seconds = 0.6;               ///< spent on each roof; 0 leaves roofs out
  std::string command;                     ///< repeats the run
};

/// Plans, checks, measures what agreed, and finds times that cannot be. Disagreements, impossible times,
/// failures and skips are in the result, never thrown.
Results run(const Registry& registry, const RunRequest& request, const Sample& sample, const Hooks& hooks);

/// Measures the trials with these keys again, into a copy of `results` that holds only their cases.
Results measure_afresh(const Results& results, const std::vector<std::string>& keys,
                       const RunRequest& request, const Sample& sample, const Hooks& hooks);

/// Reads the command line, does what it says, prints, and returns the exit code. Throws nothing.
int run_command_line(int argc, const char* const* argv, const Registry& registry);
/// The same, where making the registry may be at fault too: a registration that cannot stand.
int run_command_line(int argc, const char* const* argv, const std::function<Registry()>& registry);

}  // namespace assay
