#include "core/plan/trial_key.hpp"

#include <fmt/format.h>

#include <charconv>

namespace assay {

std::string TrialKey::text() const {
  return fmt::format("{}/{}/{}#{}", operation, variant, problem, threads);
}

std::optional<TrialKey> trial_key(std::string_view text) {
  // A problem may name a file, and so have slashes of its own.
  const std::size_t first = text.find('/'), hash = text.rfind('#');
  if (first == std::string_view::npos || hash == std::string_view::npos) return std::nullopt;
  const std::size_t second = text.find('/', first + 1);
  if (second == std::string_view::npos || hash < second) return std::nullopt;
  const std::string_view count = text.substr(hash + 1);
  TrialKey out{.operation = std::string(text.substr(0, first)),
               .variant = std::string(text.substr(first + 1, second - first - 1)),
               .problem = std::string(text.substr(second + 1, hash - second - 1))};
  const auto [end, fault] = std::from_chars(count.data(), count.data() + count.size(), out.threads);
  if (fault != std::errc{} || end != count.data() + count.size() || out.threads < 1) return std::nullopt;
  return out;
}

}  // namespace assay
