#include "core/text/markdown.hpp"

#include "assay/error.hpp"

#include <algorithm>
#include <cassert>
#include <set>

namespace assay {
namespace {

/// Breaks what forges look for in rendered text, where no escape is left. Readers do not see it.
constexpr std::string_view zero_width_space = "\u200b";

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether a forge would find a link, a name or a number of something in what lies around the end of
/// `before`. GitHub: @name, #12, GH-12, addresses. GitLab: also !12, $12, %12, ~label and &12.
bool needs_break(std::string_view before, std::string_view after) {
  if (after.empty() || after.front() == ' ') return false;
  if (std::string_view("@#!$%~&").find(before.back()) != std::string_view::npos) return true;
  if (before.back() == ':') return after.starts_with("//");
  const auto ends_with = [&](std::string_view lower) {
    return before.size() >= lower.size() &&
           std::ranges::equal(before.substr(before.size() - lower.size()), lower,
                              [](char a, char b) { return (a | 0x20) == b; });
  };
  if (after.front() == '.') return ends_with("www");
  return after.size() > 1 && after.front() == '-' && is_digit(after[1]) && ends_with("gh");
}

std::size_t longest_run_of_backticks(std::string_view text) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_control(c)) {
      out += ' ';
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '$') {
      out += "&#36;";  // GitHub takes formulas out before it heeds a backslash
    } else {
      if (std::string_view("\\`*_[]|~>#").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
    if (needs_break(text.substr(0, i + 1), text.substr(i + 1))) out += zero_width_space;
  }
  return out;
}

std::string code(std::string_view text) {
  if (text.empty()) return "";
  const std::size_t run = longest_run_of_backticks(text);
  const std::string fence(run + 1, '`');
  std::string body;
  for (const char c : text) {
    if (c == '|') body += '\\';  // ends a table cell even inside code
    body += is_control(c) ? ' ' : c;
  }
  const std::string padding = run > 0 ? " " : "";
  return fence + padding + body + padding + fence;
}

std::string code_block(std::string_view language, const std::vector<std::string>& lines) {
  std::size_t run = 2;
  for (const std::string& line : lines) run = std::max(run, longest_run_of_backticks(line));
  const std::string fence(run + 1, '`');
  std::string out = fence + std::string(language) + "\n";
  for (std::string line : lines) {
    std::ranges::replace_if(line, is_control, ' ');
    out += line + "\n";
  }
  return out + fence;
}

std::string markdown_table(std::string_view alignment, const std::vector<std::string>& columns,
                           const std::vector<std::vector<std::string>>& rows) {
  assert(alignment.size() == columns.size());
  std::string out = "|";
  for (const std::string& column : columns) out += " " + column + " |";
  out += "\n|";
  for (const char side : alignment) out += side == 'r' ? "---:|" : "---|";
  for (const auto& row : rows) {
    assert(row.size() == columns.size());
    out += "\n|";
    for (const std::string& cell : row) out += " " + cell + " |";
  }
  return out;
}

std::string fill_template(std::string_view where, std::string_view text,
                          const std::map<std::string, std::string>& values) {
  std::string out;
  std::set<std::string> used;
  while (true) {
    const std::size_t open = text.find("{{");
    out += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find("}}", open);
    if (close == std::string_view::npos) {
      throw Error(std::string(where), "a placeholder is not closed", "write {{name}}");
    }
    const std::string name(text.substr(open + 2, close - open - 2));
    const auto value = values.find(name);
    if (value == values.end()) {
      throw Error(std::string(where), "unknown placeholder '" + name + "'",
                  "use one that the report gives a value");
    }
    used.insert(name);
    out += value->second;
    text.remove_prefix(close + 2);
  }
  for (const auto& [name, value] : values) {
    if (!used.contains(name)) {
      throw Error(std::string(where), "placeholder '" + name + "' is missing", "add {{" + name + "}}");
    }
  }
  return out;
}

}  // namespace assay
