/// Texts taken apart: at separators, and into numbers; and names that somebody may have meant.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace assay {

/// Splits a text; keeps empty parts.
inline std::vector<std::string_view> parts_of(std::string_view text, char between) {
  std::vector<std::string_view> out;
  for (;;) {
    const std::size_t end = text.find(between);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

/// Returns the number that the whole text is; nothing for other texts, and for numbers that are not finite or
/// that the type cannot hold.
template <class Number>
std::optional<Number> number_from(std::string_view text) {
  Number out{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if constexpr (std::floating_point<Number>) {
    if (!std::isfinite(out)) return std::nullopt;
  }
  return out;
}

/// Characters, each with what is written for it.
using Spellings = std::initializer_list<std::pair<char, std::string_view>>;
/// Returns the text with its characters spelled so; others stay.
std::string spelled(std::string_view text, Spellings spellings);

/// The `most` names that take the fewest insertions, deletions and replacements of single characters to reach
/// from `text`, nearest first.
std::vector<std::string> near_names(std::string_view text, std::span<const std::string> names,
                                    std::size_t most);

}  // namespace assay
