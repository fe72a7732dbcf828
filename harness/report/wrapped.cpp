#include "report/wrapped.hpp"

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

std::string wrapped(std::string_view text, std::string_view indent, std::size_t widest) {
  std::string out;
  std::size_t room = widest, first_break = text.find_first_not_of(' ');
  while (display_width(text) > room) {
    const std::size_t fits = bytes_of(text, room);
    // A space at the end may stand beyond the edge.
    std::size_t at = text.rfind(' ', fits);
    const bool word_is_too_long = at == std::string_view::npos || at <= first_break;
    if (word_is_too_long) at = fits;
    out += text.substr(0, at);
    out += '\n';
    text.remove_prefix(at);
    while (text.starts_with(' ')) text.remove_prefix(1);
    out += indent;
    room = widest - display_width(indent);
    first_break = 0;
  }
  out += text;
  return out + "\n";
}

}  // namespace assay
