#include "exchange/repeat.hpp"

#include <string_view>

namespace assay {

std::string repeat_command(const std::string& command, const std::string& key) {
  std::string quoted;
  for (const char c : key) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (c == '\'') {
      quoted += "'\\''";
    } else if (control) {
      quoted += '.';  // matches it
    } else {
      if (std::string_view(".[]()*+?{}|^$\\").find(c) != std::string_view::npos) quoted += '\\';
      quoted += c;
    }
  }
  return command + " -k '^" + quoted + "$'";
}

}  // namespace assay
