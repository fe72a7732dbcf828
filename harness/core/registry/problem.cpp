#include "assay/problem.hpp"

#include "assay/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace assay {
namespace {

std::string value_text(const FieldRule& rule, Index value) {
  return rule.words.empty() ? fmt::format("{}", value)
                            : std::string(rule.words[static_cast<std::size_t>(value)]);
}

std::string known_fields(std::span<const FieldRule> rules) {
  std::string out;
  for (const FieldRule& rule : rules) {
    if (!out.empty()) out += ", ";
    out += rule.name;
    if (rule.fallback) out += fmt::format(" (default {})", value_text(rule, *rule.fallback));
  }
  return out;
}

Index parse_value(std::string_view where, std::string_view text, const FieldRule& rule) {
  if (!rule.words.empty()) {
    const auto word = std::ranges::find(rule.words, text);
    if (word != rule.words.end()) return word - rule.words.begin();
    throw Error(std::string(where), fmt::format("field '{}' is '{}', not one of its words", rule.name, text),
                fmt::format("write {}=<{}>", rule.name, fmt::join(rule.words, "|")));
  }
  Index value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || failure == std::errc::invalid_argument || end != text.data() + text.size()) {
    throw Error(std::string(where), fmt::format("field '{}' is '{}', not an integer", rule.name, text),
                fmt::format("write {}=<integer>", rule.name));
  }
  if (failure == std::errc::result_out_of_range || value < rule.low || value > rule.high) {
    throw Error(std::string(where), fmt::format("field '{}' is {}, out of range", rule.name, text),
                fmt::format("give a value from {} to {}", rule.low, rule.high));
  }
  return value;
}

/// Throws Error where the product of all extents, the fields without a fallback, is no Index: contracts and
/// kernels count elements and operations in whole numbers, and no machine has memory or time for as many.
void require_countable(std::string_view where, std::span<const Index> values,
                       std::span<const FieldRule> rules) {
  constexpr double most = 0x1p62;
  double product = 1;
  std::string extents;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].fallback || values[i] <= 1) continue;
    product *= static_cast<double>(values[i]);
    extents += fmt::format("{}{} = {}", extents.empty() ? "" : ", ", rules[i].name, values[i]);
  }
  if (product <= most) return;
  throw Error(
      std::string(where),
      fmt::format("is too large: the product of {} is {:.2g}, and 4.6e18 is the most", extents, product),
      "give smaller ones");
}

}  // namespace

std::vector<Index> without_content(std::vector<Index> values, std::span<const FieldRule> rules) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].of_content) values[i] = rules[i].fallback.value();
  }
  return values;
}

std::vector<Index> parse_fields(std::string_view where, std::string_view text,
                                std::span<const FieldRule> rules) {
  const auto refuse = [&](const std::string& what) {
    throw Error(std::string(where), what, "fields: " + known_fields(rules));
  };
  std::vector<std::optional<Index>> found(rules.size());
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) refuse(fmt::format("'{}' is not of the form field=value", item));
    const std::string_view name = item.substr(0, equals);
    const auto rule = std::ranges::find(rules, name, &FieldRule::name);
    if (rule == rules.end()) refuse(fmt::format("unknown field '{}'", name));
    auto& slot = found[static_cast<std::size_t>(rule - rules.begin())];
    if (slot) {
      throw Error(std::string(where), fmt::format("field '{}' is given twice", name), "give it once");
    }
    slot = parse_value(where, item.substr(equals + 1), *rule);
  }
  std::vector<Index> values;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (!found[i] && !rules[i].fallback) refuse(fmt::format("field '{}' is missing", rules[i].name));
    values.push_back(found[i] ? *found[i] : *rules[i].fallback);
  }
  require_countable(where, values, rules);
  return values;
}

std::string format_fields(std::span<const Index> values, std::span<const FieldRule> rules) {
  std::string out;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].fallback == values[i]) continue;
    if (!out.empty()) out += ',';
    out += fmt::format("{}={}", rules[i].name, value_text(rules[i], values[i]));
  }
  return out;
}

std::vector<std::string> combinations(const std::string& text) {
  const std::size_t bar = text.find('|');
  if (bar == std::string::npos) return {text};
  const std::size_t begin = text.rfind('=', bar) + 1, end = std::min(text.find(',', bar), text.size());
  std::vector<std::string> out;
  for (std::size_t at = begin; at < end;) {
    const std::size_t stop = std::min(text.find('|', at), end);
    const std::string one = text.substr(0, begin) + text.substr(at, stop - at) + text.substr(end);
    std::ranges::copy(combinations(one), std::back_inserter(out));
    at = stop + 1;
  }
  return out;
}

}  // namespace assay
