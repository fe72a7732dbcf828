#include "bench/compare/row_text.hpp"

#include <fmt/format.h>

namespace assay {

std::string_view mark(Standing standing) {
  switch (standing) {
    case Standing::wrong:
    case Standing::crashed:
    case Standing::timed_out: return "‼";
    case Standing::slower: return "✗";
    case Standing::accepted: return "~";
    case Standing::undecided: return "?";
    case Standing::faster: return "▲";
    case Standing::same: return "=";
    case Standing::added: return "+";
    case Standing::gone: return "−";
    case Standing::not_comparable: return "≠";
    case Standing::skipped: return "·";
  }
  return " ";
}

std::string inert(std::string_view text) {
  constexpr std::string_view special = "&<>|`@#*[]\\~$!";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool link = (c == ':' && text.substr(i).starts_with("://")) ||
                      (c == '.' && i >= 3 && text.substr(i - 3, 3) == "www");
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += ' ';
    } else if (link || special.find(c) != std::string_view::npos) {
      out += fmt::format("&#{};", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string printable(std::string_view text, std::size_t width) {
  std::string out;
  for (const char c : text) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  if (out.size() > width) out.replace(width - 3, std::string::npos, "...");
  return out;
}

}  // namespace assay
