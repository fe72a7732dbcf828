#include "app/interrupt.hpp"
#include "app/progress.hpp"
#include "app/this_program.hpp"
#include "app/verb_functions.hpp"
#include "assay/error.hpp"
#include "assay/pipeline.hpp"
#include "bench/gate/paired_launches.hpp"
#include "bench/gate/selftest.hpp"
#include "bench/measure/busy.hpp"
#include "bench/measure/calibration.hpp"
#include "core/machine/build_info.hpp"
#include "core/machine/clock.hpp"
#include "core/plan/filter.hpp"
#include "core/statistics/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

namespace assay {
namespace {

/// A kernel that does nothing: what is left is the harness.
class Nothing final : public Timed {
 public:
  void repeat(Index) override {}
};

double empty_slice_seconds() {
  Nothing nothing;
  std::vector<double> seconds;
  for (int slice = 0; slice < 1000; ++slice) seconds.push_back(seconds_for(nothing, 1));
  return median(seconds);
}

/// All samples, one run per line, as they come: an interrupt loses nothing that was finished. The old content
/// of the file stays until there is a finished run to replace it.
class RawFile {
 public:
  explicit RawFile(std::filesystem::path file) : file_(std::move(file)) {}
  void add(const TwoBuilds& run) {
    if (file_.empty()) return;
    if (!std::exchange(begun_, true)) write_file(file_, "");
    std::string line = to_json(run);
    std::erase(line, '\n');
    std::ofstream out(file_, std::ios::app);
    out << line << '\n';
    out.flush();
    if (!out)
      throw Error(file_.string(), "cannot be written",
                  "free space on that disk, or name another file with -o");
  }
  std::string hash() const { return begun_ ? fmt::format("{:016x}", fnv1a(read_file(file_))) : ""; }

 private:
  std::filesystem::path file_;
  bool begun_ = false;
};

class SelfTester {
 public:
  SelfTester(const SelftestOptions& options, const Registry& registry)
      : options_(options),
        suite_(load_suite(options.selection.suite, registry)),
        raw_(options.output),
        rng_(options.selection.seed) {
    const std::vector<int> one{1};
    const DescriptionRequest question{
        .cases = suite_.cases,
        .threads = options.selection.threads.empty() ? one : options.selection.threads,
        .seed = options.selection.seed};
    described_ = described_by(this_program(), question);
    const Filter filter(options.selection.filter, registry);
    trials_ = matched(
        described_, described_, [&](const std::string& key) { return filter.selects(key); },
        /*identical_too=*/true);
    if (trials_.empty()) {
      throw Error("filter '" + options.selection.filter + "'",
                  "selects nothing in suite '" + suite_.name + "'",
                  "`assay list` shows operations and variants");
    }
    for (const PairedTrial& trial : trials_) {
      costs_[trial.trial.key] = registry.at(trial.trial.operation).cost(trial.trial.problem);
    }
    programs_ = {.base = {this_program()},
                 .head = {this_program()},
                 .policy = {.time_limit = options.selection.time_limit},
                 .shared_bytes = shared_bytes_for(registry, suite_.cases)};
  }

  SelfTest test(const Hooks& hooks) {
    SelfTest out{.suite = suite_.name,
                 .commit = build_info().commit,
                 .date = utc_now(),
                 .command = command_of("selftest", options_),
                 .machine = this_machine(),
                 .busy = options_.busy,
                 .empty_slice_seconds = empty_slice_seconds(),
                 .slice_seconds = programs_.policy.slice_seconds};
    if (options_.planted_runs > 0) out.asked = options_.plants;
    for (int i = 0; i < options_.runs + options_.planted_runs && !hooks.stopped(); ++i) {
      const bool plants = i >= options_.runs;
      hooks.say(fmt::format("run {} of {}", i + 1, options_.runs + options_.planted_runs));
      const auto turn = static_cast<std::size_t>(i - std::min(i, options_.runs));
      auto planted =
          plants ? drawn_plants(trials_, costs_, options_.plants, turn, rng_) : std::vector<Plant>{};
      const TwoBuilds run = gated(planted, hooks);
      // What crashed once is not tried again.
      for (std::size_t t = 0; t < trials_.size(); ++t) {
        if (!has_failed(run.trials[t].left_out) || !trials_[t].tested()) continue;
        trials_[t].left_out = run.trials[t].left_out;
        trials_[t].why_left_out = run.trials[t].why_left_out;
        out.failed.push_back(trials_[t].trial.key + ": " + trials_[t].why_left_out);
      }
      if (run.partial) break;
      raw_.add(run);
      out.runs.push_back(tallied(run, std::move(planted)));
    }
    out.raw_hash = raw_.hash();
    return out;
  }

 private:
  TwoBuilds gated(const std::vector<Plant>& plants, const Hooks& hooks) {
    TwoBuilds run{.suite = suite_.name,
                  .base = {.name = "this program", .commit = described_.commit, .facts = described_.facts},
                  .head = {.name = "this program", .commit = described_.commit, .facts = described_.facts},
                  .machine = this_machine(),
                  .date = utc_now(),
                  .seed = rng_.next(),
                  .command = command_of("selftest", options_),
                  .busy = options_.busy,
                  .filter = options_.selection.filter,
                  .budget_seconds = options_.budget_seconds,
                  .trials = trials_};
    PairedPrograms programs = programs_;
    for (const Plant& plant : plants) run.planted[plant.key] = plant.slowdown;
    programs.planted = run.planted;
    sample_two_builds(run, paired_launches(std::move(programs), hooks), hooks);
    return run;
  }

  const SelftestOptions& options_;
  Suite suite_;
  RawFile raw_;
  Rng rng_;
  Description described_;
  std::vector<PairedTrial> trials_;
  std::map<std::string, Cost> costs_;
  PairedPrograms programs_;
};

/// Samples that counted twice would make every interval too narrow.
void require_new(std::vector<std::string>& hashes, const std::string& text, const std::string& file) {
  const std::string hash = fmt::format("{:016x}", fnv1a(text));
  if (std::ranges::find(hashes, hash) != hashes.end()) {
    throw Error("--again " + file, "holds what another of the files holds", "name each file once");
  }
  hashes.push_back(hash);
}

/// The same table from samples that were kept, with the rules of this program.
SelfTest tested_again(const SelftestAgainOptions& options, const Registry& registry) {
  SelftestAgainOptions named = options;
  for (auto& file : named.again) file = file.filename();  // where they lie is of no concern to a report
  SelfTest out{.command = command_of("selftest", named),
               .busy = options.busy,
               .slice_seconds = TurnPolicy{}.slice_seconds};
  std::vector<std::string> hashes;
  for (const auto& file : options.again) {
    const std::string text = read_file(file);
    require_new(hashes, text, file.string());
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      TwoBuilds run = two_builds_from_json(line, fmt::format("{}, line {}", file.string(), ++number));
      if (run.partial) {
        ++out.interrupted;
        continue;
      }
      run.policy = {};
      out.suite = run.suite;
      out.commit = run.head.commit;
      out.date = run.date;
      out.machine = run.machine;
      out.busy = out.busy || run.busy;
      std::vector<Plant> plants;
      for (const PairedTrial& trial : run.trials) {
        const auto planted = run.planted.find(trial.trial.key);
        if (planted == run.planted.end()) continue;
        const Cost cost = registry.at(trial.trial.operation).cost(trial.trial.problem);
        plants.push_back({.key = planted->first, .bound = bound_of(cost), .slowdown = planted->second});
      }
      out.runs.push_back(tallied(run, std::move(plants)));
    }
    if (number == 0) throw Error(file.string(), "holds no gate", "name files that `assay selftest -o` wrote");
  }
  out.raw_hash = fmt::format("{}", fmt::join(hashes, ", "));
  return out;
}

int told(const SelfTest& found, const std::filesystem::path& markdown) {
  const std::string text = selftest_markdown(found), nothing = why_nothing_is_shown(found);
  fmt::print("{}", nothing.empty() ? text : text + "\nUNDECIDED: " + nothing + "\n");
  if (!markdown.empty()) write_file(markdown, text);
  if (interrupted()) return exit_code::interrupted;
  if (!found.failed.empty()) {
    fmt::print(stderr, "CRASHED: {}\n", fmt::join(found.failed, "; "));
    return exit_code::crashed;
  }
  const bool alarm =
      std::ranges::any_of(found.runs, [](const SelfTestRun& run) { return !run.alarms.empty(); });
  if (alarm) return exit_code::found;
  return nothing.empty() ? exit_code::passed : exit_code::undecided;
}

}  // namespace

int selftest_verb(const SelftestOptions& options, const Registry& registry) {
  if (options.runs + options.planted_runs == 0)
    throw Error("--runs and --planted-runs", "are both 0", "ask for at least one gate");
  SelfTester tester(options, registry);
  const std::optional<BusyCore> busy = options.busy ? std::optional<BusyCore>(std::in_place) : std::nullopt;
  SelfTest found;
  {
    Progress progress;
    found = tester.test(progress.hooks());
  }
  return told(found, options.markdown);
}

int selftest_again_verb(const SelftestAgainOptions& options, const Registry& registry) {
  return told(tested_again(options, registry), options.markdown);
}

}  // namespace assay
