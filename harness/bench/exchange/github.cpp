#include "bench/exchange/github.hpp"

#include "bench/compare/words.hpp"
#include "bench/exchange/failed_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace assay {
namespace {

/// The message of a workflow command, or with `property` the value of one of its properties.
std::string command_text(std::string_view text, bool property = false) {
  std::string out;
  for (const char c : text) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    out += special ? fmt::format("%{:02X}", static_cast<int>(c)) : std::string(1, c);
  }
  return out;
}

}  // namespace

std::string github_annotations(const PullRequest& page, const std::string& suite) {
  std::vector<std::string> errors;
  std::map<std::string, std::size_t> slowed;  // trials by changed file
  const std::vector<FailedTrial> failed = failed_trials(page);
  for (const FailedTrial& one : failed) slowed[one.file] += one.file.empty() ? 0U : 1U;
  std::set<std::string> told;
  for (const FailedTrial& one : failed) {
    if (!one.file.empty() && !told.insert(one.file).second) continue;
    const std::size_t others = slowed[one.file] - (one.file.empty() ? 0U : 1U);
    std::string message = fmt::format("{} {}", one.key, one.text);
    if (others > 0) message += fmt::format(", and {} more by this file", others);
    if (!one.again.empty()) message += "\nagain: " + one.again;
    errors.push_back(fmt::format(
        "::error {}title={}::{}\n", one.file.empty() ? "" : "file=" + command_text(one.file, true) + ",",
        command_text(fmt::format("{} in {}", one.kind, suite), true), command_text(message)));
  }
  for (const std::string& objection : page.comparison.objections) {
    errors.push_back(fmt::format("::error title={}::{}\n",
                                 command_text("expired acceptance in " + suite, true),
                                 command_text(objection)));
  }
  std::string out;
  for (std::size_t i = 0; i < std::min(errors.size(), most_annotations); ++i) out += errors[i];
  if (errors.size() > most_annotations) {
    out += fmt::format("::error title={}::and {} more\n", command_text(suite, true),
                       errors.size() - most_annotations);
  }
  return out;
}

std::string github_outputs(const Comparison& comparison, const std::string& verdict) {
  const auto regressions = std::ranges::count_if(
      comparison.rows, [](const ComparedRow& one) { return listed_as(one) == Standing::slower; });
  return fmt::format("verdict={}\nregressions={}\n", verdict, regressions);
}

}  // namespace assay
