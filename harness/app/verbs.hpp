/// The verbs: their options, a function for each that does it, prints what was found, and returns the
/// outcome, and one row for each way in which a word is used. All options are described in verbs.cpp. What
/// several verbs make of their options: requests, shards, the rules of a gate, and its outcome told. And the
/// command line: which verb, with which options, and what its exit code means to whoever started it.
#pragma once

#include "app/option_list.hpp"
#include "assay/compare.hpp"
#include "assay/outcome.hpp"
#include "assay/pipeline.hpp"
#include "assay/registry.hpp"
#include "assay/shard.hpp"
#include "bench/gate/two_builds.hpp"
#include "bench/gate/wrapped_commands.hpp"
#include "bench/ledger/ledger.hpp"
#include "bench/tune/command_settings.hpp"
#include "bench/tune/threshold.hpp"
#include "core/json/json.hpp"
#include "core/machine/clock.hpp"
#include "training/tune/settings.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace assay {

/// Process starts of verbs whose results are compared. With six launches the order-statistic interval of the
/// median reaches 96.9 %; with five it stays at 93.8 %.
inline constexpr int usual_launches = 6;

struct ListOptions {
  std::string filter;
  bool known = false;
  bool code = false;
  std::string json;  ///< where JSON goes besides, here and below; `-` is standard output; empty is nowhere
};

/// `check` of all corner cases.
struct CheckOptions {
  std::string filter;
  std::uint64_t seed = 42;
  double time_limit = 0;   ///< seconds that a kernel may take, here and below; 0: by what naive takes
  bool bisection = false;  ///< exit codes are for `git bisect run`
  std::string json;
  bool quiet = false;  ///< only rows that ask for something to be done, and the outcome; here and below
};
struct KnownBadOptions {
  CheckOptions check;
  bool known_bad = false;
};
struct KnownCheatsOptions {
  CheckOptions check;
  bool known_cheats = false;
  int repeats = 1;
};
struct CheckTraceOptions {
  CheckOptions check;
  std::filesystem::path trace;
  std::filesystem::path requests;
};
struct CheckSuiteOptions {
  CheckOptions check;
  std::filesystem::path suite;
  std::vector<int> threads;
  ShardOptions shard;
};

struct SelectionOptions {
  std::filesystem::path suite;
  std::string filter;
  std::vector<int> threads;
  std::uint64_t seed = 42;
  double time_limit = 0;
};

enum class BenchmarkFormat { own, json, console, csv };

/// Flags of Google Benchmark that `run` honours, besides its filter.
struct BenchmarkFlags {
  bool list_tests = false;  ///< print the keys and stop
  std::filesystem::path out;
  BenchmarkFormat out_format = BenchmarkFormat::json;
  BenchmarkFormat format = BenchmarkFormat::own;  ///< of standard output
  std::optional<int> repetitions;                 ///< slices per trial
  std::string min_time;      ///< `0.1` or `0.1s`: seconds of a slice at least; `100x`: calls of a slice
  bool interleaving = true;  ///< always so: variants of one case are sampled in mixed order
  std::string ignored;       ///< how Google Benchmark prints
};

struct RunOptions {
  SelectionOptions selection;
  int launches = 1;
  bool strict = false;
  ShardOptions shard;
  BenchmarkFlags benchmark;
  std::filesystem::path output;
  std::string json;
  bool quiet = false;
};

struct RecordOptions {
  /// No filter: half a baseline would leave the other half uncompared without a word.
  SelectionOptions selection;
  int launches = usual_launches;
  bool strict = false;
  std::vector<std::filesystem::path> baselines{usual_baselines};
  std::string reason;
  bool replace = false;
  std::string json;
  bool quiet = false;
};

/// Changes of a ledger, which measure nothing.
struct LedgerOptions {
  std::filesystem::path suite;
  std::vector<std::filesystem::path> baselines{usual_baselines};
  std::string json;
};
struct AcceptOptions {
  LedgerOptions ledger;
  std::string key, reason, until;
  double ratio = 1.08;  ///< the usual limit, and 3 % for the interval around a slow-down that just exceeds it
  std::string figure;   ///< `height=1300`; empty where the time is meant
};
struct WithdrawOptions {
  LedgerOptions ledger;
  std::string key, figure;
};
struct ReleaseOptions {
  LedgerOptions ledger;
  std::string release;
};

/// A page of one file, and a folder for its pictures.
struct PageFiles {
  std::filesystem::path html, svg;
};

struct Outputs {
  std::filesystem::path markdown;
  PageFiles page;
  std::string json;
};

/// How a gate decides, and where it leaves its outcome: the same for samples just taken and for stored ones.
struct OutcomeOptions {
  std::filesystem::path suite;  ///< empty where only its name is known
  GateRules rules;              ///< but for the suite and the day
  std::filesystem::path output, markdown;
  PageFiles page;
  std::filesystem::path junit, code_quality;  ///< that CI engines read
  std::string json;
  bool quiet = false;
};

/// `gate` against a stored baseline.
struct GateOptions {
  SelectionOptions selection;  ///< but for the suite
  int launches = usual_launches;
  double limit = GatePolicy{}.limit;
  OutcomeOptions outcome;
  std::filesystem::path record_missing;  ///< folder for a baseline when there is none
  ShardOptions shard;
  std::filesystem::path reports;
};

/// Time ratio that is still the same for programs and commands that take no turns of assay's.
inline constexpr double usual_limit_of_programs = 1.03;

/// `gate` of two programs of Google Benchmark, and what gates of two builds and of commands have in common
/// with it.
struct ProgramsOptions {
  std::string base, head;              ///< a program, or a git revision to build; empty head is this program
  std::filesystem::path base_build{};  ///< the program of a base that was built elsewhere, or its folder
  std::string filter;
  std::optional<double> limit;
  double budget_seconds = 300;
  double time_limit = 0;
  std::vector<std::string> counters{};  ///< `hits=higher`: of benchmarks, judged beside times
  std::uint64_t seed = 42;
  OutcomeOptions outcome;
};
struct BuildsOptions {
  ProgramsOptions programs;
  std::vector<int> threads;
  std::optional<int> layouts;  ///< links of a side that is built from a revision
  bool merge_base = false;     ///< of base and head (else HEAD), instead of the base
  bool identical_too = false;  ///< identical machine code is measured as well
  ShardOptions shard;
};
/// `gate` of two builds that were prepared: base and head of `builds` stay empty.
struct BundleOptions {
  std::filesystem::path bundle;
  BuildsOptions builds;
};
/// `prepare`: the sides of `builds`, and nothing else of it.
struct PrepareOptions {
  BuildsOptions builds;
  std::filesystem::path output;
};
struct ReanalyzeOptions {
  std::filesystem::path results;
  OutcomeOptions outcome;
};
struct MergeOptions {
  std::vector<std::filesystem::path> shards;
  OutcomeOptions outcome;
};

/// `wrap` of two commands: base and head are lines of a shell.
struct CommandsOptions {
  ProgramsOptions programs;
  CommandTiming timing;
};
/// `wrap` of one command.
struct CommandOptions {
  std::vector<std::string> command;
  CommandTiming timing;
  int launches = 32;
  double budget_seconds = ProgramsOptions{}.budget_seconds;
  std::filesystem::path output;
  std::string json;
  bool quiet = false;
};

struct SelftestOptions {
  SelectionOptions selection;
  int runs = 10, planted_runs = 10;
  std::vector<double> plants{0.02, 0.03, 0.05, 0.1};  ///< slow-downs
  bool busy = false;                                  ///< one core is kept busy meanwhile
  double budget_seconds = 300;
  std::filesystem::path markdown, output;
  bool quiet = false;
};
struct SelftestAgainOptions {
  std::vector<std::filesystem::path> again;  ///< samples that a self-test kept
  bool busy = false;  ///< they were taken beside a busy core, where their file does not say so
  std::filesystem::path markdown;
  bool quiet = false;
};

struct CompareOptions {
  std::filesystem::path before, after;
  std::string filter;
  bool as_markdown = false;
  PageFiles page;
  double limit = GatePolicy{}.limit;
  std::filesystem::path limits;  ///< of single trials
  bool undecided_fails = false;
  std::string json;
  bool quiet = false;
};

struct ReportOptions {
  std::filesystem::path results;
  std::vector<std::filesystem::path> baselines{usual_baselines};
  double limit = GatePolicy{}.limit;
  std::filesystem::path reports;
  PageFiles page;
  std::string json;
};

struct ClaimsOptions {
  std::vector<std::filesystem::path> evidence;
  std::filesystem::path claims = "suites/claims.json";
  std::filesystem::path markdown;
  std::string json;
};

struct AuditOptions {
  std::filesystem::path results, before;
  std::string present;
  Outputs outputs;
};

/// The same of the step of a training loop that was traced.
struct StepAuditOptions {
  std::filesystem::path trace;
  AuditOptions audit;
};
struct SuiteOptions {
  std::filesystem::path trace, output;
  Index steps_per_epoch = 1;
  Outputs outputs;
};

struct HistoryOptions {
  std::vector<std::filesystem::path> results;
  std::vector<std::filesystem::path> baselines{usual_baselines};
  double limit = GatePolicy{}.limit;
  std::filesystem::path markdown, csv, bencher, github_action_benchmark, openmetrics;
  std::string json;
};

struct DoctorOptions {
  std::string json;
};
struct InitOptions {
  std::filesystem::path folder;
  bool write = false;
  enum class Kind { by_targets, kernels, google_benchmark, command };
  Kind kind = Kind::by_targets;  ///< of a project that is there, else kernels
  std::string target{};
  std::vector<std::string> configure{};
};
struct SchemaOptions {
  std::string format;
};
enum class Shell { bash, zsh, fish };
struct CompletionsOptions {
  Shell shell = Shell::bash;
};
struct CompleteOptions {
  std::vector<std::string> words;  ///< of the line, the program first; the last one is completed
};
struct ManOptions {};
struct RemedyOptions {
  bool openblas_remedy = false;
};

/// Facts that a measurement of a job does not hold.
struct JobFacts {
  std::filesystem::path against;
  std::optional<Index> train, validation, batch, workers, prefetch;
  bool drop_last = false;
  std::string unit;
};
struct PredictOptions {
  std::vector<std::filesystem::path> files;
  JobFacts facts;
  bool watch = false;  ///< go on while the file grows
  Outputs outputs;
};

struct EpochOptions {
  std::vector<std::filesystem::path> jobs;
  double share = 0.02;           ///< of the steps, that calibration may train
  std::filesystem::path frozen;  ///< the prediction, written before the epoch
  std::filesystem::path timeline;
  std::filesystem::path log;  ///< a line per epoch is added
  bool elsewhere = false;     ///< predict settings that are not run, too
  bool predict_only = false;
  Outputs outputs;
};
struct ScoreOptions {
  std::filesystem::path score;  ///< a log that epochs added to
  std::filesystem::path markdown;
};

/// Files that all `tune` verbs write.
struct RecordOutputs : Outputs {
  std::filesystem::path output;
};
/// Settings of a training job.
struct TuneOptions {
  std::filesystem::path job;
  TuneGrid grid;  ///< each verb has its own axes
  TunePolicy policy;
  RecordOutputs outputs;
};
struct TuneLoaderOptions {
  TuneOptions tune{.grid = {.workers = {0, 1, 2}, .prefetch = {1, 2, 4}}};
};
struct TuneBatchOptions {
  TuneOptions tune;
};
struct TuneThreadsOptions {
  TuneOptions tune{.grid = {.threads = {1, 2}}};
};
struct TuneCommandOptions {
  CommandRequest request;
  CommandPolicy policy;
  bool confirm = false;  ///< run the present and the chosen setting to their ends
  ShardOptions shard;    ///< of the settings; each has the present one
  RecordOutputs outputs;
};
struct ThresholdOptions {
  ThresholdRequest request;
  ThresholdPolicy policy;
  std::filesystem::path header;  ///< where the constant goes; nowhere when empty
  std::string constant;          ///< its name
  RecordOutputs outputs;
};
/// Values of a variable that a program reads when it starts.
struct VariableOptions {
  SelectionOptions selection;
  std::vector<std::string> values;  ///< to try; empty: all core types that run here, or caches near these
  int rounds = 10;
  RecordOutputs outputs;
};
struct LibraryOptions {
  VariableOptions tune;
};
struct KernelsOptions {
  VariableOptions tune;
};

/// Files of a verb that the program starts itself with.
struct ServedOptions {
  std::filesystem::path request, answer;
};

/// The choice of `tune kernels` for one machine and one version, which a small file in the user's cache
/// folder remembers. No run needs it.
struct TunedKernels {
  std::string machine, version;
  std::string caches;  ///< as ASSAY_CACHES takes them
  std::string date, command;
};
void describe(Fields& f, TunedKernels& tuned);

/// Sets ASSAY_CACHES for this process and those that it starts, if that file is there and of this machine and
/// version, and the variable is not set. Returns a line on why the file is ignored, or nothing. Throws Error
/// where the variable is set to what cannot be.
std::string use_tuned_kernels();

/// Options of which a command is made that repeats what was done, or of which is asked what was given.
using NamedOptions =
    std::variant<CheckOptions*, KnownBadOptions*, KnownCheatsOptions*, CheckTraceOptions*, CheckSuiteOptions*,
                 RunOptions*, RecordOptions*, GateRules*, GateOptions*, ProgramsOptions*, BuildsOptions*,
                 BundleOptions*, CommandsOptions*, CommandOptions*, SelftestOptions*, SelftestAgainOptions*,
                 InitOptions*, JobFacts*, PredictOptions*, ScoreOptions*, TuneLoaderOptions*,
                 TuneBatchOptions*, TuneThreadsOptions*, TuneCommandOptions*, ThresholdOptions*,
                 LibraryOptions*, KernelsOptions*>;
OptionList listed(NamedOptions options);

template <class T>
std::string first_given(T options) {
  T usual{};
  return first_unusual(listed(&options), listed(&usual));
}

/// The command that repeats a run: options in the order in which they are described, those alone that are not
/// as usual, and none that says where outputs go.
template <class T>
std::string command_of(const std::string& verb, T options) {
  T usual{};
  return command_text(verb, listed(&options), listed(&usual));
}

Outcome list_verb(const ListOptions& options, const Registry& registry);
Outcome check_verb(const CheckOptions& options, const Registry& registry);
Outcome check_suite_verb(const CheckSuiteOptions& options, const Registry& registry);
Outcome check_trace_verb(const CheckTraceOptions& options, const Registry& registry);
Outcome known_bad_verb(const KnownBadOptions& options, const Registry& registry);
Outcome known_cheats_verb(const KnownCheatsOptions& options, const Registry& registry);
Outcome run_verb(const RunOptions& options, const Registry& registry);
Outcome record_verb(const RecordOptions& options, const Registry& registry);
Outcome accept_verb(const AcceptOptions& options, const Registry& registry);
Outcome withdraw_verb(const WithdrawOptions& options, const Registry& registry);
Outcome release_verb(const ReleaseOptions& options, const Registry& registry);
Outcome gate_verb(const GateOptions& options, const Registry& registry);
Outcome two_builds_verb(const BuildsOptions& options, const Registry& registry);
Outcome bundle_verb(const BundleOptions& options, const Registry& registry);
Outcome prepare_verb(const PrepareOptions& options);
Outcome two_programs_verb(const ProgramsOptions& options, const Registry& registry);
Outcome commands_verb(const CommandsOptions& options);
Outcome command_verb(const CommandOptions& options);
Outcome reanalyze_verb(const ReanalyzeOptions& options);
Outcome selftest_verb(const SelftestOptions& options, const Registry& registry);
Outcome selftest_again_verb(const SelftestAgainOptions& options, const Registry& registry);
Outcome compare_verb(const CompareOptions& options);
Outcome merge_verb(const MergeOptions& options);
Outcome predict_verb(const PredictOptions& options);
Outcome epoch_verb(const EpochOptions& options);
Outcome score_verb(const ScoreOptions& options);
Outcome tune_loader_verb(const TuneLoaderOptions& options);
Outcome tune_batch_verb(const TuneBatchOptions& options);
Outcome tune_threads_verb(const TuneThreadsOptions& options);
Outcome tune_command_verb(const TuneCommandOptions& options);
Outcome tune_threshold_verb(const ThresholdOptions& options, const Registry& registry);
Outcome tune_library_verb(const LibraryOptions& options, const Registry& registry);
Outcome tune_kernels_verb(const KernelsOptions& options, const Registry& registry);
Outcome report_verb(const ReportOptions& options);
Outcome claims_verb(const ClaimsOptions& options);
Outcome audit_verb(const AuditOptions& options, const Registry& registry);
Outcome step_audit_verb(const StepAuditOptions& options, const Registry& registry);
Outcome suite_verb(const SuiteOptions& options, const Registry& registry);
Outcome history_verb(const HistoryOptions& options);
Outcome doctor_verb(const DoctorOptions& options);
Outcome remedy_verb(const RemedyOptions& options);
Outcome init_verb(const InitOptions& options);
Outcome schema_verb(const SchemaOptions& options);
Outcome completions_verb(const CompletionsOptions& options);
Outcome complete_verb(const CompleteOptions& options);
Outcome man_verb(const ManOptions& options);
Outcome launch_verb(const ServedOptions& options, const Registry& registry);
Outcome turns_verb(const ServedOptions& options, const Registry& registry);
Outcome describe_verb(const ServedOptions& options, const Registry& registry);

/// The request of run, record and gate alike.
RunRequest run_request(const SelectionOptions& selection, int launches, const Registry& registry);

/// The shard that this process is to run, by options and variables. Says on standard error which it is, and
/// touches the status files of test runners. Throws Error as chosen_shard() does.
std::optional<Shard> shard_of_this_process(const ShardOptions& options);

/// For a request that is not divided: says on standard error that the variables of a test runner change
/// nothing, since each of its jobs would otherwise be taken for a part. No status file is touched.
void say_undivided(const std::string& what);

/// Throws Error when something that speaks for the whole suite is asked of one of several shards.
void require_whole(const std::optional<Shard>& shard, const std::string& option, const std::string& remedy);

/// The day in UTC on which acceptances are judged; that of ASSAY_TODAY where it is set, so that a gate can be
/// repeated, which is said on standard error. SOURCE_DATE_EPOCH does not count: build systems set it to a day
/// long past, on which no acceptance has run out. Throws Error when it is no day.
Date today();

GateRules rules_of(const OutcomeOptions& options);

/// Judges a gate of two builds, prints the outcome, writes the samples where `-o` says and the other files,
/// and returns the outcome: the same for samples just taken and for stored ones.
Outcome end_two_builds(const OutcomeOptions& options, const TwoBuilds& run);
/// The same of settings whose shards were merged: rules on all together, and writes the record.
Outcome end_settings(const OutcomeOptions& options, const Results& results);

/// A file that the program reads or writes, and its JSON Schema.
struct FileFormat {
  std::string_view name;   ///< that `assay schema` is asked for
  std::string_view about;  ///< what holds such a file
  Json (*schema)();        ///< of its fields alone
};
std::span<const FileFormat> file_formats();

/// Schemas of the JSON that single verbs print; each is defined beside its verb.
Json list_schema();
Json check_schema();
Json known_bad_schema();
Json known_cheats_schema();

/// Returns a whole schema, draft 2020-12. Throws Error with all names when there is none of this name.
Json schema_named(std::string_view name);

/// A call of a verb: its options, which are still to be read, and the function that performs it then.
struct Call {
  OptionList options;
  std::function<Outcome(const Registry&)> perform;
};

struct Verb {
  /// The name, and the options that choose this row among those of its name: `gate --base --suite,-s`.
  std::string_view row;
  std::string_view about;
  Call (*make)();
  bool hidden = false;  ///< the program starts itself with it

  std::string_view name() const { return row.substr(0, row.find(" --")); }  ///< `gate`, `tune loader`
  std::vector<std::string_view> chosen_by() const;                          ///< `--base`, `--suite,-s`
  std::string title() const;                                                ///< `assay gate --base --suite`
};

/// In the order of the help. Of the rows of one name, the first whose options are all given is meant.
std::span<const Verb> verbs();

/// A call to perform, or the text to print: help, or the version.
struct CommandLine {
  std::optional<Call> call;
  std::string output;
};

/// Throws Error for arguments that are neither.
CommandLine parse_command_line(int argc, const char* const* argv);

enum class ExitCodes {
  usual,  ///< those of assay::exit_code
  bisect  ///< for `git bisect run`
};

/// `git bisect run` takes 0 for good, 125 for a commit that cannot be judged, and every other code up to 127
/// for bad: a suite that does not exist yet, or a machine without a baseline, would blame an innocent commit.
/// So 1, a disagreement or a regression, is bad, and all that is neither 0 nor 1 becomes 125. A gate ends
/// with neither while a trial is left that could be slower, and an acceptance that ran out is not bad
/// (FailurePolicy).
int translated(int code, ExitCodes meaning);

/// Reads `--exit-code` from the bare arguments: a command line that cannot be parsed, in an old commit that
/// lacks an option, must not be taken for a bad commit.
ExitCodes asked_exit_codes(int argc, const char* const* argv);

}  // namespace assay
