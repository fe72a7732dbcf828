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

// Of x86, those whose needs are known here, the least demanding first. Left out are older ones of AMD, some
// of which need FMA4, which no feature tells, and those that are another one under a second name.
const std::vector<OpenBlasCore>& openblas_cores();

// What a processor with these features lacks for it; empty when it can execute it.
std::vector<std::string> lacking(const OpenBlasCore& core, const std::vector<std::string>& features);

// OpenBLAS compares names without regard to case.
bool same_core(std::string_view a, std::string_view b);

}  // namespace assay
