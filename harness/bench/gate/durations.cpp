#include "bench/gate/durations.hpp"

#include "assay/error.hpp"
#include "assay/files.hpp"
#include "bench/gate/patience.hpp"
#include "bench/measure/results_fields.hpp"

namespace assay {
namespace {

void add(Durations& out, const std::string& operation, const std::string& problem, double seconds) {
  if (seconds > 0) out.seconds[operation + "/" + problem] += seconds;
}

double seconds_of(const TrialResult& trial) {
  double out = 0;
  for (const Launch& launch : trial.launches) {
    out += figure_of(trial, "prepare_seconds");
    for (const Slice& slice : launch) out += slice.seconds * static_cast<double>(slice.calls);
  }
  return out;
}

double seconds_of(const PairedTrial& trial) {
  double out = 0;
  for (const PairedLaunch& launch : trial.launches) out += slice_seconds(launch, TurnPolicy{}.slice_seconds);
  return out;
}

}  // namespace

Durations durations_in(const std::filesystem::path& file) {
  if (file.empty()) return {};
  Durations out{.file = file.string()};
  const Json json = parse_json(read_file(file), out.file);
  if (holds_two_builds(json)) {
    for (const PairedTrial& trial : two_builds_from(json, out.file).trials) {
      add(out, trial.trial.operation, trial.trial.problem, seconds_of(trial));
    }
  } else {
    for (const TrialResult& trial : results_from(json, out.file).trials) {
      add(out, trial.operation, trial.problem, seconds_of(trial));
    }
  }
  if (!out.seconds.empty()) return out;
  throw Error(out.file, "holds no time of any case",
              "name results that were measured with --shard-durations, or leave it out");
}

}  // namespace assay
