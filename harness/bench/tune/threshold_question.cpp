#include "bench/tune/threshold_question.hpp"

#include "assay/error.hpp"
#include "bench/tune/threshold_search.hpp"
#include "core/plan/trial_key.hpp"
#include "core/text/figures.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace assay {
namespace {

constexpr std::size_t shown_names = 3;
constexpr Index most_threads = 4096;

/// Throws Error.
[[noreturn]] void refuse_name(const std::string& where, const std::string& what, std::string_view name,
                              const std::vector<std::string>& known) {
  throw Error(where, what,
              fmt::format("near it: {}\n  `assay list` shows all",
                          fmt::join(near_names(name, known, shown_names), ", ")));
}

const Operation& operation_named(const Registry& registry, const std::string& name) {
  std::vector<std::string> known;
  for (const Operation* operation : registry.operations()) {
    if (operation->name() == name) return *operation;
    known.emplace_back(operation->name());
  }
  refuse_name(name, "is no operation", name, known);
}

/// The field that grows is an extent and is not given in the case as well.
void require_extent(const ThresholdRequest& request, const Operation& operation, const std::string& fixed) {
  const std::string where = "--vary " + request.vary;
  std::vector<std::string> known;
  const std::vector<FieldRule> rules = operation.fields();
  for (const FieldRule& rule : rules) {
    if (rule.words.empty()) known.emplace_back(rule.name);
  }
  const auto rule = std::ranges::find(rules, request.vary, &FieldRule::name);
  if (rule == rules.end())
    refuse_name(where, fmt::format("is no field of {}", operation.name()), request.vary, known);
  if (!rule->words.empty()) {
    throw Error(where, fmt::format("takes the words {}, which are no sizes", fmt::join(rule->words, ", ")),
                fmt::format("vary one of {}", fmt::join(known, ", ")));
  }
  if (("," + fixed).find("," + request.vary + "=") != std::string::npos) {
    throw Error(where, fmt::format("is given in {} as well", request.subject), "leave it out there");
  }
  const Index low = std::max<Index>(1, rule->low);
  if (request.from >= request.to) {
    throw Error("--from and --to", fmt::format("are {} and {}", request.from, request.to),
                "--from must be the smaller one");
  }
  if (request.from < low || request.to > rule->high) {
    throw Error("--from and --to", fmt::format("leave what {} may be", request.vary),
                fmt::format("give values from {} to {}", low, rule->high));
  }
}

/// The number behind a # in the name of a variant, where there is one.
std::optional<int> threads_named(const std::string& text) {
  const std::size_t hash = text.find('#');
  if (hash == std::string::npos) return std::nullopt;
  const auto threads = number_from<int>(text.substr(hash + 1));
  if (!threads || *threads < 1 || *threads > most_threads) {
    throw Error("--between " + text, "has no number of threads after the #", "write it as threaded#2");
  }
  return threads;
}

/// `otherwise` is the number that --threads gives, where it is given.
Contestant contestant(const Operation& operation, const std::string& text, std::optional<int> otherwise) {
  const std::string present = with_present_names(text), name = present.substr(0, present.find('#'));
  const std::optional<int> threads = threads_named(present);
  const std::string where = "--between " + text;
  const auto& variants = operation.variants();
  const auto found = std::ranges::find(variants, name, &VariantInfo::name);
  if (found == variants.end()) {
    std::vector<std::string> known;
    for (const VariantInfo& variant : variants) {
      if (variant.kin() == Kin::sound) known.push_back(variant.name);
    }
    refuse_name(where, fmt::format("is no variant of {}", operation.name()), name, known);
  }
  if (found->kin() != Kin::sound) throw Error(where, "is kept apart and never timed", "name another variant");
  if (!found->threaded && threads.value_or(1) != 1) {
    throw Error(where, "runs with one thread only", "leave the # out, or name a threaded variant");
  }
  Contestant out{.variant = static_cast<std::size_t>(found - variants.begin()), .name = name};
  if (found->threaded) {
    out.threads = threads.value_or(otherwise.value_or(1));
    out.name += fmt::format("#{}", out.threads);
  }
  return out;
}

void add_contestants(ThresholdQuestion& out, const ThresholdRequest& request) {
  const std::size_t comma = request.between.find(',');
  if (comma == std::string::npos || request.between.find(',', comma + 1) != std::string::npos) {
    throw Error("--between " + request.between, "is not two variants", "write it as naive,simd@avx2");
  }
  if (request.threads.size() > 2) {
    throw Error("--threads", fmt::format("has {} numbers", request.threads.size()),
                "give one for each of the two variants, or one for both");
  }
  std::optional<int> of_first, of_second;
  if (!request.threads.empty()) {
    of_first = request.threads.front();
    of_second = request.threads.back();
  }
  out.first = contestant(*out.operation, request.between.substr(0, comma), of_first);
  out.second = contestant(*out.operation, request.between.substr(comma + 1), of_second);
  if (out.first.name == out.second.name) {
    throw Error("--between " + request.between, "is the same variant twice",
                "name two, or two numbers of threads: threaded#1,threaded#2");
  }
  if (!request.threads.empty() && out.first.threads == 1 && out.second.threads == 1 &&
      std::ranges::any_of(request.threads, [](int count) { return count != 1; })) {
    throw Error("--threads", "changes neither of the two variants", "leave it out, or name a threaded one");
  }
}

/// Says who refuses a size, and why; nothing if it can be measured. Throws Error if the contract refuses it.
std::optional<RefusedSizes> refusal_at(const ThresholdQuestion& question, Index size,
                                       const Machine& machine) {
  const Operation& operation = *question.operation;
  const std::string problem = question.problem_at(size);
  const double bytes = operation.footprint(problem);
  for (const Contestant* one : {&question.first, &question.second}) {
    const auto reason = operation.unfit(one->variant, problem, {.threads = one->threads});
    if (reason) return RefusedSizes{.by = one->name, .why = *reason};
  }
  if (machine.memory_bytes > 0 && bytes > machine.memory_bytes) {
    return RefusedSizes{.by = "memory",
                        .why = fmt::format("needs {}, and {} are available", bytes_text(bytes),
                                           bytes_text(machine.memory_bytes))};
  }
  return std::nullopt;
}

void add_refused(std::vector<RefusedSizes>& list, RefusedSizes one, Index size) {
  auto same = std::ranges::find(list, one.by, &RefusedSizes::by);
  if (same == list.end()) same = list.insert(list.end(), std::move(one));
  same->sizes.push_back(size);
}

std::string first_line_of(const std::string& text) { return text.substr(0, text.find('\n')); }

void add_sizes(ThresholdQuestion& out, const ThresholdRequest& request, const Machine& machine) {
  const std::vector<Index> all = geometric_sizes(request.from, request.to, request.step);
  std::size_t by_contract = 0;
  for (const Index size : all) {
    try {
      if (auto refusal = refusal_at(out, size, machine)) {
        add_refused(out.refused, *std::move(refusal), size);
      } else {
        out.sizes.push_back(size);
      }
    } catch (const Error& refusal) {
      if (++by_contract == all.size()) throw;
      add_refused(out.refused,
                  {.by = std::string(out.operation->name()), .why = first_line_of(refusal.what())}, size);
    }
  }
  if (out.sizes.size() == 1) {
    const RefusedSizes& most =
        *std::ranges::max_element(out.refused, {}, [](const RefusedSizes& one) { return one.sizes.size(); });
    throw Error("--from and --to",
                fmt::format("leave {}={} alone: {}: {}", out.vary, out.sizes.front(), most.by, most.why),
                "give another range");
  }
}

}  // namespace

std::string ThresholdQuestion::problem_at(Index size) const {
  const std::string text = fmt::format("{}{}{}={}", fixed, fixed.empty() ? "" : ",", vary, size);
  return operation->canonical(operation->name(), text);
}

ThresholdQuestion question_of(const ThresholdRequest& request, const Registry& registry,
                              const Machine& machine) {
  const std::size_t slash = request.subject.find('/');
  ThresholdQuestion out{.operation = &operation_named(registry, request.subject.substr(0, slash)),
                        .subject = request.subject,
                        .fixed = slash == std::string::npos ? "" : request.subject.substr(slash + 1),
                        .vary = request.vary};
  require_extent(request, *out.operation, out.fixed);
  add_contestants(out, request);
  add_sizes(out, request, machine);
  return out;
}

}  // namespace assay
