#include "app/output.hpp"
#include "app/schemas.hpp"
#include "app/teeth.hpp"
#include "app/verb_functions.hpp"
#include "assay/error.hpp"
#include "assay/pick.hpp"
#include "assay/pipeline.hpp"
#include "core/code/calls.hpp"
#include "core/json/fields.hpp"
#include "core/machine/build_info.hpp"
#include "core/plan/filter.hpp"
#include "core/plan/shapes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace assay {
namespace {

struct Listed {
  const Operation* operation;
  std::vector<std::size_t> variants;
  std::vector<std::string> problems;  ///< asked about; may be empty
};

/// The variant that `auto` is for a problem and a number of threads.
struct ListedChoice {
  std::string problem;
  int threads = 0;
  std::string variant, reason;
};

// The same as files hold it.
struct ListedVariant {
  VariantInfo info;
  std::optional<std::string> unfit;
  std::vector<ListedChoice> choices;
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

void describe(Fields& f, ListedChoice& one) {
  f("problem", one.problem);
  f("threads", one.threads);
  f("variant", one.variant);
  f("reason", one.reason, {.about = "empty: its rule gives none"});
}

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
  f("choices", one.choices,
    {.terse = true, .about = "of a variant that is another one, for the cases asked about"});
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

bool is_listed(const VariantInfo& variant, bool known) { return (variant.kin() != Kin::sound) == known; }

/// Selects variants of the operations of cases, one entry for each operation.
std::vector<Listed> of_cases(const Registry& registry, const std::string& cases, bool known) {
  std::vector<Listed> out;
  for (const Case& row : suite_of_shapes(cases, registry).cases) {
    const Operation& operation = registry.at(row.operation);
    auto entry = std::ranges::find(out, &operation, &Listed::operation);
    if (entry == out.end()) {
      entry = out.insert(out.end(), {&operation, {}, {}});
      for (std::size_t v = 0; v < operation.variants().size(); ++v)
        if (is_listed(operation.variants()[v], known)) entry->variants.push_back(v);
    }
    entry->problems.push_back(fields_of(operation, row.problem, row.file));
  }
  return out;
}

/// Selects variants that one would use or, if `known`, those that are kept for the tests of checks.
std::vector<Listed> selected(const Registry& registry, const std::string& filter, bool known) {
  if (names_shapes(filter)) return of_cases(registry, filter, known);
  const Filter wanted(filter, registry);
  std::vector<Listed> out;
  for (const Operation* operation : registry.operations()) {
    Listed next{operation, {}, {}};
    for (std::size_t v = 0; v < operation->variants().size(); ++v) {
      const VariantInfo& variant = operation->variants()[v];
      if (is_listed(variant, known) && wanted.selects(fmt::format("{}/{}", operation->name(), variant.name)))
        next.variants.push_back(v);
    }
    if (!next.variants.empty()) out.push_back(std::move(next));
  }
  if (out.empty()) {
    throw Error("filter '" + filter + "'", "selects no variant",
                known ? "`assay list --known` shows all" : "`assay list` shows all");
  }
  return out;
}

std::optional<std::string> unfit_here(const Listed& listed, std::size_t variant) {
  const Operation& operation = *listed.operation;
  const std::string problem =
      listed.problems.empty() ? operation.corner_cases().front() : listed.problems.front();
  return operation.unfit(variant, problem, Context{});
}

/// The choices on one thread and on all cores.
std::vector<ListedChoice> choices_of(const Listed& listed, std::size_t variant) {
  std::vector<ListedChoice> out;
  for (const std::string& problem : listed.problems) {
    for (const int threads : std::set{1, this_machine().cores}) {
      if (const auto choice = picked(*listed.operation, variant, problem, {.threads = threads}))
        out.push_back({problem, threads, choice->variant, std::string(choice->reason)});
    }
  }
  return out;
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
  std::map<std::string, std::vector<std::string>> not_here;  // names by reason
  for (const std::size_t v : listed.variants) {
    const VariantInfo& variant = operation.variants()[v];
    if (const auto unfit = unfit_here(listed, v)) {
      not_here[*unfit].push_back(variant.name);
      continue;
    }
    out += fmt::format("  {:<14} {}{}{}\n", variant.name, mark_of(variant.kin()), variant.summary,
                       variant.threaded ? " (threads)" : "");
    for (const ListedChoice& choice : choices_of(listed, v)) {
      out += fmt::format("{:17}is {} for {}#{}{}{}\n", "", choice.variant, choice.problem, choice.threads,
                         choice.reason.empty() ? "" : ", because ", choice.reason);
    }
    out += calls_of(variant);
  }
  for (const auto& [reason, names] : not_here)
    out += fmt::format("  not here       {}: {}\n", fmt::join(names, ", "), reason);
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
    out.variants.push_back({operation.variants()[v], unfit_here(listed, v), choices_of(listed, v)});
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
  if (options.known) require_teeth(registry, "list --known");
  const BuildInfo& build = build_info();
  std::string text;
  List list;
  for (const Listed& listed : selected(registry, options.filter, options.known)) {
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
