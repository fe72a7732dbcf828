/// The small file in the user's cache folder by which `assay tune kernels` is remembered. No run needs it.
#pragma once

#include <string>

namespace assay {

/// The choice for one machine and one version.
struct TunedKernels {
  std::string machine, version;
  std::string caches;  ///< as ASSAY_CACHES takes them
  std::string date, command;
};
class Fields;
void describe(Fields& f, TunedKernels& tuned);

/// Sets ASSAY_CACHES for this process and those that it starts, if the file is there and of this machine and
/// version, and the variable is not set. Returns a line on why the file is ignored, or nothing. Throws Error
/// where the variable is set to what cannot be.
std::string use_tuned_kernels();

}  // namespace assay
