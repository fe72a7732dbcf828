// Findings about a machine, each with its remedy, and the change that a gate could see through its noise.
#pragma once

#include "assay/machine.hpp"
#include "core/machine/build_info.hpp"
#include "core/machine/limits.hpp"
#include "core/machine/processor.hpp"
#include "core/machine/roof_kernels.hpp"
#include "core/machine/topology.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay {

struct Symptoms {
  Machine machine;
  Processor processor;
  BuildInfo build;
  OpenBlas openblas;
  Counters counters;
  Allotment allotment;
  Topology topology;
  std::vector<int> processors;                                    // numbers of the usable ones
  std::optional<std::string> omp_num_threads, openblas_coretype;  // of the environment
  std::vector<Roof> roofs;                                        // one thread, then all
  RandomLines random_lines;
  NoiseProbe noise;
};

// Returns findings in the order processor, cores, build, threads, OpenBLAS, counters, node, noise, roofs,
// random lines, gate. The node is left out unless the process has a part of the machine or a job of Slurm;
// random lines are left out where they were not measured.
std::vector<Diagnosis> diagnose(const Symptoms& symptoms);

// Returns the tightest usual limit, in percent, of a gate that sees changes of this size: 3, 5, 10 or 20;
// nothing where none is wide enough.
std::optional<int> tightest_gate_percent(double smallest_visible);

// Relative change that a gate of n = 30 groups and a margin of 1 % would see in 95 of 100 runs, with a suite
// of 100 cases and one false alarm in 100 runs, from A/A deviations: logarithms of group ratios whose true
// value is 1. With d such a deviation, a change of log size s is seen in a group when d + s > log(1 +
// margin). The sign test needs k of n groups (needed_count), hence a probability p per group (needed_chance),
// hence s = log(1 + margin) + q, where q is the p-quantile of d. Both sides being the same kernel, d and -d
// are equally likely, so q is the (2p - 1)-quantile of |d|, which uses every deviation twice.
double smallest_visible_change(const std::vector<double>& deviations);

// Relative half-width of the middle 95 % of the deviations.
double spread_of(const std::vector<double>& deviations);

}  // namespace assay
