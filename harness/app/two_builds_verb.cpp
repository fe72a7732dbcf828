#include "app/clock.hpp"
#include "app/progress.hpp"
#include "app/sharding.hpp"
#include "app/two_builds_ending.hpp"
#include "app/verbs.hpp"
#include "assay/error.hpp"
#include "assay/pipeline.hpp"
#include "bench/gate/benchmark_programs.hpp"
#include "bench/gate/paired_launches.hpp"
#include "bench/gate/pointers.hpp"
#include "bench/gate/two_builds_shards.hpp"
#include "bench/programs/revision.hpp"
#include "core/plan/filter.hpp"
#include "core/text/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay {
namespace {

/// The user asked for a stop while a side was built.
struct Interrupted {};

/// Of all trials, where their sums since a release are tested: five steps of 1 % are then told from 3 %,
/// which is the limit, through launches that deviate by 1 %.
constexpr std::size_t launches_for_sums = 16;

/// What each benchmark of a foreign program runs for, in each of the six short runs of a launch.
constexpr double benchmark_seconds = 0.005;

/// Differently ordered links of a side that is built, where nobody says how many.
constexpr int usual_layouts = 8;

/// `base` and `head` are what the options name, or the commits that this stood for: a branch moves on.
std::string command_of(const Options& options, const std::string& base, const std::string& head) {
  std::string out = "assay gate --base " + shell_word(base);
  if (!head.empty()) out += " --head " + shell_word(head);
  if (!options.suite.empty()) out += " --suite " + shell_word(options.suite.string());
  if (!options.threads.empty()) out += fmt::format(" --threads {}", fmt::join(options.threads, ","));
  if (options.limit) out += fmt::format(" --limit {:g}", *options.limit);
  if (options.time_limit > 0) out += fmt::format(" --time-limit {:g}", options.time_limit);
  if (options.identical_too) out += " --identical";
  if (options.layouts) out += fmt::format(" --layouts {}", *options.layouts);
  for (const auto& folder : options.baselines) {
    if (options.baselines != usual_baselines()) out += " --baselines " + shell_word(folder.string());
  }
  return out + fmt::format(" --budget {:g} --seed {}", options.budget_seconds, options.seed);
}

SequentialPolicy policy_of(const Options& options) {
  SequentialPolicy out;
  if (options.limit) {
    out.same_limit += *options.limit - out.margin;
    out.margin = *options.limit;
  }
  return out;
}

TwoBuilds run_of(const Options& options) {
  return {.base = {.name = options.base},
          .head = {.name = options.head.empty() ? "this program" : options.head},
          .machine = this_machine(),
          .date = utc_now(),
          .seed = options.seed,
          .command = command_of(options, options.base, options.head),
          .filter = options.filter,
          .policy = policy_of(options),
          .budget_seconds = options.budget_seconds};
}

[[noreturn]] void refuse_empty(const Options& options, const std::string& what) {
  throw Error("filter '" + options.filter + "'", "selects nothing in " + what,
              "`assay list` shows operations and variants; keys look like gemm/packed/m=64,n=64,k=64#1");
}

/// Whether a file that does not load was meant as a suite. Results and baselines may lie beside suites.
bool is_meant_as_suite(const std::filesystem::path& file) {
  try {
    const std::string text = read_file(file);
    return text.find("\"cases\"") != std::string::npos && text.find("\"trials\"") == std::string::npos;
  } catch (const Error&) {
    return true;
  }
}

/// The suites in the folder of the one that is run, and that one. What is no suite there is of no concern;
/// one that does not load is left out, which is said.
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
      fmt::print(stderr, "assay: what a slow-down costs in this suite is not said: {}\n", failure.what());
    }
  }
  std::ranges::sort(out, {}, &Suite::name);
  return out;
}

struct Sides {
  Programs base, head;
};

/// A path that leads nowhere is no revision.
void require_file_if_path(const std::string& what) {
  if (!(what.starts_with('.') || what.starts_with('/')) || std::filesystem::is_regular_file(what)) return;
  throw Error(what, "is no file", "name a program, or a git revision to build");
}

bool is_program(const std::string& what) { return std::filesystem::is_regular_file(what); }

/// Whether a side is built.
bool has_revision(const Options& options) {
  return !is_program(options.base) || (!options.head.empty() && !is_program(options.head));
}

/// What is about revisions, where a program was named.
void require_revisions(const Options& options) {
  for (const auto& [option, program] :
       {std::pair{"--base", options.base}, std::pair{"--head", options.head}}) {
    if (!options.merge_base || !is_program(program)) continue;
    throw Error("--merge-base", fmt::format("is of git revisions, and {} {} is a program", option, program),
                "leave it away, or name a revision");
  }
  if (options.layouts && !has_revision(options)) {
    throw Error("--layouts", "is of sides that are built from a revision, and none is",
                "leave it away, or name a revision with --base");
  }
}

/// Several layouts are worth their time where a revision is built anyway. Throws Interrupted.
Sides sides_of(const Options& options, const Hooks& hooks) {
  require_file_if_path(options.base);
  require_file_if_path(options.head);
  require_revisions(options);
  const bool revision = has_revision(options);
  const int layouts = revision ? options.layouts.value_or(usual_layouts) : 1;
  const std::string head = options.head.empty() ? "HEAD" : options.head;
  Sides out{.base = programs_of(options.base, ".", "", layouts, hooks, options.merge_base ? head : ""),
            .head = options.head.empty() ? programs_of_this(layouts, hooks)
                                         : programs_of(options.head, ".", "", layouts, hooks)};
  if (out.base.links.empty() || out.head.links.empty()) throw Interrupted{};
  if (!revision) {
    out.base.layout_remark = out.head.layout_remark =
        "one layout only, since programs are compared as they were linked";
  }
  return out;
}

Build build_of(const Programs& programs, const Description& description) {
  return {.name = programs.name,
          .commit = description.commit,
          .facts = description.facts,
          .links = programs.links.size(),
          .layout_remark = programs.layout_remark};
}

TwoBuilds gate_builds(const Options& options, const Registry& registry, const std::optional<Shard>& shard,
                      const Hooks& hooks) {
  const Suite suite = load_suite(options.suite, registry);
  const Filter filter(options.filter, registry);
  const Sides sides = sides_of(options, hooks);
  const DescriptionRequest question{.cases = suite.cases, .threads = options.threads, .seed = options.seed};
  const Description of_base = described_by(sides.base.links.front(), question),
                    of_head = described_by(sides.head.links.front(), question);

  TwoBuilds run = run_of(options);
  run.suite = suite.name;
  const auto ledger = find_ledger(options, suite.name);
  if (ledger) run.policy.screen = launches_for_sums;
  if (options.record_step) {
    require_recordable(options, ledger, ledger ? step_end(*ledger, of_base.commit) : of_base.commit,
                       of_head.commit);
  }
  const auto said = [](const Programs& side, const std::string& name) {
    return side.commit.empty() ? name : side.commit;
  };
  run.command = command_of(options, said(sides.base, options.base), said(sides.head, options.head));
  run.base = build_of(sides.base, of_base);
  run.head = build_of(sides.head, of_head);
  run.trials = matched(
      of_base, of_head, [&](const std::string& key) { return filter.selects(key); }, options.identical_too);
  if (run.trials.empty()) refuse_empty(options, "suite '" + suite.name + "'");
  note_occurrences(run.trials, suites_beside(options.suite, suite, registry));
  if (shard) keep_shard(run, *shard);
  const PairedPrograms programs{.base = sides.base.links,
                                .head = sides.head.links,
                                .policy = {.time_limit = options.time_limit},
                                .shared_bytes = shared_bytes_for(registry, suite.cases)};
  sample_two_builds(run, paired_launches(programs, hooks), hooks);
  if (!run.partial) note_pointers(run, sides.base.links.front(), sides.head.links.front(), registry, hooks);
  return run;
}

std::vector<std::string> benchmarks_or_error(const std::string& program, const std::string& filter) {
  const auto names = benchmarks_of(program, filter);
  if (!names) {
    throw Error(program, "is no program of Google Benchmark: it does not know --benchmark_list_tests",
                "without --suite, --base and --head name such programs; builds of assay need --suite");
  }
  return *names;
}

/// What builds of assay know and other programs do not.
void require_options_of_benchmarks(const Options& options) {
  const std::pair<const char*, bool> others[]{{"--threads", !options.threads.empty()},
                                              {"--layouts", options.layouts.has_value()},
                                              {"--identical", options.identical_too},
                                              {"--merge-base", options.merge_base}};
  for (const auto& [option, is_given] : others) {
    if (!is_given) continue;
    throw Error(option,
                "is of builds of assay, and without --suite programs of Google Benchmark are compared",
                "leave it away, or name a suite");
  }
}

TwoBuilds gate_benchmarks(const Options& options, const Hooks& hooks) {
  if (options.head.empty()) {
    throw Error("--suite", "is missing",
                "name a suite, or two programs of Google Benchmark with --base and --head");
  }
  require_options_of_benchmarks(options);
  TwoBuilds run = run_of(options);
  run.suite = std::filesystem::path(options.head).filename().string();
  require_recordable(options, find_ledger(options, run.suite), "", "");
  run.trials = matched(benchmarks_or_error(options.base, options.filter),
                       benchmarks_or_error(options.head, options.filter));
  if (run.trials.empty()) refuse_empty(options, options.head);
  sample_two_builds(run, benchmark_launches(options.base, options.head, benchmark_seconds, hooks), hooks);
  return run;
}

}  // namespace

int two_builds_verb(const Options& options, const Registry& registry) {
  const std::optional<Shard> shard = options.suite.empty() ? std::nullopt : shard_of_this_process(options);
  if (options.suite.empty()) say_undivided(options, "benchmarks of other programs");
  require_whole_for_step(options, shard);
  TwoBuilds run;
  try {
    Progress progress;
    const Hooks hooks = progress.hooks();
    run = options.suite.empty() ? gate_benchmarks(options, hooks)
                                : gate_builds(options, registry, shard, hooks);
  } catch (const Interrupted&) {
    fmt::print("INTERRUPTED: before anything was measured\n");
    return exit_code::interrupted;
  }
  return end_two_builds(options, run, find_ledger(options, run.suite));
}

int reanalyze_verb(const Options& options) {
  const TwoBuilds run = two_builds_from_json(read_file(options.first), options.first.string());
  return end_two_builds(options, run, find_ledger(options, run.suite));
}

}  // namespace assay
