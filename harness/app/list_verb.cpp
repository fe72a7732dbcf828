#include "app/output.hpp"
#include "app/verb_functions.hpp"
#include "assay/error.hpp"
#include "assay/pipeline.hpp"
#include "core/json/json.hpp"
#include "core/machine/build_info.hpp"
#include "core/plan/filter.hpp"

#include <fmt/format.h>

namespace assay {
namespace {

struct Listed {
  const Operation* operation;
  std::vector<std::size_t> variants;
};

std::vector<Listed> selected(const Registry& registry, const std::string& filter) {
  const Filter wanted(filter, registry);
  std::vector<Listed> out;
  for (const Operation* operation : registry.operations()) {
    Listed next{operation, {}};
    for (std::size_t v = 0; v < operation->variants().size(); ++v) {
      const std::string name = fmt::format("{}/{}", operation->name(), operation->variants()[v].name);
      if (wanted.selects(name)) next.variants.push_back(v);
    }
    if (!next.variants.empty()) out.push_back(std::move(next));
  }
  if (out.empty()) throw Error("filter '" + filter + "'", "selects no variant", "`assay list` shows all");
  return out;
}

std::optional<std::string> unfit_here(const Operation& operation, std::size_t variant) {
  return operation.unfit(variant, operation.corner_cases().front(), Context{});
}

std::string field_text(const FieldRule& rule) {
  if (!rule.fallback) return std::string(rule.name);
  if (!rule.words.empty()) return fmt::format("[{}={}]", rule.name, fmt::join(rule.words, "|"));
  return fmt::format("[{}={}]", rule.name, *rule.fallback);
}

std::string text_of(const Listed& listed) {
  const Operation& operation = *listed.operation;
  std::vector<std::string> fields, fills;
  for (const FieldRule& rule : operation.fields()) fields.push_back(field_text(rule));
  for (const Fill fill : operation.fills()) fills.emplace_back(to_string(fill));
  std::string out = fmt::format("{}  {}\n", operation.name(), operation.about());
  out += fmt::format("  problem {}; fills {}; {} corner cases\n", fmt::join(fields, " "),
                     fmt::join(fills, ", "), operation.corner_cases().size());
  for (const std::size_t v : listed.variants) {
    const VariantInfo& variant = operation.variants()[v];
    const auto unfit = unfit_here(operation, v);
    out += fmt::format("  {:<14} {}{}{}{}\n", variant.name,
                       variant.known_bad.empty() ? "" : "KNOWN BAD: ", variant.summary,
                       variant.threaded ? " (threads)" : "", unfit ? "  [not here: " + *unfit + "]" : "");
  }
  return out;
}

/// One variant a line, to be compared with the same of another program.
std::string code_of(const Listed& listed) {
  std::string out;
  for (const std::size_t v : listed.variants) {
    const VariantInfo& variant = listed.operation->variants()[v];
    const std::string line = variant.line > 0 ? fmt::format(":{}", variant.line) : "";
    out += fmt::format("{:<16}  {:<40} {}{}\n", variant.code.empty() ? "unknown" : variant.code,
                       fmt::format("{}/{}", listed.operation->name(), variant.name), variant.source, line);
  }
  return out;
}

Json json_of(const Listed& listed) {
  const Operation& operation = *listed.operation;
  Json out{{"name", operation.name()}, {"about", operation.about()}, {"version", operation.version()}};
  for (const FieldRule& rule : operation.fields()) {
    Json field{{"name", rule.name}, {"low", rule.low}, {"high", rule.high}};
    if (rule.fallback) field["default"] = *rule.fallback;
    if (!rule.words.empty())
      field["words"] = std::vector<std::string_view>(rule.words.begin(), rule.words.end());
    out["fields"].push_back(std::move(field));
  }
  for (const Fill fill : operation.fills()) out["fills"].push_back(to_string(fill));
  out["corner_cases"] = operation.corner_cases();
  for (const std::size_t v : listed.variants) {
    const VariantInfo& variant = operation.variants()[v];
    const auto unfit = unfit_here(operation, v);
    Json row{{"name", variant.name},         {"summary", variant.summary},
             {"threaded", variant.threaded}, {"runs_here", !unfit.has_value()},
             {"source", variant.source},     {"line", variant.line},
             {"code", variant.code}};
    if (unfit) row["why_not"] = *unfit;
    if (!variant.known_bad.empty()) row["known_bad"] = variant.known_bad;
    out["variants"].push_back(std::move(row));
  }
  return out;
}

}  // namespace

int list_verb(const ListOptions& options, const Registry& registry) {
  const BuildInfo& build = build_info();
  std::string text;
  Json json{{"schema", "assay.list/1"},
            {"kernel_flags", build.kernel_flags},
            {"reference_flags", build.reference_flags},
            {"operations", Json::array()}};
  for (const Listed& listed : selected(registry, options.filter)) {
    text += options.code ? code_of(listed) : text_of(listed) + "\n";
    json["operations"].push_back(json_of(listed));
  }
  if (!options.code) {
    text += fmt::format("kernels compiled with    {}\nreference compiled with  {}\n", build.kernel_flags,
                        build.reference_flags);
  }
  put(options.json, text, json_text(json));
  return exit_code::passed;
}

}  // namespace assay
