#include "app/known_verbs.hpp"
#include "app/output.hpp"
#include "app/verbs.hpp"
#include "assay/error.hpp"
#include "assay/pick.hpp"
#include "core/code/calls.hpp"
#include "core/json/fields.hpp"
#include "core/machine/build_info.hpp"
#include "core/plan/suite.hpp"
#include "core/plan/trial_key.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace assay {
namespace {

/// The variant that `auto` is for a problem and a number of threads.
struct ListedChoice {
  std::string problem;
  int threads = 0;
  std::string variant, reason;
};

struct ListedVariant {
  VariantInfo info;
  std::optional<std::string> unfit;
  std::vector<ListedChoice> choices;
};
struct ListedTensor {
  std::string name, type, use;
};
struct ListedOperation {
  std::string name, about;
  int version = 0;
  std::vector<FieldRule> fields;
  std::vector<ListedTensor> tensors;
  std::vector<std::string> fills, corner_cases;
  std::vector<ListedVariant> variants;
};
struct List {
  std::string kernel_flags = build_info().kernel_flags, reference_flags = build_info().reference_flags;
  std::vector<ListedOperation> operations;
};

void describe(Fields& f, ListedChoice& one) {
  ASSAY_FIELDS(f, one, problem, threads, variant);
  f("reason", one.reason, {.about = "empty: its rule gives none"});
}

void describe(Fields& f, ListedVariant& one) {
  ASSAY_FIELDS(f, one.info, name, summary, threaded);
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

void describe(Fields& f, ListedTensor& one) {
  f("name", one.name);
  f("type", one.type, {.about = "other: what a plug-in sees as bytes"});
  f("use", one.use, {.about = "input, constant, output or updated"});
}

void describe(Fields& f, ListedOperation& one) {
  ASSAY_FIELDS(f, one, name, about, version, fields);
  f("tensors", one.tensors, {.about = "in the order in which a kernel of a plug-in gets them"});
  ASSAY_FIELDS(f, one, fills, corner_cases, variants);
}

void describe(Fields& f, List& list) {
  f.schema("assay.list/1");
  ASSAY_FIELDS(f, list, kernel_flags, reference_flags, operations);
}

/// The choices for each problem on one thread and on all cores.
std::vector<ListedChoice> choices_of(const Operation& operation, std::size_t variant,
                                     const std::vector<std::string>& problems) {
  std::vector<ListedChoice> out;
  for (const std::string& problem : problems) {
    for (const int threads : std::set{1, this_machine().cores}) {
      if (const auto choice = picked(operation, variant, problem, {.threads = threads}))
        out.push_back({problem, threads, choice->variant, std::string(choice->reason)});
    }
  }
  return out;
}

/// Returns the operation with the variants that are wanted: variants for use or, if `known`, variants that
/// are kept for the tests of checks. `problems` are the problems that the user asked about, if any.
ListedOperation listed(const Operation& operation, const std::vector<std::string>& problems, bool known,
                       const Filter& wanted) {
  ListedOperation out{.name = std::string(operation.name()),
                      .about = std::string(operation.about()),
                      .version = operation.version(),
                      .corner_cases = operation.corner_cases()};
  for (const FieldRule& rule : operation.fields()) out.fields.push_back(rule);
  constexpr std::array types{"f32", "f64", "f16", "bf16", "i32", "i64", "u8", "other"};  // as in plugin.h
  constexpr std::array uses{"input", "constant", "output", "updated"};
  try {
    for (const Tensor& one : operation.tensors()) {
      out.tensors.push_back({std::string(one.name), types.at(static_cast<std::size_t>(one.type)),
                             uses.at(static_cast<std::size_t>(one.use))});
    }
  } catch (const Error&) {  // of a library that cannot describe them, which a check names
  }
  for (const Fill fill : operation.fills()) out.fills.emplace_back(to_string(fill));
  for (std::size_t v = 0; v < operation.variants().size(); ++v) {
    const VariantInfo& variant = operation.variants()[v];
    const bool is_wanted = wanted.selects(fmt::format("{}/{}", operation.name(), variant.name));
    if ((variant.kin() != Kin::sound) != known || !is_wanted) continue;
    const std::string& problem = problems.empty() ? out.corner_cases.front() : problems.front();
    out.variants.push_back(
        {variant, operation.unfit(v, problem, Context{}), choices_of(operation, v, problems)});
  }
  return out;
}

std::vector<ListedOperation> selected(const Registry& registry, const std::string& filter, bool known) {
  std::vector<ListedOperation> out;
  if (names_shapes(filter)) {
    std::vector<std::pair<const Operation*, std::vector<std::string>>> asked;
    for (const Case& row : suite_of_shapes(filter, registry).cases) {
      const Operation& operation = registry.at(row.operation);
      auto entry = std::ranges::find(asked, &operation, [](const auto& one) { return one.first; });
      if (entry == asked.end()) entry = asked.insert(asked.end(), {&operation, {}});
      entry->second.push_back(fields_of(operation, row.problem, row.file));
    }
    for (const auto& [operation, problems] : asked)
      out.push_back(listed(*operation, problems, known, Filter("", registry)));
    return out;
  }
  const Filter wanted(filter, registry);
  for (const Operation* operation : registry.operations()) {
    ListedOperation next = listed(*operation, {}, known, wanted);
    if (!next.variants.empty()) out.push_back(std::move(next));
  }
  if (out.empty()) {
    throw Error("filter '" + filter + "'", "selects no variant",
                known ? "`assay list --known` shows all" : "`assay list` shows all");
  }
  return out;
}

std::string field_text(const FieldRule& rule) {
  if (!rule.fallback) return std::string(rule.name);
  if (!rule.words.empty()) return fmt::format("[{}={}]", rule.name, fmt::join(rule.words, "|"));
  return fmt::format("[{}={}]", rule.name, *rule.fallback);
}

std::string text_of(const ListedOperation& operation) {
  std::vector<std::string> fields;
  for (const FieldRule& rule : operation.fields) fields.push_back(field_text(rule));
  std::string out = fmt::format("{}  {}\n", operation.name, operation.about);
  out += fmt::format("  problem {}; fills {}; {} corner cases\n", fmt::join(fields, " "),
                     fmt::join(operation.fills, ", "), operation.corner_cases.size());
  std::vector<std::string> tensors;
  for (const ListedTensor& one : operation.tensors)
    tensors.push_back(fmt::format("{} ({} {})", one.name, one.type, one.use));
  if (!tensors.empty()) out += fmt::format("  tensors {}\n", fmt::join(tensors, ", "));
  constexpr std::array marks{"", "KNOWN BAD: ", "KNOWN CHEAT: ", "KNOWN HONEST: "};  // by Kin
  std::map<std::string, std::vector<std::string>> not_here;                          // names by reason
  for (const ListedVariant& one : operation.variants) {
    const VariantInfo& variant = one.info;
    if (one.unfit) {
      not_here[*one.unfit].push_back(variant.name);
      continue;
    }
    out += fmt::format("  {:<14} {}{}{}\n", variant.name, marks[static_cast<std::size_t>(variant.kin())],
                       variant.summary, variant.threaded ? " (threads)" : "");
    for (const ListedChoice& choice : one.choices) {
      out += fmt::format("{:17}is {} for {}#{}{}{}\n", "", choice.variant, choice.problem, choice.threads,
                         choice.reason.empty() ? "" : ", because ", choice.reason);
    }
    std::vector<std::string> calls;  // beyond run-times
    for (const Calls& to : variant.calls.value_or(std::vector<Calls>())) calls.push_back(in_words(to));
    if (!calls.empty()) out += fmt::format("{:17}calls {}\n", "", fmt::join(calls, ", "));
    const std::vector<std::string> unreached = unreached_libraries(variant);
    if (!unreached.empty()) {
      out += fmt::format("{:17}declares {}, which its code does not reach\n", "", fmt::join(unreached, ", "));
    }
  }
  for (const auto& [reason, names] : not_here)
    out += fmt::format("  not here       {}: {}\n", fmt::join(names, ", "), reason);
  return out;
}

/// Lists one variant per line, so that lists of two programs can be compared.
std::string code_of(const ListedOperation& operation) {
  std::string out;
  for (const ListedVariant& one : operation.variants) {
    const VariantInfo& variant = one.info;
    const std::string line = variant.line > 0 ? fmt::format(":{}", variant.line) : "";
    out += fmt::format("{:<16}  {:<40} {}{}\n", variant.code.empty() ? "unknown" : variant.code,
                       operation.name + "/" + variant.name, variant.source, line);
  }
  return out;
}

}  // namespace

// Beside the type, where argument-dependent lookup finds it.
void describe(Fields& f, FieldRule& rule) {
  f.derived("name", std::string(rule.name));
  ASSAY_FIELDS(f, rule, low, high);
  f("default", rule.fallback);
  f.derived("words", std::vector<std::string>(rule.words.begin(), rule.words.end()),
            {.terse = true, .about = "that stand for 0, 1, …"});
}

Json list_schema() { return schema_of<List>(); }

Outcome list_verb(const ListOptions& options, const Registry& registry) {
  if (options.known) require_teeth(registry, "list --known");
  List list{.operations = selected(registry, options.filter, options.known)};
  std::string text;
  Index unknown = 0;
  for (const ListedOperation& operation : list.operations) {
    text += options.code ? code_of(operation) : text_of(operation) + "\n";
    unknown +=
        std::ranges::count_if(operation.variants, [](const ListedVariant& one) { return !one.info.calls; });
  }
  if (!options.code) {
    if (unknown > 0)
      text += fmt::format("calls                    unknown of {}\n", quantity_text(unknown, "variant"));
    text += fmt::format("kernels compiled with    {}\nreference compiled with  {}\n", list.kernel_flags,
                        list.reference_flags);
  }
  put(options.json, text, json_text(to_value(list)));
  return {};
}

}  // namespace assay
