#include "app/output.hpp"
#include "app/verb_functions.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "assay/outcome.hpp"
#include "bench/report/audit_report.hpp"
#include "core/machine/build_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

namespace assay {
namespace {

/// Results with the name and the hash of their file.
struct ReadResults {
  EvidenceFile file;
  Results results;
};

ReadResults read_for_audit(const std::filesystem::path& file, std::string_view what) {
  const std::string text = read_file(file);
  Results results = results_from_json(text, file.string());
  return {evidence_file(file, text, fmt::format("{}, suite {}", what, results.suite)), std::move(results)};
}

const VariantInfo* variant_in(const Registry& registry, const std::string& operation,
                              const std::string& variant) {
  for (const Operation* one : registry.operations()) {
    if (one->name() != operation) continue;
    const auto found = std::ranges::find(one->variants(), variant, &VariantInfo::name);
    return found == one->variants().end() ? nullptr : &*found;
  }
  return nullptr;
}

void require_expression_of_keys(const std::string& text) {
  try {
    const std::regex checked(text);
  } catch (const std::regex_error& failure) {
    throw Error("--present", fmt::format("\"{}\" is no regular expression: {}", text, failure.what()),
                "name keys, such as 'gemm/packed'");
  }
}

}  // namespace

Outcome audit_verb(const AuditOptions& options, const Registry& registry) {
  require_expression_of_keys(options.present);
  const ReadResults now = read_for_audit(options.results, "results");
  std::optional<ReadResults> before;
  if (!options.before.empty()) before = read_for_audit(options.before, "results before");
  std::vector<EvidenceFile> files{now.file};
  if (before) files.push_back(before->file);
  const AuditReport report =
      audited({.results = now.results,
               .before = before ? &before->results : nullptr,
               .files = std::move(files),
               .commit = build_info().commit,
               .present = options.present,
               .find_variant = [&](const std::string& operation, const std::string& variant) {
                 return variant_in(registry, operation, variant);
               }});
  if (!options.markdown.empty()) write_file(options.markdown, to_markdown(report));
  put(options.json, to_text(report), to_json(report));
  return {report.present.middle > 0 ? Word::audited : Word::not_measured};
}

}  // namespace assay
