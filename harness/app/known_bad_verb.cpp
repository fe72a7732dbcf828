#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/rejection.hpp"
#include "app/schemas.hpp"
#include "app/sharding.hpp"
#include "app/teeth.hpp"
#include "app/verb_functions.hpp"
#include "assay/pipeline.hpp"
#include "core/text/wrapped.hpp"

#include <fmt/format.h>

namespace assay {
namespace {

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

std::string text_of(const Rejection& r) {
  std::string out = fmt::format("{}\n  published  {}\n", r.name, r.published);
  if (!r.first) return out + fmt::format("  PASSED     all {} checks\n", r.checks);
  return out + fmt::format("  rejected   in {} of {} checks, first by {}\n             {}\n", r.rejected,
                           r.checks, in_words(*r.first), r.first->agreement.detail);
}

}  // namespace

Json known_bad_schema() { return schema_of<Rejections>(); }

Outcome known_bad_verb(const KnownBadOptions& known_bad, const Registry& registry) {
  require_teeth(registry, "check --known-bad");
  const CheckOptions& options = known_bad.check;
  say_undivided("checks without a suite");
  std::vector<CornerCheck> checks;
  Rejections found{.seed = options.seed};
  {
    Progress progress(options.quiet);
    const Hooks hooks = progress.hooks();
    checks = check_corners(registry, options.filter, this_machine().cores, options.seed, hooks,
                           Kin::known_bad, {.own_process = true, .time_limit = options.time_limit});
    found.partial = hooks.stopped();
  }
  std::string text;
  if (!options.quiet) {
    text = fmt::format("kept because they are wrong; reference: naive in double; seed {}\n\n", options.seed);
  }
  std::vector<std::string> passed;
  found.variants = rejections(registry, checks);
  for (const Rejection& one : found.variants) {
    if (one.first && !options.quiet) text += text_of(one);
  }
  for (const Rejection& one : found.variants) {
    if (one.first) continue;
    text += text_of(one);
    passed.push_back(one.name);
  }
  Outcome outcome;
  if (found.partial) {
    text += fmt::format("INTERRUPTED after {} checks\n", checks.size());
    outcome.word = Word::interrupted;
  } else if (!passed.empty()) {
    CheckOptions again = options;
    again.filter = "^" + passed.front() + "$";
    if (!options.quiet) {
      text +=
          fmt::format("next: {}\n", command_of("check", KnownBadOptions{.check = again, .known_bad = true}));
    }
    text += wrapped(fmt::format("NOT CAUGHT: {}", fmt::join(passed, ", ")), 80, "  ") + "\n";
    outcome.word = Word::not_caught;
  } else {
    text += fmt::format("REJECTED: all {} known-bad variant{}\n", found.variants.size(),
                        found.variants.size() == 1 ? "" : "s");
  }
  found.exit_code = outcome.exit_code();
  put(options.json, text, json_text(to_value(found)));
  return outcome;
}

}  // namespace assay
