#include "bench/exchange/github.hpp"

#include "bench/compare/words.hpp"
#include "core/text/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

namespace assay {
namespace {

/// Wrong, impossible and failed rows, then slower ones, the slowest first.
std::vector<const Verdict*> worst(const Comparison& comparison) {
  std::vector<const Verdict*> wrong, slower;
  for (const Verdict& verdict : comparison.verdicts) {
    if (is_fault(verdict.standing)) wrong.push_back(&verdict);
    if (verdict.standing == Standing::slower) slower.push_back(&verdict);
  }
  std::ranges::stable_sort(slower, std::greater{}, [](const Verdict* v) { return v->ratio.middle; });
  wrong.insert(wrong.end(), slower.begin(), slower.end());
  return wrong;
}

/// The message of a workflow command, or with `property` the value of one of its properties.
std::string command_text(std::string_view text, bool property = false) {
  std::string out;
  for (const char c : text) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    out += special ? fmt::format("%{:02X}", static_cast<int>(c)) : std::string(1, c);
  }
  return out;
}

std::string message_of(const Verdict& verdict, const std::string& command) {
  const std::string found = verdict.standing == Standing::slower
                                ? fmt::format("{}, limit {}", in_words(verdict), limit_in_words(verdict))
                                : verdict.why;
  return fmt::format("{} {}\nagain: {}", verdict.key, found, repeat_command(command, verdict.key));
}

}  // namespace

std::string github_annotations(const Comparison& comparison, const std::string& suite,
                               const std::string& command) {
  std::vector<std::string> errors;
  const auto add = [&](const char* kind, const std::string& message) {
    errors.push_back(fmt::format("::error title={}::{}\n",
                                 command_text(fmt::format("{} in {}", kind, suite), true),
                                 command_text(message)));
  };
  for (const Verdict* row : worst(comparison)) {
    add(reports_an_error(*row)                  ? "error"
        : row->standing == Standing::wrong      ? "disagreement"
        : row->standing == Standing::impossible ? "impossible time"
        : row->standing == Standing::crashed    ? "crash"
        : row->standing == Standing::timed_out  ? "hang"
                                                : "regression",
        message_of(*row, command));
  }
  for (const std::string& objection : comparison.objections) add("expired acceptance", objection);
  std::string out;
  for (std::size_t i = 0; i < std::min(errors.size(), most_annotations); ++i) out += errors[i];
  if (errors.size() > most_annotations) {
    out += fmt::format("::error title={}::and {} more\n", command_text(suite, true),
                       errors.size() - most_annotations);
  }
  return out;
}

std::string github_outputs(const Comparison& comparison, const std::string& verdict) {
  return fmt::format("verdict={}\nregressions={}\n", verdict, comparison.count(Standing::slower));
}

}  // namespace assay
