// Core types of OpenBLAS: which of them a processor can execute. OpenBLAS takes what OPENBLAS_CORETYPE names
// without asking the processor, and ends in an illegal instruction when that was too much.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct OpenBlasCore {
  std::string name;                // as OPENBLAS_CORETYPE takes it
  std::vector<std::string> needs;  // of Processor::features, those that its kernels are compiled for
};

// The core types of x86 whose needs are known here, the least demanding first. Left out are older ones of
// AMD, some of which need FMA4, which no feature tells, and second names of the same core type.
const std::vector<OpenBlasCore>& openblas_cores();

// Returns the features that the core needs and the processor lacks; empty when it can execute it.
std::vector<std::string> lacking(const OpenBlasCore& core, const std::vector<std::string>& features);

// OpenBLAS compares names without regard to case.
bool same_core(std::string_view a, std::string_view b);

}  // namespace assay
