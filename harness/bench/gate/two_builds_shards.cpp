// Shards of a gate of two builds: divided among jobs, and merged.
#include "assay/error.hpp"
#include "assay/random.hpp"
#include "bench/gate/two_builds.hpp"
#include "bench/measure/shards_of_one_run.hpp"
#include "core/text/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace assay {
namespace {

constexpr const char* one_run =
    "merge shards of one gate: one suite, filter, seed, pair of builds and policy";

std::string case_of(const PairedTrial& trial) { return trial.trial.operation + "/" + trial.trial.problem; }

std::vector<std::string> cases_of(const TwoBuilds& run) {
  std::set<std::string> out;
  for (const PairedTrial& trial : run.trials) out.insert(case_of(trial));
  return {out.begin(), out.end()};
}

std::string fingerprint_of(const TwoBuilds& run, const Shard& shard) {
  std::string all;
  for (const PairedTrial& trial : run.trials) {
    all += fmt::format("{}\n{}\n{}\n", trial.trial.key, trial.base_code, trial.head_code);
  }
  for (const auto& [name, place] : shard.places) all += fmt::format("{}@{}\n", name, place);
  return fmt::format("{:016x}", fnv1a(all));
}

void require_shard(const GateFile& file) {
  const TwoBuilds& run = file.run;
  if (run.shard && !run.partial) return;
  if (run.shard) {
    throw Error(file.name, "was interrupted: nothing in it is decided", "run this shard again");
  }
  throw Error(file.name,
              run.merged_shards > 0 ? fmt::format("was merged already, of {} shards", run.merged_shards)
                                    : "is no shard",
              "merge what `gate --base ... -o` wrote with --shard-index and --shard-count");
}

std::string rules_text(const SequentialPolicy& policy) {
  return fmt::format("{:g} {:g} {:g} {:g} {:g} {} {}", policy.margin, policy.same_limit, policy.level,
                     policy.same_level, policy.control_margin, policy.screen, fmt::join(policy.looks, ","));
}

void require_same_run(const GateFile& file, const GateFile& first) {
  const TwoBuilds &a = file.run, &b = first.run;
  const OneRun both{.name = file.name, .first = first.name, .remedy = one_run};
  require_equal(both, "suite", a.suite, b.suite);
  require_equal(both, "filter", a.filter, b.filter);
  require_equal(both, "seed", std::to_string(a.seed), std::to_string(b.seed));
  require_equal(both, "number of shards", std::to_string(a.shard->shard.count),
                std::to_string(b.shard->shard.count));
  require_equal(both, "base", a.base.commit, b.base.commit);
  require_equal(both, "head", a.head.commit, b.head.commit);
  require_equal(both, "policy", rules_text(a.policy), rules_text(b.policy));
  require_equal(both, "number of trials in all shards", std::to_string(a.shard->trials),
                std::to_string(b.shard->trials));
  require_equal(both, "fingerprint of all trials and their code", a.shard->fingerprint, b.shard->fingerprint);
}

/// Sorts by index. Throws Error unless each is there once.
void put_in_order(std::vector<GateFile>& files) {
  std::ranges::stable_sort(files, {}, [](const GateFile& file) { return file.run.shard->shard.index; });
  std::vector<NamedShard> shards;
  for (const GateFile& file : files) shards.push_back({file.name, file.run.shard->shard});
  const TwoBuilds& run = files.front().run;
  const std::string filter = run.filter.empty() ? "" : " -k " + shell_word(run.filter);
  require_each_once(shards, run.command + filter);
}

void require_every_trial_once(const TwoBuilds& run, std::size_t expected) {
  std::set<std::string> keys;
  for (const PairedTrial& trial : run.trials) {
    if (keys.insert(trial.trial.key).second) continue;
    throw Error("merge", fmt::format("two shards hold the trial {}", trial.trial.key), one_run);
  }
  if (keys.size() == expected) return;
  throw Error("merge", fmt::format("the shards hold {} trials, and {} were selected", keys.size(), expected),
              one_run);
}

std::string why_mixed(const std::vector<GateFile>& files) {
  std::set<std::string> keys;
  for (const GateFile& file : files) keys.insert(file.run.machine.key);
  if (keys.size() > 1)
    return fmt::format("the shards ran on machines that differ: {}", fmt::join(keys, ", "));
  for (const GateFile& file : files) {
    const auto found = differences(files.front().run.machine.facts, file.run.machine.facts, true);
    if (!found.empty()) return "the shards ran on machines that differ: " + found.front();
  }
  return "";
}

/// Each shard had its own control: a quiet shard does not make a restless one fit.
std::string why_unfit(const std::vector<GateFile>& files) {
  for (const GateFile& file : files) {
    const std::string unfit = findings_of(file.run).comparison.unfit;
    if (!unfit.empty()) return fmt::format("{}: {}", file.name, unfit);
  }
  return "";
}

/// Takes the worse figure of both.
void take_worse(Weather& weather, const Weather& other) {
  weather.seconds += other.seconds;
  weather.steal_share = std::max(weather.steal_share, other.steal_share);
  weather.other_busy_share = std::max(weather.other_busy_share, other.other_busy_share);
  weather.cpu_pressure_share = std::max(weather.cpu_pressure_share, other.cpu_pressure_share);
}

}  // namespace

void keep_shard(TwoBuilds& run, const Shard& unplaced, const Durations& durations) {
  const Shard shard = balanced(unplaced, cases_of(run), durations);
  run.shard =
      ComparedShard{.shard = shard, .trials = run.trials.size(), .fingerprint = fingerprint_of(run, shard)};
  run.policy.family = static_cast<std::size_t>(std::ranges::count_if(run.trials, &PairedTrial::tested));
  std::erase_if(run.trials, [&](const PairedTrial& trial) {
    return !contains(shard, trial.trial.operation, trial.trial.problem);
  });
}

TwoBuilds merged(std::vector<GateFile> files) {
  for (const GateFile& file : files) {
    require_shard(file);
    require_same_run(file, files.front());
  }
  put_in_order(files);
  const std::size_t trials = files.front().run.shard->trials;
  const std::string mixed = why_mixed(files), unfit = why_unfit(files);
  TwoBuilds out = std::move(files.front().run);
  out.merged_shards = out.shard->shard.count;
  out.mixed_machines = mixed;
  out.unfit_shard = unfit;
  out.shard.reset();
  out.policy.family = 0;
  for (std::size_t i = 1; i < files.size(); ++i) {
    TwoBuilds& run = files[i].run;
    out.seconds += run.seconds;
    out.screen_seconds += run.screen_seconds;
    out.base.links = std::max(out.base.links, run.base.links);
    out.head.links = std::max(out.head.links, run.head.links);
    take_worse(out.weather, run.weather);
    out.planted.merge(run.planted);
    std::ranges::move(run.trials, std::back_inserter(out.trials));
  }
  require_every_trial_once(out, trials);
  return out;
}

}  // namespace assay
