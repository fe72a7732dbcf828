#include "bench/gate/selftest.hpp"

#include "core/markup/escaping.hpp"
#include "core/statistics/proportion.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace assay {
namespace {

constexpr double flops_per_byte_of_compute = 4;

std::string share_text(std::size_t hits, std::size_t trials) {
  const Interval share = proportion(hits, trials);
  return fmt::format("{} of {} [{:.1f} %, {:.1f} %]", hits, trials, 100 * share.low, 100 * share.high);
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

struct Tally {
  std::size_t planted = 0, found = 0, undecided = 0;
  std::vector<double> errors;  ///< estimated ratio over the true one, less 1
};

std::string plants_table(const SelfTest& test) {
  std::map<std::pair<double, Bound>, Tally> tallies;
  for (const SelfTestRun& run : test.runs) {
    for (const Plant& plant : run.plants) {
      Tally& tally = tallies[{plant.slowdown, plant.bound}];
      ++tally.planted;
      tally.found += plant.found == Standing::slower ? 1 : 0;
      tally.undecided += plant.found == Standing::undecided ? 1 : 0;
      if (plant.ratio.middle > 0) tally.errors.push_back(plant.ratio.middle / (1 + plant.slowdown) - 1);
    }
  }
  if (tallies.empty()) return "";
  std::string out =
      "\n| planted | bound by | found slower | undecided | estimate against the truth, median (middle half) "
      "|\n"
      "|--:|---|---|--:|---|\n";
  for (const auto& [what, tally] : tallies) {
    std::string errors = "-";
    if (!tally.errors.empty()) {
      errors = fmt::format("{:+.2f} % ({:+.2f} to {:+.2f} %)", 100 * median(tally.errors),
                           100 * quantile(tally.errors, 0.25), 100 * quantile(tally.errors, 0.75));
    }
    out += fmt::format("| {:g} % | {} | {} | {} | {} |\n", 100 * what.first, to_string(what.second),
                       share_text(tally.found, tally.planted), tally.undecided, errors);
  }
  return out;
}

/// A size of which no plant was made has no row, which reads as if it had not been asked for.
std::string never_planted(const SelfTest& test) {
  std::string out;
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
    out += fmt::format(
        "\nNever planted in trials bound by {}: {}. Too few of them were selected, or too few "
        "runs finished.\n",
        to_string(bound), sizes);
  }
  return out;
}

bool decided(const SelfTestRun& run) {
  const auto is_decided = [](const Plant& plant) { return plant.found != Standing::undecided; };
  return run.unfit.empty() && (run.trials > run.undecided || std::ranges::any_of(run.plants, is_decided));
}

std::string alarms_list(const SelfTest& test) {
  std::string out;
  for (std::size_t i = 0; i < test.runs.size(); ++i) {
    for (const std::string& key : test.runs[i].alarms)
      out += fmt::format("- run {}: {} called slower\n", i + 1, code(key));
    if (!test.runs[i].unfit.empty())
      out += fmt::format("- run {}: machine unfit: {}\n", i + 1, test.runs[i].unfit);
  }
  return out.empty() ? "" : "\n" + out;
}

/// Returns the slow-down that half of the trials would have shown, of ratios of which 0 stands for none.
std::optional<double> typical_visible(const std::vector<double>& visible) {
  std::vector<double> shown;
  std::ranges::copy_if(visible, std::back_inserter(shown), [](double ratio) { return ratio > 0; });
  if (visible.empty() || 2 * shown.size() < visible.size()) return std::nullopt;
  std::ranges::sort(shown);
  return shown[(visible.size() - 1) / 2];
}

/// The median with its interval, whose coverage is said where there are too few values for the usual one.
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
  if (visible.empty()) return "none in any run: too few launches";
  const std::string seen = spread_text(visible, "%", 100);
  return none == 0 ? seen : fmt::format("{}; none in {} of {} runs", seen, none, runs.size());
}

}  // namespace

std::string_view to_string(Bound bound) { return bound == Bound::memory ? "memory" : "compute"; }

Bound bound_of(const Cost& cost) {
  return cost.flops >= flops_per_byte_of_compute * (cost.bytes_read + cost.bytes_written) ? Bound::compute
                                                                                          : Bound::memory;
}

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
  const GateRuling ruling = ruling_of(run);
  SelfTestRun out{.plants = std::move(plants),
                  .unfit = ruling.comparison.unfit,
                  .seconds = run.seconds,
                  .weather = run.weather};
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    const Verdict& verdict = ruling.comparison.verdicts[i];
    const auto plant = std::ranges::find(out.plants, verdict.key, &Plant::key);
    if (plant != out.plants.end()) {
      plant->found = verdict.standing;
      plant->ratio = verdict.ratio;
    } else if (run.trials[i].tested()) {
      ++out.trials;
      out.undecided += verdict.standing == Standing::undecided ? 1 : 0;
      if (verdict.standing == Standing::slower) out.alarms.push_back(verdict.key);
    }
  }
  out.typical_visible = typical_visible(ruling.visible);
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
              alarms = 0;
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
    alarms += run.alarms.size();
  }
  const std::size_t fit = unchanged + with_plants;
  std::string out = fmt::format("# Self-test of the gate of two builds: {}, {}\n\n", test.suite,
                                test.busy ? "one core busy with something else" : "nothing else started");
  if (test.interrupted > 0) {
    out += fmt::format("{} unfinished gate{} left out.\n\n", test.interrupted,
                       test.interrupted == 1 ? " was" : "s were");
  }
  if (test.runs.empty()) return out + "No run was finished.\n";
  out += fmt::format("Commit {}, {}, machine {}. {}\n\n", test.commit, test.date, code(test.machine.key),
                     code(test.command));
  out += "| what, in runs that were not unfit | seen |\n|---|---|\n";
  out += fmt::format("| unchanged suites that went red | {} |\n", share_text(red_unchanged, unchanged));
  if (with_plants > 0) {
    out += fmt::format("| suites with plants in which an unplanted trial was called slower | {} |\n",
                       share_text(red_planted, with_plants));
  }
  out += fmt::format("| unplanted trials called slower | {} |\n", share_text(alarms, trials));
  out += fmt::format("| unplanted trials left undecided | {} |\n", share_text(undecided, trials));
  out += "\n| what, in all runs | seen |\n|---|---|\n";
  out += fmt::format("| runs declared unfit by the control | {} |\n",
                     share_text(test.runs.size() - fit, test.runs.size()));
  out += fmt::format("| smallest slow-down that the typical trial would have shown | {} |\n",
                     visible_text(test.runs));
  out += fmt::format("| duration of a run | {} |\n", spread_text(seconds, "s", 1));
  out += fmt::format("| processor time of others; stolen | {}; {} in the median |\n",
                     percent_text(median(busy)), percent_text(median(steal)));
  if (test.empty_slice_seconds > 0) {  // not known of samples that another process took
    out += fmt::format("| a slice of a kernel that does nothing | {}: {:.3f} % of a slice of {} |\n",
                       seconds_text(test.empty_slice_seconds),
                       100 * test.empty_slice_seconds / test.slice_seconds, seconds_text(test.slice_seconds));
  }
  out += plants_table(test);
  out += never_planted(test);
  out += alarms_list(test);
  if (!test.faults.empty()) out += "\nAt fault, and left out from then on:\n\n";
  for (const Fault& one : test.faults) {
    out += fmt::format("- {}, {}: {}\n", code(one.key), to_string(one.standing), escaped(one.why));
  }
  if (const std::string nothing = why_nothing_is_shown(test); !nothing.empty()) {
    out += fmt::format("\nThis says nothing of the gate: {}.\n", nothing);
  }
  out +=
      "\nIntervals are those of Clopper and Pearson, 95 %; those of medians lie between order statistics. A "
      "planted trial takes that much more time, whatever bounds it; one trial is planted per size and bound "
      "in "
      "each run with plants, as far as there are trials, so that the family the gate corrects for is that of "
      "a "
      "change of several kernels.\n";
  if (!test.raw_hash.empty()) out += fmt::format("\nAll slices: FNV-1a {}\n", test.raw_hash);
  return out;
}

}  // namespace assay
