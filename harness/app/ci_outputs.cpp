#include "app/ci_outputs.hpp"

#include "assay/error.hpp"
#include "bench/exchange/github.hpp"
#include "bench/exchange/junit.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace assay {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// A stand-in where nothing was compared, so that agreement is reported all the same.
Comparison without_baseline(const Results& results, const Findings& findings) {
  const Ending& ending = findings.ending;
  Comparison out{.objections = findings.objections};
  for (const TrialResult& trial : results.trials) {
    Verdict verdict{.key = trial.key, .standing = Standing::not_comparable};
    verdict.why = results.partial ? "the run was interrupted" : "there is no baseline that it compares with";
    if (!trial.skipped.empty()) {
      verdict.standing = Standing::skipped;
      verdict.why = "did not run here: " + trial.skipped;
    } else if (trial.failure) {
      verdict.standing = standing_of(*trial.failure);
      verdict.why = trial.failure->reason;
    } else if (!trial.agreement.agrees) {
      verdict.standing = Standing::wrong;
      verdict.why = "disagrees with the oracle: " + trial.agreement.detail;
    } else if (ending.code == exit_code::passed) {
      verdict.why += ": this run was recorded as one";
    }
    out.verdicts.push_back(std::move(verdict));
  }
  return out;
}

std::string word_of(const Comparison& comparison, int code) {
  switch (code) {
    case exit_code::passed: return "passed";
    case exit_code::found:
      if (comparison.count(Standing::wrong) > 0) return "wrong";
      return comparison.count(Standing::slower) > 0 || comparison.objections.empty() ? "regression"
                                                                                     : "expired";
    case exit_code::crashed: return "crashed";
    case exit_code::undecided: return "undecided";
    case exit_code::all_skipped: return "skipped";
    case exit_code::interrupted: return "interrupted";
    default: return "unusable";
  }
}

/// The last line of an ending that leaves open what was asked; empty for others.
std::string nothing_decided(const Ending& ending) {
  if (ending.code != exit_code::undecided && ending.code != exit_code::interrupted) return "";
  const std::size_t line = ending.text.rfind('\n');
  return line == std::string::npos ? ending.text : ending.text.substr(line + 1);
}

void append(const std::string& file, const std::string& text, const char* name) {
  std::ofstream out(file, std::ios::binary | std::ios::app);
  out << text << std::flush;
  if (!out) throw Error(file, fmt::format("cannot be written, and {} names it", name), "check that variable");
}

std::size_t size_of(const std::string& file) {
  std::error_code none;
  const auto size = std::filesystem::file_size(file, none);
  return none ? 0 : static_cast<std::size_t>(size);
}

void put_github_outputs(const std::string& json, const Findings& findings, const Comparison& comparison) {
  fmt::print(json == "-" ? stderr : stdout, "{}",
             github_annotations(comparison, findings.after->suite, findings.command));
  if (const std::string file = variable("GITHUB_STEP_SUMMARY"); !file.empty()) {
    const Results nothing;
    const Results& before = findings.before != nullptr ? *findings.before : nothing;
    append(file, github_summary(comparison, before, *findings.after, findings.command, size_of(file)),
           "GITHUB_STEP_SUMMARY");
  }
  if (const std::string file = variable("GITHUB_OUTPUT"); !file.empty()) {
    append(file, github_outputs(comparison, word_of(comparison, findings.ending.code)), "GITHUB_OUTPUT");
  }
}

}  // namespace

void put_ci_outputs(const std::filesystem::path& junit, const std::string& json, const Findings& findings) {
  const Comparison comparison =
      findings.comparison ? *findings.comparison : without_baseline(*findings.after, findings);
  if (!junit.empty()) {
    write_file(junit,
               to_junit(comparison, *findings.after, findings.command, nothing_decided(findings.ending)));
  }
  if (!variable("GITHUB_ACTIONS").empty()) put_github_outputs(json, findings, comparison);
}

}  // namespace assay
