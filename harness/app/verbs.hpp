/// One function per verb: does it, prints, and returns the exit code.
#pragma once

#include "app/options.hpp"
#include "assay/registry.hpp"

namespace assay {

int list_verb(const Options& options, const Registry& registry);
int check_verb(const Options& options, const Registry& registry);
int known_bad_verb(const Options& options, const Registry& registry);  ///< check --known-bad
int run_verb(const Options& options, const Registry& registry);
int record_verb(const Options& options, const Registry& registry);
int ledger_verb(const Options& options,
                const Registry& registry);  ///< record --accept, --withdraw, --release
int gate_verb(const Options& options, const Registry& registry);
int two_builds_verb(const Options& options, const Registry& registry);  ///< gate --base
int reanalyze_verb(const Options& options);
int selftest_verb(const Options& options, const Registry& registry);
int compare_verb(const Options& options);
int merge_verb(const Options& options);
int predict_verb(const Options& options);
int epoch_verb(const Options& options);
int tune_verb(const Options& options);  ///< tune loader, batch, threads
int tune_threshold_verb(const Options& options, const Registry& registry);
int tune_library_verb(const Options& options, const Registry& registry);
int report_verb(const Options& options);
int doctor_verb(const Options& options);
int launch_verb(const Options& options, const Registry& registry);
int turns_verb(const Options& options, const Registry& registry);
int describe_verb(const Options& options, const Registry& registry);

}  // namespace assay
