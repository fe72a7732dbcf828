#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/schemas.hpp"
#include "app/sharding.hpp"
#include "app/verb_functions.hpp"
#include "assay/pipeline.hpp"
#include "core/json/fields.hpp"

#include <fmt/format.h>

#include <map>

namespace assay {
namespace {

/// The checks of one variant that has to be rejected.
struct Rejection {
  std::string name;
  std::string published;  ///< where, and what it gets wrong
  std::size_t checks = 0, rejected = 0;
  std::optional<CornerCheck> first;  ///< the first check that it failed
};

struct FirstRejection {
  std::string what, detail;
};

void describe(Fields& f, FirstRejection& first) {
  f("what", first.what, {.about = "problem, fill, placement and threads"});
  f("detail", first.detail);
}

void describe(Fields& f, Rejection& one) {
  f("name", one.name);
  f("published", one.published, {.about = "where, and what it gets wrong"});
  f("checks", one.checks);
  f("rejected", one.rejected);
  f.derived("first", one.first
                         ? std::optional(FirstRejection{in_words(*one.first), one.first->agreement.detail})
                         : std::nullopt);
}

/// As files hold them.
struct Rejections {
  std::uint64_t seed = 0;
  bool partial = false;
  std::vector<Rejection> variants;
  int exit_code = exit_code::passed;
};

void describe(Fields& f, Rejections& all) {
  f.schema("assay.known_bad/1");
  f("seed", all.seed);
  f("partial", all.partial, {.about = "interrupted"});
  f("variants", all.variants);
  f("exit_code", all.exit_code);
}

/// By name.
std::vector<Rejection> rejections(const Registry& registry, const std::vector<CornerCheck>& checks) {
  std::map<std::string, Rejection> out;
  for (const CornerCheck& c : checks) {
    const std::string name = c.operation + "/" + c.variant;
    Rejection& found = out[name];
    found.name = name;
    for (const VariantInfo& variant : registry.at(c.operation).variants()) {
      if (variant.name == c.variant) found.published = variant.known_bad;
    }
    if (!c.skipped.empty()) continue;
    ++found.checks;
    if (c.agreement.agrees) continue;
    ++found.rejected;
    if (!found.first) found.first = c;
  }
  std::vector<Rejection> in_order;
  for (auto& [name, rejection] : out) in_order.push_back(std::move(rejection));
  return in_order;
}

std::string text_of(const Rejection& r) {
  std::string out = fmt::format("{}\n  published  {}\n", r.name, r.published);
  if (!r.first) return out + fmt::format("  PASSED     all {} checks\n", r.checks);
  return out + fmt::format("  rejected   in {} of {} checks, first by {}\n             {}\n", r.rejected,
                           r.checks, in_words(*r.first), r.first->agreement.detail);
}

}  // namespace

Json known_bad_schema() { return schema_of<Rejections>(); }

int known_bad_verb(const KnownBadOptions& known_bad, const Registry& registry) {
  const CheckOptions& options = known_bad.check;
  say_undivided("checks without a suite");
  std::vector<CornerCheck> checks;
  Rejections found{.seed = options.seed};
  {
    Progress progress;
    const Hooks hooks = progress.hooks();
    checks = check_corners(registry, options.filter, this_machine().cores, options.seed, hooks,
                           Kin::known_bad, {.own_process = true, .time_limit = options.time_limit});
    found.partial = hooks.stopped();
  }
  std::string text =
      fmt::format("kept because they are wrong; reference: naive in double; seed {}\n\n", options.seed);
  std::vector<std::string> passed;
  found.variants = rejections(registry, checks);
  for (const Rejection& one : found.variants) {
    text += text_of(one);
    if (!one.first) passed.push_back(one.name);
  }
  int& code = found.exit_code;
  if (found.partial) {
    text += fmt::format("INTERRUPTED after {} checks\n", checks.size());
    code = exit_code::interrupted;
  } else if (!passed.empty()) {
    text += fmt::format("NOT CAUGHT: {}\n", fmt::join(passed, ", "));
    code = exit_code::found;
  } else {
    text += fmt::format("REJECTED: all {} known-bad variant{}\n", found.variants.size(),
                        found.variants.size() == 1 ? "" : "s");
  }
  put(options.json, text, json_text(to_value(found)));
  return code;
}

}  // namespace assay
