// The verbs that time other programs in turns: gates of two builds, programs or commands, wrap of one
// command, and the self-test.

#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/verbs.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "bench/gate/gates.hpp"
#include "bench/gate/selftest.hpp"
#include "bench/measure/sides.hpp"
#include "bench/programs/project.hpp"
#include "bench/programs/revision.hpp"
#include "core/files/this_program.hpp"
#include "core/plan/trial_key.hpp"
#include "core/plugin/library.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/command.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace assay {
namespace {

/// Differently ordered links of a side that is built, where nobody says how many.
constexpr int usual_layouts = 8;

/// Whether a file that does not load was meant as a suite. Results and baselines may lie beside suites.
bool is_meant_as_suite(const std::filesystem::path& file) {
  try {
    const std::string text = read_file(file);
    return text.find("\"cases\"") != std::string::npos && text.find("\"trials\"") == std::string::npos;
  } catch (const Error&) {
    return true;
  }
}

/// The suites in the folder of the one that is run, and that one. Other files there are of no concern; a
/// suite that does not load is left out, which is said.
std::vector<Suite> suites_beside(const std::filesystem::path& file, const Suite& suite,
                                 const Registry& registry) {
  std::vector<Suite> out{suite};
  const auto folder = file.parent_path().empty() ? std::filesystem::path(".") : file.parent_path();
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    if (entry.path().extension() != ".json") continue;
    try {
      Suite other = load_suite(entry.path(), registry);
      if (other.name != suite.name) out.push_back(std::move(other));
    } catch (const Error& failure) {
      if (!is_meant_as_suite(entry.path())) continue;
      print_visible(stderr, "assay: what a slow-down costs in this suite is not said: {}\n", failure.what());
    }
  }
  std::ranges::sort(out, {}, &Suite::name);
  return out;
}

/// The program of a side and its arguments; a file may have spaces in its name.
std::vector<std::string> words_of(const std::string& what) {
  if (is_embedded_side(what) || std::filesystem::is_regular_file(what)) return {what};
  return shell_words(what);
}

bool is_program(const std::string& what) {
  const std::vector<std::string> words = words_of(what);
  return !words.empty() && (is_embedded_side(words[0]) || std::filesystem::is_regular_file(words[0]));
}

/// A path that leads nowhere is no revision.
void require_file_if_path(const std::string& what) {
  if (!(what.starts_with('.') || what.starts_with('/')) || is_program(what)) return;
  throw Error(what, "is no file", "name a program, or a git revision to build");
}

/// The registry by which a gate of plug-ins reads its suite: with the operations of the head.
Registry registry_with(const std::filesystem::path& plugin) {
  Registry out = Registry::linked();
  add_plugin(out, plugin, /*runs_kernels=*/false);
  return out;
}

/// The registry of a head that is a plug-in; nothing for others.
std::optional<Registry> operations_of(const std::string& head) {
  return is_shared_library(head) ? std::optional(registry_with(head)) : std::nullopt;
}

/// Whether a side is built.
bool has_revision(const ProgramsOptions& options) {
  return !is_program(options.base) || (!options.head.empty() && !is_program(options.head));
}

/// What assay.json says of a gate that builds a side; a suite is of kernels.
Project project_of(const ProgramsOptions& options) {
  if (!options.outcome.suite.empty() || !has_revision(options)) return {};
  return project_file_in(repository_root(".", Hooks{}));
}

void require_none_of_kernels(const BuildsOptions& options) {
  for (const auto& [name, given] :
       {std::pair{"--threads", !options.threads.empty()}, std::pair{"--identical", options.identical_too},
        std::pair{"--layouts", options.layouts.has_value()},
        std::pair{"--record-step", options.programs.outcome.rules.record_step}}) {
    if (given)
      throw Error(name, "is of kernels, and assay.json names another kind of program", "leave it away");
  }
}

/// Refuses sides that are nowhere, and options about revisions where a program was named.
void require_sides(const BuildsOptions& options) {
  const ProgramsOptions& programs = options.programs;
  require_file_if_path(programs.base);
  require_file_if_path(programs.head);
  for (const auto& [option, program] :
       {std::pair{"--base", programs.base}, std::pair{"--head", programs.head}}) {
    if (!options.merge_base || !is_program(program)) continue;
    throw Error("--merge-base", fmt::format("is of git revisions, and {} {} is a program", option, program),
                "leave it away, or name a revision");
  }
  if (!programs.base_build.empty() && is_program(programs.base)) {
    throw Error("--base-build",
                fmt::format("gives the program of a revision, and --base {} is a program", programs.base),
                "leave it away, or name a revision");
  }
  if (options.layouts && !has_revision(programs)) {
    throw Error("--layouts", "is of sides that are built from a revision, and none is",
                "leave it away, or name a revision with --base");
  }
}

/// A program of others as it is given: `usual` are the arguments of the project, for one that has none.
Programs foreign_program(const std::string& what, const std::vector<std::string>& usual) {
  std::vector<std::string> words = words_of(what);
  Programs out{.name = what, .links = {words.front()}, .foreign = true};
  words.erase(words.begin());
  out.arguments = words.empty() ? usual : std::move(words);
  return out;
}

/// Several layouts are worth their time where a revision of kernels is built anyway. `options` passed
/// require_sides(). Throws Stopped.
Bundle sides_of(const BuildsOptions& options, const Project& project, const Hooks& hooks) {
  const std::string &base = options.programs.base, &given_head = options.programs.head;
  const bool revision = has_revision(options.programs), foreign = project.use.is_foreign();
  const int layouts = revision ? options.layouts.value_or(usual_layouts) : 1;
  const std::string head = given_head.empty() ? "HEAD" : given_head;
  const bool head_given = is_program(head) && !is_embedded_side(head);
  // A program that is installed compares what the project has committed.
  const bool this_program =
      !foreign && given_head.empty() && (is_program(base) || is_built_from(repository_root(".", hooks)));
  const auto side = [&](const ProgramsRequest& request) {
    return foreign && is_program(request.what) ? foreign_program(request.what, project.arguments)
                                               : programs_of(request, hooks);
  };
  Bundle out{
      .base = side({.what = base,
                    .layouts = layouts,
                    .common_with = options.merge_base ? head : "",
                    .like = head_given ? words_of(head).front() : "",
                    .built = options.programs.base_build}),
      .head = this_program ? programs_of_this(layouts, hooks) : side({.what = head, .layouts = layouts}),
      .use = project.use,
      .target = foreign ? project.target : ""};
  if (out.base.links.empty() || out.head.links.empty()) throw Stopped{};
  if (!revision) {
    out.base.layout_remark = out.head.layout_remark = layout_of_programs;
  }
  return out;
}

/// The suite of a gate that was given none; `built`: of a side that is built from the repository here.
std::filesystem::path suite_of_repository(bool built) {
  const std::filesystem::path root = built ? repository_root(".", Hooks{}) : "";
  const std::string suite = built ? project_file_in(root).suite : "";
  if (!suite.empty()) return std::filesystem::relative(root / suite);
  throw Error("--suite", "is missing",
              "name a suite, or write it as \"suite\" into assay.json; of programs of Google Benchmark name "
              "two, with --base and --head");
}

/// The request of a gate without its sides. Refuses it before anything is built or measured.
BuildsGateRequest request_of(const BuildsOptions& options, const Registry& registry) {
  const ProgramsOptions& programs = options.programs;
  const OutcomeOptions& outcome = programs.outcome;
  BuildsGateRequest out{.threads = options.threads,
                        .shard = shard_of_this_process(options.shard),
                        .durations = durations_in(options.shard.durations),
                        .identical_too = options.identical_too,
                        .time_limit = programs.time_limit,
                        .rules = rules_of(outcome)};
  if (outcome.rules.record_step)
    require_whole(out.shard, "--record-step", "record the step in a job without shards");
  out.suite = load_suite(outcome.suite, registry);
  static_cast<void>(Filter(programs.filter, registry));
  return out;
}

/// A run of which nothing was measured yet: `command` repeats it, but for the filter, and `usual_limit` is
/// the time ratio that is still the same where the user gave none.
TwoBuilds new_run(const ProgramsOptions& options, std::string command, double usual_limit) {
  return {.base = {.name = options.base},
          .head = {.name = options.head.empty() ? "this program" : options.head},
          .machine = this_machine(),
          .date = utc_now(),
          .seed = options.seed,
          .command = std::move(command),
          .filter = options.filter,
          .policy = policy_with(options.limit.value_or(usual_limit)),
          .budget_seconds = options.budget_seconds};
}

/// Lets `gate` measure under a line that shows how far it is, and ends with the outcome.
Outcome measured_and_ended(const OutcomeOptions& options,
                           const std::function<TwoBuilds(const Hooks&)>& gate) {
  const TwoBuilds run = gate(Progress(options.quiet).hooks());
  return end_two_builds(options, run);
}

/// The command that repeats a gate of these sides, but for the filter.
using CommandOfSides = std::function<std::string(const Bundle&)>;

TwoBuilds gate_sides(const BuildsOptions& options, BuildsGateRequest request, Bundle sides,
                     const CommandOfSides& command, const Registry& registry, const Hooks& hooks) {
  request.run = new_run(options.programs, command(sides), SequentialPolicy{}.margin);
  request.base = std::move(sides.base);
  request.head = std::move(sides.head);
  request.suites_around = suites_beside(options.programs.outcome.suite, request.suite, registry);
  return gate_of_builds(std::move(request), registry, hooks);
}

/// Gates programs that are not assay's.
TwoBuilds gate_programs(const BuildsOptions& options, Bundle sides, const CommandOfSides& command,
                        const Hooks& hooks) {
  ProgramsOptions programs = options.programs;
  const ProgramUse& use = sides.use;
  if (programs.filter.empty()) programs.filter = use.filter;
  if (programs.counters.empty()) programs.counters = use.counters;
  TwoBuilds run = new_run(programs, command(sides), usual_limit_of_programs);
  run.base = {.name = sides.base.name, .commit = sides.base.commit};
  run.head = {.name = sides.head.name, .commit = sides.head.commit};
  const ProgramsGateRequest request{.name = sides.target,
                                    .base = std::move(sides.base),
                                    .head = std::move(sides.head),
                                    .shard = shard_of_this_process(options.shard),
                                    .durations = durations_in(options.shard.durations),
                                    .time_limit = programs.time_limit,
                                    .counters = programs.counters};
  if (use.kind == ProgramUse::Kind::google_benchmark)
    return gate_of_benchmarks(request, std::move(run), hooks);
  const CommandTiming timing{
      .processor = use.processor, .match = use.match, .rate = use.rate, .time_limit = programs.time_limit};
  return gate_of_built_commands(request, timing, std::move(run), hooks);
}

SelfTestRequest request_of(const SelftestOptions& options, const Registry& registry) {
  const SelectionOptions& selection = options.selection;
  SelfTestRequest out{.suite = load_suite(selection.suite, registry),
                      .filter = selection.filter,
                      .program = this_program(),
                      .seed = selection.seed,
                      .runs = options.runs,
                      .planted_runs = options.planted_runs,
                      .plants = options.plants,
                      .budget_seconds = options.budget_seconds,
                      .time_limit = selection.time_limit,
                      .busy = options.busy,
                      .command = command_of("selftest", options)};
  const std::vector<int> one{1};
  DescriptionRequest question{.cases = out.suite.cases,
                              .threads = selection.threads.empty() ? one : selection.threads,
                              .seed = selection.seed,
                              .time_limit = selection.time_limit};
  const auto answer = [&] { return described_by(out.program, question, {.stop = interrupted}); };
  const Filter filter(selection.filter, registry);
  for (const DescribedTrial& trial : answer().trials) {
    if (filter.selects(trial.trial.key)) question.corners.push_back(trial.trial.key);
  }
  out.description = answer();
  return out;
}

Outcome outcome_of(const SelfTest& found) {
  std::size_t alarms = 0;
  for (const SelfTestRun& run : found.runs) alarms += run.alarms.size();
  Outcome out{Word::passed,
              fmt::format("in {} gates no trial without a plant was called slower", found.runs.size())};
  if (const std::string nothing = why_nothing_is_shown(found); !nothing.empty())
    out = {Word::undecided, nothing};
  if (alarms > 0)
    out.add(Word::wrong, fmt::format("{} times a trial without a plant was called slower", alarms));
  for (const Finding& fault : found.faults) {
    out.add(has_failed(fault.standing)               ? Word::crashed
            : fault.standing == Standing::impossible ? Word::impossible
                                                     : Word::wrong,
            fmt::format("{}: {}", fault.key, fault.why));
  }
  if (interrupted()) out.add(Word::interrupted, fmt::format("after {} gates", found.runs.size()));
  return out;
}

Outcome told(const SelfTest& found, const std::filesystem::path& markdown, bool quiet) {
  const std::string text = selftest_markdown(found);
  const Outcome outcome = outcome_of(found);
  put("", (quiet ? "" : text + "\n") + ending("", outcome), "");
  if (!markdown.empty()) write_file(markdown, text);
  return outcome;
}

/// Says what was measured under one name, and which slow-down a gate would see.
std::string text_of(const TrialResult& trial, const CommandOptions& options, double run_seconds) {
  std::vector<double> runs;
  for (const Launch& launch : trial.launches) runs.push_back(median(seconds_of(launch)));
  const double visible =
      visible_in_gate(trial, run_seconds, policy_with(usual_limit_of_programs), options.budget_seconds);
  return fmt::format("{}  {}  {} runs, from {} to {}\n  a gate of {} {}\n", trial.problem,
                     seconds_text(time_of(trial)), runs.size(), seconds_text(std::ranges::min(runs)),
                     seconds_text(std::ranges::max(runs)), seconds_text(options.budget_seconds),
                     visible > 0 ? fmt::format("would see a slow-down of {}", percent_text(visible - 1))
                                 : "would see nothing, or these runs are too few to say what");
}

}  // namespace

Outcome two_builds_verb(const BuildsOptions& given, const Registry& linked) {
  BuildsOptions options = given;
  const ProgramsOptions& programs = options.programs;
  if (is_shared_library(programs.base) && programs.head.empty()) {
    throw Error("--head", "is missing, and --base is a plug-in", "name the library to compare it with");
  }
  require_sides(options);
  const Project project = project_of(programs);
  if (!programs.counters.empty() && project.use.kind != ProgramUse::Kind::google_benchmark)
    throw Error("--counter", "is of programs of Google Benchmark", "leave it out");
  const auto command = [&](const Bundle& sides) {
    BuildsOptions again = options;  // of these very sides, since a branch moves on
    if (!sides.base.commit.empty()) again.programs.base = sides.base.commit;
    if (!sides.head.commit.empty()) again.programs.head = sides.head.commit;
    return command_of("gate", again);
  };
  if (project.use.is_foreign()) {
    require_none_of_kernels(options);
    return measured_and_ended(programs.outcome, [&](const Hooks& hooks) {
      return gate_programs(options, sides_of(options, project, hooks), command, hooks);
    });
  }
  for (const std::string& side : {programs.base, programs.head}) {
    if (words_of(side).size() > 1 && is_program(side))
      throw Error(side, "has arguments, and builds of assay take none", "name the program alone");
  }
  std::filesystem::path& suite = options.programs.outcome.suite;
  if (suite.empty()) suite = suite_of_repository(has_revision(programs));
  const bool builds_head = !is_program(programs.head.empty() ? programs.base : programs.head);
  // The operations of a plug-in are known once it is built.
  if (builds_head && makes_plugin(project_in(repository_root(".", Hooks{})))) {
    return measured_and_ended(programs.outcome, [&](const Hooks& hooks) {
      Bundle sides = sides_of(options, {}, hooks);
      const Registry registry = registry_with(sides.head.links.front());
      return gate_sides(options, request_of(options, registry), std::move(sides), command, registry, hooks);
    });
  }
  const std::optional<Registry> own = operations_of(programs.head);
  const Registry& registry = own ? *own : linked;
  const BuildsGateRequest request = request_of(options, registry);
  return measured_and_ended(programs.outcome, [&](const Hooks& hooks) {
    return gate_sides(options, request, sides_of(options, {}, hooks), command, registry, hooks);
  });
}

Outcome bundle_verb(const BundleOptions& given, const Registry& linked) {
  BundleOptions options = given;
  ProgramsOptions& programs = options.builds.programs;
  Bundle sides = read_bundle(options.bundle);
  const bool foreign = sides.use.is_foreign();
  if (foreign) require_none_of_kernels(options.builds);
  if (!foreign && programs.outcome.suite.empty()) programs.outcome.suite = suite_of_repository(true);
  programs.base = sides.base.name;
  programs.head = sides.head.name;
  const auto command = [&](const Bundle&) { return command_of("gate", options); };
  if (foreign) {
    return measured_and_ended(programs.outcome, [&](const Hooks& hooks) {
      return gate_programs(options.builds, std::move(sides), command, hooks);
    });
  }
  const std::optional<Registry> own = operations_of(sides.head.links.front().string());
  const Registry& registry = own ? *own : linked;
  const BuildsGateRequest request = request_of(options.builds, registry);
  return measured_and_ended(programs.outcome, [&](const Hooks& hooks) {
    return gate_sides(options.builds, request, std::move(sides), command, registry, hooks);
  });
}

Outcome prepare_verb(const PrepareOptions& options) {
  const BuildsOptions& builds = options.builds;
  require_sides(builds);
  const Project project = project_of(builds.programs);
  const bool foreign = project.use.is_foreign();
  if (foreign) require_none_of_kernels(builds);
  const Bundle sides = sides_of(builds, project, Progress().hooks());
  write_bundle(options.output, sides);
  print_visible(stdout, "{}: base {}, {} layouts; head {}, {} layouts\n{}", options.output.string(),
                sides.base.name, sides.base.links.size(), sides.head.name, sides.head.links.size(),
                next_line(fmt::format("assay gate --bundle {}{}", shell_word(options.output.string()),
                                      foreign ? "" : " --suite SUITE")));
  return {};
}

Outcome two_programs_verb(const ProgramsOptions& options, const Registry& linked) {
  if (has_revision(options)) return two_builds_verb({.programs = options}, linked);
  require_sides({.programs = options});
  say_undivided("benchmarks of other programs");
  return measured_and_ended(options.outcome, [&](const Hooks& hooks) {
    return gate_of_benchmarks({.base = foreign_program(options.base, {}),
                               .head = foreign_program(options.head, {}),
                               .time_limit = options.time_limit,
                               .counters = options.counters},
                              new_run(options, command_of("gate", options), usual_limit_of_programs), hooks);
  });
}

Outcome reanalyze_verb(const ReanalyzeOptions& options) {
  return end_two_builds(options.outcome,
                        two_builds_from_json(read_file(options.results), options.results.string()));
}

Outcome commands_verb(const CommandsOptions& options) {
  const ProgramsOptions& programs = options.programs;
  say_undivided("commands");
  return measured_and_ended(programs.outcome, [&](const Hooks& hooks) {
    return gate_of_commands(shell_command(programs.base), shell_command(programs.head), options.timing,
                            new_run(programs, command_of("wrap", options), usual_limit_of_programs), hooks);
  });
}

Outcome command_verb(const CommandOptions& options) {
  std::vector<std::string> typed;
  for (const std::string& word : options.command) typed.push_back(shell_word(word));
  const WrappedCommand command{options.command, fmt::format("{}", fmt::join(typed, " "))};
  Results results{.machine = this_machine(),
                  .commit = "unknown",
                  .date = utc_now(),
                  .command = command_of("wrap", options)};
  measure_command(results, command, options.timing, options.launches, options.budget_seconds,
                  Progress(options.quiet).hooks());
  std::size_t runs = 0;
  for (const TrialResult& trial : results.trials) runs = std::max(runs, trial.launches.size());
  std::string text;
  for (const TrialResult& trial : results.trials) {
    text += text_of(trial, options, results.weather.seconds / static_cast<double>(runs));
  }
  const std::string next = options.output.empty()
                               ? "-o before.json keeps the runs, for  assay compare before.json after.json"
                               : "";
  const Outcome outcome{results.partial ? Word::interrupted : Word::measured,
                        fmt::format("{} runs of `{}`; nothing was compared", runs, command.text)};
  put(options.json, options.quiet ? ending("", outcome) : text + ending(next, outcome), to_json(results));
  if (!options.output.empty()) write_file(options.output, to_json(results) + "\n");
  return outcome;
}

Outcome selftest_verb(const SelftestOptions& options, const Registry& registry) {
  if (options.runs + options.planted_runs == 0)
    throw Error("--runs and --planted-runs", "are both 0", "ask for at least one gate");
  SelfTestRequest request = request_of(options, registry);
  if (!options.output.empty()) {
    // Gates are written as they come: an interrupt loses nothing that was finished. The old content of the
    // file stays until there is a finished gate to replace it.
    request.keep = [&options, begun = false](const std::string& line) mutable {
      if (!std::exchange(begun, true)) write_file(options.output, "");
      append_to_file(options.output, line, "free space on that disk, or name another file with -o");
    };
  }
  const SelfTest found = run_selftest(request, registry, Progress(options.quiet).hooks());
  return told(found, options.markdown, options.quiet);
}

Outcome selftest_again_verb(const SelftestAgainOptions& options, const Registry& registry) {
  std::vector<KeptGates> kept;
  for (const auto& file : options.again) kept.push_back({file.string(), read_file(file)});
  SelfTest found = judged_anew(kept, registry);
  found.busy = found.busy || options.busy;
  SelftestAgainOptions named = options;
  for (auto& file : named.again) file = file.filename();  // where they lie is of no concern to a report
  found.command = command_of("selftest", named);
  return told(found, options.markdown, options.quiet);
}

}  // namespace assay
