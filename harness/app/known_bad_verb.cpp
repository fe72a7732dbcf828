#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/sharding.hpp"
#include "app/verb_functions.hpp"
#include "assay/pipeline.hpp"
#include "core/json/json.hpp"

#include <fmt/format.h>

#include <map>

namespace assay {
namespace {

/// The checks of one variant that has to be rejected.
struct Rejection {
  std::string published;  ///< where, and what it gets wrong
  std::size_t checks = 0, rejected = 0;
  std::optional<CornerCheck> first;  ///< the first check that it failed
};

std::string described(const CornerCheck& c) {
  return fmt::format("{}, {} fill, {}, threads {}", c.problem, to_string(c.fill),
                     c.skew == 0 ? "aligned" : "one element off alignment", c.threads);
}

std::map<std::string, Rejection> rejections(const Registry& registry,
                                            const std::vector<CornerCheck>& checks) {
  std::map<std::string, Rejection> out;
  for (const CornerCheck& c : checks) {
    Rejection& found = out[c.operation + "/" + c.variant];
    for (const VariantInfo& variant : registry.at(c.operation).variants()) {
      if (variant.name == c.variant) found.published = variant.known_bad;
    }
    if (!c.skipped.empty()) continue;
    ++found.checks;
    if (c.agreement.agrees) continue;
    ++found.rejected;
    if (!found.first) found.first = c;
  }
  return out;
}

std::string text_of(const std::string& name, const Rejection& r) {
  std::string out = fmt::format("{}\n  published  {}\n", name, r.published);
  if (!r.first) return out + fmt::format("  PASSED     all {} checks\n", r.checks);
  return out + fmt::format("  rejected   in {} of {} checks, first by {}\n             {}\n", r.rejected,
                           r.checks, described(*r.first), r.first->agreement.detail);
}

Json json_of(const std::string& name, const Rejection& r) {
  Json out{{"name", name}, {"published", r.published}, {"checks", r.checks}, {"rejected", r.rejected}};
  if (r.first) {
    out["first"] = {{"what", described(*r.first)}, {"detail", r.first->agreement.detail}};
  }
  return out;
}

}  // namespace

int known_bad_verb(const KnownBadOptions& known_bad, const Registry& registry) {
  const CheckOptions& options = known_bad.check;
  say_undivided("checks without a suite");
  std::vector<CornerCheck> checks;
  bool stopped = false;
  {
    Progress progress;
    const Hooks hooks = progress.hooks();
    checks = check_corners(registry, options.filter, this_machine().cores, options.seed, hooks,
                           Kin::known_bad, {.own_process = true, .time_limit = options.time_limit});
    stopped = hooks.stopped();
  }
  std::string text =
      fmt::format("kept because they are wrong; reference: naive in double; seed {}\n\n", options.seed);
  Json json{{"schema", "assay.known_bad/1"}, {"seed", options.seed}, {"partial", stopped}};
  json["variants"] = Json::array();
  std::vector<std::string> passed;
  const auto found = rejections(registry, checks);
  for (const auto& [name, rejection] : found) {
    text += text_of(name, rejection);
    json["variants"].push_back(json_of(name, rejection));
    if (!rejection.first) passed.push_back(name);
  }
  int code = exit_code::passed;
  if (stopped) {
    text += fmt::format("INTERRUPTED after {} checks\n", checks.size());
    code = exit_code::interrupted;
  } else if (!passed.empty()) {
    text += fmt::format("NOT CAUGHT: {}\n", fmt::join(passed, ", "));
    code = exit_code::found;
  } else {
    text += fmt::format("REJECTED: all {} known-bad variant{}\n", found.size(), found.size() == 1 ? "" : "s");
  }
  json["exit_code"] = code;
  put(options.json, text, json_text(json));
  return code;
}

}  // namespace assay
