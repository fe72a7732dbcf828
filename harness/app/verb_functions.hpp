/// One function per verb: does it, prints what was found, and returns the outcome.
#pragma once

#include "app/options.hpp"
#include "assay/outcome.hpp"
#include "assay/registry.hpp"

namespace assay {

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
Outcome two_programs_verb(const ProgramsOptions& options);
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
Outcome tune_threshold_verb(const ThresholdOptions& options, const Registry& registry);
Outcome tune_library_verb(const LibraryOptions& options, const Registry& registry);
Outcome tune_kernels_verb(const KernelsOptions& options, const Registry& registry);
Outcome report_verb(const ReportOptions& options);
Outcome claims_verb(const ClaimsOptions& options);
Outcome audit_verb(const AuditOptions& options, const Registry& registry);
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

}  // namespace assay
