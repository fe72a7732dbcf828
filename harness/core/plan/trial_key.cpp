#include "core/plan/trial_key.hpp"

#include "assay/error.hpp"
#include "core/text/command.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

constexpr std::string_view former_tier = "avx3", present_tier = "avx512";

bool of_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

}  // namespace

std::string TrialKey::text() const {
  return fmt::format("{}/{}/{}#{}", operation, variant, problem, threads);
}

std::optional<TrialKey> trial_key(std::string_view text) {
  // A problem may name a file, and so have slashes of its own.
  const std::size_t first = text.find('/'), hash = text.rfind('#');
  if (first == std::string_view::npos || hash == std::string_view::npos) return std::nullopt;
  const std::size_t second = text.find('/', first + 1);
  if (second == std::string_view::npos || hash < second) return std::nullopt;
  const auto threads = number_from<int>(text.substr(hash + 1));
  if (!threads || *threads < 1) return std::nullopt;
  return TrialKey{.operation = std::string(text.substr(0, first)),
                  .variant = std::string(text.substr(first + 1, second - first - 1)),
                  .problem = std::string(text.substr(second + 1, hash - second - 1)),
                  .threads = *threads};
}

std::string with_present_names(std::string text) {
  for (std::size_t at = text.find(former_tier); at != std::string::npos; at = text.find(former_tier, at)) {
    const std::size_t end = at + former_tier.size();
    // A longer name, such as avx3_dl, belongs to another tier or variant.
    const bool whole = (at == 0 || !of_word(text[at - 1])) && (end == text.size() || !of_word(text[end]));
    if (whole) text.replace(at, former_tier.size(), present_tier);
    at += whole ? present_tier.size() : former_tier.size();
  }
  return text;
}

Filter::Filter(const std::string& text, const Registry& registry, const std::string& name)
    : name_(name), text_(text), negated_(text.starts_with('-')), selects_all_(text.empty() || text == "all") {
  const std::string pattern = with_present_names(negated_ ? text.substr(1) : text);
  const auto operations = registry.operations();
  const bool names_one = std::ranges::any_of(
      operations, [&](const Operation* operation) { return operation->name() == pattern; });
  if (const std::string why = why_no_expression(pattern, Grammar::posix_extended); !why.empty()) {
    throw Error(name + " '" + text + "'", "is not a regular expression: " + why,
                "quote special characters with \\, and close every bracket");
  }
  expression_ = std::regex(names_one ? "^" + pattern + "/" : pattern, std::regex::extended);
}

bool Filter::selects(const std::string& name) const {
  return selects_all_ || std::regex_search(name, expression_) != negated_;
}

void Filter::throw_selects_nothing(const std::string& where, const std::string& like) const {
  throw Error(name_ + " '" + text_ + "'", "selects nothing in " + where, "names there look like " + like);
}

}  // namespace assay
