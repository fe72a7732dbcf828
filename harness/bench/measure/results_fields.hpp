/// Results as files hold them, for files that hold more than one of them.
#pragma once

#include "assay/measure.hpp"
#include "core/machine/fields.hpp"
#include "core/plan/trial_key.hpp"

namespace assay {

void describe(Fields& f, Audit& audit);
void describe(Fields& f, Failure& failure);
/// Describes the fields of a shard, which stand among those of its record.
void describe_shard(Fields& f, Shard& shard);
void describe(Fields& f, Results& results);

/// Describes the fields of a trial that every file has.
template <class Trial>
void describe_trial(Fields& f, Trial& trial) {
  f("key", trial.key, {.about = "operation/variant/problem#threads"});
  ASSAY_FIELDS(f, trial, operation, variant, problem);
  f("threads", trial.threads, {.optional = true, .low = 1, .high = most_threads});
}
/// The same in a file that an earlier version may have written.
template <class Trial>
void describe_stored_trial(Fields& f, Trial& trial) {
  describe_trial(f, trial);
  if (!f.reads()) return;
  trial.key = with_present_names(trial.key);
  trial.variant = with_present_names(trial.variant);
}

inline void describe(Fields& f, TrialRequest& trial) {
  describe_trial(f, trial);
  f("file", trial.file, {.terse = true, .about = "that holds the problem"});
}

/// Parallel arrays, so that a file stays small and a launch is three lines.
template <>
struct Form<Launch> {
  static Json schema(const Fields::Rule& rule);
  static Json json(const Launch& launch, const Fields::Rule& rule);
  static void read(const JsonField& field, Launch& launch, const Fields::Rule& rule);
};

/// Returns the results of a whole parsed file, which `where` names. Throws Error as results_from_json() does.
Results results_from(const Json& file, const std::string& where);

}  // namespace assay
