#include "app/output.hpp"
#include "app/schemas.hpp"
#include "app/verb_functions.hpp"
#include "assay/error.hpp"
#include "assay/pipeline.hpp"
#include "core/code/calls.hpp"
#include "core/json/fields.hpp"
#include "core/machine/build_info.hpp"
#include "core/plan/filter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace assay {
namespace {

struct Listed {
  const Operation* operation;
  std::vector<std::size_t> variants;
};

// The same as files hold it.
struct ListedVariant {
  VariantInfo info;
  std::optional<std::string> unfit;
};
struct ListedOperation {
  std::string name, about;
  int version = 0;
  std::vector<FieldRule> fields;
  std::vector<std::string> fills, corner_cases;
  std::vector<ListedVariant> variants;
};
struct List {
  std::string kernel_flags = build_info().kernel_flags, reference_flags = build_info().reference_flags;
  std::vector<ListedOperation> operations;
};

void describe(Fields& f, ListedVariant& one) {
  f("name", one.info.name);
  f("summary", one.info.summary);
  f("threaded", one.info.threaded);
  f.derived("runs_here", !one.unfit);
  f("source", one.info.source);
  f("line", one.info.line, {.about = "0: not known"});
  f("code", one.info.code, {.about = "hash of its machine code; empty: not known"});
  f("libraries", one.info.libraries, {.optional = true, .about = "that it declares to hand work to"});
  std::vector<Calls> calls = one.info.calls.value_or(std::vector<Calls>());
  if (!f.writes() || one.info.calls) {
    f.keyed("calls", calls, &Calls::to, &Calls::names,
            {.optional = true,
             .about = "beyond run-times: threads, system, and libraries; not known where missing"});
  }
  f("why_not", one.unfit);
  f("known_bad", one.info.known_bad, {.terse = true, .about = "what it gets wrong"});
  f("known_cheat", one.info.known_cheat, {.terse = true, .about = "its trick"});
  f("known_honest", one.info.known_honest, {.terse = true, .about = "why it looks like a cheat"});
}

void describe(Fields& f, ListedOperation& one) {
  f("name", one.name);
  f("about", one.about);
  f("version", one.version);
  f("fields", one.fields);
  f("fills", one.fills);
  f("corner_cases", one.corner_cases);
  f("variants", one.variants);
}

void describe(Fields& f, List& list) {
  f.schema("assay.list/1");
  f("kernel_flags", list.kernel_flags);
  f("reference_flags", list.reference_flags);
  f("operations", list.operations);
}

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

std::string_view mark_of(Kin kin) {
  switch (kin) {
    case Kin::known_bad: return "KNOWN BAD: ";
    case Kin::known_cheat: return "KNOWN CHEAT: ";
    case Kin::known_honest: return "KNOWN HONEST: ";
    case Kin::sound: break;
  }
  return "";
}

/// Lines about what the variant calls beyond run-times.
std::string calls_of(const VariantInfo& variant) {
  std::vector<std::string> calls;
  for (const Calls& one : variant.calls.value_or(std::vector<Calls>())) calls.push_back(in_words(one));
  return calls.empty() ? "" : fmt::format("{:17}calls {}\n", "", fmt::join(calls, ", "));
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
    out += fmt::format("  {:<14} {}{}{}{}\n", variant.name, mark_of(variant.kin()), variant.summary,
                       variant.threaded ? " (threads)" : "", unfit ? "  [not here: " + *unfit + "]" : "");
    out += calls_of(variant);
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

ListedOperation stored(const Listed& listed) {
  const Operation& operation = *listed.operation;
  ListedOperation out{.name = std::string(operation.name()),
                      .about = std::string(operation.about()),
                      .version = operation.version(),
                      .corner_cases = operation.corner_cases()};
  for (const FieldRule& rule : operation.fields()) out.fields.push_back(rule);
  for (const Fill fill : operation.fills()) out.fills.emplace_back(to_string(fill));
  for (const std::size_t v : listed.variants)
    out.variants.push_back({operation.variants()[v], unfit_here(operation, v)});
  return out;
}

std::size_t unknown_calls(const List& list) {
  std::size_t out = 0;
  for (const ListedOperation& operation : list.operations) {
    out += static_cast<std::size_t>(
        std::ranges::count_if(operation.variants, [](const ListedVariant& one) { return !one.info.calls; }));
  }
  return out;
}

}  // namespace

// Beside the type, where argument-dependent lookup finds it.
void describe(Fields& f, FieldRule& rule) {
  f.derived("name", std::string(rule.name));
  f("low", rule.low);
  f("high", rule.high);
  f("default", rule.fallback);
  f.derived("words", std::vector<std::string>(rule.words.begin(), rule.words.end()),
            {.terse = true, .about = "that stand for 0, 1, …"});
}

Json list_schema() { return schema_of<List>(); }

Outcome list_verb(const ListOptions& options, const Registry& registry) {
  const BuildInfo& build = build_info();
  std::string text;
  List list;
  for (const Listed& listed : selected(registry, options.filter)) {
    text += options.code ? code_of(listed) : text_of(listed) + "\n";
    list.operations.push_back(stored(listed));
  }
  if (!options.code) {
    const std::size_t unknown = unknown_calls(list);
    if (unknown > 0)
      text +=
          fmt::format("calls                    unknown of {} variant{}\n", unknown, unknown == 1 ? "" : "s");
    text += fmt::format("kernels compiled with    {}\nreference compiled with  {}\n", build.kernel_flags,
                        build.reference_flags);
  }
  put(options.json, text, json_text(to_value(list)));
  return {};
}

}  // namespace assay
