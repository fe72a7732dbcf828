#include "bench/exchange/failed_trials.hpp"

#include "bench/compare/words.hpp"
#include "core/text/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace assay {
namespace {

const char* kind_of(const ComparedRow& verdict) {
  return reports_an_error(verdict)                  ? "error"
         : verdict.standing == Standing::wrong      ? "disagreement"
         : verdict.standing == Standing::impossible ? "impossible time"
         : verdict.standing == Standing::crashed    ? "crash"
         : verdict.standing == Standing::timed_out  ? "hang"
                                                    : "regression";
}

/// A cause may be a function. CI engines cannot place it in a file.
bool is_path(const std::string& cause) {
  return cause.find('/') != std::string::npos && cause.find(':') == std::string::npos &&
         cause.find('(') == std::string::npos;
}

}  // namespace

std::vector<FailedTrial> failed_trials(const PullRequest& page) {
  std::vector<std::pair<double, FailedTrial>> faults, slower;
  for (std::size_t i = 0; i < page.comparison.rows.size(); ++i) {
    const ComparedRow& verdict = page.comparison.rows[i];
    const bool is_slower = listed_as(verdict) == Standing::slower;
    if (!is_slower && !is_fault(verdict.standing)) continue;
    FailedTrial one{.kind = kind_of(verdict), .key = verdict.key};
    one.text = is_slower ? slower_in_words(verdict) : verdict.why;
    if (!page.command.empty()) one.again = repeat_command(page.command, verdict.key);
    if (i < page.trials.size() && is_path(page.trials[i].cause)) one.file = page.trials[i].cause;
    (is_slower ? slower : faults).emplace_back(verdict.ratio.middle, std::move(one));
  }
  std::ranges::stable_sort(slower, std::greater{}, [](const auto& one) { return one.first; });
  std::vector<FailedTrial> out;
  for (auto* list : {&faults, &slower}) {
    for (auto& [ratio, one] : *list) out.push_back(std::move(one));
  }
  return out;
}

}  // namespace assay
