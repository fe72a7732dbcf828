#include "bench/gate/wrapped_commands.hpp"

#include "assay/error.hpp"
#include "bench/measure/placing.hpp"
#include "bench/measure/sides.hpp"
#include "core/files/child_process.hpp"
#include "core/machine/clock.hpp"
#include "core/plan/trial_key.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/command.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fcntl.h>
#include <unistd.h>

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
  using Unit = std::pair<std::string_view, double>;
  constexpr std::array<Unit, 5> units{{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"µs", 1e-6}}};
  // In the order of PrintedUnit, which begins with as_printed.
  if (unit != PrintedUnit::as_printed) return units[static_cast<std::size_t>(unit) - 1].second;
  behind.remove_prefix(std::min(behind.find_first_not_of(" \t"), behind.size()));
  const auto is_of_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || (c & 0x80) != 0;
  };
  const std::string_view word(behind.begin(), std::ranges::find_if_not(behind, is_of_word));
  const auto found = std::ranges::find(units, word, &Unit::first);
  return found == units.end() ? 1 : found->second;
}

/// Half of the last digit of a number as it is printed.
double half_digit(const std::string& text) {
  const std::size_t exponent = std::min(text.find_first_of("eE"), text.size()), point = text.find('.');
  const double digits = point < exponent ? static_cast<double>(exponent - point - 1) : 0,
               scale = exponent + 1 < text.size() ? std::atof(text.c_str() + exponent + 1) : 0;
  return std::pow(10, scale - digits) / 2;
}

/// A command that took no more time than its first thread computed, and waited for a processor, waits for
/// nothing else: it takes as much processor time beside others as it takes alone.
bool only_computes(const Answer& run) {
  constexpr double share = 0.05, start = 0.002;  // of its time, and seconds of exec
  const double others = run.cpu_seconds - run.first_thread_seconds,
               waits = run.seconds - run.cpu_seconds - run.queued_seconds - run.keeper_queued_seconds;
  return run.first_thread_seconds > 0 && others <= share * run.cpu_seconds + start &&
         waits <= share * run.cpu_seconds + start;
}

/// Has the system forget the pages of the files that a command names, where no other process uses them.
void drop_pages(const WrappedCommand& command) {
  std::istringstream words(command.text);
  for (std::string word; words >> word;) {
    if (!std::filesystem::is_regular_file(word)) continue;
    const int file = open(word.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    fdatasync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
  }
}

/// Runs commands one after the other, or all at once on one core.
class CommandRunner {
 public:
  CommandRunner(const CommandTiming& timing, double longest, const Hooks& hooks)
      : timing_(timing), limit_(timing.time_limit > 0 ? timing.time_limit : longest), hooks_(hooks) {}

  /// Throws Stopped after an interrupt. `side` is for messages, and may be empty.
  ReportedTimes run(const WrappedCommand& command, std::string_view side, const std::string& name) {
    if (!timing_.prepare.empty()) prepare(timing_.prepare, "--prepare");
    if (timing_.cold) drop_pages(command);
    const Answer answer = answers({&command}, {side}, {}).front();
    computes_ = only_computes(answer);
    if (!timing_.match.empty()) return printed_times(answer.output + answer.errors, timing_, command.text);
    return {{name, {.seconds = {timing_.processor ? answer.cpu_seconds : answer.seconds}, .error = {}}}};
  }
  /// All sides at once on the core that is left alone most, which others lengthen alike.
  LaunchReports run_together(const std::array<const WrappedCommand*, launch_sides>& sides,
                             const std::vector<std::size_t>& order, const std::string& name, Rng& rng) {
    std::vector<const WrappedCommand*> commands;
    std::vector<std::string_view> names;
    for (const std::size_t side : order) {
      commands.push_back(sides[side]);
      names.push_back(launch_side_names[side]);
    }
    const auto padding = drawn_padding(rng);
    const std::vector<Answer> all = answers(
        commands, names,
        {.environment = {{padding.first, padding.second}}, .fixed_addresses = true, .core = freest_core()});
    LaunchReports out;
    for (std::size_t i = 0; i < all.size(); ++i)
      out[order[i]][name] = {.seconds = {std::max(all[i].cpu_seconds, 1e-6)}, .error = {}};
    return out;
  }
  void prepare(const std::string& line, std::string_view option) {
    const Answer answer = ask_child({.words = shell_command(line).words, .folder = {}}, hooks_);
    if (answer.exit_code != 0)
      throw Error(std::string(option), fmt::format("`{}` {}", line, end_text(answer)), "run it by hand");
  }

  /// Whether the last command did nothing but compute, with one thread.
  bool computes() const { return computes_; }
  /// Has all sides run at once from now on, and by processor time, if they can: one may hinder another.
  void share_core(const std::array<const WrappedCommand*, launch_sides>& sides, Rng& rng) {
    if (!timing_.match.empty() || !timing_.prepare.empty() || timing_.cold) return;
    const double alone = seconds_;
    try {
      run_together(sides, {base_side, head_side, control_side}, "", rng);
      together_ = true;
    } catch (const Error&) {
      seconds_ = alone;
    }
  }
  bool together() const { return together_; }
  /// The most memory that a run of base and head had.
  std::array<Figure, 2> peak_memory() const { return settled(peaks_); }
  /// Wall time of the last run, its start included.
  double seconds() const { return seconds_; }

  /// Limits the time of later runs by that of the first.
  void expect(double seconds) {
    if (timing_.time_limit > 0) return;
    limit_ = std::min(limit_, std::max(least_limit, limit_by_first_run * seconds));
  }

 private:
  std::vector<Answer> answers(const std::vector<const WrappedCommand*>& commands,
                              const std::vector<std::string_view>& sides, const ChildSetting& setting) {
    const auto start = Steady::now();
    const auto is_late = [&] { return seconds_since(start) > limit_ * static_cast<double>(commands.size()); };
    std::vector<Command> started;
    for (const WrappedCommand* one : commands) started.push_back({.words = one->words, .folder = {}});
    std::vector<Answer> out;
    try {
      out = ask_children(started, setting, {.stop = [&] { return hooks_.stopped() || is_late(); }});
    } catch (const Stopped&) {
      if (hooks_.stopped()) throw;
      refuse(*commands.front(), sides.front(), fmt::format("did not end within {:g} s", limit_),
             "--time-limit SECONDS gives it longer");
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (out[i].exit_code != 0) refuse(*commands[i], sides[i], end_text(out[i]), "run it by hand");
      peaks_.values[sides[i] == launch_side_names[head_side] ? head_side : base_side].push_back(
          out[i].peak_bytes);
    }
    seconds_ = seconds_since(start);
    return out;
  }
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
  bool computes_ = false, together_ = false;
  Counted peaks_{.figure = {.name = "peak memory", .unit = "bytes", .better = Figure::Better::lower},
                 .noise = 1 << 20};  ///< of each run: pages that the system gives or not
  const Hooks& hooks_;
};

std::vector<std::string> names_of(const ReportedTimes& times) {
  std::vector<std::string> out;
  for (const auto& [name, reported] : times) out.push_back(name);
  return out;
}

std::string timing_text(const CommandTiming& timing, const CommandRunner& runner) {
  if (runner.together()) {
    return fmt::format("processor time of the commands{}, all sides at once on one core",
                       timing.processor ? "" : ", which do nothing but compute");
  }
  return fmt::format("{}, the sides one after the other",
                     timing.rate             ? rates_of_commands
                     : !timing.match.empty() ? "as the commands print them"
                     : timing.processor      ? "processor time of the commands and their children"
                                             : "wall time of the commands");
}

std::string variant_of(const CommandTiming& timing) {
  return !timing.match.empty() ? "printed" : timing.processor ? "processor" : "wall";
}

}  // namespace

WrappedCommand shell_command(const std::string& line) {
  // A shell that waits for one program is replaced by it, so that the first thread is the program's.
  std::istringstream words(line), folders(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"));
  std::string program;
  words >> program;
  bool alone = line.find_first_of(";|&(){}`!\n") == std::string::npos, found = false;
  const auto is_program = [](const std::string& file) { return access(file.c_str(), X_OK) == 0; };
  if (program.find('/') != std::string::npos) found = is_program(program);
  for (std::string folder; std::getline(folders, folder, ':');)
    found = found || is_program(folder + "/" + program);
  alone = alone && found && program.find_first_of("='\"$\\~*?") == std::string::npos;
  return {{"/bin/sh", "-c", alone ? "exec " + line : line}, line};
}

ReportedTimes printed_times(const std::string& output, const CommandTiming& timing,
                            const std::string& command) {
  if (const std::string why = why_no_expression(timing.match); !why.empty()) {
    throw Error("--match", fmt::format("'{}' is not a regular expression: {}", timing.match, why),
                "quote special characters with \\, and close every bracket");
  }
  const std::regex expression(timing.match);
  if (expression.mark_count() < 1 || expression.mark_count() > 2) {
    throw Error("--match", fmt::format("'{}' has {} groups", timing.match, expression.mark_count()),
                "put the number into parentheses, and the name before it, if there is one: "
                "'time: ([0-9.]+) ms', '(\\w+): ([0-9.]+)'");
  }
  ReportedTimes out;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    // The standard library searches by calls for each character, which a line of a megabyte would use up the
    // stack with. `^` does not stand for the beginning of its end.
    constexpr std::size_t longest = 2048;
    const std::size_t cut = line.size() - std::min(line.size(), longest);
    const auto flags = cut == 0 ? std::regex_constants::match_default : std::regex_constants::match_not_bol;
    const std::string_view its = std::string_view(line).substr(cut);
    // Bars of progress write a line again and again.
    std::cmatch found;
    for (std::cregex_iterator one(its.begin(), its.end(), expression, flags), end; one != end; ++one) {
      if (found.empty() || number_from<double>((*one)[expression.mark_count()].str())) found = *one;
    }
    if (found.empty()) continue;
    const std::string text = found[expression.mark_count()].str();
    const auto number = number_from<double>(text);
    if (!number || *number <= 0) {
      throw Error(fmt::format("`{}`", command),
                  fmt::format("prints \"{}\", which is no number above 0", text),
                  "let the group of --match hold a number and nothing else");
    }
    const auto behind = static_cast<std::size_t>(found.position(expression.mark_count())) + text.size();
    const double unit = seconds_per_unit(timing.unit, its.substr(behind));
    const std::string name = expression.mark_count() == 2 ? found[1].str() : timing.name;
    Reported& printed = out[name];
    if (!timing.each) printed.seconds.clear();
    printed.seconds.push_back(timing.rate ? 1 / *number : *number * unit);
    printed.resolution = half_digit(text) / *number;
  }
  if (out.empty() && !timing.each) {
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
  const std::array<const WrappedCommand*, launch_sides> sides{&base, &head, &base};
  run.suite = timing.name;
  if (!timing.setup.empty()) runner.prepare(timing.setup, "--setup");
  ReportedTimes of_base, of_head;
  double longest = 0;
  std::array<bool, launch_sides> computes{};
  // Beside other work a command may seem to wait more than once.
  constexpr int looks = 3, looks_at_short = 12;
  constexpr double short_command = 0.1;
  const auto look_again = [&](int run_before) {
    return run_before < (longest < short_command ? looks_at_short : looks) &&
           !(computes[base_side] && computes[head_side]) && looks * looks * longest < run.budget_seconds;
  };
  for (int i = 0; i < timing.warmups || look_again(i); ++i) {
    for (const auto side : {base_side, head_side}) {
      hooks.say(fmt::format("warm up: {}", launch_side_names[side]));
      append(side == base_side ? of_base : of_head,
             runner.run(*sides[side], launch_side_names[side], timing.name));
      longest = std::max(longest, runner.seconds());
      computes[side] = computes[side] || runner.computes();
    }
  }
  Rng rng_of_first(run.seed);
  if (computes[base_side] && computes[head_side]) runner.share_core(sides, rng_of_first);
  runner.expect(longest);
  run.timing = timing_text(timing, runner);
  run.trials = matched(names_of(of_base), names_of(of_head));
  const Filter filter(run.filter, Registry{});
  std::erase_if(run.trials, [&](const PairedTrial& one) { return !filter.selects(one.trial.key); });
  if (run.trials.empty()) {
    throw Error("filter '" + run.filter + "'", "selects nothing that the commands report",
                fmt::format("they report {}", fmt::join(names_of(of_head), ", ")));
  }
  if (chosen) chosen(run);
  const double budget = run.budget_seconds;
  const double pass_seconds =
      runner.together() ? runner.seconds() : static_cast<double>(launch_sides) * longest;
  const int passes =
      static_cast<int>(std::clamp(budget / launches_in_budget / pass_seconds, 1.0, most_passes));
  const auto sample = [&](TwoBuilds& sampled, const std::vector<std::size_t>& trials, int launch) {
    Rng rng(draw_of(sampled.seed, launch));
    auto order = drawn_permutation(launch_sides, rng);
    LaunchReports reports;
    for (int pass = 0; pass < passes; ++pass) {
      for (const std::size_t side : order) {
        // Drops a launch that would end far behind the budget.
        if (hooks.stopped() || seconds_since(start) > budget) return;
        try {
          if (!runner.together()) {
            append(reports[side], runner.run(*sides[side], launch_side_names[side], timing.name));
            continue;
          }
          LaunchReports once = runner.run_together(sides, order, timing.name, rng);
          for (std::size_t i = 0; i < launch_sides; ++i) append(reports[i], std::move(once[i]));
          break;
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
  const auto [base_memory, head_memory] = runner.peak_memory();
  run.trials.front().base_figures = {base_memory};
  run.trials.front().head_figures = {head_memory};
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
  if (!timing.setup.empty()) runner.prepare(timing.setup, "--setup");
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
