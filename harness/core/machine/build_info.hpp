// Compiler, flags and libraries of this program. ci/cmake/BuildInfo.cmake writes it at build time.
#pragma once

#include <string>

namespace assay {

struct BuildInfo {
  std::string version;          // of assay
  std::string commit;           // twelve digits, with `+changes` when not clean; `unknown` outside a checkout
  std::string compiler;         // name and version
  std::string build_type;       // as CMake calls it; only Release is measured
  std::string kernel_flags;     // without warnings
  std::string reference_flags;  // of the oracle and of `naive`
  std::string highway;          // version built against
  std::string benchmark;        // Google Benchmark's version; empty when not known
  std::string planted;  // slow-down planted with ASSAY_PLANT, `gemm/packed=3`; empty in every honest build
  std::string tiers;    // SIMD tiers of kernels: usual, all, or the name of the only one
};

const BuildInfo& build_info();

}  // namespace assay
