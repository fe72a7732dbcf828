/// Arithmetic that a report about a job must satisfy, whoever wrote it. Pure functions.
#pragma once

#include "training/job/job.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class Rule {
  negative,           ///< no time or share is below zero, and no window takes none
  throughput,         ///< samples per second = batch / seconds per step
  epoch,              ///< epoch = steps * seconds per step, where no one-off cost is stated
  sum_of_parts,       ///< a total is the sum of the parts that it names
  parts_of_step,      ///< phases that do not overlap take no longer than the step
  shares,             ///< a share is its time by the step's, and all together are at most 100 %
  missing_phase,      ///< a phase that is named, or that every step has, is there
  step_count,         ///< floor or ceil of samples / batch, and the same everywhere
  large_other,        ///< at most 10 % of a step is unexplained
  underived_minimum,  ///< a bound says what it follows from, and does follow from it
  timed_windows,      ///< times of steps sum to the window's
  scopes,  ///< parts of different scopes are not added: a step, a batch of validation, a checkpoint
  slower,  ///< k times slower is a throughput that changes by -(1 - 1/k)
  bound    ///< nothing takes less than its minimum
};
std::string_view to_string(Rule rule);

struct LintFinding {
  Rule rule = Rule::negative;
  std::string field;          ///< where in the file: `claims[2].throughput`
  std::string text;           ///< the contradiction, with figures
  bool contradiction = true;  ///< or a remark: nothing is wrong, but less is known than is said
};

/// Largest share of a step that may be called "other" without a remark.
inline constexpr double largest_other = 0.1;

/// Lists findings in the order of the file: dataset, windows, phases, claims. Figures that agree within their
/// rounding agree.
std::vector<LintFinding> lint(const Job& job);

}  // namespace assay
