#include "core/text/wrapped.hpp"

#include <algorithm>

namespace assay {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// Bytes of the first `characters` characters.
std::size_t bytes_of(std::string_view text, std::size_t characters) {
  std::size_t at = 0;
  while (at < text.size() && (characters > 0 || continues(text[at]))) {
    if (!continues(text[at])) --characters;
    ++at;
  }
  return at;
}

}  // namespace

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
