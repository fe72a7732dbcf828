#include "core/text/command.hpp"

#include "assay/error.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <regex>
#include <utility>

namespace assay {

std::string shell_word(const std::string& text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./,:=@%^";
  const bool needs_none =
      std::ranges::all_of(text, [&](char c) { return plain.find(c) != std::string_view::npos; });
  if (needs_none && !text.empty()) return text;
  return "'" + spelled(text, {{'\'', "'\\''"}}) + "'";
}

std::vector<std::string> shell_words(const std::string& line) {
  std::vector<std::string> out;
  std::optional<std::string> word;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      if (word) out.push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (!word) word.emplace();
    if (c == quote || (quote == 0 && (c == '\'' || c == '"'))) {
      quote = quote == 0 ? c : 0;
    } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      *word += line[++i];
    } else {
      *word += c;
    }
  }
  if (quote != 0) throw Error("'" + line + "'", "has a quote that is not closed", "close it");
  if (word) out.push_back(*word);
  return out;
}

std::string expression_for(std::string_view text) {
  // Brackets that close are special to nobody, and behind a backslash an error to some libraries.
  constexpr std::string_view special = ".[()*+?{|^$\\";
  std::string out;
  for (const char c : text) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += control ? '.' : c;  // a point matches it
  }
  return out;
}

std::string why_no_expression(const std::string& text, Grammar grammar) {
  // A frame takes some hundred bytes, or a thousand for a parenthesis, of a stack of 8 MiB. Alternatives, as
  // of a list of keys, come one after the other.
  constexpr std::ptrdiff_t longest = 8192, most_groups = 256;
  const auto is_long = [](std::string_view alternative) { return std::ssize(alternative) > longest; };
  if (std::ranges::any_of(parts_of(text, '|'), is_long) || std::ranges::count(text, '(') > most_groups)
    return fmt::format("it has more than {} characters between | or {} parentheses", longest, most_groups);
  try {
    const std::regex checked(text,
                             grammar == Grammar::ecmascript ? std::regex::ECMAScript : std::regex::extended);
    return "";
  } catch (const std::regex_error& failure) {
    return failure.what();
  }
}

std::string repeat_command(const std::string& command, const std::string& key) {
  return command + " -k " + shell_word("^" + expression_for(key) + "$");
}

}  // namespace assay
