// Tells the user of a machine what is known of it, and what should be done about it.
#pragma once

#include "assay/machine.hpp"
#include "core/machine/build_info.hpp"
#include "core/machine/counters.hpp"
#include "core/machine/limits.hpp"
#include "core/machine/openblas.hpp"
#include "core/machine/processor.hpp"
#include "core/machine/random_lines.hpp"
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
  std::vector<int> processors;                                    // numbers of those that may be used
  std::optional<std::string> omp_num_threads, openblas_coretype;  // of the environment
  std::vector<Roof> roofs;                                        // one thread, then all
  RandomLines random_lines;
  NoiseProbe noise;
};

// Returns findings in the order processor, cores, build, threads, OpenBLAS, counters, node where a part of
// the machine or a job of Slurm is all there is, noise, roofs, random lines where they were measured, gate.
std::vector<Diagnosis> diagnose(const Symptoms& symptoms);

// The tightest usual limit, in percent, that a gate can hold when it sees changes of this size: 2, 3, 5, 10
// or 20; nothing when none of them.
std::optional<int> tightest_gate_percent(double smallest_visible);

}  // namespace assay
