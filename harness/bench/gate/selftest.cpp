#include "bench/gate/selftest.hpp"

#include "assay/error.hpp"
#include "bench/compare/words.hpp"
#include "bench/measure/sampler.hpp"
#include "core/files/child_process.hpp"
#include "core/machine/clock.hpp"
#include "core/markup/document.hpp"
#include "core/plan/trial_key.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <iterator>
#include <sstream>

namespace assay {
namespace {

std::string share_text(std::size_t hits, std::size_t trials) {
  const Interval share = proportion(hits, trials);
  return fmt::format("{} of {} [{:.1f} %, {:.1f} %]", hits, trials, 100 * share.low, 100 * share.high);
}

/// Compute from 4 FLOPs per byte on: what keeps the arithmetic of a core of today busy from its second cache.
Bound bound_of(const Cost& cost) {
  constexpr double flops_per_byte = 4;
  return cost.flops >= flops_per_byte * (cost.bytes_read + cost.bytes_written) ? Bound::compute
                                                                               : Bound::memory;
}

std::vector<const PairedTrial*> candidates(const std::vector<PairedTrial>& trials,
                                           const std::map<std::string, Cost>& costs, Bound bound) {
  std::vector<const PairedTrial*> out;
  for (const PairedTrial& trial : trials) {
    const auto cost = costs.find(trial.trial.key);
    if (!trial.tested() || trial.trial.threads != 1 || cost == costs.end()) continue;
    if (bound_of(cost->second) == bound) out.push_back(&trial);
  }
  return out;
}

std::string estimate_text(double error) {
  return fmt::format("{:.2f} % too {}", 100 * std::abs(error), error < 0 ? "low" : "high");
}

struct Tally {
  std::size_t planted = 0, found = 0, undecided = 0;
  std::vector<double> errors;  ///< estimated ratio over the true one, less 1
};

doc::Table plants_table(const SelfTest& test) {
  std::map<std::pair<double, Bound>, Tally> tallies;
  for (const SelfTestRun& run : test.runs) {
    for (const Plant& plant : run.plants) {
      Tally& tally = tallies[{plant.slowdown, plant.bound}];
      ++tally.planted;
      tally.found += plant.found == Standing::slower ? 1 : 0;
      tally.undecided += is_open(plant.found) ? 1U : 0U;
      if (plant.ratio.middle > 0) tally.errors.push_back(plant.ratio.middle / (1 + plant.slowdown) - 1);
    }
  }
  doc::Table out{.columns = doc::columns("!planted; !bound_by; !found_slower; !undecided; "
                                         "!estimate = estimate against the truth, median (middle half)")};
  for (const auto& [what, tally] : tallies) {
    std::string errors = "-";
    if (!tally.errors.empty()) {
      errors = fmt::format("{} ({} to {})", estimate_text(median(tally.errors)),
                           estimate_text(quantile(tally.errors, 0.25)),
                           estimate_text(quantile(tally.errors, 0.75)));
    }
    out.rows.push_back({fmt::format("{:g} %", 100 * what.first), to_string(what.second),
                        share_text(tally.found, tally.planted),
                        doc::count(static_cast<double>(tally.undecided)), errors});
  }
  return out;
}

/// Sizes that were asked for and never planted: without a row they would seem not to have been asked for.
std::vector<doc::Block> never_planted(const SelfTest& test) {
  std::vector<doc::Block> out;
  for (const Bound bound : {Bound::memory, Bound::compute}) {
    std::string sizes;
    for (const double slowdown : test.asked) {
      const bool planted = std::ranges::any_of(test.runs, [&](const SelfTestRun& run) {
        return std::ranges::any_of(run.plants, [&](const Plant& plant) {
          return plant.bound == bound && plant.slowdown == slowdown;
        });
      });
      if (!planted) sizes += fmt::format("{}{:g} %", sizes.empty() ? "" : ", ", 100 * slowdown);
    }
    if (sizes.empty()) continue;
    out.emplace_back(
        doc::Text(fmt::format("Never planted in trials bound by {}: {}. Too few of them were "
                              "selected, or too few runs finished.",
                              to_string(bound), sizes)));
  }
  return out;
}

bool decided(const SelfTestRun& run) {
  const auto is_decided = [](const Plant& plant) { return !is_open(plant.found); };
  return run.unfit.empty() && (run.trials > run.undecided || std::ranges::any_of(run.plants, is_decided));
}

/// Returns the slow-down that half of the trials would have shown; a ratio of 0 stands for none.
std::optional<double> typical_visible(const std::vector<double>& visible) {
  std::vector<double> shown;
  std::ranges::copy_if(visible, std::back_inserter(shown), [](double ratio) { return ratio > 0; });
  if (visible.empty() || 2 * shown.size() < visible.size()) return std::nullopt;
  std::ranges::sort(shown);
  return shown[(visible.size() - 1) / 2];
}

/// The median with its interval, and its coverage if the values are too few for the usual one.
std::string spread_text(const std::vector<double>& values, const char* unit, double scale) {
  const Interval middle = median_interval(values);
  std::string interval;
  if (middle.coverage > 0) {
    interval = fmt::format(" [{:.2f}, {:.2f}]", scale * middle.low, scale * middle.high);
    if (middle.coverage < wanted_coverage) interval += fmt::format(" ({:.0f} %)", 100 * middle.coverage);
  }
  return fmt::format("{:.2f} {} in the median{}, {:.2f} to {:.2f}", scale * middle.middle, unit, interval,
                     scale * std::ranges::min(values), scale * std::ranges::max(values));
}

std::string visible_text(const std::vector<SelfTestRun>& runs) {
  std::vector<double> visible;
  for (const SelfTestRun& run : runs) {
    if (run.typical_visible) visible.push_back(*run.typical_visible - 1);
  }
  const std::size_t none = runs.size() - visible.size();
  if (visible.empty()) return "none in any run: too few process starts";
  const std::string seen = spread_text(visible, "%", 100);
  return none == 0 ? seen : fmt::format("{}; none in {} of {} runs", seen, none, runs.size());
}

/// Keeps about one core and some of the memory's bandwidth busy as long as it lives, in a process of its own,
/// on whichever core the system gives it.
class BusyCore {
 public:
  BusyCore() : child_(fork_child(work)) {}
  ~BusyCore() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  BusyCore(const BusyCore&) = delete;
  BusyCore& operator=(const BusyCore&) = delete;

 private:
  /// Bursts of arithmetic, and of copying more than fits in most caches.
  [[noreturn]] static int work() {
    std::vector<double> data(4 << 20, 1.0);
    volatile double sink = 0;
    for (;;) {
      double sum = 1;
      for (int i = 0; i < 20'000'000; ++i) sum = sum * 0.999999 + 1e-6;
      for (double& x : data) x += sum;
      sink = sink + data[static_cast<std::size_t>(sum)];
    }
  }

  pid_t child_;
};

/// A kernel that does nothing, so that its time is that of the harness.
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

Cost cost_of(const PairedTrial& trial, const Registry& registry) {
  const Operation& operation = registry.at(trial.trial.operation);
  return operation.cost(fields_of(operation, trial.trial.problem, trial.trial.file));
}

TwoBuilds gated(const SelfTestRequest& request, const std::vector<PairedTrial>& trials,
                const std::vector<Plant>& plants, PairedPrograms programs, std::uint64_t seed,
                std::vector<Roof>& roofs, const Registry& registry, const Hooks& hooks) {
  const Build build{
      .name = "this program", .commit = request.description.commit, .facts = request.description.facts};
  TwoBuilds run{.suite = request.suite.name,
                .base = build,
                .head = build,
                .machine = this_machine(),
                .date = utc_now(),
                .seed = seed,
                .command = request.command,
                .busy = request.busy,
                .filter = request.filter,
                .budget_seconds = request.budget_seconds,
                .trials = trials};
  for (const Plant& plant : plants) run.planted[plant.key] = plant.slowdown;
  programs.planted = run.planted;
  sample_two_builds(run, request.launches(std::move(programs), hooks), hooks);
  if (!run.partial) leave_out_impossible(run, roofs, registry, request.roof);
  return run;
}

bool at_fault(const PairedTrial& trial) { return !trial.tested() && is_fault(trial.left_out.standing); }

/// Notes the trials that are at fault, those of gates before once.
void note_faults(const TwoBuilds& run, SelfTest& test) {
  for (const PairedTrial& trial : run.trials) {
    if (!at_fault(trial)) continue;
    const std::string& key = trial.trial.key;
    if (std::ranges::find(test.faults, key, &Finding::key) != test.faults.end()) continue;
    test.faults.push_back({trial.left_out.standing, trial.left_out.why, key});
  }
}

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

std::vector<Plant> plants_of(const TwoBuilds& run, const Registry& registry) {
  std::vector<Plant> out;
  for (const PairedTrial& trial : run.trials) {
    const auto planted = run.planted.find(trial.trial.key);
    if (planted == run.planted.end()) continue;
    out.push_back(
        {.key = planted->first, .bound = bound_of(cost_of(trial, registry)), .slowdown = planted->second});
  }
  return out;
}

}  // namespace

std::string_view to_string(Bound bound) { return bound == Bound::memory ? "memory" : "compute"; }

std::vector<Plant> drawn_plants(const std::vector<PairedTrial>& trials,
                                const std::map<std::string, Cost>& costs,
                                const std::vector<double>& slowdowns, std::size_t turn, Rng& rng) {
  std::vector<Plant> out;
  for (const Bound bound : {Bound::memory, Bound::compute}) {
    auto from = candidates(trials, costs, bound);
    const std::size_t fitting = std::min(from.size(), slowdowns.size());
    for (std::size_t i = 0; i < fitting; ++i) {
      const auto drawn = static_cast<std::size_t>(rng.integer(0, static_cast<Index>(from.size()) - 1));
      out.push_back({.key = from[drawn]->trial.key,
                     .bound = bound,
                     .slowdown = slowdowns[(turn * fitting + i) % slowdowns.size()]});
      from.erase(from.begin() + static_cast<std::ptrdiff_t>(drawn));
    }
  }
  return out;
}

SelfTestRun tallied(const TwoBuilds& run, std::vector<Plant> plants) {
  const GateFindings findings = findings_of(run);
  SelfTestRun out{.plants = std::move(plants),
                  .unfit = findings.comparison.unfit,
                  .seconds = run.seconds,
                  .weather = run.weather};
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    const ComparedRow& compared = findings.comparison.rows[i];
    const auto plant = std::ranges::find(out.plants, compared.key, &Plant::key);
    if (plant != out.plants.end()) {
      plant->found = compared.standing;
      plant->ratio = compared.ratio;
    } else if (run.trials[i].tested()) {
      ++out.trials;
      out.undecided += is_open(compared.standing) ? 1U : 0U;
      if (compared.standing == Standing::slower) out.alarms.push_back(compared.key);
    }
  }
  out.typical_visible = typical_visible(findings.visible);
  return out;
}

std::string why_nothing_is_shown(const SelfTest& test) {
  if (test.runs.empty()) return "no run was finished";
  if (std::ranges::any_of(test.runs, decided)) return "";
  if (std::ranges::none_of(test.runs, [](const SelfTestRun& run) { return run.unfit.empty(); })) {
    return fmt::format("the machine was unfit in all of {} runs", test.runs.size());
  }
  return fmt::format("none of {} runs decided anything; give more with --budget", test.runs.size());
}

std::string selftest_markdown(const SelfTest& test) {
  std::size_t unchanged = 0, with_plants = 0, red_unchanged = 0, red_planted = 0, trials = 0, undecided = 0,
              alarmed = 0;
  std::vector<double> seconds, busy, steal;
  for (const SelfTestRun& run : test.runs) {
    seconds.push_back(run.seconds);
    busy.push_back(run.weather.other_busy_share);
    steal.push_back(run.weather.steal_share);
    // An unfit run cannot raise an alarm: counted, it would make the gate look better than it is.
    if (!run.unfit.empty()) continue;
    ++(run.plants.empty() ? unchanged : with_plants);
    if (!run.alarms.empty()) ++(run.plants.empty() ? red_unchanged : red_planted);
    trials += run.trials;
    undecided += run.undecided;
    alarmed += run.alarms.size();
  }
  const std::size_t fit = unchanged + with_plants;
  const std::string nothing = why_nothing_is_shown(test);
  std::vector<doc::Block> out;
  const auto say = [&](doc::Text text) { out.emplace_back(std::move(text)); };
  if (test.interrupted > 0) {
    say(fmt::format("{} unfinished gate{} left out.", test.interrupted,
                    test.interrupted == 1 ? " was" : "s were"));
  }
  if (!nothing.empty()) say(fmt::format("This says nothing of the gate: {}.", nothing));
  const doc::Text title =
      fmt::format("Self-test of the gate of two builds: {}, {}", test.suite,
                  test.busy ? "one core busy with something else" : "nothing else started");
  if (test.runs.empty()) return to_markdown(doc::Document{.title = title, .sections = {{.blocks = out}}});
  doc::Table shares{.columns = doc::columns("!what = what, in runs that were not unfit; !seen")};
  shares.rows = {{"unchanged suites that went red", share_text(red_unchanged, unchanged)}};
  if (with_plants > 0) {
    shares.rows.push_back({"suites with plants in which an unplanted trial was called slower",
                           share_text(red_planted, with_plants)});
  }
  shares.rows.push_back({"unplanted trials called slower", share_text(alarmed, trials)});
  shares.rows.push_back({"unplanted trials left undecided", share_text(undecided, trials)});
  doc::Table facts{.columns = doc::columns("!what = what, in all runs; !seen")};
  facts.rows = {
      {"runs declared unfit by the control", share_text(test.runs.size() - fit, test.runs.size())},
      {"smallest slow-down that the typical trial would have shown", visible_text(test.runs)},
      {"duration of a run", spread_text(seconds, "s", 1)},
      {"processor time of others; stolen",
       fmt::format("{}; {} in the median", percent_text(median(busy)), percent_text(median(steal)))}};
  if (test.empty_slice_seconds > 0) {  // not known of samples that another process took
    facts.rows.push_back(
        {"a slice of a kernel that does nothing",
         fmt::format("{}: {:.3f} % of a slice of {}", seconds_text(test.empty_slice_seconds),
                     100 * test.empty_slice_seconds / test.slice_seconds, seconds_text(test.slice_seconds))});
  }
  doc::List alarms, faults;
  for (std::size_t i = 0; i < test.runs.size(); ++i) {
    const doc::Text run(fmt::format("run {}: ", i + 1));
    for (const std::string& key : test.runs[i].alarms)
      alarms.items.emplace_back(run + doc::code(key) + " called slower");
    if (!test.runs[i].unfit.empty()) alarms.items.emplace_back(run + "machine unfit: " + test.runs[i].unfit);
  }
  for (const Finding& one : test.faults)
    faults.items.emplace_back(doc::code(one.key) + fmt::format(", {}: {}", to_string(one.standing), one.why));
  out.insert(out.end(), {std::move(shares), std::move(facts), plants_table(test)});
  std::ranges::move(never_planted(test), std::back_inserter(out));
  out.emplace_back(std::move(alarms));
  if (!faults.items.empty()) say("At fault, and left out from then on:");
  out.emplace_back(std::move(faults));
  say("Intervals are those of Clopper and Pearson, 95 %; those of medians lie between order statistics. A "
      "planted trial takes that much more time, whatever bounds it; one trial is planted per size and bound "
      "in each run with plants, as far as there are trials, so that the family the gate corrects for is that "
      "of a change of several kernels.");
  say(fmt::format("Commit {}, {}, machine ", test.commit, test.date) + doc::code(test.machine.key) + "." +
      (test.command.empty() ? doc::Text() : " " + doc::code(test.command)));
  if (!test.raw_hash.empty()) say("All slices: FNV-1a " + test.raw_hash);
  return to_markdown(doc::Document{.title = title, .sections = {{.blocks = std::move(out)}}});
}

SelfTest run_selftest(const SelfTestRequest& request, const Registry& registry, const Hooks& hooks) {
  const Filter filter(request.filter, registry);
  std::vector<PairedTrial> trials = matched(
      request.description, request.description, [&](const std::string& key) { return filter.selects(key); },
      /*identical_too=*/true);
  if (trials.empty()) filter.throw_selects_nothing("suite '" + request.suite.name + "'");
  leave_out_wrong(trials, request.description, request.description);
  std::map<std::string, Cost> costs;
  for (const PairedTrial& trial : trials) costs[trial.trial.key] = cost_of(trial, registry);
  const PairedPrograms programs{.base = {request.program},
                                .head = {request.program},
                                .policy = {.time_limit = request.time_limit},
                                .shared_bytes = shared_bytes_for(registry, request.suite.cases)};
  const std::optional<BusyCore> busy = request.busy ? std::optional<BusyCore>(std::in_place) : std::nullopt;
  SelfTest out{.suite = request.suite.name,
               .commit = request.description.commit,
               .date = utc_now(),
               .command = request.command,
               .machine = this_machine(),
               .busy = request.busy,
               .empty_slice_seconds = empty_slice_seconds(),
               .slice_seconds = programs.policy.slice_seconds};
  if (request.planted_runs > 0) out.asked = request.plants;
  Rng rng(request.seed);
  std::vector<Roof> roofs;
  std::uint64_t hash = fnv1a("");
  const int count = request.runs + request.planted_runs;
  for (int i = 0; i < count && !hooks.stopped(); ++i) {
    const double done = static_cast<double>(i) / count;
    hooks.say(fmt::format("run {} of {}", i + 1, count), done);
    std::vector<Plant> plants;
    if (i >= request.runs) {
      plants = drawn_plants(trials, costs, request.plants, static_cast<std::size_t>(i - request.runs), rng);
    }
    // A gate ends long before its budget, as a rule: its share of that would mislead.
    const TwoBuilds run =
        gated(request, trials, plants, programs, rng.next(), roofs, registry, hooks.part(done, done));
    note_faults(run, out);
    // The next gates leave out trials that were at fault.
    for (std::size_t k = 0; k < trials.size(); ++k)
      if (at_fault(run.trials[k])) trials[k].left_out = run.trials[k].left_out;
    if (run.partial) break;
    if (request.keep) {
      std::string line = to_json(run);
      std::erase(line, '\n');
      request.keep(line += '\n');
      hash = fnv1a(line, hash);
      out.raw_hash = hash_text(hash);
    }
    out.runs.push_back(tallied(run, std::move(plants)));
  }
  return out;
}

SelfTest judged_anew(std::span<const KeptGates> files, const Registry& registry) {
  SelfTest out{.slice_seconds = TurnPolicy{}.slice_seconds};
  std::vector<std::string> hashes;
  for (const auto& [file, text] : files) {
    const std::string hash = hash_text(fnv1a(text));
    if (std::ranges::find(hashes, hash) != hashes.end()) {
      throw Error("--again " + file, "holds what another of the files holds", "name each file once");
    }
    hashes.push_back(hash);
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      TwoBuilds run = two_builds_from_json(line, fmt::format("{}, line {}", file, ++number));
      if (run.partial) {
        ++out.interrupted;
        continue;
      }
      run.policy = {};
      note_faults(run, out);
      out.suite = run.suite;
      out.commit = run.head.commit;
      out.date = run.date;
      out.machine = run.machine;
      out.busy = out.busy || run.busy;
      out.runs.push_back(tallied(run, plants_of(run, registry)));
    }
    if (number == 0) throw Error(file, "holds no gate", "name files that `assay selftest -o` wrote");
  }
  out.raw_hash = fmt::format("{}", fmt::join(hashes, ", "));
  return out;
}

}  // namespace assay
