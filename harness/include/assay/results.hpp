/// Results: what one run found, as plain values and as JSON. Reports,
/// comparisons and baselines are made of these.
#pragma once

#include "assay/agreement.hpp"
#include "assay/audit.hpp"
#include "assay/failure.hpp"
#include "assay/figure.hpp"
#include "assay/files.hpp"
#include "assay/machine.hpp"
#include "assay/operation.hpp"
#include "assay/shard.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

/// One short timed burst of `calls` calls.
struct Slice {
  double seconds = 0;      ///< wall time per call
  double cpu_seconds = 0;  ///< processor time of the calling thread per call
  Index calls = 1;
};

/// Slices of one process start, in the order they ran. They share its luck: the launch is the sample.
using Launch = std::vector<Slice>;

/// Seconds per call of the slices of a launch.
std::vector<double> seconds_of(const Launch& launch);

/// Begins the remark on a trial whose work another device does.
inline constexpr std::string_view works_elsewhere = "works elsewhere";
/// The same of one that works here and has a clock of its own.
inline constexpr std::string_view clock_not_taken = "timed by our clock, not by its own";

/// Values of figures by their tags.
using FigureValues = std::map<std::string, double>;

/// The variant that did the work of one that picks, and why.
struct Picked {
  std::string variant, reason;
};

/// One trial: what was planned, whether it agreed, how long it took.
struct TrialResult {
  std::string key;  ///< operation/variant/problem#threads
  std::string operation, variant, problem;
  int threads = 1;
  double per_step = 0;
  std::string note;              ///< of the case
  std::string workload;          ///< results of different workloads are not comparable
  std::filesystem::path file{};  ///< that holds the problem, as Case; in no stored results
  /// Words and values that another program was run with, until names are settled; in no stored results.
  std::vector<std::pair<std::string, std::string>> settings{};
  Cost cost;
  std::string skipped;  ///< why it did not run here; nothing below is set then
  bool failed = false;  ///< it ran, and `skipped` is the error that a foreign program reported of it
  Agreement agreement;
  /// Set where it crashed or hung, in the check or later: it does not agree then, and has no launches.
  std::optional<Failure> failure;
  std::vector<Launch> launches;  ///< empty when it disagreed or was not measured
  FigureValues figures;          ///< measured besides times; Results::figures describes them
  std::optional<Picked> picked;  ///< where the variant has no code of its own
  Audit audit;                   ///< of the slices that were timed; a fault there is in `agreement` as well
  std::string
      remark;  ///< what a reader must know of this measurement; works_elsewhere or clock_not_taken begins it
  /// Why no kernel can be as fast as its launches say; empty when one can. They are kept, and not used.
  std::string impossible;
};

/// The calls of a variant's code beyond run-times: see VariantInfo.
struct VariantCalls {
  std::string variant;  ///< operation/variant
  std::vector<Calls> calls;
};

/// A step of the ladder from naive to the fastest: see Variant::after.
struct VariantStep {
  std::string variant;  ///< operation/variant
  std::string after;    ///< name of the variant of the same operation that it takes further, without a tier
};

/// One run of a suite.
struct Results {
  std::string suite, about;
  double steps_per_epoch = 0;
  Machine machine;
  std::string
      commit;        ///< of the program, `unknown` outside a checkout, with `+changes` when it was not clean
  std::string date;  ///< UTC, ISO 8601
  std::uint64_t seed = 0;
  std::string command;               ///< repeats this run, all shards of it
  bool partial = false;              ///< interrupted: some trials are missing
  Index cases_left_out = 0;          ///< of the suite, since the selection did not want them
  std::optional<ShardRecord> shard;  ///< nothing when all selected cases were run in one go
  int merged_shards = 0;  ///< put together from so many: launches of different cases share no luck then
  /// Why seconds of different cases do not belong together: their shards ran on different machines. Ratios
  /// within a case stand, seconds are withheld. Empty when there was one machine, or several alike.
  std::string mixed_machines;
  std::vector<Roof> roofs;
  Weather weather;
  std::vector<VariantCalls> calls;  ///< of the variants for which they are known
  std::vector<VariantStep> steps;   ///< of the variants that take another one further
  std::vector<Figure> figures;      ///< those that its trials may have, without values
  std::vector<TrialResult> trials;
  /// The second measurements of a gate: trials that looked slower, with the other variants of their cases.
  std::vector<TrialResult> again;
};

/// Ran, agreed, and has times that can be.
bool is_measured(const TrialResult& trial);

/// Returns the measured figure with this tag; 0 where the trial has none.
double figure_of(const TrialResult& trial, std::string_view tag);

/// The trial's case without the variant: operation/problem.
std::string case_of(const TrialResult& trial);

/// The "schema" that to_json() writes, and the only one that results_from_json() reads.
inline constexpr std::string_view results_schema = "assay.result/1";

std::string to_json(const Results& results);
/// Throws Error naming `where` (the file) and the key at fault: invalid JSON, truncation, another schema,
/// wrong types, impossible values, a repeated trial. Keys that it does not know are passed over.
Results results_from_json(const std::string& text, const std::string& where);

}  // namespace assay
