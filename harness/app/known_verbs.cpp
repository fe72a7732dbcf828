// The verbs of variants that are kept to be rejected: check --known-bad, and check --known-cheats.

#include "app/known_verbs.hpp"

#include "app/output.hpp"
#include "app/progress.hpp"
#include "assay/check.hpp"
#include "assay/error.hpp"
#include "assay/pipeline.hpp"
#include "core/files/this_program.hpp"
#include "core/machine/build_info.hpp"
#include "core/plan/trial_key.hpp"
#include "core/text/command.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>

namespace assay {
namespace {

std::vector<RejectedCode> rejections(const Registry& registry, const std::vector<CornerCheck>& checks) {
  std::map<std::string, RejectedCode> out;
  for (const CornerCheck& c : checks) {
    const std::string name = c.operation + "/" + c.variant;
    RejectedCode& found = out[name];
    found.name = name;
    for (const VariantInfo& variant : registry.at(c.operation).variants()) {
      if (variant.name == c.variant) found.published = variant.set_apart_by();
    }
    if (!c.skipped.empty()) continue;
    ++found.checks;
    if (c.agreement.agrees) continue;
    ++found.rejected;
    if (!found.first) found.first = {in_words(c), c.agreement.detail};
  }
  std::vector<RejectedCode> in_order;
  for (auto& [name, rejection] : out) in_order.push_back(std::move(rejection));
  return in_order;
}

std::string text_of(const RejectedCode& r) {
  std::string out = fmt::format("{}\n  published  {}\n", r.name, r.published);
  if (!r.first) return out + fmt::format("  PASSED     all {} checks\n", r.checks);
  return out + fmt::format("  rejected   in {} of {} checks, first by {}\n             {}\n", r.rejected,
                           r.checks, r.first->what, r.first->detail);
}

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
  static constexpr std::string_view schema = "assay.known_cheats/1";
  RejectedCode checks;  ///< of the last repeat
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
  f.derived("kind", std::string(one.kin == Kin::known_honest ? "honest" : "cheat"));
  f("problem", one.problem, {.about = "that it was timed with"});
  f("skipped", one.skipped, {.terse = true, .about = "why it was not tried"});
  ASSAY_FIELDS(f, one, repeats, check, run, gate);
  f.derived("as_it_should_be", one.as_it_should_be());
}

struct Wanted {
  const Operation* operation;
  std::size_t variant;
};

/// Cheats, then honest variants. Throws Error when there is none.
std::vector<Wanted> wanted(const Registry& registry, const std::string& text) {
  const Filter filter(text, registry);
  std::vector<Wanted> out;
  for (const Kin kin : {Kin::known_cheat, Kin::known_honest}) {
    for (const Operation* operation : registry.operations()) {
      for (std::size_t v = 0; v < operation->variants().size(); ++v) {
        const VariantInfo& variant = operation->variants()[v];
        if (variant.kin() == kin && filter.selects(fmt::format("{}/{}", operation->name(), variant.name)))
          out.push_back({operation, v});
      }
    }
  }
  if (out.empty())
    throw Error("filter '" + text + "'", "selects no known cheat",
                "`assay list --known` shows what there is");
  return out;
}

struct Trying {
  const KnownCheatsOptions& options;
  const Registry& registry;
  const CheatSampling& sampling;
  const Hooks& hooks;

  /// As many repeats as are wanted, and none that an interrupt cut short.
  Tried all_of(const Wanted& one) const {
    const VariantInfo& variant = one.operation->variants()[one.variant];
    Tried out{.checks = {.name = fmt::format("{}/{}", one.operation->name(), variant.name),
                         .published = variant.set_apart_by()},
              .kin = variant.kin()};
    for (int repeat = 0; repeat < options.repeats && out.skipped.empty() && !hooks.stopped(); ++repeat) {
      Tried next = out;
      once(one, options.check.seed + static_cast<std::uint64_t>(repeat), next);
      if (!hooks.stopped()) out = std::move(next);
    }
    return out;
  }

  TimedFinding rejected_by_checks(std::uint64_t seed, Tried& out) const {
    try {
      const auto checks =
          check_corners(registry, "^" + out.checks.name + "$", this_machine().cores, seed, hooks, out.kin,
                        {.own_process = true, .time_limit = options.check.time_limit});
      const std::vector<RejectedCode> found = rejections(registry, checks);
      if (found.empty()) return {.reason = {}, .astray = "no check was answered, and nothing says why"};
      out.checks = found.front();
      return {.reason = out.checks.first ? out.checks.first->detail : "", .astray = {}};
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
                          .time_limit = options.check.time_limit};
    out.run.add(rejected_by_run(timed, sampling.run, hooks));
    out.gate.add(rejected_by_gate(timed, this_program(), sampling.sides, hooks));
  }
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

/// Puts what was found. `next` repeats the first failure, where there is one.
template <class One>
Outcome ended(const CheckOptions& options, TriedVariants<One> found, std::string text, const Outcome& outcome,
              const std::string& next) {
  for (const std::string& line : outcome.besides) text += wrapped(line, widest, "  ") + "\n";
  if (fails(outcome.word) && !options.quiet) text += next_line(next);
  text += wrapped(outcome.line(), widest, "  ") + "\n";
  found.exit_code = outcome.exit_code();
  put(options.json, text, json_text(to_value(found)));
  return outcome;
}

/// The commit of the program that hands its arguments over.
constexpr const char* commit_variable = "ASSAY_TEETH_OF";

/// A stale judge would find what this build's judge no longer does.
void require_same_build() {
  const std::string& here = build_info().commit;
  const std::string wanted = variable(commit_variable).value_or(here);
  if (wanted == here) return;
  const std::filesystem::path program = this_program();
  throw Error(program.string(),
              fmt::format("is of commit {}, and the program that starts it of {}", here, wanted),
              way_to_teeth(program));
}

}  // namespace

Json known_bad_schema() { return schema_of<TriedVariants<RejectedCode>>(); }

Outcome known_bad_verb(const KnownBadOptions& known_bad, const Registry& registry) {
  require_teeth(registry, "check --known-bad");
  const CheckOptions& options = known_bad.check;
  say_undivided("checks without a suite");
  const std::vector<CornerCheck> checks = check_corners(
      registry, options.filter, this_machine().cores, options.seed, Progress(options.quiet).hooks(),
      Kin::known_bad, {.own_process = true, .time_limit = options.time_limit});
  TriedVariants<RejectedCode> found{
      .seed = options.seed, .partial = interrupted(), .variants = rejections(registry, checks)};
  std::string text;
  if (!options.quiet) {
    text = fmt::format("kept because they are wrong; reference: naive in double; seed {}\n\n", options.seed);
  }
  std::vector<std::string> passed;
  for (const RejectedCode& one : found.variants) {
    if (one.first && !options.quiet) text += text_of(one);
  }
  for (const RejectedCode& one : found.variants) {
    if (one.first) continue;
    text += text_of(one);
    passed.push_back(one.name);
  }
  const std::size_t all = found.variants.size();
  Outcome outcome{Word::rejected, fmt::format("all {} known-bad variant{}", all, all == 1 ? "" : "s")};
  KnownBadOptions again{.check = options, .known_bad = true};
  if (!passed.empty()) {
    outcome = {Word::not_caught, fmt::format("{}", fmt::join(passed, ", "))};
    again.check.filter = "^" + passed.front() + "$";
  }
  if (found.partial) outcome = {Word::interrupted, fmt::format("after {} checks", checks.size())};
  return ended(options, std::move(found), text, outcome, command_of("check", again));
}

Json known_cheats_schema() { return schema_of<TriedVariants<Tried>>(); }

Outcome known_cheats_verb(const KnownCheatsOptions& options, const Registry& registry) {
  require_teeth(registry, "check --known-cheats");
  return try_known_cheats(options, registry, CheatSampling{});
}

Outcome try_known_cheats(const KnownCheatsOptions& options, const Registry& registry,
                         const CheatSampling& sampling) {
  say_undivided("checks without a suite");
  const std::vector<Wanted> selected = wanted(registry, options.check.filter);
  TriedVariants<Tried> found{.seed = options.check.seed};
  {
    Progress progress(options.check.quiet);
    const Hooks hooks = progress.hooks();
    for (const Wanted& one : selected) {
      const double done = static_cast<double>(found.variants.size()) / static_cast<double>(selected.size());
      const Hooks here = hooks.part(done, done);
      here.say(fmt::format("try {}/{}", one.operation->name(), one.operation->variants()[one.variant].name),
               0);
      Tried tried = Trying{options, registry, sampling, here}.all_of(one);
      found.partial = hooks.stopped();
      if (found.partial && tried.repeats == 0) break;
      found.variants.push_back(std::move(tried));
    }
  }
  const auto& all = found.variants;
  std::string text = tables(all, options.check.quiet);
  if (!options.check.quiet) {
    text = fmt::format("rejected by each of three stages; reference: naive in double; seed {}\n\n{}",
                       options.check.seed, text);
  }
  const auto missed = names_of(all, Kin::known_cheat, false),
             blamed = names_of(all, Kin::known_honest, false);
  const auto caught = names_of(all, Kin::known_cheat, true), passed = names_of(all, Kin::known_honest, true);
  Outcome outcome{Word::as_it_should_be,
                  fmt::format("{} cheats rejected, {} honest variants passed", caught.size(), passed.size())};
  KnownCheatsOptions again = options;
  again.known_cheats = true;
  if (found.partial) {
    outcome = {Word::interrupted, fmt::format("after {} variants", all.size())};
  } else if (caught.empty() && passed.empty() && missed.empty() && blamed.empty()) {
    outcome = {Word::skipped, "nothing that was selected runs on this machine"};
  } else if (!missed.empty() || !blamed.empty()) {
    if (!blamed.empty()) outcome.add(Word::blamed, fmt::format("{}", fmt::join(blamed, ", ")));
    if (!missed.empty()) outcome.add(Word::not_rejected, fmt::format("{}", fmt::join(missed, ", ")));
    again.check.filter = "^" + (missed.empty() ? blamed : missed).front() + "$";
  }
  return ended(options.check, std::move(found), text, outcome, command_of("check", again));
}

std::filesystem::path find_teeth(const std::filesystem::path& program, std::string_view path) {
  std::vector<std::filesystem::path> folders{program.parent_path()};
  std::ranges::copy_if(parts_of(path, ':'), std::back_inserter(folders),
                       [](std::string_view folder) { return !folder.empty(); });
  for (const std::filesystem::path& folder : folders) {
    std::filesystem::path file = folder / "assay-teeth";
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

std::string way_to_teeth(const std::filesystem::path& program) {
  const std::filesystem::path folder = program.parent_path();
  if (std::filesystem::exists(folder / "CMakeCache.txt"))
    return fmt::format("build it: cmake --build {} --target assay_teeth", shell_word(folder.string()));
  return "install the package assay-teeth, or the component teeth of a checkout:\n"
         "  cmake --build --preset release --target assay_teeth && "
         "cmake --install build/release --component teeth";
}

void require_teeth(const Registry& registry, std::string_view request) {
  const bool has_teeth = std::ranges::any_of(registry.operations(), [](const Operation* operation) {
    return std::ranges::any_of(operation->variants(),
                               [](const VariantInfo& one) { return one.kin() != Kin::sound; });
  });
  if (has_teeth) return require_same_build();
  if (is_embedded()) {
    throw Error(std::string(request), "needs a program of its own, and this is an interpreter",
                fmt::format("run it in a shell: assay {}", request));
  }
  const std::filesystem::path program = this_program();
  const std::filesystem::path teeth = find_teeth(program, variable("PATH").value_or(""));
  if (teeth.empty()) {
    throw Error(std::string(request),
                "needs the program assay-teeth, which has the kernels that are wrong or cheat",
                way_to_teeth(program));
  }
  std::ifstream own_arguments("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(own_arguments, word, '\0');) words.push_back(word);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  setenv(commit_variable, build_info().commit.c_str(), 1);
  execv(teeth.c_str(), arguments.data());
  throw std::system_error(errno, std::generic_category(), teeth.string());
}

}  // namespace assay
