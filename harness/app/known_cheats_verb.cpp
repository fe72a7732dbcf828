#include "app/known_cheats.hpp"
#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/rejection.hpp"
#include "app/schemas.hpp"
#include "app/sharding.hpp"
#include "app/teeth.hpp"
#include "app/verb_functions.hpp"
#include "assay/error.hpp"
#include "assay/pipeline.hpp"
#include "core/files/this_program.hpp"
#include "core/plan/filter.hpp"
#include "core/text/wrapped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace assay {
namespace {

constexpr std::array<std::string_view, 2> kinds{"cheat", "honest"};
constexpr std::size_t widest = 80;

/// How often one stage rejected a variant, and what it said first.
struct Stage {
  int rejected = 0;
  std::string reason;
  std::string astray;  ///< what went wrong in place of a rejection

  void add(const TimedFinding& found) {
    if (found.rejected()) ++rejected;
    if (reason.empty()) reason = found.reason;
    if (astray.empty()) astray = found.astray;
  }
};

void describe(Fields& f, Stage& stage) {
  f("rejected", stage.rejected, {.about = "repeats in which it was"});
  f("reason", stage.reason, {.terse = true});
  f("astray", stage.astray,
    {.terse = true, .about = "naive was blamed, or nobody was named: that is no rejection"});
}

/// A cheat, or an honest variant that looks like one, in all three stages.
struct Tried {
  Rejection checks;  ///< of the last repeat
  Kin kin = Kin::known_cheat;
  std::string problem;  ///< that it was timed with last
  std::string skipped;
  int repeats = 0;
  Stage check, run, gate;

  bool as_it_should_be() const {
    if (!skipped.empty()) return true;
    if (kin == Kin::known_cheat)
      return check.rejected == repeats && run.rejected == repeats && gate.rejected == repeats;
    const auto passed = [](const Stage& stage) { return stage.reason.empty() && stage.astray.empty(); };
    return passed(check) && passed(run) && passed(gate);
  }
};

void describe(Fields& f, Tried& one) {
  describe(f, one.checks);
  f.derived("kind", std::string(kinds[one.kin == Kin::known_honest ? 1 : 0]));
  f("problem", one.problem, {.about = "that it was timed with"});
  f("skipped", one.skipped, {.terse = true, .about = "why it was not tried"});
  f("repeats", one.repeats);
  f("check", one.check);
  f("run", one.run);
  f("gate", one.gate);
  f.derived("as_it_should_be", one.as_it_should_be());
}

/// As files hold them.
struct AllTried {
  std::uint64_t seed = 0;
  bool partial = false;
  std::vector<Tried> variants;
  int exit_code = exit_code::passed;
};

void describe(Fields& f, AllTried& all) {
  f.schema("assay.known_cheats/1");
  f("seed", all.seed);
  f("partial", all.partial, {.about = "interrupted"});
  f("variants", all.variants);
  f("exit_code", all.exit_code);
}

struct Wanted {
  const Operation* operation;
  std::size_t variant;
};

/// Throws Error when there is none.
std::vector<Wanted> wanted(const Registry& registry, const std::string& text, Kin kin) {
  const Filter filter(text, registry);
  std::vector<Wanted> out;
  for (const Operation* operation : registry.operations()) {
    for (std::size_t v = 0; v < operation->variants().size(); ++v) {
      const VariantInfo& variant = operation->variants()[v];
      if (variant.kin() == kin && filter.selects(fmt::format("{}/{}", operation->name(), variant.name)))
        out.push_back({operation, v});
    }
  }
  return out;
}

class Trying {
 public:
  Trying(const KnownCheatsOptions& options, const Registry& registry, const CheatSampling& sampling,
         const Hooks& hooks)
      : options_(options), registry_(registry), sampling_(sampling), hooks_(hooks) {}

  /// As many repeats as are wanted, and none that an interrupt cut short.
  Tried all_of(const Wanted& one) const {
    const VariantInfo& variant = one.operation->variants()[one.variant];
    Tried out{.checks = {.name = fmt::format("{}/{}", one.operation->name(), variant.name),
                         .published = variant.set_apart_by()},
              .kin = variant.kin()};
    for (int repeat = 0; repeat < options_.repeats && out.skipped.empty() && !hooks_.stopped(); ++repeat) {
      Tried next = out;
      once(one, options_.check.seed + static_cast<std::uint64_t>(repeat), next);
      if (!hooks_.stopped()) out = std::move(next);
    }
    return out;
  }

 private:
  TimedFinding rejected_by_checks(std::uint64_t seed, Tried& out) const {
    try {
      const auto checks =
          check_corners(registry_, "^" + out.checks.name + "$", this_machine().cores, seed, hooks_, out.kin,
                        {.own_process = true, .time_limit = options_.check.time_limit});
      const std::vector<Rejection> found = rejections(registry_, checks);
      if (found.empty()) return {.reason = {}, .astray = "no check was answered, and nothing says why"};
      out.checks = found.front();
      return {.reason = out.checks.first ? out.checks.first->agreement.detail : "", .astray = {}};
    } catch (const std::runtime_error& failure) {
      return {.reason = {}, .astray = fmt::format("nobody is named: {}", failure.what())};
    }
  }

  void once(const Wanted& one, std::uint64_t seed, Tried& out) const {
    Rng rng(seed);
    const auto problem = drawn_problem(*one.operation, one.variant, rng);
    if (!problem) {
      out.skipped =
          one.operation->unfit(one.variant, one.operation->corner_cases().back(), Context{}).value_or("");
      if (out.skipped.empty()) out.skipped = "fits no problem that is tried here";
      return;
    }
    ++out.repeats;
    out.problem = *problem;
    out.check.add(rejected_by_checks(seed, out));
    const TimedCase timed{.operation = *one.operation,
                          .variant = one.variant,
                          .problem = *problem,
                          .seed = seed,
                          .time_limit = options_.check.time_limit};
    out.run.add(rejected_by_run(timed, sampling_.run, hooks_));
    out.gate.add(rejected_by_gate(timed, this_program(), sampling_.sides, hooks_));
  }

  const KnownCheatsOptions& options_;
  const Registry& registry_;
  const CheatSampling& sampling_;
  const Hooks& hooks_;
};

std::string count_text(const Stage& stage, int repeats) {
  if (repeats == 1) return stage.rejected == 1 ? "yes" : "no";
  return fmt::format("{}/{}", stage.rejected, repeats);
}

/// Messages of whole programs have lines of their own.
std::string line(std::string_view title, std::string text) {
  std::ranges::replace(text, '\n', ' ');
  const std::string start = fmt::format("  {:<9}", title), indent(start.size(), ' ');
  return wrapped(start + text, widest, indent) + '\n';
}

std::string text_of(const Tried& one) {
  std::string out =
      fmt::format("{:<58} {:>6}{:>7}{:>7}\n", one.checks.name, count_text(one.check, one.repeats),
                  count_text(one.run, one.repeats), count_text(one.gate, one.repeats));
  if (!one.skipped.empty()) out = fmt::format("{:<58} skipped: {}\n", one.checks.name, one.skipped);
  out += line(one.kin == Kin::known_cheat ? "trick" : "looks", one.checks.published);
  if (!one.skipped.empty()) return out;
  const std::array<std::pair<const char*, const Stage*>, 3> stages{
      {{"run", &one.run}, {"gate", &one.gate}, {"check", &one.check}}};
  for (const auto& [name, stage] : stages) {
    if (!stage->astray.empty()) out += line("astray", fmt::format("in {}: {}", name, stage->astray));
  }
  for (const auto& [name, stage] : stages) {
    if (stage->rejected > 0) return out + line("rejected", fmt::format("by {}: {}", name, stage->reason));
  }
  return out;
}

template <class Which>
std::string table(const std::vector<Tried>& all, std::string_view title, const Which& which) {
  std::string out;
  for (const Tried& one : all) {
    if (which(one)) out += text_of(one);
  }
  return out.empty() ? out : fmt::format("{:<58} {:>6}{:>7}{:>7}\n{}\n", title, "check", "run", "gate", out);
}

/// Kernels that are not as they should be come last, right above the outcome, and alone where that is enough.
std::string tables(const std::vector<Tried>& all, bool surprising_alone) {
  const auto as_expected = [](Kin kin) {
    return [kin](const Tried& one) { return one.kin == kin && one.as_it_should_be(); };
  };
  std::string out;
  if (!surprising_alone) {
    out += table(all, "cheats", as_expected(Kin::known_cheat)) +
           table(all, "honest, though they look like cheats", as_expected(Kin::known_honest));
  }
  return out + table(all, "not as it should be", [](const Tried& one) { return !one.as_it_should_be(); });
}

std::vector<std::string> names_of(const std::vector<Tried>& all, Kin kin, bool as_they_should_be) {
  std::vector<std::string> out;
  for (const Tried& one : all) {
    const bool asked = one.kin == kin && one.skipped.empty();
    if (asked && one.as_it_should_be() == as_they_should_be) out.push_back(one.checks.name);
  }
  return out;
}

}  // namespace

Json known_cheats_schema() { return schema_of<AllTried>(); }

Outcome known_cheats_verb(const KnownCheatsOptions& options, const Registry& registry) {
  require_teeth(registry, "check --known-cheats");
  return try_known_cheats(options, registry, CheatSampling{});
}

Outcome try_known_cheats(const KnownCheatsOptions& options, const Registry& registry,
                         const CheatSampling& sampling) {
  say_undivided("checks without a suite");
  std::vector<Wanted> selected = wanted(registry, options.check.filter, Kin::known_cheat);
  const std::vector<Wanted> honest = wanted(registry, options.check.filter, Kin::known_honest);
  selected.insert(selected.end(), honest.begin(), honest.end());
  if (selected.empty()) {
    throw Error("filter '" + options.check.filter + "'", "selects no known cheat",
                "`assay list --known` shows what there is");
  }
  AllTried found{.seed = options.check.seed};
  {
    Progress progress(options.check.quiet);
    const Hooks hooks = progress.hooks();
    for (const Wanted& one : selected) {
      const double done = static_cast<double>(found.variants.size()) / static_cast<double>(selected.size());
      const Hooks here = hooks.part(done, done);
      here.say(fmt::format("try {}/{}", one.operation->name(), one.operation->variants()[one.variant].name),
               0);
      Tried tried = Trying(options, registry, sampling, here).all_of(one);
      found.partial = hooks.stopped();
      if (found.partial && tried.repeats == 0) break;
      found.variants.push_back(std::move(tried));
    }
  }
  const auto& all = found.variants;
  const bool quiet = options.check.quiet;
  std::string text = tables(all, quiet);
  if (!quiet) {
    text = fmt::format("rejected by each of three stages; reference: naive in double; seed {}\n\n{}",
                       options.check.seed, text);
  }
  const auto missed = names_of(all, Kin::known_cheat, false),
             blamed = names_of(all, Kin::known_honest, false);
  const auto caught = names_of(all, Kin::known_cheat, true), passed = names_of(all, Kin::known_honest, true);
  Outcome outcome;
  if (found.partial) {
    text += fmt::format("INTERRUPTED after {} variants\n", all.size());
    outcome.word = Word::interrupted;
  } else if (!missed.empty() || !blamed.empty()) {
    std::vector<std::string> verdicts;
    if (!missed.empty()) verdicts.push_back(fmt::format("NOT REJECTED: {}", fmt::join(missed, ", ")));
    if (!blamed.empty())
      verdicts.push_back(fmt::format("REJECTED THOUGH HONEST: {}", fmt::join(blamed, ", ")));
    KnownCheatsOptions again = options;
    again.known_cheats = true;
    again.check.filter = "^" + (missed.empty() ? blamed : missed).front() + "$";
    if (verdicts.size() > 1) text += wrapped(verdicts.front(), widest, "  ") + '\n';
    if (!quiet) text += fmt::format("next: {}\n", command_of("check", again));
    text += wrapped(verdicts.back(), widest, "  ") + '\n';
    outcome.word = missed.empty() ? Word::blamed : Word::not_rejected;
  } else if (caught.empty() && passed.empty()) {
    text += "SKIPPED: nothing that was selected runs on this machine\n";
    outcome.word = Word::skipped;
  } else {
    text += fmt::format("AS IT SHOULD BE: {} cheats rejected, {} honest variants passed\n", caught.size(),
                        passed.size());
  }
  found.exit_code = outcome.exit_code();
  put(options.check.json, text, json_text(to_value(found)));
  return outcome;
}

}  // namespace assay
