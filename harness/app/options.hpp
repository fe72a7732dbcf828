/// The command line as values.
#pragma once

#include "app/benchmark_flags.hpp"
#include "app/exit_codes.hpp"
#include "app/options_epoch.hpp"
#include "app/options_predict.hpp"
#include "app/options_tune.hpp"
#include "assay/shard.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

enum class Verb {
  list,
  check,
  run,
  record,
  gate,
  compare,
  merge,
  predict,
  epoch,
  tune_loader,
  tune_batch,
  tune_threads,
  tune_threshold,
  tune_library,
  reanalyze,
  selftest,
  report,
  doctor,
  launch,
  turns,
  describe
};

/// What `record` changes in the ledger instead of measuring; at most one of the first three is given.
struct LedgerEdit {
  std::optional<std::string> accept, withdraw;  ///< keys of trials
  std::optional<std::string> release;
  std::string until;
  double ratio = 1.08;  ///< the usual limit, and 3 % for the interval around a slow-down that just exceeds it
  bool is_given() const { return accept || withdraw || release; }
};

struct Options {
  Verb verb = Verb::list;
  std::string filter;
  std::filesystem::path suite;
  std::filesystem::path output;
  std::string json;  ///< where JSON goes besides; `-` is standard output; empty is nowhere
  std::vector<std::filesystem::path> baselines;
  std::filesystem::path record_missing;  ///< folder for a baseline when there is none
  std::filesystem::path reports;
  std::filesystem::path markdown;
  std::string reason;
  int launches = 0;  ///< 0: the verb's own number
  std::uint64_t seed = 42;
  double time_limit = 0;  ///< seconds that a kernel may take; 0: by what naive takes
  std::vector<int> threads;
  std::optional<double> limit;  ///< time ratio that is still the same, where the verb's own is not wanted
  bool undecided_fails = false;
  bool as_markdown = false;
  bool replace = false;
  bool openblas_remedy = false;
  bool known_bad = false;
  bool code = false;
  std::filesystem::path trace;          ///< a problem from outside, for check
  std::filesystem::path first, second;  ///< files of compare, report and launch
  std::string base, head;  ///< of gate: a program, or a git revision to build; empty head is this program
  double budget_seconds = 300;                        ///< that a gate of two builds may measure for
  int runs = 10, planted_runs = 10;                   ///< of selftest
  std::vector<double> plants{0.02, 0.03, 0.05, 0.1};  ///< slow-downs of selftest
  std::vector<std::filesystem::path> again;           ///< samples that selftest kept, to be judged anew
  bool busy = false;                                  ///< one core is kept busy meanwhile
  std::optional<int> layouts;                         ///< links of a side that is built from a revision
  bool merge_base = false;                            ///< of base and head (else HEAD), instead of the base
  bool identical_too = false;                         ///< identical machine code is measured as well
  std::vector<std::filesystem::path> shards;          ///< files of merge
  ShardOptions shard;
  std::filesystem::path junit;
  ExitCodes exit_codes = ExitCodes::usual;
  BenchmarkFlags benchmark;
  LedgerEdit ledger;
  PredictOptions predict;
  EpochOptions epoch;
  TuneOptions tune;
  ThresholdOptions tune_threshold;
  LibraryOptions tune_library;
  bool record_step = false;
  double drift_limit = 1.03;
};

/// What to do, or what to print and exit with: help and version are not errors, everything else is.
struct CommandLine {
  std::optional<Options> options;
  std::string output, errors;
  int exit_code = 0;
};

/// Where baselines are looked for when nobody says where.
std::vector<std::filesystem::path> usual_baselines();

CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace assay
