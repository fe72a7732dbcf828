#include "core/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace assay {
namespace {

/// Whether a character of UTF-8 is obeyed by terminals, or forbidden in XML.
bool is_invisible(std::string_view character) {
  const auto last = static_cast<unsigned char>(character.back());
  switch (character.size()) {
    case 1: return last < 0x20 || last == 0x7F;
    case 2: return character.front() == '\xC2' && last < 0xA0;
    case 3:
      return (character.starts_with("\xE2\x80") && last >= 0xAA && last <= 0xAE) ||
             (character.starts_with("\xE2\x81") && last >= 0xA6 && last <= 0xA9) ||
             (character.starts_with("\xEF\xBF") && last >= 0xBE);
    default: return false;
  }
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

std::size_t bytes_of(std::string_view text, std::size_t characters) {
  std::size_t at = 0;
  while (at < text.size() && (characters > 0 || continues(text[at]))) {
    if (!continues(text[at])) --characters;
    ++at;
  }
  return at;
}

}  // namespace

std::size_t character_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  std::uint32_t code = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues(text[i])) return 0;
    code = code << 6U | (byte(i) & 0x3FU);
  }
  const std::uint32_t least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < least || code > 0x10FFFF || surrogate ? 0 : length;
}

std::string visible(std::string_view text, Lines lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(1, length));
    text.remove_prefix(character.size());
    const char first = character.front();
    if (first == '\r' && text.starts_with('\n')) continue;  // the end of a line, as other systems write it
    if (first == '\n' || first == '\t') {
      out += lines == Lines::one ? ' ' : first;
    } else if (length == 0 || is_invisible(character)) {
      for (const char byte : character) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    } else {
      out += character;
    }
  }
  return out;
}

std::string abridged(std::string_view text, std::size_t most) {
  constexpr std::string_view ellipsis = "…";
  if (text.size() <= most) return std::string(text);
  std::size_t end = most < ellipsis.size() ? 0 : most - ellipsis.size();
  while (end > 0 && continues(text[end])) --end;
  return std::string(text.substr(0, end)).append(ellipsis);
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return !continues(c); }));
}

std::string wrapped(std::string_view text, std::size_t widest, std::string_view indent) {
  std::string out;
  std::size_t room = widest, start = text.find_first_not_of(' ');
  while (display_width(text) > room) {
    // A space at the end may stand beyond the edge.
    std::size_t at = text.rfind(' ', bytes_of(text, room));
    if (at == std::string_view::npos || at <= start) {
      at = text.substr(0, bytes_of(text, room)).rfind(',');
      at = at == std::string_view::npos || at <= start ? text.find(' ', start) : at + 1;
      if (at == std::string_view::npos) break;
    }
    out += text.substr(0, at);
    out += '\n';
    text.remove_prefix(std::min(text.find_first_not_of(' ', at), text.size()));
    out += indent;
    room = widest - display_width(indent);
    start = 0;
  }
  return out.append(text);
}

}  // namespace assay
