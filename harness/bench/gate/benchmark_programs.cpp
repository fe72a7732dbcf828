#include "bench/gate/benchmark_programs.hpp"

#include "assay/error.hpp"
#include "bench/exchange/read_results.hpp"
#include "bench/measure/placing.hpp"
#include "bench/measure/sides.hpp"
#include "core/code/elf.hpp"
#include "core/files/child_process.hpp"
#include "core/files/scratch.hpp"
#include "core/machine/clock.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/command.hpp"
#include "core/text/figures.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <elf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <chrono>
#include <cmath>
#include <string_view>
#include <system_error>

namespace assay {
namespace {

namespace fs = std::filesystem;
using Steady = std::chrono::steady_clock;

/// Seconds per side, benchmark and launch; long iterations get fewer repetitions.
constexpr double benchmark_seconds = 0.04;
constexpr double most_repetitions = benchmark_seconds / repetition_seconds;
/// Times as many, where the screen is over and there is time.
constexpr double most_patience = 4;
/// Where one repetition of each is too many, they are shorter, down to this.
constexpr double shortest_repetition = 0.001;
/// The cost of a repetition per second that is timed: looking for the number of iterations, and starting.
constexpr double repetition_overhead = 1.3;
/// A side that starts may take this many times as long as it did alone, before it counts as hanging.
constexpr double startup_patience = 10;
/// Benchmarks of one start: their names have to fit into one argument.
constexpr std::size_t most_in_a_start = 64;

double size_of_file(const fs::path& file) {
  std::error_code none;
  const auto size = fs::file_size(file, none);
  return none ? 0 : static_cast<double>(size);
}

/// Tells whether these files have not grown for longer than a limit.
class Silence {
 public:
  Silence(std::vector<fs::path> files, double limit) : files_(std::move(files)), limit_(limit) {}
  bool is_too_long() {
    double size = 0;
    for (const fs::path& file : files_) size += size_of_file(file);
    if (size != size_) since_ = Steady::now();
    size_ = size;
    return seconds_since(since_) > limit_;
  }

 private:
  std::vector<fs::path> files_;
  double limit_, size_ = 0;
  Steady::time_point since_ = Steady::now();
};

/// Returns the answer of a program asked to list its benchmarks; nothing if it does not take the question.
std::optional<std::string> listing_of(const fs::path& program, const std::vector<std::string>& arguments,
                                      const std::string& filter, const std::string& suffix,
                                      const Hooks& hooks) {
  const ScratchFolder scratch;
  const auto output = scratch.path() / "names.txt";
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(), {"--benchmark_list_tests=true",
                             fmt::format("--benchmark_min_time={:g}{}", repetition_seconds, suffix)});
  if (!filter.empty()) words.push_back("--benchmark_filter=" + filter);
  const pid_t child = start_child({.words = words}, {.output = output});
  Silence silence({}, usual_benchmark_limit);
  const ChildEnd end =
      wait_for_children({child}, {.stopped = hooks.stop, .overdue = [&] { return silence.is_too_long(); }});
  if (hooks.stopped()) throw Stopped{};
  if (end.overdue) {
    throw Error(program.string(),
                fmt::format("did not list its benchmarks within {:g} s", usual_benchmark_limit),
                "run it by hand with --benchmark_list_tests");
  }
  std::string text = read_file(output);
  // Programs that ignore unknown options go on with their defaults.
  const bool misunderstood = text.find("is expected to be a double") != std::string::npos;
  if (!end.passed() || misunderstood || text.empty()) return std::nullopt;
  return text;
}

/// Benchmarks of one process start: all of one kind, with the same number of repetitions.
struct Batch {
  bool together = true;
  int repetitions = 1;
  double seconds = repetition_seconds;  ///< of a repetition, at least
  std::vector<std::size_t> trials;
};

/// How fast launches go, which the first ones tell.
struct Pace {
  Steady::time_point start = Steady::now();
  double stretch = 1;  ///< seconds of the last launch by those that it would take on an idle core
};

/// Seconds that a repetition of the trial takes, by its first launch.
double repetition_of(const PairedTrial& trial, const BenchmarkSettings& settings) {
  const double call = trial.launches.empty() ? 0 : median(trial.launches.front().base);
  if (settings.iterations > 0) return std::max(repetition_seconds, settings.iterations * call);
  return std::max({repetition_seconds, settings.min_seconds, call});
}

/// The first launch learns how long iterations are, with one repetition of each. `seconds`: that the launch
/// may take on an idle core; 0: as few as it can.
std::vector<Batch> batches_of(const TwoBuilds& run, const std::vector<std::size_t>& trials, double seconds) {
  std::vector<double> wanted;
  double once = 0, all = 0;  // seconds of all sides
  for (const std::size_t i : trials) {
    const PairedTrial& trial = run.trials[i];
    const BenchmarkSettings settings = settings_of(trial.trial.key);
    const double repetition = repetition_of(trial, settings);
    const double count = std::clamp(std::floor(benchmark_seconds / repetition), 1.0, most_repetitions) *
                         (trial.launches.size() < run.policy.screen ? 1 : most_patience);
    wanted.push_back(trial.launches.empty() ? 1 : count);
    const double side = repetition_overhead * static_cast<double>(launch_sides) * repetition;
    once += side * std::max(1, settings.repetitions);
    all += side * (settings.repetitions > 0 ? settings.repetitions : wanted.back());
  }
  const double affordable = seconds > 0 ? seconds / all : 1;
  const double shortened = repetition_seconds * (seconds > 0 ? std::min(1.0, seconds / once) : 1);
  std::map<std::pair<bool, unsigned>, std::vector<std::size_t>> kinds;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const double count = std::max(1.0, wanted[i] * std::min(1.0, affordable));
    const bool together = settings_of(run.trials[trials[i]].trial.key).shares_core();
    kinds[{!together, std::bit_floor(static_cast<unsigned>(count))}].push_back(trials[i]);
  }
  std::vector<Batch> out;
  for (const auto& [kind, members] : kinds) {
    for (std::size_t begin = 0; begin < members.size(); begin += most_in_a_start) {
      const auto from = members.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto count = std::min(most_in_a_start, members.size() - begin);
      out.push_back({.together = !kind.first,
                     .repetitions = static_cast<int>(kind.second),
                     .seconds = std::max(shortest_repetition, shortened),
                     .trials = {from, from + static_cast<std::ptrdiff_t>(count)}});
    }
  }
  return out;
}

/// A benchmark ended its process start.
struct BenchmarkFault {
  std::size_t side;
  std::size_t trial;
  Failure failure;
};

class BenchmarkLaunch {
 public:
  BenchmarkLaunch(TwoBuilds& run, std::array<const BenchmarkProgram*, launch_sides> programs, int launch,
                  double limit, const CounterDirections& directions, Pace& pace, const Hooks& hooks)
      : run_(run),
        programs_(programs),
        limit_(limit),
        directions_(directions),
        pace_(pace),
        hooks_(hooks),
        rng_(draw_of(run.seed, launch)) {
    padding_ = drawn_padding(rng_);
    for (const std::size_t side : drawn_permutation(launch_sides, rng_)) {
      if (copied()) fs::copy_file(programs_[side]->program, scratch_.file('p', side));
    }
  }

  void sample(const std::vector<std::size_t>& trials) {
    const auto begin = Steady::now();
    std::vector<Batch> batches = batches_of(run_, trials, 0);
    double startups = 0;
    for (const BenchmarkProgram* side : programs_) startups += side->startup_seconds;
    if (run_.launch_seconds > 0) {
      const double idle =
          run_.launch_seconds / pace_.stretch - startups * static_cast<double>(batches.size());
      batches = batches_of(run_, trials, std::max(idle, shortest_repetition));
    }
    double expected = startups * static_cast<double>(batches.size());
    for (Batch& batch : batches) {
      bool again = true;  // sides that make no pairs are run once more
      while (!batch.trials.empty() && !is_late()) {
        try {
          LaunchReports reports = reports_of(batch);
          if (hooks_.stopped()) return;
          std::vector<std::size_t> unpaired = take_unpaired(batch, reports);
          add_launch(run_, batch.trials, std::move(reports));
          expected += expected_seconds(batch);
          batch.trials = std::exchange(again, false) ? std::move(unpaired) : std::vector<std::size_t>();
        } catch (const BenchmarkFault& fault) {
          leave_out(batch, fault);
        }
      }
    }
    if (expected > 0) pace_.stretch = seconds_since(begin) / expected;
  }

 private:
  bool is_late() const { return seconds_since(pace_.start) > latest_end * run_.budget_seconds; }

  /// Of all sides, on an idle core.
  double expected_seconds(const Batch& batch) const {
    double out = 0;
    for (const std::size_t i : batch.trials) {
      const PairedTrial& trial = run_.trials[i];
      const BenchmarkSettings settings = settings_of(trial.trial.key);
      out +=
          repetition_of(trial, settings) - repetition_seconds + std::max(batch.seconds, settings.min_seconds);
    }
    return repetition_overhead * static_cast<double>(launch_sides) * batch.repetitions * out;
  }

  /// Takes the trials out whose sides make no pairs, or whose launch was ended with the budget before all
  /// sides had reported them, and returns them.
  std::vector<std::size_t> take_unpaired(Batch& batch, LaunchReports& reports) const {
    const auto paired = [&, late = is_late()](std::size_t i) {
      const std::string& key = run_.trials[i].trial.key;
      std::array<double, launch_sides> sampled{};
      std::ranges::transform(reports, sampled.begin(), [&](auto& side) { return side[key].sampled; });
      const auto unfinished = [&](auto& side) {
        return side[key].seconds.empty() && side[key].error.empty();
      };
      return !(late && std::ranges::any_of(reports, unfinished)) &&
             (settings_of(key).iterations > 0 || !cold_beside_warm(sampled, batch.seconds));
    };
    const auto rest = std::stable_partition(batch.trials.begin(), batch.trials.end(), paired);
    std::vector<std::size_t> out(rest, batch.trials.end());
    batch.trials.erase(rest, batch.trials.end());
    return out;
  }

  bool copied() const {
    return std::ranges::all_of(programs_, [](const BenchmarkProgram* one) { return one->runs_copied; });
  }

  LaunchReports reports_of(const Batch& batch) {
    LaunchReports out;
    auto sides = drawn_permutation(launch_sides, rng_);
    if (batch.together) {
      start(sides, batch, batch.repetitions, out);
      return out;
    }
    // There and back, so that drift falls on all sides alike.
    const int passes = std::min(2, batch.repetitions);
    for (int pass = 0; pass < passes && !hooks_.stopped(); ++pass) {
      for (const std::size_t side : sides) start({side}, batch, batch.repetitions / passes, out);
      std::ranges::reverse(sides);
    }
    return out;
  }

  std::vector<std::string> words_for(std::size_t side, const Batch& batch, int repetitions) const {
    const BenchmarkProgram& program = *programs_[side];
    std::vector<std::string> out{
        (copied() ? scratch_.file('p', side) : fs::absolute(program.program)).string()};
    out.insert(out.end(), program.arguments.begin(), program.arguments.end());
    out.insert(out.end(),
               {"--benchmark_filter=" + filter_for(batch),
                fmt::format("--benchmark_min_time={:g}{}", batch.seconds, program.seconds_suffix),
                fmt::format("--benchmark_repetitions={}", repetitions),
                "--benchmark_out=" + scratch_.file('r', side).string(), "--benchmark_out_format=json"});
    return out;
  }
  std::string filter_for(const Batch& batch) const {
    std::vector<std::string> names;
    for (const std::size_t i : batch.trials) names.push_back(run_.trials[i].trial.key);
    return filter_of(names);
  }

  /// Runs these sides at the same time and appends what they report. Throws BenchmarkFault, and Error where
  /// no benchmark is to blame.
  void start(const std::vector<std::size_t>& sides, const Batch& batch, int repetitions,
             LaunchReports& reports) {
    if (hooks_.stopped()) return;
    const std::optional<int> core = batch.together ? std::optional(freest_core()) : std::nullopt;
    std::vector<pid_t> children;
    std::vector<fs::path> results;
    for (const std::size_t side : sides) {
      for (const char kind : {'r', 'o'}) fs::remove(scratch_.file(kind, side));
      results.push_back(scratch_.file('r', side));
      children.push_back(start_child({.words = words_for(side, batch, repetitions)},
                                     {.environment = {{padding_.first, padding_.second}},
                                      .fixed_addresses = true,
                                      .output = scratch_.file('o', side),
                                      .core = core}));
    }
    Silence silence(results, limit_ + startup_patience * programs_[base_side]->startup_seconds);
    const ChildEnd end = wait_for_children(
        children, {.stopped = hooks_.stop, .overdue = [&] { return is_late() || silence.is_too_long(); }});
    if (hooks_.stopped()) return;
    if (!end.passed() && !(end.overdue && is_late())) {
      const auto ended = std::ranges::find(children, end.child);
      blame(end.overdue ? last_of(sides) : sides[static_cast<std::size_t>(ended - children.begin())], batch,
            end);
    }
    for (const std::size_t side : sides) append(reports[side], reported_by(side));
  }

  ReportedTimes reported_by(std::size_t side) const {
    const fs::path results = scratch_.file('r', side);
    if (size_of_file(results) == 0) return {};
    return times_in(read_file(results), programs_[side]->program.string(), directions_);
  }

  /// The side that reported the fewest benchmarks. If all hang, that is the base: the head is not to blame.
  std::size_t last_of(std::vector<std::size_t> sides) const {
    std::ranges::sort(sides);
    return *std::ranges::min_element(sides, {}, [&](std::size_t side) { return reported_by(side).size(); });
  }

  [[noreturn]] void blame(std::size_t side, const Batch& batch, const ChildEnd& end) const {
    const std::string how = end.overdue ? fmt::format("did not end within {:g} s", limit_) : end.text();
    if (size_of_file(scratch_.file('r', side)) > 0) {
      // Results are written benchmark by benchmark, in their order.
      const ReportedTimes done = reported_by(side);
      const auto running = std::ranges::find_if(
          batch.trials, [&](std::size_t i) { return !done.contains(run_.trials[i].trial.key); });
      if (running != batch.trials.end()) {
        throw BenchmarkFault{
            side,
            *running,
            {end.overdue ? Failure::Kind::timed_out : Failure::Kind::crashed, how + last_words(side)}};
      }
    }
    const std::string where = programs_[side]->program.string(),
                      what = fmt::format("as {}: {}{}", side == head_side ? "head" : "base", how,
                                         last_words(side)),
                      remedy = fmt::format("run it by hand with --benchmark_filter='{}'", filter_for(batch));
    if (end.signal != 0 && !end.overdue) throw ChildCrash(where, what, remedy);
    throw Error(where, what, remedy);
  }

  /// The last line that the side printed, unless it is of the table of benchmarks that came to their end.
  std::string last_words(std::size_t side) const {
    if (size_of_file(scratch_.file('o', side)) == 0) return "";
    const std::string line = last_lines(scratch_.file('o', side), 1);
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos) return "";
    const std::string said = line.substr(begin);
    const bool of_table = said.starts_with("---") || said.starts_with("Benchmark ") ||
                          std::ranges::any_of(run_.trials, [&](const PairedTrial& one) {
                            return said.starts_with(one.trial.key);
                          });
    return of_table ? "" : ": " + said;
  }

  /// If a benchmark ends the base as well, the head is not to blame.
  void leave_out(Batch& batch, const BenchmarkFault& fault) {
    PairedTrial& trial = run_.trials[fault.trial];
    const bool of_head = fault.side == head_side;
    const bool base_too =
        of_head && ends_alone(base_side, {.together = batch.together, .trials = {fault.trial}});
    trial.left_out = {of_head && !base_too ? standing_of(fault.failure) : Standing::not_comparable,
                      fmt::format("{}the {} {}", base_too ? "ends both programs: " : "",
                                  of_head ? "head" : "base", fault.failure.reason)};
    trial.launches.clear();
    std::erase(batch.trials, fault.trial);
  }

  bool ends_alone(std::size_t side, const Batch& batch) {
    LaunchReports ignored;
    try {
      start({side}, batch, 1, ignored);
      return false;
    } catch (const BenchmarkFault&) {
      return true;
    } catch (const Error&) {
      return true;
    }
  }

  TwoBuilds& run_;
  std::array<const BenchmarkProgram*, launch_sides> programs_;
  double limit_;
  const CounterDirections& directions_;
  Pace& pace_;
  const Hooks& hooks_;
  Rng rng_;
  ScratchFolder scratch_;
  std::pair<std::string, std::string> padding_;
};

/// Throws Error naming a counter that none of all benchmarks reported; those that are measured elsewhere, or
/// not at all, may have it.
void require_counters(const TwoBuilds& run, const std::vector<std::string>& counters) {
  const auto unmeasured = [](const PairedTrial& trial) {
    return trial.left_out.standing == Standing::same || (trial.tested() && trial.launches.empty());
  };
  if (run.shard || std::ranges::any_of(run.trials, unmeasured)) return;
  for (const std::string& one : counters) {
    const std::string name = one.substr(0, one.rfind('='));
    const auto reports = [&](const PairedTrial& trial) {
      return std::ranges::any_of(trial.counted, [&](const Counted& has) { return has.figure.name == name; });
    };
    if (std::ranges::none_of(run.trials, reports))
      throw Error("--counter " + one, "is counted by no benchmark of both programs",
                  "name one of the user counters that they print");
  }
}

}  // namespace

std::vector<std::string> names_in(const std::string& listing, const std::string& chatter) {
  const auto lines_of = [](const std::string& text) {
    std::vector<std::string> out;
    for (const std::string_view line : parts_of(text, '\n')) {
      if (!line.empty() && !line.starts_with("Failed to match") && !line.starts_with("-- LOG("))
        out.emplace_back(line);
    }
    return out;
  };
  // What changes from start to start has digits: a process, a time, an address.
  const auto steady = [](const std::string& line) {
    std::string out, word;
    for (const char c : line + '\n') {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
        word += c;
        continue;
      }
      const bool has_digit = std::ranges::any_of(word, [](char d) { return d >= '0' && d <= '9'; });
      out += (has_digit ? "0" : word) + c;
      word.clear();
    }
    return out;
  };
  std::vector<std::string> out = lines_of(listing);
  for (const std::string& line : lines_of(chatter)) {
    auto found = std::ranges::find(out, line);
    if (found == out.end()) found = std::ranges::find(out, steady(line), steady);
    if (found != out.end()) out.erase(found);
  }
  return out;
}

std::optional<BenchmarkProgram> asked(const fs::path& program, const std::vector<std::string>& arguments,
                                      const std::string& filter, const Hooks& hooks) {
  if (!fs::is_regular_file(program)) {
    throw Error(program.string(), "is no file", "name a program that was built with Google Benchmark");
  }
  const ScratchFolder scratch;
  const fs::path copy = scratch.path() / "p";
  fs::copy_file(program, copy);
  const auto ask = [&](const fs::path& file, bool is_copy) -> std::optional<BenchmarkProgram> {
    // A plain number is known to all versions so far, which spares slow programs a second start.
    for (const char* suffix : {"", "s"}) {
      const auto begin = Steady::now();
      const auto listing = listing_of(file, arguments, filter, suffix, hooks);
      if (!listing) continue;
      const double startup = seconds_since(begin);
      std::string chatter, again = *listing;
      // Lines that are no names: those that are always said, and those that another start does not repeat.
      constexpr double short_startup = 2;
      if (startup < short_startup) {
        chatter = listing_of(file, arguments, "^$", suffix, hooks).value_or("");
        again = listing_of(file, arguments, filter, suffix, hooks).value_or(again);
      }
      std::vector<std::string> names = names_in(*listing, chatter);
      const std::vector<std::string> repeated = names_in(again, chatter);
      std::erase_if(names, [&](const std::string& name) {
        return std::ranges::find(repeated, name) == repeated.end();
      });
      return BenchmarkProgram{.program = program,
                              .arguments = arguments,
                              .benchmarks = std::move(names),
                              .seconds_suffix = suffix,
                              .runs_copied = is_copy,
                              .startup_seconds = startup};
    }
    return std::nullopt;
  };
  if (auto out = ask(copy, true)) return out;
  // Libraries beside it, which it finds by where it lies, are not beside its copy.
  return ask(fs::absolute(program), false);
}

BenchmarkSettings settings_of(const std::string& name) {
  BenchmarkSettings out;
  for (const std::string_view part : parts_of(name, '/')) {
    const std::size_t colon = part.find(':');
    const std::string_view setting = part.substr(0, colon);
    const std::string_view value = colon == std::string_view::npos ? "" : part.substr(colon + 1);
    if (part == "real_time") out.clock = BenchmarkClock::real;
    if (part == "manual_time") out.clock = BenchmarkClock::manual;
    if (part == "process_time") out.whole_process = true;
    if (setting == "threads") out.threads = std::max(1, number_from<int>(value).value_or(0));
    if (setting == "repeats") out.repetitions = std::max(0, number_from<int>(value).value_or(0));
    if (setting == "min_time") out.min_seconds = number_from<double>(value).value_or(0);
    if (setting == "iterations") out.iterations = number_from<double>(value).value_or(0);
  }
  if (out.threads > 1 && out.clock == BenchmarkClock::processor) out.clock = BenchmarkClock::real;
  return out;
}

std::string filter_of(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "^(" : "|") + expression_for(name);
  return out + ")$";
}

std::string timing_of(const std::vector<PairedTrial>& trials) {
  std::size_t together = 0, whole = 0, real = 0, manual = 0;
  for (const PairedTrial& trial : trials) {
    if (!trial.tested()) continue;
    const BenchmarkSettings settings = settings_of(trial.trial.key);
    ++(settings.shares_core()                        ? together
       : settings.clock == BenchmarkClock::manual    ? manual
       : settings.clock == BenchmarkClock::processor ? whole
                                                     : real);
  }
  std::string out, apart;
  if (together > 0) out = fmt::format("processor time of {}, all sides at once on one core", together);
  for (const auto& [count, what] : {std::pair{real, "real time of"}, std::pair{manual, "manual time of"},
                                    std::pair{whole, "processor time of the whole process of"}}) {
    if (count > 0) apart += fmt::format("{}{} {}", apart.empty() ? "" : ", ", what, count);
  }
  if (!apart.empty()) {
    out += fmt::format("{}{}, one side after the other", out.empty() ? "" : "; ", apart);
  }
  return out;
}

CounterDirections directions_of(const std::vector<std::string>& given) {
  using enum Figure::Better;
  CounterDirections out;
  for (const char* known :
       {"allocs_per_iter", "max_bytes_used", "total_allocated_bytes", "net_heap_growth", "INSTRUCTIONS"})
    out[known] = lower;
  for (const std::string& one : given) {
    const bool is_lower = one.ends_with("=lower");
    if (one.starts_with('=') || (!is_lower && !one.ends_with("=higher")))
      throw Error("--counter " + one, "says no direction", "give NAME=lower or NAME=higher");
    out[one.substr(0, one.rfind('='))] = is_lower ? lower : higher;
  }
  return out;
}

ReportedTimes times_in(const std::string& results, const std::string& where,
                       const CounterDirections& directions) {
  // The end of the last benchmark that was written whole; what follows it is the same in every file.
  constexpr std::string_view end_of_benchmark = "\n    }";
  const std::size_t end = results.rfind(end_of_benchmark);
  if (end == std::string::npos) return {};
  const std::string whole = results.substr(0, end).append(end_of_benchmark).append("\n  ]\n}\n");
  ReportedTimes out;
  for (const TrialResult& trial : results_in(whole, where).trials) {
    Reported& one = out[trial.key];
    one.error = trial.skipped;
    one.failed = trial.failed;
    for (const auto& [name, value] : trial.figures) {
      if (const auto found = directions.find(name); found != directions.end())
        one.figures.push_back({.name = name, .value = value, .better = found->second});
    }
    const bool by_processor = settings_of(trial.key).clock == BenchmarkClock::processor;
    for (const Launch& repetition : trial.launches) {
      if (repetition.empty()) continue;  // of another format than the program's own
      const double seconds = by_processor ? repetition.front().cpu_seconds : repetition.front().seconds;
      if (seconds <= 0 || !std::isfinite(seconds)) continue;
      one.seconds.push_back(seconds);
      one.sampled = static_cast<double>(repetition.front().calls) * seconds;
    }
  }
  return out;
}

bool cold_beside_warm(const std::array<double, launch_sides>& sampled, double repetition) {
  const auto [least, most] = std::ranges::minmax(sampled);
  return least > 0 && least < repetition / 10 && most > repetition / 2;
}

bool load_alike(const fs::path& base, const fs::path& head) {
  constexpr std::string_view by_place = "$ORIGIN";  // its libraries lie beside it
  const ElfOutcome of_base = read_elf(base), of_head = read_elf(head);
  if (!of_base.unreadable.empty() || !of_head.unreadable.empty()) return false;
  const auto loaded = [](const ElfFile& file) {
    std::vector<const ElfSection*> out;
    for (const ElfSection& one : file.sections) {
      if ((one.flags & SHF_ALLOC) != 0 && one.name != ".note.gnu.build-id") out.push_back(&one);
    }
    return out;
  };
  return std::ranges::equal(
      loaded(of_base.file), loaded(of_head.file), [&](const ElfSection* was, const ElfSection* is) {
        return was->name == is->name && was->address == is->address && was->size == is->size &&
               was->bytes == is->bytes && is->bytes.find(by_place) == std::string_view::npos;
      });
}

void require_time_for(const BenchmarkProgram& program, const TwoBuilds& run) {
  const double launch = static_cast<double>(launch_sides) *
                        (program.startup_seconds + repetition_overhead * repetition_seconds *
                                                       static_cast<double>(program.benchmarks.size()));
  if (static_cast<double>(run.policy.screen) * launch <= run.budget_seconds) return;
  const double needed = static_cast<double>(run.policy.looks.front()) * launch;
  throw Error(program.program.string(),
              fmt::format("its start-up takes {}, and {} benchmarks need about {}",
                          seconds_text(program.startup_seconds), program.benchmarks.size(),
                          needed < 90 ? seconds_text(needed) : fmt::format("{:.0f} min", needed / 60)),
              fmt::format("--budget {:.0f}, or select some of them with -k", std::ceil(needed / 10) * 10));
}

PairedSample benchmark_launches(BenchmarkProgram base, BenchmarkProgram head, double time_limit,
                                const std::vector<std::string>& counters, const Hooks& hooks) {
  return [base = std::move(base), head = std::move(head), limit = time_limit, counters,
          directions = directions_of(counters), hooks,
          pace = Pace{}](TwoBuilds& run, const std::vector<std::size_t>& trials, int launch) mutable {
    if (launch == 0) pace = {};
    BenchmarkLaunch(run, {&base, &head, &base}, launch, limit > 0 ? limit : usual_benchmark_limit, directions,
                    pace, hooks)
        .sample(trials);
    if (!hooks.stopped()) require_counters(run, counters);  // the first launch may have given nothing
  };
}

}  // namespace assay
