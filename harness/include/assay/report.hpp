/// Reports: what a run found, in a fixed order, first as plain values and then as Markdown, JSON or a table.
#pragma once

#include "assay/compare.hpp"
#include "assay/epoch.hpp"
#include "assay/outcome.hpp"
#include "assay/results.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay {

/// The outcome of a report, and the trials behind it.
struct Summary {
  Outcome outcome;
  std::size_t trials = 0, measured = 0;
  std::size_t fewest_launches = 0, most_launches = 0;  ///< of the measured trials
  /// Trials in each state, in a fixed order; states without trials are included.
  struct Count {
    std::string state;
    std::size_t trials = 0;
  };
  std::vector<Count> counts;
  /// Relative slow-downs that would have been seen in half, and in nine of ten, of the compared trials; 0
  /// when nothing was compared.
  double visible_in_half = 0, visible_in_most = 0;
};

/// Agreement of one operation with its oracle.
struct AgreementRow {
  std::string operation;
  std::size_t variants = 0, cases = 0, trials = 0, disagreeing = 0;
  double worst_error = 0;  ///< of the trials that agree, in units of the bound
  Index compared = 0, total = 0;
};

struct Disagreement {
  std::string key, detail;
};

/// A figure of the outputs of one case, and the trials in which it is the same.
struct FigureRow {
  std::string problem_case;
  Figure figure;
  std::vector<std::string> trials;  ///< variant#threads
  bool of_all = false;              ///< all trials of the case have this value
};

/// The checks of one variant while it was timed, in all its trials together.
struct TrustRow {
  std::string variant;  ///< operation/variant
  Audit audit;          ///< of all trials together; its faults are in Report::disagreements
  /// Functions that its code calls beyond run-times; nothing when they are not known.
  std::optional<std::vector<Calls>> calls;
};

/// A trial that is faster than any kernel can be, and why.
struct ImpossibleTime {
  std::string key, why;
};

/// Time of one measured trial.
struct TimeRow {
  TrialResult trial;
  Interval seconds;                 ///< per call; all zero where the report withholds seconds
  std::optional<Interval> speedup;  ///< over naive; absent for naive itself and where naive has no time
  double flops_per_second = 0, bytes_per_second = 0;  ///< of the contract's definition
  /// 1 is the roof, and the most; 0 when the roof is unknown or not believed.
  double share_of_roof = 0;
  bool roof_not_believed = false;  ///< trials lie above the roof that holds here, this one or others
  /// Calls, beside naive, that repay its preparation; 0: never, or naive has no time.
  double repaid_after = 0;
};

/// One size of a variant, against its rival.
struct BreakEvenSize {
  std::string extents;
  double bytes = 0;  ///< of a call
  Interval ratio;    ///< time of the rival / time of the variant
};

/// The smallest measured size from which on a variant is faster than its rival. The sizes are the cases of
/// one operation that differ in extents alone, ordered by the bytes that a call moves.
struct BreakEven {
  std::string operation;
  std::string kind;   ///< fields that all cases share, such as `layout=per_channel`; may be empty
  std::string trial;  ///< variant#threads
  std::string rival;  ///< `naive`, or the same variant with one thread
  /// Extents of the smallest size from which on it is faster at every size that was measured; empty when
  /// there is none. Faster and slower mean that the whole interval of the ratio says so.
  std::string from;
  double from_bytes = 0;
  std::vector<std::string> slower;     ///< sizes at which it is slower
  std::vector<std::string> undecided;  ///< sizes at which the interval contains 1
  std::vector<BreakEvenSize> points;   ///< all sizes, in the order of bytes
};

/// One case on which a variant of ours and another one, such as that of a library, were both measured.
struct CaseRatio {
  std::string problem, ours, peer;  ///< the fastest variant of each side
  Interval ratio;                   ///< time of the peer / time of ours: above 1, ours is faster
};

/// The fastest variant of ours against the fastest library, over the cases of one operation with as many
/// threads. Naive counts as neither.
struct PeerRow {
  std::string operation;
  int threads = 1;
  std::vector<std::string> libraries;
  double mean = 1;                ///< geometric, of the ratios
  std::vector<CaseRatio> ratios;  ///< one per case, the worst first; at least one
};

/// The gain of a variant over the variant that it takes further, over the cases that both ran.
struct LadderStep {
  std::string operation, step, after;  ///< names without tiers: the fastest tier of each case counts
  int threads = 1;                     ///< the most that were measured of the step; the variant before has 1
  double mean = 1, in_all = 1;         ///< geometric, of times before by times after; in all: from naive on
  std::vector<CaseRatio> ratios;  ///< over the variant before, one per case, the worst first; at least one
};

struct Report {
  /// With `mixed_machines`, seconds and everything made of them (rates, roofs, break-even sizes) are
  /// withheld.
  Results results;
  Summary summary;
  std::vector<std::string> roofs_not_believed;  ///< why no share of that roof is shown
  std::vector<AgreementRow> agreement;
  std::vector<Disagreement> disagreements;
  std::vector<FigureRow> figures;  ///< case by case; none where no contract defines any
  std::vector<TrustRow> trust;
  std::vector<TimeRow> times;  ///< case by case
  std::vector<ImpossibleTime> impossible;
  std::vector<PeerRow> peers;      ///< by operation and threads, worst mean first
  std::vector<LadderStep> ladder;  ///< by operation, from naive up
  std::vector<BreakEven> break_even;
  std::optional<Comparison> comparison;
  std::string baseline;  ///< the recordings that it was compared with, in words; empty without any
  std::vector<Prediction> predictions;
  Composition composition;
  std::vector<std::string> not_covered;  ///< what was not checked, measured or compared, and why
  std::vector<std::string> reproduce;    ///< commands
};

/// `outcome` is what the caller printed, or would print: a report decides nothing anew.
Report make_report(const Results& results, const std::optional<Baseline>& baseline,
                   const std::optional<Comparison>& comparison, Outcome outcome);

/// The report as prose and tables: the outcome, the fastest variant of each case, and the rest folded away.
std::string to_markdown(const Report& report);

/// The table of all times, a line for each trial.
std::string to_csv(const Report& report);

/// Writes the same content, schema `assay.report/1`, SI units.
std::string to_json(const Report& report);

/// The table that `assay run` prints: one block per case, at most 80 columns.
std::string to_table(const Results& results);

}  // namespace assay
