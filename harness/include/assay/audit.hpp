/// Audit: the slices that were timed, and the outputs of them that were compared with the reference.
#pragma once

#include "assay/problem.hpp"

#include <string>

namespace assay {

struct Audit {
  Index slices = 0;    ///< timed slices
  Index judged = 0;    ///< slices whose output was compared
  Index compared = 0;  ///< elements of outputs, in all slices that were judged
  std::string fault;   ///< the error in one slice; empty when all were right

  /// Adds the audit of another process.
  void add(const Audit& other);
};

}  // namespace assay
