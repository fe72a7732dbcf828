/// Times of the same trials in several runs of a suite, oldest first, and files of them for other tools.
#pragma once

#include "assay/compare.hpp"
#include "assay/results.hpp"
#include "bench/ledger/ledger.hpp"
#include "bench/measure/merge.hpp"
#include "core/json/fields.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay {

struct HistoryRun {
  std::string file, date, commit, machine;
  /// Deciding facts in which the machine or the build differs from those of the run before: times on either
  /// side are not comparable.
  std::vector<std::string> changes;
};

struct HistoryRow {
  std::string key;
  std::vector<std::optional<Interval>> seconds;  ///< one per run; nothing where it was not measured
  /// Compares the last run with the first one since the machine changed, where there are two.
  std::optional<ComparedRow> verdict;
  std::string trend;     ///< the verdict in words, or why there is none
  std::string accepted;  ///< the slow-down that the ledger accepts, with reason and last day
};

struct History {
  std::string suite;
  std::vector<HistoryRun> runs;
  std::vector<HistoryRow> rows;   ///< the largest change first
  std::size_t compared_from = 0;  ///< the first run since the machine changed
};

/// Throws Error where the files hold several suites, or machines were mixed in one.
History history_of(std::vector<NamedRun<Results>> runs, const GatePolicy& policy,
                   const std::vector<Acceptance>& acceptances);

/// For a terminal: the largest change last.
std::string to_text(const History& history);
std::string to_markdown(const History& history);

/// Comma-separated values as Apache Otava reads them: `time`, attributes, and a column of seconds per trial.
std::string history_csv(const History& history);
/// Metric format of Bencher: nanoseconds of the last run with both ends of their interval.
std::string history_bencher(const History& history);
/// The form customSmallerIsBetter of github-action-benchmark: nanoseconds of the last run.
std::string history_github_action_benchmark(const History& history);
/// OpenMetrics 1.0: a gauge of seconds with a sample per trial and run.
std::string history_openmetrics(const History& history);

void describe(Fields& f, History& history);

}  // namespace assay
