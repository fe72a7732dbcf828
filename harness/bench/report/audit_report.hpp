/// The audit of a run: the gains of an epoch by the fastest variants, ranked, each with its evidence.
#pragma once

#include "assay/results.hpp"
#include "bench/report/claims.hpp"
#include "core/markup/document.hpp"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// A variant as the program that writes the audit knows it; null for a variant that it does not have.
using FindVariant =
    std::function<const VariantInfo*(const std::string& operation, const std::string& variant)>;

/// The effort of a change, by what the variant needs.
enum class AuditPhase {
  quick,       ///< one thread, no library, nothing kept: a function is replaced
  structural,  ///< threads, a library, or memory that somebody has to keep
  tuning       ///< slower on another case of the same operation: a size has to be found
};
inline constexpr std::array<std::string_view, 3> audit_phases{"quick wins", "structural", "tuning"};

/// One case that a finding replaces.
struct AuditedCase {
  std::string key, present;
  Interval speedup;
  double share_of_roof = 0;  ///< of the variant; 0 where no roof is known or believed
};

/// Gain of the epoch when one variant replaces the present one in all cases in which it is the fastest.
struct AuditFinding {
  std::string variant;  ///< operation/variant#threads
  std::string location, change, issue;
  AuditPhase phase = AuditPhase::quick;
  double share = 0;        ///< of the present epoch
  Interval speedup;        ///< of its cases together
  Interval saved;          ///< seconds of an epoch, or of a call of each case
  double worst_error = 0;  ///< in units of the bound
  double allocations = 0, workspace_bytes = 0, prepare_seconds = 0;
  std::vector<AuditedCase> cases;
  std::vector<std::string> risks;
  /// The speed-up of the same cases in the run before; nothing where that run lacks a case.
  std::optional<Interval> expected;
  bool as_expected = false;  ///< the two intervals meet
};

/// A variant that might gain, and was not timed.
struct UnmeasuredFinding {
  std::string variant, location, why;
};

/// The epoch after a phase and all before it.
struct AuditTotal {
  AuditPhase phase = AuditPhase::quick;
  std::size_t findings = 0;
  Interval seconds;  ///< of an epoch
  Interval gain;     ///< times as fast as the present one: composed over the same launches, never added
};

struct AuditReport {
  ClaimsRun run;
  std::vector<EvidenceFile> files;  ///< the results, and the results before where they were given
  bool is_network = false;          ///< seconds are those of an epoch, else of one call of each case
  Interval present;                 ///< seconds before anything is replaced
  std::vector<AuditFinding> findings;
  std::vector<UnmeasuredFinding> unmeasured;
  std::vector<AuditTotal> totals;
  std::vector<std::string> risks, not_examined;
};

struct AuditRequest {
  const Results& results;
  const Results* before = nullptr;
  std::vector<EvidenceFile> files;
  std::string commit;   ///< of the program that knows the sources
  std::string present;  ///< regular expression of the keys that are in use; naive elsewhere
  FindVariant find_variant;
};

/// Ranks variants by saved seconds. A variant is a finding where its whole interval shows a gain; the others
/// are listed as not examined.
AuditReport audited(const AuditRequest& request);

/// At most twelve lines, the outcome first.
std::vector<doc::Text> summary_lines(const AuditReport& report);
std::string to_text(const AuditReport& report);
std::string to_markdown(const AuditReport& report);
void describe(Fields& f, AuditReport& report);

}  // namespace assay
