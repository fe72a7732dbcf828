// OpenBLAS as it is linked into this program, if it is: version, and which of its kernels it chose.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct OpenBlas {
  bool linked = false;
  bool chooses_core = false;  // at run time; else it was built for one
  std::string core;           // `Haswell`, `SkylakeX`, …
  std::string configuration;  // its own words, without the core: `OpenBLAS 0.3.21 … DYNAMIC_ARCH …`
};
// Looked up by name in the running program, so that the harness itself does not depend on OpenBLAS.
OpenBlas linked_openblas();

// Returns the core type that OpenBLAS should have chosen on a processor with these features; empty when the
// chosen one uses its widest vectors. A release older than the processor may not know it, and
// OPENBLAS_CORETYPE in the environment overrules the detection. In both cases the peer of our kernels is
// slower than it could be.
std::string better_openblas_core(const std::vector<std::string>& features, std::string_view core);

struct OpenBlasCore {
  std::string name;                // as OPENBLAS_CORETYPE takes it
  std::vector<std::string> needs;  // the Processor::features that its kernels are compiled for
};

// The core types of x86 whose needs are known here, the least demanding first. The list leaves out second
// names and older core types of AMD, some of which need FMA4, which no feature tells.
const std::vector<OpenBlasCore>& openblas_cores();

// Returns the features that the core needs and the processor lacks; empty when it can execute it.
std::vector<std::string> lacking(const OpenBlasCore& core, const std::vector<std::string>& features);

// OpenBLAS compares names without regard to case.
bool same_core(std::string_view a, std::string_view b);

}  // namespace assay
