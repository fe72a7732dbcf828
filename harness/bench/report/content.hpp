// The parts of a report, each computed from results by one function.
#pragma once

#include "assay/report.hpp"
#include "bench/compare/roofs.hpp"
#include "core/markup/document.hpp"
#include "core/markup/plot.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

/// Process starts in which the trial was sampled.
std::size_t sampled_launches(const TrialResult& trial);
std::size_t slices_of(const TrialResult& trial);
/// Seconds per call of each slice by launch, in run order; none where the report withholds seconds.
std::vector<std::vector<double>> samples_of(const TimeRow& row);
/// Returns the geometric mean of at least one ratio.
double geometric_mean(const std::vector<CaseRatio>& ratios);
/// The name of a variant with its threads, where they are several: "packed", "packed#2".
std::string with_threads(const std::string& variant, int threads);
/// Returns the functions that the variant's code calls beyond run-times; null where they are not known.
const std::vector<Calls>* calls_of(const Results& results, const TrialResult& trial);
/// Adds the seconds of the trial, `weight` times: those of each launch to the sum of that launch, or the
/// median of all to a single sum.
void add_launches(std::vector<double>& sums, const TrialResult& trial, double weight);
/// The trials that did not run here, by the words of `reason`, in the order of the first of each.
std::vector<std::pair<std::string, Index>> skipped_by(const Results& results,
                                                      std::string (*reason)(const TrialResult&));
/// Whether the trial ran and gave other numbers than the oracle.
bool disagrees(const TrialResult& trial);

/// The lines of to_table() on the trials that disagree, fail or are faster than any kernel can be, by their
/// keys; empty without any.
std::string faults_text(const Results& results);

/// Everything that this run did not check, measure or compare, with the reason.
std::vector<std::string> not_covered(const Results& results, const std::optional<Comparison>& comparison,
                                     const std::vector<Prediction>& predictions);

/// The row of one measured trial, without seconds where machines were mixed, and without a share of the roof
/// where the roof was beaten. `naive` is the naive trial of its case, or null.
TimeRow time_row(const Results& results, const TrialResult& trial, const TrialResult* naive,
                 const std::vector<BeatenRoof>& beaten);

/// Returns a row for each variant that was measured at two sizes or more, or is slower at its only one.
std::vector<BreakEven> break_even(const Results& results);

/// Returns a row for every operation and thread count at which a library was measured beside ours.
std::vector<PeerRow> peers(const Results& results);

/// Returns the steps that were measured beside the variant before, grouped by operation.
std::vector<LadderStep> ladder(const Results& results);

/// Each prediction with its largest contributions, and the parts of an epoch left out, for a terminal.
std::string prediction_text(const std::string& suite, const std::vector<Prediction>& predictions);

doc::Column column_of(const Figure& figure);
/// The value of a figure, where it is known. Preparation below 1 µs only copies a handle, and is left out.
doc::Text figure_cell(const Figure& figure, const FigureValues& values);

struct EvidenceFile;
/// The files that a document rests on, with the hashes of their content.
doc::Table files_table(const std::vector<EvidenceFile>& files);

/// Says in a sentence how the machine was disturbed while trials were timed.
std::string weather_text(const Weather& weather);

/// The naive trials that were measured, by case. Refers to the results.
class NaiveTrials {
 public:
  explicit NaiveTrials(const Results& results);
  /// Returns null where naive has no time on the case of `trial`.
  const TrialResult* beside(const TrialResult& trial) const;

 private:
  std::map<std::pair<std::string_view, std::string_view>, const TrialResult*> by_case_;
};

/// The report as one file of HTML with pictures, which holds the JSON of the report as well.
Page report_page(const Report& report);

class Fields;
void describe(Fields& f, Report& report);

// Pictures, each empty where it would show nothing.

/// Speed-ups over naive of the fastest variant of each case, the least first.
Plot speedups_plot(const Report& report);
Plot roofline(const Report& report);
Plot peers_plot(const Report& report);
Plot predictions_plot(const Report& report);
Plot sizes_plot(const BreakEven& row);

/// Rows by the interest of their samples: failed or moved trials, then the widest intervals.
std::vector<const TimeRow*> rows_to_show(const Report& report);

/// "gemm layout=a, simd#1 against naive"
std::string name_of(const BreakEven& row);

}  // namespace assay
