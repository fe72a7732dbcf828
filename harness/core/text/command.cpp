#include "core/text/command.hpp"

#include <algorithm>
#include <string_view>

namespace assay {

std::string shell_word(const std::string& text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./,:=@%^";
  const bool needs_none =
      std::ranges::all_of(text, [&](char c) { return plain.find(c) != std::string_view::npos; });
  if (needs_none && !text.empty()) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
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

std::string repeat_command(const std::string& command, const std::string& key) {
  return command + " -k " + shell_word("^" + expression_for(key) + "$");
}

}  // namespace assay
