// A gate of two builds as JSON, with every slice of every launch, so that it can be decided again elsewhere;
// and its shards, divided among jobs, balanced by earlier durations, and merged.
#include "bench/gate/two_builds.hpp"

#include "assay/error.hpp"
#include "assay/files.hpp"
#include "assay/random.hpp"
#include "bench/compare/words.hpp"
#include "bench/gate/patience.hpp"
#include "bench/measure/merge.hpp"
#include "bench/measure/results_fields.hpp"
#include "core/json/lint.hpp"
#include "core/text/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <utility>

namespace assay {
namespace {

constexpr Index most = std::numeric_limits<std::int32_t>::max();

/// A trial that may have moved was tested.
Standing reason_from(const Fields& f, const std::string& text) {
  for (const Standing one : standings_by_weight) {
    if (!may_have_moved(one) && to_string(one) == text) return one;
  }
  f.refuse("left_out", "is '" + text + "', which is no reason to leave a trial out");
}

/// Sides take turns, so that slices stand beside each other by their number. Foreign programs, which have no
/// variants, time themselves, and may leave out a repetition.
void require_turns(const JsonField& launches, const PairedTrial& trial) {
  if (trial.trial.variant.empty()) return;
  for (std::size_t i = 0; i < trial.launches.size(); ++i) {
    const PairedLaunch& launch = trial.launches[i];
    for (const auto& [side, seconds] :
         {std::pair{"head", &launch.head}, std::pair{"control", &launch.control}}) {
      if (seconds->empty() || seconds->size() == launch.base.size()) continue;
      launches.items()[i].at(side).refuse(
          fmt::format("has {} slices, the base has {}", seconds->size(), launch.base.size()));
    }
  }
}

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

void add(Durations& out, const std::string& operation, const std::string& problem, double seconds) {
  if (seconds > 0) out.seconds[operation + "/" + problem] += seconds;
}

double seconds_of(const TrialResult& trial) {
  double out = 0;
  for (const Launch& launch : trial.launches) {
    out += figure_of(trial, "prepare_seconds");
    for (const Slice& slice : launch) out += slice.seconds * static_cast<double>(slice.calls);
  }
  return out;
}

double seconds_of(const PairedTrial& trial) {
  double out = 0;
  for (const PairedLaunch& launch : trial.launches) out += slice_seconds(launch, TurnPolicy{}.slice_seconds);
  return out;
}

}  // namespace

// Beside the types, where argument-dependent lookup finds them.
void describe(Fields& f, Build& build) {
  f("name", build.name);
  f("commit", build.commit);
  f("links", build.links, {.low = 1, .high = most, .about = "differently ordered links that took turns"});
  f("layout_remark", build.layout_remark);
  f("facts", build.facts);
}

void describe(Fields& f, SequentialPolicy& policy) {
  constexpr Fields::Rule ratio{.above = 1, .most = 1e6}, share{.above = 0, .most = 1};
  f("margin", policy.margin, ratio);
  f("same_limit", policy.same_limit, ratio);
  f("level", policy.level, share);
  f("same_level", policy.same_level, share);
  f("control_margin", policy.control_margin, ratio);
  f("screen", policy.screen, {.low = 1, .high = most});
  f("family", policy.family, {.optional = true, .low = 0, .high = most});
  f("looks", policy.looks, {.low = 1, .high = most});
  if (!f.reads()) return;
  if (policy.looks.empty()) f.refuse("looks", "is empty");
  if (std::ranges::adjacent_find(policy.looks, std::greater_equal{}) != policy.looks.end()) {
    f.refuse("looks", "does not ascend");
  }
}

void describe(Fields& f, PairedLaunch& launch) {
  const Fields::Rule seconds{
      .above = 0, .most = 1e6, .seven_digits = true, .about = "per call, slice by slice"};
  f("base_link", launch.base_link, {.low = 0, .high = most});
  f("head_link", launch.head_link, {.low = 0, .high = most});
  f("base", launch.base, seconds);
  f("head", launch.head, seconds);
  f("control", launch.control, seconds);
  if (!f.reads()) return;
  if (launch.base.empty()) f.refuse("base", "is empty");
  if (launch.head.empty()) f.refuse("head", "is empty");
}

void describe(Fields& f, PairedTrial& trial) {
  describe_stored_trial(f, trial.trial);
  f.keyed("per_epoch", trial.occurrences, &Occurrence::suite, &Occurrence::per_epoch,
          {.least = 0, .most = most_amount, .about = "occurrences in an epoch, by suite"});
  f("base_code", trial.base_code);
  f("head_code", trial.head_code);
  std::string left_out = trial.tested() ? "" : std::string(to_string(trial.left_out.standing));
  f("left_out", left_out);
  f("why_left_out", trial.left_out.why, {.about = "empty for trials that were tested"});
  constexpr Fields::Rule amount{.least = 0, .most = most_amount};
  f("base_allocations", trial.base_allocations.count, amount);
  f("base_allocated_bytes", trial.base_allocations.bytes, amount);
  f("head_allocations", trial.head_allocations.count, amount);
  f("head_allocated_bytes", trial.head_allocations.bytes, amount);
  f("base_figures", trial.base_figures, {.terse = true, .about = "of its output, judged exactly"});
  f("head_figures", trial.head_figures, {.terse = true});
  f("pointers", trial.pointers, {.optional = true, .about = "where to look"});
  f("cause", trial.cause, {.terse = true, .about = "the changed file or function that they are about"});
  f("resolution", trial.resolution,
    {.terse = true, .least = 0, .most = most_amount, .about = "of the ratio, of numbers with few digits"});
  f("launches", trial.launches);
  if (!f.reads()) return;
  if (!trial.tested()) trial.left_out.standing = reason_from(f, left_out);
  require_turns(f.place().at("launches"), trial);
}

void describe(Fields& f, ComparedShard& shard) {
  describe_shard(f, shard.shard);
  f("trials", shard.trials, {.low = 0, .high = most});
  f("fingerprint", shard.fingerprint);
}

void describe(Fields& f, TwoBuilds& run) {
  f.schema(two_builds_schema);
  f("suite", run.suite);
  f("date", run.date);
  f("seed", run.seed);
  f("command", run.command, {.about = "that repeats the whole run"});
  f("busy", run.busy, {.terse = true});
  f("filter", run.filter);
  f("partial", run.partial, {.about = "interrupted"});
  constexpr Fields::Rule seconds{.least = 0, .most = most_seconds};
  f("budget_seconds", run.budget_seconds, seconds);
  f("seconds", run.seconds, seconds);
  f("screen_seconds", run.screen_seconds, {.optional = true, .least = 0, .most = most_seconds});
  f("policy", run.policy);
  f("machine", run.machine);
  f("weather", run.weather);
  f("base", run.base);
  f("head", run.head);
  f("planted", run.planted,
    {.optional = true, .least = -1, .most = most_amount, .about = "slow-downs of a self-test, by key"});
  if (f.reads()) {
    for (const auto& [key, slowdown] : std::exchange(run.planted, {})) {
      run.planted[with_present_names(key)] = slowdown;
    }
  }
  f("trials", run.trials);
  f("shard", run.shard);
  if (f.reads() && run.shard) run.command = without_options(std::move(run.command), run.shard->shard);
  f("merged_shards", run.merged_shards, {.terse = true, .low = 1});
  f("mixed_machines", run.mixed_machines, {.terse = true});
  f("unfit_shard", run.unfit_shard, {.terse = true});
  f("restriction", run.restriction, {.terse = true});
  f("timing", run.timing, {.terse = true, .about = "of programs that are not assay's"});
  const auto key = [](const PairedTrial& one) -> const std::string& { return one.trial.key; };
  f.unique("trials", run.trials, key, "repeats the trial");
}

std::string to_json(const TwoBuilds& run) { return json_text(to_value(run)); }

bool holds_two_builds(const Json& file) {
  const Json* schema = file.find("schema");
  return schema != nullptr && *schema == two_builds_schema;
}

TwoBuilds two_builds_from_json(const std::string& text, const std::string& where) {
  return two_builds_from(parse_json(text, where), where);
}

TwoBuilds two_builds_from(const Json& file, const std::string& where) {
  auto out = value_from<TwoBuilds>(JsonField(file, where, "write it anew: assay gate --base ... -o FILE"));
  require_consistent(file, where);
  return out;
}

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

Durations durations_in(const std::filesystem::path& file) {
  if (file.empty()) return {};
  Durations out{.file = file.string()};
  const Json json = parse_json(read_file(file), out.file);
  if (holds_two_builds(json)) {
    for (const PairedTrial& trial : two_builds_from(json, out.file).trials) {
      add(out, trial.trial.operation, trial.trial.problem, seconds_of(trial));
    }
  } else {
    for (const TrialResult& trial : results_from(json, out.file).trials) {
      add(out, trial.operation, trial.problem, seconds_of(trial));
    }
  }
  if (!out.seconds.empty()) return out;
  throw Error(out.file, "holds no time of any case",
              "name results that were measured with --shard-durations, or leave it out");
}

}  // namespace assay
