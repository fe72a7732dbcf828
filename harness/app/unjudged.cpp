#include "app/unjudged.hpp"

#include <fmt/format.h>

namespace assay {

std::string unjudged_text(const Comparison& comparison) {
  std::string out;
  for (const Standing standing : {Standing::undecided, Standing::not_comparable, Standing::gone}) {
    const std::size_t count = comparison.count(standing);
    if (count > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, to_string(standing));
  }
  return out;
}

bool unjudged_fails(const Comparison& comparison, const JudgingOptions& options) {
  if (options.undecided_fails) return !unjudged_text(comparison).empty();
  return options.exit_codes == ExitCodes::bisect &&
         comparison.count(Standing::undecided) + comparison.count(Standing::not_comparable) > 0;
}

bool expiry_fails(const JudgingOptions& options) { return options.exit_codes != ExitCodes::bisect; }

}  // namespace assay
