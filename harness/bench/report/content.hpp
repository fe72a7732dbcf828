// The parts of a report's content that need more than a line.
#pragma once

#include "assay/report.hpp"
#include "bench/compare/roofs.hpp"
#include "core/markup/document.hpp"

#include <map>
#include <string_view>
#include <utility>

namespace assay {

/// Process starts in which the trial was sampled.
std::size_t sampled_launches(const TrialResult& trial);
std::size_t slices_of(const TrialResult& trial);
/// Seconds per call of each slice by launch, in run order; none where the report withholds seconds.
std::vector<std::vector<double>> samples_of(const TimeRow& row);
/// Of one ratio at least; 1 is the same time.
double geometric_mean(const std::vector<CaseRatio>& ratios);
/// The name of a variant with its threads, where they are several: "packed", "packed#2".
std::string with_threads(const std::string& variant, int threads);
/// The calls of its code beyond run-times; null where they are not known.
const std::vector<Calls>* calls_of(const Results& results, const TrialResult& trial);
/// Adds the seconds of the trial, `weight` times: those of each launch to the sum of that launch, or the
/// median of all to a single sum.
void add_launches(std::vector<double>& sums, const TrialResult& trial, double weight);
/// The trials that did not run here, by the words of `reason`, in the order of the first of each.
std::vector<std::pair<std::string, Index>> skipped_by(const Results& results,
                                                      std::string (*reason)(const TrialResult&));
/// Ran, and gave other numbers than the oracle.
bool disagrees(const TrialResult& trial);

/// The lines of to_table() on the trials that disagree, fail or are faster than any kernel can be, by their
/// keys; empty without any.
std::string faults_text(const Results& results);

Summary summary_of(const Results& results, const std::optional<Comparison>& comparison, Outcome outcome);

/// Everything that this run did not check, measure or compare, with the reason.
std::vector<std::string> not_covered(const Results& results, const std::optional<Comparison>& comparison,
                                     const std::vector<Prediction>& predictions);

/// The row of one measured trial, without seconds where machines were mixed, and without a share of the roof
/// where that was beaten. `naive` is that of its case, or null.
TimeRow time_row(const Results& results, const TrialResult& trial, const TrialResult* naive,
                 const std::vector<BeatenRoof>& beaten);

/// Returns a row for every variant that was measured at two sizes or more, and for those that are slower at
/// their only one.
std::vector<BreakEven> break_even(const Results& results);

/// Returns a row for every operation and thread count at which a library was measured beside ours.
std::vector<PeerRow> peers(const Results& results);

/// Returns the steps that were measured beside the one before, those of an operation together.
std::vector<LadderStep> ladder(const Results& results);

/// Each prediction with its largest contributions, and the parts of an epoch that they leave out, for a
/// terminal.
std::string prediction_text(const std::string& suite, const std::vector<Prediction>& predictions);

doc::Column column_of(const Figure& figure);
/// The value of a figure, where it is known: a time below 1 µs is that of a handle, and no preparation.
doc::Text figure_cell(const Figure& figure, const FigureValues& values);

struct EvidenceFile;
/// The files that a document rests on, with the hashes of their content.
doc::Table files_table(const std::vector<EvidenceFile>& files);

/// Says in a sentence how the machine was disturbed while trials were timed.
std::string weather_text(const Weather& weather);

/// The naive trials of all cases, where these were measured. Refers to the results.
class NaiveTrials {
 public:
  explicit NaiveTrials(const Results& results);
  /// Returns null where naive has no time on the case of `trial`.
  const TrialResult* beside(const TrialResult& trial) const;

 private:
  std::map<std::pair<std::string_view, std::string_view>, const TrialResult*> by_case_;
};

class Fields;
/// Reports as files hold them.
void describe(Fields& f, Report& report);

}  // namespace assay
