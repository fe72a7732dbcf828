/// The record of a break-even size: the answer in words, all sizes measured, and all that were not.
#pragma once

#include "bench/tune/threshold_rounds.hpp"
#include "bench/tune/threshold_search.hpp"
#include "core/tune/record.hpp"

#include <map>
#include <string>

namespace assay {

struct ThresholdRecord {
  ThresholdQuestion question;
  Circumstances made;
  ThresholdPolicy policy;
  Threshold threshold;
  std::map<Index, PairTimes> times;
  std::string wrong;  ///< the variant that disagreed with the oracle, and how; the search ended there
};

/// Says what follows, the outcome first: `FOUND: simd@avx2 is faster than naive from rows = 8 on. ...`
std::string threshold_sentence(const ThresholdRecord& record);

doc::Document record_document(const ThresholdRecord& record);

}  // namespace assay
