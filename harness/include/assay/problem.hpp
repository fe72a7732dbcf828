/// Problems: aggregates of named integers, and their text form `m=64,n=64,k=64`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace assay {

/// Extents, strides and loop counters.
using Index = std::int64_t;

/// Largest value any field takes: products of two fields stay inside Index.
inline constexpr Index largest_extent = Index{1} << 31;

/// The values that a field of a problem accepts. A field with a fallback may be left out, and is left out of
/// the canonical text where it has that value.
struct FieldRule {
  std::string_view name;
  Index low = 1;
  Index high = largest_extent;
  std::optional<Index> fallback;
  /// Words that stand for 0, 1, …; empty for a plain number. Refers to static storage.
  std::span<const std::string_view> words;
  bool of_content = false;  ///< see of_content()
};

/// A field together with the member it fills.
template <class Problem>
struct Field {
  FieldRule rule;
  Index Problem::*member;
};

/// An extent: required, at least 1.
template <class Problem>
constexpr Field<Problem> field(std::string_view name, Index Problem::*member) {
  return {{name, 1, largest_extent, std::nullopt, {}}, member};
}

/// An option in [low, high] that may be left out.
template <class Problem>
constexpr Field<Problem> option(std::string_view name, Index Problem::*member, Index fallback, Index low,
                                Index high) {
  return {{name, low, high, fallback, {}}, member};
}

/// One of `words`, held as its position; the first is the fallback.
template <class Problem, std::size_t count>
constexpr Field<Problem> choice(std::string_view name, Index Problem::*member,
                                const std::array<std::string_view, count>& words) {
  return {{name, 0, static_cast<Index>(count) - 1, 0, words}, member};
}

/// The same option or choice, where no size, no cost and no meaning of an output depends on it: it says what
/// an input holds. Kernels have to be right whatever that is, and are not told: a problem that is handed to a
/// variant, to its `unfit` or to a rule that picks one has the fallback there. Makers of inputs, oracles and
/// judges see the value.
template <class Problem>
constexpr Field<Problem> of_content(Field<Problem> field) {
  field.rule.of_content = true;
  return field;
}

/// The fields of a problem, or the parts of an input or an output (operation.hpp), in order: a member that is
/// called like the function which may stand in its place, and returns them as a tuple.
template <class... T>
struct Listed {
  std::tuple<T...> all;
  constexpr explicit Listed(T... each) : all(each...) {}
  constexpr std::tuple<T...> operator()() const { return all; }
};

/// The values of a problem as variants are handed it: fields of content have their fallbacks.
std::vector<Index> without_content(std::vector<Index> values, std::span<const FieldRule> rules);

/// Values in the order of `rules` from `name=value,…` in any order. Throws Error naming `where` and the field
/// for unknown, missing, repeated, malformed and out-of-range fields.
std::vector<Index> parse_fields(std::string_view where, std::string_view text,
                                std::span<const FieldRule> rules);

/// The canonical text: fields in the order of `rules`, those at their fallback left out.
std::string format_fields(std::span<const Index> values, std::span<const FieldRule> rules);

/// The rules of all fields of `Problem`, in order.
template <class Problem>
std::vector<FieldRule> field_rules() {
  return std::apply([](const auto&... f) { return std::vector<FieldRule>{f.rule...}; }, Problem::fields());
}

/// The problem whose fields have these values, in the order of its rules.
template <class Problem>
Problem problem_from(std::span<const Index> values) {
  Problem problem{};
  std::size_t next = 0;
  std::apply([&](const auto&... f) { ((problem.*f.member = values[next++]), ...); }, Problem::fields());
  return problem;
}
template <class Problem>
std::vector<Index> values_of(const Problem& problem) {
  return std::apply([&](const auto&... f) { return std::vector<Index>{problem.*f.member...}; },
                    Problem::fields());
}

template <class Problem>
Problem parse_problem(std::string_view where, std::string_view text) {
  return problem_from<Problem>(parse_fields(where, text, field_rules<Problem>()));
}

/// The texts of all combinations of a text in which fields have several values, `m=1|2,n=3|4`; the last field
/// changes first.
std::vector<std::string> combinations(const std::string& text);

/// Problems from such texts.
template <class Problem>
std::vector<Problem> problems(const std::vector<std::string>& texts) {
  std::vector<Problem> out;
  for (const std::string& text : texts) {
    for (const std::string& one : combinations(text)) {
      out.push_back(parse_problem<Problem>("a corner case", one));
    }
  }
  return out;
}
template <class Problem>
std::string to_text(const Problem& problem) {
  return format_fields(values_of(problem), field_rules<Problem>());
}

}  // namespace assay
