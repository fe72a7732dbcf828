/// Names that variants had in files which earlier versions wrote, and that people still type.
#pragma once

#include <string>

namespace assay {

/// Replaces former names of tiers by their present names, in the name of a variant, the key of a trial, or a
/// filter: gemm/simd@avx3/m=4,n=4,k=4#1 becomes gemm/simd@avx512/m=4,n=4,k=4#1.
std::string with_present_names(std::string text);

}  // namespace assay
