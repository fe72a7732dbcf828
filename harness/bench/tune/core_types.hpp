/// The core types of OpenBLAS that there are to try.
#pragma once

#include "bench/measure/sides.hpp"
#include "bench/tune/variable.hpp"

#include <functional>
#include <string>
#include <vector>

namespace assay {

/// Returns the core type that OpenBLAS says it uses in an environment: `Haswell`.
using ReportedCore = std::function<std::string(const Variables&)>;

/// The default first, then the core types asked for, or all that can be executed, in the order of
/// openblas_cores(). Those that OpenBLAS does not take, or takes by itself, are left out with the reason.
/// Throws Error for one that is unknown, and for one that this processor cannot execute: it is never tried.
std::vector<ValueAttempt> core_attempts(const std::vector<std::string>& wanted,
                                        const std::vector<std::string>& features,
                                        const ReportedCore& reported);

}  // namespace assay
