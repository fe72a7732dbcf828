/// One function per verb: does it, prints, and returns the exit code.
#pragma once

#include "app/options.hpp"
#include "assay/registry.hpp"

namespace assay {

int list_verb(const ListOptions& options, const Registry& registry);
int check_verb(const CheckOptions& options, const Registry& registry);
int check_suite_verb(const CheckSuiteOptions& options, const Registry& registry);
int check_trace_verb(const CheckTraceOptions& options, const Registry& registry);
int known_bad_verb(const KnownBadOptions& options, const Registry& registry);
int known_cheats_verb(const KnownCheatsOptions& options, const Registry& registry);
int run_verb(const RunOptions& options, const Registry& registry);
int record_verb(const RecordOptions& options, const Registry& registry);
int accept_verb(const AcceptOptions& options, const Registry& registry);
int withdraw_verb(const WithdrawOptions& options, const Registry& registry);
int release_verb(const ReleaseOptions& options, const Registry& registry);
int gate_verb(const GateOptions& options, const Registry& registry);
int two_builds_verb(const BuildsOptions& options, const Registry& registry);
int bundle_verb(const BundleOptions& options, const Registry& registry);
int prepare_verb(const PrepareOptions& options);
int two_programs_verb(const ProgramsOptions& options);
int commands_verb(const CommandsOptions& options);
int command_verb(const CommandOptions& options);
int reanalyze_verb(const ReanalyzeOptions& options);
int selftest_verb(const SelftestOptions& options, const Registry& registry);
int selftest_again_verb(const SelftestAgainOptions& options, const Registry& registry);
int compare_verb(const CompareOptions& options);
int merge_verb(const MergeOptions& options);
int predict_verb(const PredictOptions& options);
int epoch_verb(const EpochOptions& options);
int score_verb(const ScoreOptions& options);
int tune_loader_verb(const TuneLoaderOptions& options);
int tune_batch_verb(const TuneBatchOptions& options);
int tune_threads_verb(const TuneThreadsOptions& options);
int tune_threshold_verb(const ThresholdOptions& options, const Registry& registry);
int tune_library_verb(const LibraryOptions& options, const Registry& registry);
int tune_kernels_verb(const KernelsOptions& options, const Registry& registry);
int report_verb(const ReportOptions& options);
int claims_verb(const ClaimsOptions& options);
int audit_verb(const AuditOptions& options, const Registry& registry);
int history_verb(const HistoryOptions& options);
int doctor_verb(const DoctorOptions& options);
int remedy_verb(const RemedyOptions& options);
int init_verb(const InitOptions& options);
int schema_verb(const SchemaOptions& options);
int completions_verb(const CompletionsOptions& options);
int man_verb(const ManOptions& options);
int launch_verb(const ServedOptions& options, const Registry& registry);
int turns_verb(const ServedOptions& options, const Registry& registry);
int describe_verb(const ServedOptions& options, const Registry& registry);

}  // namespace assay
