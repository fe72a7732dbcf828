/// Arithmetic that the figures of a file must satisfy, whoever wrote it. Pure functions.
#pragma once

#include "core/json/fields.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class Rule {
  negative,           ///< no time, share or count is below zero, and no window takes none
  throughput,         ///< samples per second = batch / seconds per step
  epoch,              ///< epoch = steps * seconds per step, where no one-off cost is stated
  sum_of_parts,       ///< a total is the sum of the parts that it names
  parts_of_step,      ///< phases that do not overlap take no longer than the step
  shares,             ///< a share is its time by the step's, and all together are at most 100 %
  missing_phase,      ///< every phase that is named, or that every step has, is there
  step_count,         ///< floor or ceil of samples / batch, and the same everywhere
  large_other,        ///< at most 10 % of a step is unexplained
  underived_minimum,  ///< a bound names its derivation and follows from it
  timed_windows,      ///< times of steps sum to the window's
  scopes,    ///< parts of different scopes are not added: a step, a batch of validation, a checkpoint
  slower,    ///< k times slower is a throughput that changes by -(1 - 1/k), and slower takes longer
  bound,     ///< nothing takes less than its minimum, is more than its whole, or agrees beyond its bound
  interval,  ///< an estimate lies within its interval, and within the range of its samples
  ratio      ///< a ratio lies between the ratios of the samples, and a mean between its terms
};
std::string_view to_string(Rule rule);

struct LintFinding {
  Rule rule = Rule::negative;
  std::string field;          ///< where in the file: `claims[2].throughput`
  std::string text;           ///< the contradiction, with figures
  bool contradiction = true;  ///< false: a remark; nothing is wrong, but the file claims more than is known
};
void describe(Fields& f, LintFinding& finding);

/// "WRONG shares: phases.load.share: 55 % contradicts 40.0 ms / 100 ms = 40.0 %"
std::string in_words(const LintFinding& finding);

/// Lists the contradictions among the values of a report or of results, which are told by the names of their
/// fields, in the order of the file: intervals, samples, shares, counts, ratios, sums and verdicts.
std::vector<LintFinding> lint(const Json& values);

/// Throws Error naming `where`, the field and the first contradiction among values that were read.
void require_consistent(const Json& values, const std::string& where);

}  // namespace assay
