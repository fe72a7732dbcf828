// Runs the gates of a self-test, and reads those of earlier ones.
#include "assay/error.hpp"
#include "bench/gate/selftest.hpp"
#include "bench/measure/sampler.hpp"
#include "core/files/child_process.hpp"
#include "core/machine/clock.hpp"
#include "core/plan/trial_key.hpp"
#include "core/statistics/statistics.hpp"

#include <fmt/format.h>

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <sstream>
#include <utility>

namespace assay {
namespace {

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

std::vector<PairedTrial> selected_trials(const SelfTestRequest& request, const Registry& registry) {
  const Filter filter(request.filter, registry);
  std::vector<PairedTrial> out = matched(
      request.description, request.description, [&](const std::string& key) { return filter.selects(key); },
      /*identical_too=*/true);
  if (out.empty()) filter.throw_selects_nothing("suite '" + request.suite.name + "'");
  leave_out_wrong(out, request.description, request.description);
  return out;
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

/// Leaves trials that were at fault out of the next gates.
void leave_out_faults(const TwoBuilds& run, std::vector<PairedTrial>& trials) {
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!at_fault(run.trials[i])) continue;
    trials[i].left_out = run.trials[i].left_out;
  }
}

std::string line_of(const TwoBuilds& run) {
  std::string out = to_json(run);
  std::erase(out, '\n');
  return out + '\n';
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

SelfTest run_selftest(const SelfTestRequest& request, const Registry& registry, const Hooks& hooks) {
  std::vector<PairedTrial> trials = selected_trials(request, registry);
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
    leave_out_faults(run, trials);
    if (run.partial) break;
    if (request.keep) {
      const std::string line = line_of(run);
      request.keep(line);
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
