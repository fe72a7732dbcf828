// The verbs that read files instead of measuring: compare and report; and doctor.

#include "app/output.hpp"
#include "app/verbs.hpp"
#include "assay/compare.hpp"
#include "assay/pipeline.hpp"
#include "assay/report.hpp"
#include "exchange/read_results.hpp"

#include <fmt/format.h>

namespace assay {

int compare_verb(const Options& options) {
  const Results before = read_any_results(options.first);
  const Results after = read_any_results(options.second);
  const Comparison comparison = compare(before, after, {.limit = options.limit.value_or(GatePolicy{}.limit)});
  const std::string text = options.as_markdown ? comparison_markdown(comparison, before, after)
                                               : comparison_text(comparison, before, after);
  put(options, text, to_json(comparison));
  if (comparison.count(Standing::slower) + comparison.count(Standing::wrong) > 0) return exit_code::found;
  const std::size_t compared = comparison.count(Standing::same) + comparison.count(Standing::faster) +
                               comparison.count(Standing::undecided);
  return compared > 0 ? exit_code::passed : exit_code::undecided;
}

int report_verb(const Options& options) {
  const Results results = results_from_json(read_file(options.first), options.first.string());
  std::optional<Baseline> baseline;
  for (const auto& folder : options.baselines) {
    if (!baseline) baseline = load_baseline(baseline_path(folder, results.machine.key, results.suite));
  }
  std::optional<Comparison> comparison;
  if (baseline)
    comparison = compare(results, *baseline, {.limit = options.limit.value_or(GatePolicy{}.limit)});
  const Report report = make_report(results, baseline, comparison);
  if (options.reports.empty()) {
    put(options, to_markdown(report), to_json(report));
    return exit_code::passed;
  }
  fmt::print("{}\n", write_report(report, options.reports).string());
  return exit_code::passed;
}

int doctor_verb(const Options& options) {
  if (options.openblas_remedy) {
    const std::string remedy = openblas_remedy();
    if (!remedy.empty()) fmt::print("{}\n", remedy);
    return exit_code::passed;
  }
  const Examination examination = examine();
  put(options, to_text(examination), to_json(examination));
  return exit_code::passed;
}

}  // namespace assay
