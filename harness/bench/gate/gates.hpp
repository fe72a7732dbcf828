/// Gates: against the baseline of this machine, and of two programs, whose trials are matched and sampled in
/// turns, with pointers to what became slower. Stored samples give the same outcomes.
#pragma once

#include "assay/pipeline.hpp"
#include "bench/gate/two_builds.hpp"
#include "bench/gate/wrapped_commands.hpp"
#include "bench/ledger/ledger.hpp"
#include "bench/programs/revision.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// A gate against the baseline of this machine.
struct BaselineGateRequest {
  RunRequest run;
  GatePolicy policy;
  GateRules rules;
  std::filesystem::path record_missing;  ///< folder for a baseline where none compares; empty: not recorded
};

struct BaselineGate {
  Results results;
  std::optional<Baseline> baseline;  ///< of this machine, if there is one
  bool compared = false;             ///< false: the rows below say why they were not
  Comparison comparison;
  std::vector<std::string> ledger;  ///< its findings, line by line
  std::string suite;  ///< as commands name it, with the folder of baselines where that is not the usual one
  std::vector<std::string> remarks;  ///< recordings of other machines, and the one made now, line by line
  std::string next;  ///< the command that makes a baseline, where there was none to compare with
  Outcome outcome;
};

/// Runs, compares with the baseline, measures what looks slower a second time, applies the ledger of the
/// suite, decides, and records what it was asked to. Throws Error for a baseline or ledger that cannot be
/// used, before anything is measured.
BaselineGate gate_against_baseline(const BaselineGateRequest& request, const Registry& registry,
                                   const Sample& sample, const Hooks& hooks);

/// Two builds of this program.
struct BuildsGateRequest {
  Programs base, head;
  Suite suite;
  /// Suites of which is said what a slow-down costs in an epoch.
  std::vector<Suite> suites_around;
  std::vector<int> threads;
  std::optional<Shard> shard;
  Durations durations;         ///< that balance the shards
  bool identical_too = false;  ///< identical machine code is measured as well
  double time_limit = 0;       ///< seconds that a kernel may take; 0: by what naive takes
  GateRules rules;
  /// With the names of the sides, machine, date, seed, command, filter, policy and budget.
  TwoBuilds run;
};

/// Throws Error for a step that cannot be recorded and a filter that selects nothing, before anything is
/// measured, and for a program that cannot be started.
TwoBuilds gate_of_builds(BuildsGateRequest request, const Registry& registry, const Hooks& hooks);

/// Two programs that are not assay's, each with its arguments.
struct ProgramsGateRequest {
  std::string name;  ///< of what is measured; empty: that of the head's file
  Programs base, head;
  std::optional<Shard> shard;
  Durations durations{};                ///< that balance the shards
  double time_limit = 0;                ///< seconds; 0: the usual one
  std::vector<std::string> counters{};  ///< of benchmarks, as `hits=higher`, that are judged
};

/// Programs that were built with Google Benchmark. Throws Error as gate_of_builds() does.
TwoBuilds gate_of_benchmarks(const ProgramsGateRequest& request, TwoBuilds run, const Hooks& hooks);

/// Programs that are timed as commands. Throws Error as gate_of_commands() does.
TwoBuilds gate_of_built_commands(const ProgramsGateRequest& request, CommandTiming timing, TwoBuilds run,
                                 const Hooks& hooks);

/// Points to the code to look at: fills PairedTrial::pointers and cause of each trial that the run shows to
/// be slower, with the functions that its variant reaches and that differ between the two programs, with
/// their file, and where `perf` can sample, what share of the samples each side's hot functions have.
/// `registry` knows the source files. A program that cannot be read is named there, too.
void note_pointers(TwoBuilds& run, const std::filesystem::path& base, const std::filesystem::path& head,
                   const Registry& registry, const Hooks& hooks);

struct HotSymbol {
  std::string name;
  double share = 0;  ///< of the samples of the whole launch, which fills inputs too
};

/// Where a program spends the time of one trial, by the sampling profiler `perf`, largest share first.
/// Nothing where `perf` is missing or may not sample, or the program failed: a missing profile is no fault.
std::optional<std::vector<HotSymbol>> hot_symbols(const std::filesystem::path& program,
                                                  const TrialRequest& trial, std::uint64_t seed,
                                                  const Hooks& hooks);

/// Reads the output of `perf report --stdio -q --sort symbol`: `  61.20%  [.] name`. Other lines are skipped.
std::vector<HotSymbol> hot_symbols_from(const std::string& report);

struct TwoBuildsOutcome {
  GateFindings findings;
  std::vector<std::string> ledger;  ///< its findings, line by line
  Outcome outcome;
};

/// Judges the samples, applies the ledger, decides, and records the step if it is asked to. With a ledger,
/// accepted slow-downs do not fail, and slow-downs that crept since the release do.
TwoBuildsOutcome judged(const TwoBuilds& run, const std::optional<StoredLedger>& ledger,
                        const GateRules& rules);

}  // namespace assay
