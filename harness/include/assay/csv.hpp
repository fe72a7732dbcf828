/// Separated values as people and their tools write them: with blanks, CRLF and a byte order mark.
#pragma once

#include "assay/problem.hpp"

#include <string_view>

namespace assay::csv {

/// The text without blanks around it, to which the ends of lines count.
constexpr std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The text without the byte order mark of UTF-8 that some programs begin a file with.
constexpr std::string_view without_mark(std::string_view text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

/// Calls `take(position, cell)` for each cell of a line, trimmed, and returns how many there are.
template <class Take>
constexpr Index each_cell(std::string_view line, char separator, const Take& take) {
  for (Index count = 0;;) {
    const auto end = line.find(separator);
    take(count++, trimmed(line.substr(0, end)));
    if (end == std::string_view::npos) return count;
    line.remove_prefix(end + 1);
  }
}

}  // namespace assay::csv
