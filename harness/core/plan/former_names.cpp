#include "core/plan/former_names.hpp"

#include <string_view>
#include <utility>

namespace assay {
namespace {

constexpr std::pair<std::string_view, std::string_view> renamed[] = {{"avx3", "avx512"}};

bool of_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

}  // namespace

std::string with_present_names(std::string text) {
  for (const auto& [former, present] : renamed) {
    for (std::size_t at = text.find(former); at != std::string::npos; at = text.find(former, at)) {
      const std::size_t end = at + former.size();
      // A longer name, such as avx3_dl, belongs to another tier or variant.
      const bool whole = (at == 0 || !of_word(text[at - 1])) && (end == text.size() || !of_word(text[end]));
      if (whole) text.replace(at, former.size(), present);
      at += whole ? present.size() : former.size();
    }
  }
  return text;
}

}  // namespace assay
