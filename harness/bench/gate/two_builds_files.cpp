// A gate of two builds as JSON, with every slice of every launch, so that it can be decided again elsewhere;
// its shards, divided among jobs, balanced by earlier durations, and merged; and the gate in words.
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "assay/random.hpp"
#include "bench/compare/words.hpp"
#include "bench/gate/two_builds.hpp"
#include "bench/measure/results_fields.hpp"
#include "core/json/lint.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/command.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
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

std::string fingerprint_of(const TwoBuilds& run, const Shard& shard) {
  std::string all;
  for (const PairedTrial& trial : run.trials) {
    all += fmt::format("{}\n{}\n{}\n", trial.trial.key, trial.base_code, trial.head_code);
  }
  for (const auto& [name, place] : shard.places) all += fmt::format("{}@{}\n", name, place);
  return fmt::format("{:016x}", fnv1a(all));
}

std::string rules_text(const SequentialPolicy& policy) {
  return fmt::format("{:g} {:g} {:g} {:g} {:g} {} {}", policy.margin, policy.same_limit, policy.level,
                     policy.same_level, policy.control_margin, policy.screen, fmt::join(policy.looks, ","));
}

void require_same_run(const NamedRun<TwoBuilds>& file, const NamedRun<TwoBuilds>& first) {
  const TwoBuilds &a = file.run, &b = first.run;
  const OneRun both{.name = file.name, .first = first.name, .remedy = one_run};
  require_equal(both, "suite", a.suite, b.suite);
  require_equal(both, "filter", a.filter, b.filter);
  require_equal(both, "seed", a.seed, b.seed);
  require_equal(both, "number of shards", a.shard->shard.count, b.shard->shard.count);
  require_equal(both, "base", a.base.commit, b.base.commit);
  require_equal(both, "head", a.head.commit, b.head.commit);
  require_equal(both, "policy", rules_text(a.policy), rules_text(b.policy));
  require_equal(both, "number of trials in all shards", a.shard->trials, b.shard->trials);
  require_equal(both, "fingerprint of all trials and their code", a.shard->fingerprint, b.shard->fingerprint);
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

std::string why_mixed(const std::vector<NamedRun<TwoBuilds>>& files) {
  std::set<std::string> keys;
  for (const NamedRun<TwoBuilds>& file : files) keys.insert(file.run.machine.key);
  if (keys.size() > 1)
    return fmt::format("the shards ran on machines that differ: {}", fmt::join(keys, ", "));
  for (const NamedRun<TwoBuilds>& file : files) {
    const auto found = differences(files.front().run.machine.facts, file.run.machine.facts, true);
    if (!found.empty()) return "the shards ran on machines that differ: " + found.front();
  }
  return "";
}

/// Each shard had its own control: a quiet shard does not make a restless one fit.
std::string why_unfit(const std::vector<NamedRun<TwoBuilds>>& files) {
  for (const NamedRun<TwoBuilds>& file : files) {
    const std::string unfit = findings_of(file.run).comparison.unfit;
    if (!unfit.empty()) return fmt::format("{}: {}", file.name, unfit);
  }
  return "";
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

/// Rows of a standing that a terminal shows.
constexpr std::size_t most_rows_on_screen = 20;

/// 0 if nothing was measured, or seconds are withheld.
double seconds_of_base(const TwoBuilds& run, const PairedTrial& trial) {
  if (!run.mixed_machines.empty()) return 0;
  std::vector<double> quartiles;
  for (const PairedLaunch& launch : trial.launches) quartiles.push_back(quantile(launch.base, 0.25));
  return quartiles.empty() ? 0 : median(quartiles);
}

/// In each suite that has the case; none where seconds are withheld.
std::vector<EpochCost> epoch_costs(const PairedTrial& trial, double seconds, const Interval& ratio) {
  std::vector<EpochCost> out;
  if (seconds == 0) return out;
  for (const Occurrence& o : trial.occurrences) {
    const double epoch = seconds * o.per_epoch;
    out.push_back(
        {o.suite,
         {epoch * (ratio.low - 1), epoch * (ratio.middle - 1), epoch * (ratio.high - 1), ratio.coverage}});
  }
  return out;
}

std::string side_text(const Build& build) {
  std::string out = build.name;
  // Names of revisions hold the first seven digits.
  if (!build.commit.empty() && build.name.find(build.commit.substr(0, 7)) == std::string::npos) {
    out += fmt::format(" ({})", build.commit);
  }
  return out;
}

/// Lists the reasons to doubt the whole comparison, whatever its rows say.
std::vector<std::string> doubts(const TwoBuilds& run, const GateFindings& findings) {
  std::vector<std::string> out;
  if (!run.restriction.empty()) out.push_back(run.restriction);
  for (const auto& [side, build] : {std::pair{"base", &run.base}, std::pair{"head", &run.head}}) {
    const std::string type = fact_value(build->facts, "build type", "Release");
    if (type == "Release") continue;
    out.push_back(fmt::format("{} is no Release build ({}): what it takes says little of one that is", side,
                              printable(type, 40)));
  }
  for (const std::string& line : findings.comparison.differences) out.push_back("differs: " + line);
  for (const LintFinding& one : lint(to_value(findings.comparison))) out.push_back(in_words(one));
  return out;
}

/// Counts standings, not what the samples alone would say: on a machine that is unfit nothing is the same.
std::string count_line(const TwoBuilds& run, const GateFindings& findings) {
  std::size_t screened = 0, same = 0, identical = 0, skipped = 0, other = 0, next = 0;
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    const PairedTrial& trial = run.trials[i];
    if (trial.tested()) {
      const SequentialDecision& one = findings.decisions.trials[next++];
      if (run.partial || findings.comparison.rows[i].standing != Standing::same) continue;
      ++same;
      screened += one.screened ? 1 : 0;
      continue;
    }
    if (trial.left_out.standing == Standing::same) ++identical;
    if (trial.left_out.standing == Standing::skipped) ++skipped;
    if (trial.left_out.standing == Standing::not_comparable) ++other;
  }
  const std::string took = run.screen_seconds > 0 ? ", which took " + seconds_text(run.screen_seconds) : "";
  std::string out = fmt::format("{} same ({} by the screen{})", same, screened, took);
  if (identical > 0) out += fmt::format(", {} not measured: identical machine code", identical);
  if (other > 0) out += fmt::format(", {} not comparable", other);
  if (skipped > 0) out += fmt::format(", {} skipped", skipped);
  return out;
}

std::string control_line(const TwoBuilds& run) {
  std::vector<double> moved;
  for (const PairedTrial& trial : run.trials) {
    const TrialLogs logs = logs_of(trial);
    if (!logs.control.empty()) moved.push_back(std::exp(median(logs.control)));
  }
  if (moved.empty()) return "control: nothing was measured";
  std::ranges::sort(moved);
  return fmt::format("control (a copy of the base): {:.3f} to {:.3f} times the base, median {:.3f}",
                     quantile(moved, 0.05), quantile(moved, 0.95), median(moved));
}

/// Says what would decide the open trials, were launches to go on as they did: an interval becomes half as
/// wide with four times as many, and is to be no wider than the limit lies from 1. Empty where none is open.
std::string deciding_line(const TwoBuilds& run, const Comparison& comparison) {
  const auto last_look = static_cast<double>(run.policy.looks.back());
  std::vector<double> times;  // as many launches
  double compared = 0;
  std::size_t too_near = 0;
  for (const ComparedRow& row : comparison.rows) {
    const auto launches = static_cast<double>(row.launches);
    if (launches > 0) ++compared;
    if (!is_open(row.standing) || row.ratio.low <= 0) continue;
    const double width = std::log(row.ratio.high / row.ratio.low) / std::log(row.limit);
    const double wanted = std::max(2.0, width * width);
    if (launches < last_look && (row.launches < run.policy.screen || wanted * launches <= 4 * last_look))
      times.push_back(std::min(wanted, last_look / launches));
    else
      ++too_near;
  }
  std::string out;
  if (!times.empty()) {
    const double more = static_cast<double>(times.size()) / compared * (quantile(times, 0.9) - 1),
                 budget = std::max(run.seconds, run.budget_seconds) * (1 + more);
    out = fmt::format("; what is open would take about --budget {:.0f}", std::ceil(budget / 10) * 10);
  }
  if (too_near > 0)
    out += fmt::format("; {} too near the limit, or too variable here, for {} process starts", too_near,
                       run.policy.looks.back());
  return out;
}

std::string visible_line(const TwoBuilds& run, const GateFindings& findings) {
  std::vector<double> visible;
  std::ranges::copy_if(findings.visible, std::back_inserter(visible), [](double one) { return one > 0; });
  const std::string more = findings.comparison.unfit.empty() ? deciding_line(run, findings.comparison) : "";
  if (visible.empty())
    return "smallest slow-down that would have been seen: not known from so few process starts" + more;
  std::string out = "smallest slow-down that would have been seen: " + percent_text(median(visible) - 1);
  if (findings.visible.size() > 1) {
    out += fmt::format(" in the median trial, {} in nine of ten", percent_text(quantile(visible, 0.9) - 1));
    if (const std::size_t none = findings.visible.size() - visible.size(); none > 0) {
      out += fmt::format(", none in {}", none);
    }
  }
  return out + more;
}

/// Empty for commands, which have no links.
std::string layout_line(const TwoBuilds& run) {
  if (!run.timing.empty() && run.base.layout_remark.empty()) return "";
  std::vector<double> moved;
  for (const PairedTrial& trial : run.trials) {
    if (const double one = moved_by_layout(trial); trial.launches.size() > 1) moved.push_back(one);
  }
  std::string out = fmt::format("layouts: {} of the base, {} of the head", run.base.links, run.head.links);
  if (run.base.links + run.head.links > 2 && !moved.empty()) {
    out += fmt::format("; their order alone moved process starts by {} in the median, {} at most",
                       percent_text(median(moved)), percent_text(std::ranges::max(moved)));
  }
  for (const std::string& remark : {run.base.layout_remark, run.head.layout_remark}) {
    if (!remark.empty() && out.find(remark) == std::string::npos) out += "; " + remark;
  }
  const auto has_one = [](const Build& build) { return build.links < 2 && !build.layout_remark.empty(); };
  if (has_one(run.base) || has_one(run.head)) {
    out += "; where code lies alone can move a small kernel by some percent";
  }
  return out;
}

/// Empty for a whole.
std::string shard_line(const TwoBuilds& run) {
  if (!run.mixed_machines.empty()) return run.mixed_machines + "; seconds are withheld, ratios stand";
  if (!run.shard) return "";
  return fmt::format("shard {} of 0 to {} holds {} of {} trials; assay merge puts all shards together",
                     run.shard->shard.index, run.shard->shard.count - 1, run.trials.size(),
                     run.shard->trials);
}

/// The ratios behind the standing: of each launch, to the base.
std::vector<PlottedSamples> ratios_by_launch(const PairedTrial& trial) {
  const TrialLogs logs = logs_of(trial);
  std::vector<PlottedSamples> out{{"head", {}}, {"copy of the base", {}}};
  for (const double log : logs.head) out[0].launches.push_back({std::exp(log)});
  for (const double log : logs.control) out[1].launches.push_back({std::exp(log)});
  return out;
}

}  // namespace

void describe(Fields& f, Build& build) {
  ASSAY_FIELDS(f, build, name, commit);
  f("links", build.links, {.low = 1, .high = most, .about = "differently ordered links that took turns"});
  ASSAY_FIELDS(f, build, layout_remark, facts);
}

void describe(Fields& f, SequentialPolicy& policy) {
  // Above half no launch is needed; a decision takes time that grows with the square of the launches.
  constexpr Fields::Rule ratio{.above = 1, .most = 1e6}, share{.above = 0, .most = 0.5},
      launches{.low = 1, .high = 1000};
  f("margin", policy.margin, ratio);
  f("same_limit", policy.same_limit, ratio);
  f("level", policy.level, share);
  f("same_level", policy.same_level, share);
  f("control_margin", policy.control_margin, ratio);
  f("screen", policy.screen, launches);
  f("family", policy.family, {.optional = true, .low = 0, .high = most});
  f("looks", policy.looks, launches);
  if (!f.reads()) return;
  if (policy.looks.empty()) f.refuse("looks", "is empty");
  if (std::ranges::adjacent_find(policy.looks, std::greater_equal{}) != policy.looks.end()) {
    f.refuse("looks", "does not ascend");
  }
}

void describe(Fields& f, PairedLaunch& launch) {
  const Fields::Rule seconds{
      .above = shortest_seconds, .most = 1e6, .seven_digits = true, .about = "per call, slice by slice"};
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
  ASSAY_FIELDS(f, trial, base_code, head_code);
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
  ASSAY_FIELDS(f, run, suite, date, seed);
  f("command", run.command, {.about = "that repeats the whole run"});
  f("busy", run.busy, {.terse = true});
  f("filter", run.filter);
  f("partial", run.partial, {.about = "interrupted"});
  constexpr Fields::Rule seconds{.least = 0, .most = most_seconds};
  f("budget_seconds", run.budget_seconds, seconds);
  f("seconds", run.seconds, seconds);
  f("screen_seconds", run.screen_seconds, {.optional = true, .least = 0, .most = most_seconds});
  ASSAY_FIELDS(f, run, policy, machine, weather, base, head);
  f("planted", run.planted,
    {.optional = true, .least = -1, .most = most_amount, .about = "slow-downs of a self-test, by key"});
  if (f.reads()) {
    for (const auto& [key, slowdown] : std::exchange(run.planted, {})) {
      run.planted[with_present_names(key)] = slowdown;
    }
  }
  ASSAY_FIELDS(f, run, trials, shard);
  if (f.reads() && run.shard) run.command = without_options(std::move(run.command), run.shard->shard);
  f("merged_shards", run.merged_shards, {.terse = true, .low = 1});
  f("mixed_machines", run.mixed_machines, {.terse = true});
  f("unfit_shard", run.unfit_shard, {.terse = true});
  f("restriction", run.restriction, {.terse = true});
  f("timing", run.timing, {.terse = true, .about = "of programs that are not assay's"});
  const auto key = [](const PairedTrial& one) -> const std::string& { return one.trial.key; };
  f.unique("trials", run.trials, key, "repeats the trial");
}

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
  std::set<std::string> cases;
  for (const PairedTrial& trial : run.trials) cases.insert(trial.trial.operation + "/" + trial.trial.problem);
  const Shard shard = balanced(unplaced, {cases.begin(), cases.end()}, durations);
  run.shard =
      ComparedShard{.shard = shard, .trials = run.trials.size(), .fingerprint = fingerprint_of(run, shard)};
  run.policy.family = static_cast<std::size_t>(std::ranges::count_if(run.trials, &PairedTrial::tested));
  std::erase_if(run.trials, [&](const PairedTrial& trial) {
    return !contains(shard, trial.trial.operation, trial.trial.problem);
  });
}

TwoBuilds merged(std::vector<NamedRun<TwoBuilds>> files) {
  for (const NamedRun<TwoBuilds>& file : files) {
    require_shard(file, "`gate --base ... -o`");
    if (file.run.partial)
      throw Error(file.name, "was interrupted: nothing in it is decided", "run this shard again");
    require_same_run(file, files.front());
  }
  put_in_order(files, [](const TwoBuilds& run) {
    return run.command + (run.filter.empty() ? "" : " -k " + shell_word(run.filter));
  });
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
    out.weather.seconds += run.weather.seconds;
    for (double Weather::*worse :
         {&Weather::steal_share, &Weather::other_busy_share, &Weather::cpu_pressure_share})
      out.weather.*worse = std::max(out.weather.*worse, run.weather.*worse);
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

PullRequest pull_request_of(const TwoBuilds& run, const GateFindings& findings) {
  PullRequest out{.command = run.command,
                  .suite = run.suite,
                  .before_facts = run.base.facts,
                  .after_facts = run.head.facts,
                  .comparison = findings.comparison,
                  .most_rows_on_screen = most_rows_on_screen,
                  .shows_same = !run.timing.empty()};
  for (std::vector<Fact>* facts : {&out.before_facts, &out.after_facts}) {
    for (const Fact& fact : run.machine.facts) {
      if (find_fact(*facts, fact.name) == nullptr) facts->push_back(fact);
    }
  }
  if (run.partial) {
    out.outcome = fmt::format("Interrupted after {:.0f} s: nothing is decided", run.seconds);
  }
  if (const std::string& unfit = findings.comparison.unfit; !unfit.empty()) {
    out.remarks.push_back("machine unfit: " + unfit);
  }
  std::ranges::move(doubts(run, findings), std::back_inserter(out.remarks));
  const auto has_control = [](const PairedTrial& one) { return !logs_of(one).control.empty(); };
  if (std::ranges::any_of(run.trials, has_control)) out.seen = {visible_line(run, findings)};
  out.notes = {fmt::format("base {}, head {}: on one machine, in turns, in {:.0f} s", side_text(run.base),
                           side_text(run.head), run.seconds),
               control_line(run), count_line(run, findings)};
  for (const std::string& line :
       {run.timing.empty() ? "" : "times: " + run.timing, layout_line(run), shard_line(run)}) {
    if (!line.empty()) out.notes.push_back(line);
  }
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    const PairedTrial& trial = run.trials[i];
    const ComparedRow& row = findings.comparison.rows[i];
    const double seconds = seconds_of_base(run, trial);
    out.trials.push_back({.before = seconds,
                          .after = seconds * std::max(row.ratio.middle, 0.0),
                          .is_rate = run.timing.starts_with(rates_of_commands),
                          .cause = trial.cause,
                          .pointers = trial.pointers,
                          .epochs = row.standing == Standing::slower ? epoch_costs(trial, seconds, row.ratio)
                                                                     : std::vector<EpochCost>{},
                          .samples = ratios_by_launch(trial),
                          .scale = PlotScale::ratios});
  }
  return out;
}

}  // namespace assay
