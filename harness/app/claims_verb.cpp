#include "app/output.hpp"
#include "app/verb_functions.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "assay/outcome.hpp"
#include "bench/measure/results_fields.hpp"
#include "bench/report/claims.hpp"
#include "core/json/fields.hpp"
#include "training/epoch/epoch_log.hpp"
#include "training/epoch/lint.hpp"
#include "training/job/read_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace assay {

// Beside the type, where argument-dependent lookup finds it.
void describe(Fields& f, RejectedCode& code) {
  f("name", code.variant);
  f("checks", code.checks);
  f("rejected", code.rejected);
  Json first;
  f("first", first, {.optional = true});
  const Json* detail = first.find("detail");
  if (detail != nullptr && detail->is_string()) code.detail = detail->text();
}

namespace {

/// The part of the JSON of `assay check --known-bad` that claims need.
struct KnownBadFile {
  std::vector<RejectedCode> variants;
};

void describe(Fields& f, KnownBadFile& file) {
  f.schema("assay.known_bad/1");
  f("variants", file.variants);
}

void add_job(ClaimEvidence& evidence, const std::string& text, const std::string& where) {
  const Job job = read_phases_json(text, where);
  evidence.jobs.push_back(job.name);
  for (const LintFinding& one : lint(job)) {
    if (one.contradiction) evidence.contradictions.push_back({job.name, one.field, one.text});
  }
}

void add_epochs(ClaimEvidence& evidence, const std::string& text, const std::string& where) {
  for (const LoggedEpoch& epoch : epoch_log_from(text, where)) {
    for (const LoggedModel& one : epoch.models) {
      evidence.epochs.push_back({one.model, one.seconds.middle / epoch.seconds - 1, epoch.other_busy_share});
    }
  }
}

/// Adds a file, whose kind the schema at its beginning tells.
void add(ClaimEvidence& evidence, const std::filesystem::path& file) {
  const std::string text = read_file(file), where = file.string();
  const std::string_view beginning = std::string_view(text).substr(0, 4096);
  const auto is = [&](std::string_view schema) {
    return beginning.find(fmt::format("\"assay.{}/", schema)) != std::string_view::npos;
  };
  std::string what;
  if (is("epoch_log")) {
    add_epochs(evidence, text, where);
    what = "epochs that were predicted and then run";
  } else if (is("known_bad")) {
    const Json json = parse_json(text, where);
    const JsonField field(json, where, "write it again: assay check --known-bad --json FILE");
    std::ranges::move(value_from<KnownBadFile>(field).variants, std::back_inserter(evidence.known_bad));
    what = "checks of published code that is known to be bad";
  } else if (is("job")) {
    add_job(evidence, text, where);
    what = "figures as published";
  } else if (is("result")) {
    evidence.results.push_back(results_from_json(text, where));
    what = "results of suite " + evidence.results.back().suite;
  } else {
    throw Error(where, "is no evidence for a claim",
                "give results of `assay run -o`, what `assay check --known-bad --json` wrote, a job, or a "
                "log of epochs");
  }
  evidence.files.push_back(evidence_file(file, text, std::move(what)));
}

}  // namespace

Outcome claims_verb(const ClaimsOptions& options) {
  PublishedClaims claims = claims_from_json(read_file(options.claims), options.claims.string());
  ClaimEvidence evidence;
  for (const std::filesystem::path& file : options.evidence) add(evidence, file);
  const ClaimsReport report = judged_claims(std::move(claims), evidence);
  if (!options.markdown.empty()) write_file(options.markdown, to_markdown(report));
  put(options.json, to_text(report), to_json(report));
  // Verdicts that are all NOT MEASURED are no answer.
  const bool nothing = report.count(ClaimStanding::not_measured) == report.findings.size();
  return {nothing ? Word::not_measured : Word::done};
}

}  // namespace assay
