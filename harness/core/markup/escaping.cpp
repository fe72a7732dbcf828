#include "core/markup/escaping.hpp"

#include "core/text/parts.hpp"
#include "core/text/utf8.hpp"

#include <algorithm>

namespace assay {
namespace {

/// Breaks names, numbers and addresses that forges look for in rendered text, where escapes have no effect.
/// Readers do not see it.
constexpr std::string_view zero_width_space = "\u200b";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_of_word(char c) {
  return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || static_cast<unsigned char>(c) >= 0x80;
}

/// Whether a forge would find a link, a name or a number at the border of `before` and `after`. GitHub:
/// @name, #12, GH-12, addresses. GitLab: also !12, $12, %12, ~label and &12.
bool needs_break(std::string_view before, std::string_view after) {
  if (after.empty() || after.front() == ' ') return false;
  if (std::string_view("@#!$%~&").find(before.back()) != std::string_view::npos) {
    return is_of_word(after.front()) ||
           std::string_view("\"'_{").find(after.front()) != std::string_view::npos;
  }
  if (before.back() == ':') return after.starts_with("//");
  const auto ends_with = [&](std::string_view lower) {
    return before.size() >= lower.size() &&
           std::ranges::equal(before.substr(before.size() - lower.size()), lower,
                              [](char a, char b) { return (a | 0x20) == b; });
  };
  if (after.front() == '.') return ends_with("www");
  return after.size() > 1 && after.front() == '-' && is_digit(after[1]) && ends_with("gh");
}

/// Whether the character at `i` would begin or end markup. Characters that begin a block count at the start
/// alone, and brackets only where a link may follow, so that intervals stay readable in the file.
bool is_markup(std::string_view text, std::size_t i, bool in_a_cell) {
  const char c = text[i];
  const char next = i + 1 < text.size() ? text[i + 1] : ' ';
  if (std::string_view("\\`*|~#").find(c) != std::string_view::npos) return true;
  if (c == '_') return i == 0 || !is_of_word(text[i - 1]) || !is_of_word(next);
  if (c == ']') return std::string_view("([:").find(next) != std::string_view::npos;
  if (in_a_cell) return c == '[' && i == 0;
  const bool numbered =
      (c == '.' || c == ')') && next == ' ' && i > 0 && std::ranges::all_of(text.substr(0, i), is_digit);
  if (i > 0) return numbered;
  return c == '[' || c == '>' || ((c == '-' || c == '+' || c == '=') && (next == ' ' || next == c));
}

std::string prose(std::string_view text, bool in_a_cell) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_markup(text, i, in_a_cell)) out += '\\';
    // GitHub takes formulas out before it heeds a backslash.
    out += spelled(text.substr(i, 1), {{'<', "&lt;"}, {'&', "&amp;"}, {'$', "&#36;"}});
    if (needs_break(text.substr(0, i + 1), text.substr(i + 1))) out += zero_width_space;
  }
  return out;
}

std::string span(std::string_view text, bool in_a_cell) {
  if (text.empty()) return "";
  std::size_t longest = 0, run = 0;
  std::string body;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    if (c == '|' && in_a_cell) body += '\\';  // it ends a cell even inside code
    body += c;
  }
  const std::string fence(longest + 1, '`'), padding = longest > 0 ? " " : "";
  return fence + padding + body + padding + fence;
}

/// Divides three backticks in a row, which would end the block.
std::string fenced(std::string_view text) {
  std::string out;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    if (run == 3) {
      out += zero_width_space;
      run = 1;
    }
    out += c;
  }
  return out;
}

std::string html(std::string_view text, bool in_markdown) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += spelled(text.substr(i, 1),
                   {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}});
    if (in_markdown && needs_break(text.substr(0, i + 1), text.substr(i + 1))) out += zero_width_space;
  }
  return out;
}

}  // namespace

std::string escaped(std::string_view text, Place place) {
  const std::string line = visible(text, Lines::one);
  switch (place) {
    case Place::prose: return prose(line, false);
    case Place::cell: return prose(line, true);
    case Place::span: return span(line, false);
    case Place::cell_span: return span(line, true);
    case Place::fence: return fenced(line);
    case Place::html: return html(line, false);
    case Place::summary: return html(line, true);
    case Place::terminal: return line;
    // These characters occur only within strings of JSON, where HTML and XML read the escapes alike.
    case Place::json: return spelled(line, {{'&', "\\u0026"}, {'<', "\\u003c"}, {'>', "\\u003e"}});
  }
  return "";
}

}  // namespace assay
