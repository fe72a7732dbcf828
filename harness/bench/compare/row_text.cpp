#include "bench/compare/row_text.hpp"

namespace assay {

std::string_view mark(Standing standing) {
  switch (standing) {
    case Standing::wrong:
    case Standing::impossible:
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

std::string printable(std::string_view text, std::size_t width) {
  std::string out;
  for (const char c : text) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  if (out.size() > width) out.replace(width - 3, std::string::npos, "...");
  return out;
}

}  // namespace assay
