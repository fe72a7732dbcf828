#include "core/text/markdown.hpp"

#include "assay/error.hpp"

#include <algorithm>
#include <cassert>
#include <set>

namespace assay {
namespace {

/// Between `@` or `#` and what follows, so that a forge links no person and no issue.
constexpr std::string_view zero_width_space = "\u200b";

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
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out += ' ';
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '@' || c == '#') {
      out += c;
      out += zero_width_space;
    } else {
      if (std::string_view("\\`*_[]|~>").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
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
    body += c == '\n' || c == '\r' ? ' ' : c;
  }
  const std::string padding = run > 0 ? " " : "";
  return fence + padding + body + padding + fence;
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
