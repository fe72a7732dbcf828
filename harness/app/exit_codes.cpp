#include "app/exit_codes.hpp"

#include "assay/pipeline.hpp"

#include <string_view>

namespace assay {

int translated(int code, ExitCodes meaning) {
  constexpr int cannot_be_judged = 125;
  if (meaning == ExitCodes::usual || code == exit_code::passed || code == exit_code::found) return code;
  return cannot_be_judged;
}

ExitCodes asked_exit_codes(int argc, const char* const* argv) {
  ExitCodes out = ExitCodes::usual;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool split = argument == "--exit-code" && i + 1 < argc;
    const std::string_view value = split ? argv[i + 1] : argument;
    if (value == (split ? "bisect" : "--exit-code=bisect")) out = ExitCodes::bisect;
  }
  return out;
}

}  // namespace assay
