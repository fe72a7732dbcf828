/// Audit: what judging the slices that were timed came to.
#pragma once

#include "assay/problem.hpp"

#include <string>

namespace assay {

struct Audit {
  Index slices = 0;    ///< that were timed
  Index judged = 0;    ///< of them
  Index compared = 0;  ///< elements of outputs, in all slices that were judged
  std::string fault;   ///< what was wrong in one of them; empty when all were right

  /// Joins those of several processes.
  void add(const Audit& other);
};

}  // namespace assay
