#include "bench/gate/wrapped_commands.hpp"

#include "assay/error.hpp"
#include "bench/measure/sides.hpp"
#include "core/files/child_process.hpp"
#include "core/machine/clock.hpp"
#include "core/plan/filter.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string_view>
#include <utility>

namespace assay {
namespace {

using Steady = std::chrono::steady_clock;

/// Short commands run several times per side and launch, so that all looks of a gate fill the budget.
constexpr double launches_in_budget = 150;
constexpr double most_passes = 32;

/// Later runs may take this many times the seconds of the first, and at least `least_limit` seconds.
constexpr double limit_by_first_run = 20, least_limit = 10;

std::string name_of(const CommandTiming& timing, const WrappedCommand& command) {
  if (!timing.name.empty()) return timing.name;
  // The first word of a shell's line that sets no variable.
  std::istringstream words(command.text);
  for (std::string word; words >> word;) {
    if (word.find('=') == std::string::npos) return std::filesystem::path(word).filename().string();
  }
  return "command";
}

double seconds_per_unit(PrintedUnit unit, std::string_view behind) {
  if (unit != PrintedUnit::as_printed) {
    constexpr std::array<double, 5> seconds{1, 1, 1e-3, 1e-6, 1e-9};
    return seconds[static_cast<std::size_t>(unit)];
  }
  behind.remove_prefix(std::min(behind.find_first_not_of(" \t"), behind.size()));
  std::size_t length = 0;
  const auto is_of_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || (c & 0x80) != 0;
  };
  while (length < behind.size() && is_of_word(behind[length])) ++length;
  const std::string_view word = behind.substr(0, length);
  for (const auto& [name, seconds] :
       {std::pair{"ms", 1e-3}, std::pair{"us", 1e-6}, std::pair{"µs", 1e-6}, std::pair{"ns", 1e-9}}) {
    if (word == name) return seconds;
  }
  return 1;
}

/// Runs commands, each once at a time.
class CommandRunner {
 public:
  CommandRunner(const CommandTiming& timing, double longest, const Hooks& hooks)
      : timing_(timing), limit_(timing.time_limit > 0 ? timing.time_limit : longest), hooks_(hooks) {}

  /// Throws Stopped after an interrupt. `side` is for messages, and may be empty.
  ReportedTimes run(const WrappedCommand& command, std::string_view side, const std::string& name) {
    const auto start = Steady::now();
    const auto is_late = [&] { return seconds_since(start) > limit_; };
    Answer answer;
    try {
      answer = ask_child({.words = command.words, .folder = {}},
                         {.stop = [&] { return hooks_.stopped() || is_late(); }});
    } catch (const Stopped&) {
      if (hooks_.stopped()) throw;
      refuse(command, side, fmt::format("did not end within {:g} s", limit_),
             "--time-limit SECONDS gives it longer");
    }
    if (answer.exit_code != 0) refuse(command, side, end_text(answer), "run it by hand");
    seconds_ = seconds_since(start);
    if (!timing_.match.empty()) return printed_times(answer.output + answer.errors, timing_, command.text);
    return {{name, {.seconds = {timing_.processor ? answer.cpu_seconds : answer.seconds}, .error = {}}}};
  }
  /// Wall time of the last run, its start included.
  double seconds() const { return seconds_; }

  /// Limits the time of later runs by that of the first.
  void expect(double seconds) {
    if (timing_.time_limit > 0) return;
    limit_ = std::min(limit_, std::max(least_limit, limit_by_first_run * seconds));
  }

 private:
  [[noreturn]] static void refuse(const WrappedCommand& command, std::string_view side,
                                  const std::string& what, const std::string& remedy) {
    throw Error(fmt::format("`{}`", command.text), side.empty() ? what : fmt::format("as {}: {}", side, what),
                remedy);
  }
  static std::string end_text(const Answer& answer) {
    constexpr int not_found = 127, by_signal = 128, last_signal = 64;
    const bool signalled = answer.exit_code > by_signal && answer.exit_code <= by_signal + last_signal;
    const ChildEnd end{.exit_code = answer.exit_code, .signal = signalled ? answer.exit_code - by_signal : 0};
    const std::string out = answer.exit_code == not_found ? "cannot be started" : end.text();
    std::string said = answer.errors.empty() ? answer.output : answer.errors;
    said.erase(said.find_last_not_of(" \n") + 1);
    const std::string last = said.substr(said.rfind('\n') + 1);
    return last.empty() ? out : out + ": " + last;
  }

  const CommandTiming& timing_;
  double limit_, seconds_ = 0;
  const Hooks& hooks_;
};

std::vector<std::string> names_of(const ReportedTimes& times) {
  std::vector<std::string> out;
  for (const auto& [name, reported] : times) out.push_back(name);
  return out;
}

std::string timing_text(const CommandTiming& timing) {
  return fmt::format("{}, the sides one after the other",
                     !timing.match.empty() ? "as the commands print them"
                     : timing.processor    ? "processor time of the commands and their children"
                                           : "wall time of the commands");
}

std::string variant_of(const CommandTiming& timing) {
  return !timing.match.empty() ? "printed" : timing.processor ? "processor" : "wall";
}

}  // namespace

WrappedCommand shell_command(const std::string& line) { return {{"/bin/sh", "-c", line}, line}; }

ReportedTimes printed_times(const std::string& output, const CommandTiming& timing,
                            const std::string& command) {
  const std::regex expression = [&] {
    try {
      return std::regex(timing.match);
    } catch (const std::regex_error&) {
      throw Error("--match", fmt::format("'{}' is not a regular expression", timing.match),
                  "quote special characters with \\, and close every bracket");
    }
  }();
  if (expression.mark_count() < 1 || expression.mark_count() > 2) {
    throw Error("--match", fmt::format("'{}' has {} groups", timing.match, expression.mark_count()),
                "put the number into parentheses, and the name before it, if there is one: "
                "'time: ([0-9.]+) ms', '(\\w+): ([0-9.]+)'");
  }
  ReportedTimes out;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (!std::regex_search(line, found, expression)) continue;
    const std::string text = found[expression.mark_count()].str();
    const auto number = number_from<double>(text);
    if (!number || *number <= 0) {
      throw Error(fmt::format("`{}`", command),
                  fmt::format("prints \"{}\", which is no number above 0", text),
                  "let the group of --match hold a number and nothing else");
    }
    const auto behind = static_cast<std::size_t>(found.position(expression.mark_count())) + text.size();
    const double unit = seconds_per_unit(timing.unit, std::string_view(line).substr(behind));
    const std::string name = expression.mark_count() == 2 ? found[1].str() : timing.name;
    out[name].seconds.push_back(timing.rate ? 1 / *number : *number * unit);
  }
  if (out.empty()) {
    throw Error(fmt::format("`{}`", command), fmt::format("prints no line that matches '{}'", timing.match),
                "look at what it prints, and mend --match");
  }
  return out;
}

TwoBuilds gate_of_commands(const WrappedCommand& base, const WrappedCommand& head, const CommandTiming& given,
                           TwoBuilds run, const Hooks& hooks, const std::function<void(TwoBuilds&)>& chosen) {
  const auto start = Steady::now();
  CommandTiming timing = given;
  timing.name = name_of(given, head);
  CommandRunner runner(timing, run.budget_seconds, hooks);
  const auto command_of_side = [&](std::size_t side) -> const WrappedCommand& {
    return side == head_side ? head : base;
  };
  run.suite = timing.name;
  run.timing = timing_text(timing);
  ReportedTimes of_base, of_head;
  double longest = 0;
  for (int i = 0; i < timing.warmups; ++i) {
    for (const auto side : {base_side, head_side}) {
      hooks.say(fmt::format("warm up: {}", launch_side_names[side]));
      append(side == base_side ? of_base : of_head,
             runner.run(command_of_side(side), launch_side_names[side], timing.name));
      longest = std::max(longest, runner.seconds());
    }
  }
  runner.expect(longest);
  run.trials = matched(names_of(of_base), names_of(of_head));
  const Filter filter(run.filter, Registry{});
  std::erase_if(run.trials, [&](const PairedTrial& one) { return !filter.selects(one.trial.key); });
  if (run.trials.empty()) {
    throw Error("filter '" + run.filter + "'", "selects nothing that the commands report",
                fmt::format("they report {}", fmt::join(names_of(of_head), ", ")));
  }
  if (chosen) chosen(run);
  const double budget = run.budget_seconds;
  const int passes = static_cast<int>(std::clamp(
      budget / launches_in_budget / (static_cast<double>(launch_sides) * longest), 1.0, most_passes));
  const auto sample = [&](TwoBuilds& sampled, const std::vector<std::size_t>& trials, int launch) {
    Rng rng(draw_of(sampled.seed, launch));
    auto order = drawn_permutation(launch_sides, rng);
    LaunchReports reports;
    for (int pass = 0; pass < passes; ++pass) {
      for (const std::size_t side : order) {
        // Drops a launch that would end far behind the budget.
        if (hooks.stopped() || seconds_since(start) > budget) return;
        try {
          append(reports[side], runner.run(command_of_side(side), launch_side_names[side], timing.name));
        } catch (const Stopped&) {
          return;
        }
      }
      std::ranges::reverse(order);
    }
    add_launch(sampled, trials, std::move(reports));
  };
  run.budget_seconds = budget - seconds_since(start);
  sample_two_builds(run, sample, hooks, true);
  run.budget_seconds = budget;
  run.seconds = seconds_since(start);
  return run;
}

void measure_command(Results& results, const WrappedCommand& command, const CommandTiming& given,
                     int launches, double budget_seconds, const Hooks& hooks) {
  const auto start = Steady::now();
  CommandTiming timing = given;
  timing.name = name_of(given, command);
  CommandRunner runner(timing, budget_seconds, hooks);
  results.suite = timing.name;
  results.about = fmt::format("{} of `{}`", variant_of(timing), command.text);
  for (int i = 0; i < timing.warmups; ++i) {
    hooks.say("warm up");
    runner.run(command, "", timing.name);
  }
  runner.expect(runner.seconds());
  const WeatherStation station;
  for (int i = 0; i < launches; ++i) {
    if (i > 0 && (hooks.stopped() || seconds_since(start) > budget_seconds)) break;
    hooks.say(
        fmt::format("run {} of {}", i + 1, launches),
        std::min(1.0, std::max(static_cast<double>(i) / launches, seconds_since(start) / budget_seconds)));
    ReportedTimes times;
    try {
      times = runner.run(command, "", timing.name);
    } catch (const Stopped&) {
      if (i == 0) throw;
      break;
    }
    for (auto& [name, reported] : times) {
      const auto of_name = [&, wanted = name](const TrialResult& one) { return one.problem == wanted; };
      auto trial = std::ranges::find_if(results.trials, of_name);
      if (trial == results.trials.end()) {
        trial = results.trials.insert(trial, {.key = fmt::format("command/{}/{}#1", variant_of(timing), name),
                                              .operation = "command",
                                              .variant = variant_of(timing),
                                              .problem = name});
      }
      Launch& launch = trial->launches.emplace_back();
      for (const double seconds : reported.seconds)
        launch.push_back({.seconds = seconds, .cpu_seconds = seconds});
    }
  }
  results.weather = station.since();
  results.partial = hooks.stopped();
}

double visible_in_gate(const TrialResult& trial, double run_seconds, const SequentialPolicy& policy,
                       double budget_seconds) {
  TrialLogs logs;
  for (std::size_t i = 0; i + 1 < trial.launches.size(); i += 2) {
    logs.control.push_back(
        std::log(median(seconds_of(trial.launches[i + 1])) / median(seconds_of(trial.launches[i]))));
  }
  const double launches = std::min(budget_seconds / (static_cast<double>(launch_sides) * run_seconds),
                                   static_cast<double>(policy.looks.back()));
  return smallest_visible(logs, 1, static_cast<std::size_t>(launches), policy);
}

}  // namespace assay
