/// Audit: the slices that were timed, and the outputs of them that were compared with the reference.
#pragma once

#include "assay/figure.hpp"
#include "assay/problem.hpp"

#include <string>
#include <vector>

namespace assay {

struct Audit {
  Index slices = 0;    ///< timed slices
  Index judged = 0;    ///< slices whose output was compared
  Index compared = 0;  ///< elements of outputs, in all slices that were judged
  double squares = 0;  ///< as in Agreement: errors of numbers that were drawn in those slices
  Index rounded = 0;
  std::vector<Figure> figures;  ///< of a call on the content that was checked, unless nobody called so
  std::string fault;            ///< the error in one slice; empty when all were right

  double rms_error() const;
  /// Adds the audit of another process.
  void add(const Audit& other);
};

}  // namespace assay
