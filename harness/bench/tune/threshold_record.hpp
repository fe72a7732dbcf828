/// The record of a break-even size: the answer in words, all sizes measured, and all that were not; and the
/// size as a constant of C++, for the code that has to choose.
#pragma once

#include "bench/tune/threshold_rounds.hpp"
#include "core/tune/turns.hpp"

#include <string>

namespace assay {

struct ThresholdRecord {
  ThresholdQuestion question;
  Circumstances made;
  ThresholdPolicy policy;
  Threshold threshold;
  std::string wrong;  ///< the variant that disagreed with the oracle, and how; the search ended there
};

/// The answer in a sentence, the outcome first: `FOUND: simd@avx2 is faster than naive from rows = 8 on. ...`
std::string threshold_sentence(const ThresholdRecord& record);

doc::Document record_document(const ThresholdRecord& record);

/// Throws Error unless `name` may name a constant: an identifier that is no keyword and is not reserved.
void require_identifier(const std::string& name);

/// A whole header with the constant as `std::ptrdiff_t`, and a comment on the measurement. Only for a
/// threshold that has a constant.
std::string header_text(const ThresholdRecord& record, const std::string& name);

}  // namespace assay
