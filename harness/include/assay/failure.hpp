/// Failure: how a kernel that did not come back ended.
#pragma once

#include <string>
#include <string_view>

namespace assay {

struct Failure {
  enum class Kind { crashed, timed_out };
  Kind kind = Kind::crashed;
  std::string reason;  ///< "was ended by signal 11 (Segmentation fault)", "did not end within 10 s"
};

/// "crashed" or "timed out".
std::string_view to_string(Failure::Kind kind);

/// Where kernels are called that have not shown yet that they come back.
struct Containment {
  /// In a process of its own, which a crash, a hang, an exception or an exit ends without harm to the caller.
  /// Nowhere else may kernels have run in the caller then: their threads are not there after a fork.
  bool own_process = false;
  double time_limit = 0;  ///< seconds that a kernel may take; 0: by what naive takes
};

}  // namespace assay
