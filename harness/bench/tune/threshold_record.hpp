/// A break-even size as its readers want it: a table, a decision record, JSON.
#pragma once

#include "assay/machine.hpp"
#include "bench/tune/threshold_rounds.hpp"
#include "bench/tune/threshold_search.hpp"

#include <map>
#include <string>

namespace assay {

struct ThresholdRecord {
  ThresholdQuestion question;
  std::string date, commit, command;
  Machine machine;
  Weather weather;
  ThresholdPolicy policy;
  Threshold threshold;
  std::map<Index, PairTimes> times;
  std::string wrong;  ///< which variant disagreed with the oracle; the search ended there
};

/// Says what follows, the outcome first: `FOUND: simd@avx2 is faster than naive from rows = 8 on. ...`
std::string threshold_sentence(const ThresholdRecord& record);
/// Every size measured, for a terminal of 80 columns, the outcome as its last line.
std::string threshold_text(const ThresholdRecord& record);
/// Markdown: decision, what it does not say, sizes, how to reproduce.
std::string threshold_markdown(const ThresholdRecord& record);
std::string to_json(const ThresholdRecord& record);
class Fields;
void describe(Fields& f, ThresholdRecord& record);

}  // namespace assay
