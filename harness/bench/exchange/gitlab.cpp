#include "bench/exchange/gitlab.hpp"

#include "assay/random.hpp"
#include "bench/exchange/failed_trials.hpp"

#include <fmt/format.h>

namespace assay {

std::string gitlab_code_quality(const PullRequest& page, const std::string& elsewhere) {
  Json out = Json::array();
  for (const FailedTrial& one : failed_trials(page)) {
    const bool is_regression = one.kind == "regression";
    out.push_back(Json{{"description", fmt::format("{} {}{}", one.key, one.text,
                                                   one.again.empty() ? "" : "; again: " + one.again)},
                       {"check_name", "assay: " + one.kind},
                       {"fingerprint", fmt::format("{:016x}", fnv1a(one.key, fnv1a(one.kind)))},
                       {"severity", is_regression ? "major" : "critical"},
                       {"location", Json{{"path", one.file.empty() ? elsewhere : one.file},
                                         {"lines", Json{{"begin", 1}}}}}});
  }
  return json_text(out) + "\n";
}

}  // namespace assay
