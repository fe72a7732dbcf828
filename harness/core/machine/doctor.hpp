// Findings about a machine, each with its remedy.
#pragma once

#include "assay/machine.hpp"
#include "core/machine/build_info.hpp"
#include "core/machine/limits.hpp"
#include "core/machine/openblas.hpp"
#include "core/machine/processor.hpp"
#include "core/machine/roof_kernels.hpp"
#include "core/machine/topology.hpp"
#include "core/machine/weather.hpp"

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

}  // namespace assay
