#include "app/output.hpp"
#include "app/step_audit.hpp"
#include "app/verbs.hpp"
#include "assay/error.hpp"
#include "bench/compare/words.hpp"
#include "bench/measure/results_fields.hpp"
#include "bench/programs/project.hpp"
#include "bench/programs/revision.hpp"
#include "bench/report/audit_report.hpp"
#include "bench/report/claims.hpp"
#include "bench/report/content.hpp"
#include "bench/report/history.hpp"
#include "core/machine/fields.hpp"
#include "core/plan/suite.hpp"
#include "core/tune/turns.hpp"
#include "training/epoch/epoch_prediction.hpp"
#include "training/epoch/own_jobs.hpp"
#include "training/job/read_job.hpp"
#include "training/report/forecast_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace assay {
namespace {

constexpr std::array formats{
    FileFormat{"suite", "cases with how often each occurs in a training step: suites/*.json",
               schema_of<Suite>},
    FileFormat{"project", "how gates build revisions of a repository: assay.json in its root",
               schema_of<Project>},
    FileFormat{"bundle", "what `assay prepare` writes beside both builds", schema_of<BundleFile>},
    FileFormat{"results", "what `assay run -o`, `assay gate -o` and `assay wrap -o` write",
               schema_of<Results>},
    FileFormat{"baseline", "what `assay record` writes", schema_of<Baseline>},
    FileFormat{"limits", "limits of single trials, for `assay compare --limits`", schema_of<TrialLimits>},
    FileFormat{"comparison", "what `assay compare --json` writes", schema_of<Comparison>},
    FileFormat{"report", "what `assay report --json` writes", schema_of<Report>},
    FileFormat{"claims", "what public write-ups claim, and the cases that decide: suites/claims.json",
               schema_of<PublishedClaims>},
    FileFormat{"verdicts", "what `assay report claims --json` writes", schema_of<ClaimsReport>},
    FileFormat{"audit", "what `assay report audit --json` writes", schema_of<AuditReport>},
    FileFormat{"step-audit", "what `assay report audit --trace --json` writes", step_audit_schema},
    FileFormat{"traced-step", "what `assay suite --json` writes", traced_step_schema},
    FileFormat{"history", "what `assay report history --json` writes", schema_of<History>},
    FileFormat{"gate", "what `assay gate --base … -o` and `assay wrap --base … -o` write",
               schema_of<TwoBuilds>},
    FileFormat{"ledger", "accepted slow-downs and the steps since the last release", schema_of<Ledger>},
    FileFormat{"tuning", "what `assay tune command -o`, `threshold -o`, `library -o` and `kernels -o` write",
               tuning_schema},
    FileFormat{"kernels", "what `assay tune kernels` keeps in the user's cache folder",
               schema_of<TunedKernels>},
    FileFormat{"list", "what `assay list --json` writes", list_schema},
    FileFormat{"check", "what `assay check --json` writes", check_schema},
    FileFormat{"known-bad", "what `assay check --known-bad --json` writes", known_bad_schema},
    FileFormat{"known-cheats", "what `assay check --known-cheats --json` writes", known_cheats_schema},
    FileFormat{"examination", "what `assay doctor --json` writes", schema_of<Examination>},
    FileFormat{"phases", "times of a training job, for `assay predict`", schema_of<Job>},
    FileFormat{"job", "a training to run, for `assay epoch` and `assay tune`: suites/jobs/*.json",
               schema_of<TrainingJob>},
    FileFormat{"forecast", "what `assay predict --json` and `assay epoch --frozen` write", forecast_schema},
    FileFormat{"epoch-log", "a line of what `assay epoch --log` writes", schema_of<LoggedEpoch>}};

}  // namespace

std::span<const FileFormat> file_formats() { return formats; }

Json schema_named(std::string_view name) {
  const auto found = std::ranges::find(formats, name, &FileFormat::name);
  if (found == formats.end()) {
    std::string there;
    for (const FileFormat& one : formats) there += fmt::format("\n  {:<12} {}", one.name, one.about);
    throw Error(std::string(name), "is no format of a file", "there are:" + there);
  }
  Json out{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
           {"title", name},
           {"description", found->about}};
  const Json fields = found->schema();
  for (const auto& [key, value] : fields.members()) out[key] = value;
  return out;
}

Outcome schema_verb(const SchemaOptions& options) {
  print_visible(stdout, "{}\n", json_text(schema_named(options.format)));
  return {};
}

}  // namespace assay
