/// The step of somebody's training loop beside kernels that were measured: what faster ones would bring it.
#pragma once

#include "assay/interval.hpp"
#include "assay/registry.hpp"
#include "assay/results.hpp"
#include "core/markup/document.hpp"
#include "training/job/traced_step.hpp"

#include <string>
#include <vector>

namespace assay {

/// Kernels for all cases of one call, and the sum of their seconds; none where a case was not measured.
struct StepKernels {
  Interval seconds{.coverage = 1};
  std::string names{};    ///< "the trace", or `operation/variant#threads`
  bool threaded = false;  ///< any of them
};

/// The cases of one call of the step.
struct StepAuditRow {
  StepPart part;
  StepKernels present, best;
  bool present_was_measured = false;  ///< in the same run; the trace may still be faster
  Interval saved;                     ///< seconds of a step, none below zero
  bool is_measured() const { return best.seconds.middle > 0; }
  /// No variant is faster than what is in use.
  bool is_ahead() const { return is_measured() && saved.middle <= 0; }
};

struct StepAudit {
  TracedStep step;
  std::vector<StepAuditRow> rows;  ///< the most seconds saved first
  /// Of the whole step, with the best variant of each case. Its ends are the sums of those of the cases.
  Interval gain;
  double most = 1;  ///< were the time of all cases nothing
  std::vector<std::string> risks;
};

/// `present` is a regular expression of the keys that are in use now: PyTorch's own kernels, measured in the
/// same run. Of those and the times in the trace, the smaller counts. Throws Error where it is given and does
/// not match most of the step's cases that were measured, and where none was.
StepAudit audited(TracedStep step, const Results& results, const Registry& registry,
                  const std::string& present);

Json step_audit_schema();   ///< of the JSON of an audit
Json traced_step_schema();  ///< of that of a step alone

doc::Document document_of(const StepAudit& audit);
/// The step alone: the cases, and by name what no contract covers.
doc::Document document_of(const TracedStep& step);

}  // namespace assay
