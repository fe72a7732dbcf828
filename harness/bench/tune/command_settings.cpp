#include "bench/tune/command_settings.hpp"

#include "assay/csv.hpp"
#include "assay/error.hpp"
#include "core/files/scratch.hpp"
#include "core/json/fields.hpp"
#include "core/machine/clock.hpp"
#include "core/machine/limits.hpp"
#include "core/text/figures.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <thread>

namespace assay {
namespace {

namespace fs = std::filesystem;
using Steady = std::chrono::steady_clock;

/// Steps of a turn that are not counted: the one that the stop fell into, and those that find cold caches and
/// full queues.
constexpr std::size_t dropped_steps = 2;
/// Steps of a turn that are counted, at least; and its seconds.
constexpr std::size_t fewest_steps = 4;
constexpr double shortest_turn = 0.5;
/// Seconds without a step after which a setting hangs, and the same as a multiple of the longest wait before.
constexpr double longest_wait = 60, longest_by_seen = 20;
/// Memory that stays free while settings are kept beside each other.
constexpr double kept_free = 0.2;

struct Axis {
  std::string name;  ///< `workers`, `env:OMP_NUM_THREADS`
  std::vector<std::string> values;
  bool is_variable() const { return name.starts_with(variable); }
  static constexpr std::string_view variable = "env:";
};

Axis axis_of(const std::string& text, const char* option) {
  const auto at = text.find('=');
  if (at == 0 || at == std::string::npos || at + 1 == text.size())
    throw Error(option, fmt::format("'{}' is no name and its values", text), "write workers=0,1,2");
  Axis out{.name = text.substr(0, at), .values = {}};
  for (const std::string_view value : parts_of(std::string_view(text).substr(at + 1), ','))
    out.values.emplace_back(value);
  return out;
}

using Values = std::map<std::string, std::string>;

/// `workers=0,batch=32`.
Values values_of(const std::string& text, const std::vector<Axis>& axes, const char* option) {
  Values out;
  for (const std::string_view part : text.empty() ? std::vector<std::string_view>() : parts_of(text, ',')) {
    const Axis one = axis_of(std::string(part), option);
    if (std::ranges::find(axes, one.name, &Axis::name) == axes.end())
      throw Error(option, fmt::format("nothing varies {}", one.name),
                  fmt::format("add --vary {}=...", one.name));
    out[one.name] = one.values.front();
  }
  return out;
}

/// Fills values into a word, and notes their names.
std::string filled(std::string word, const Values& values, std::set<std::string>& used) {
  for (std::size_t at = 0; (at = word.find('{', at)) != std::string::npos;) {
    const auto end = word.find('}', at);
    if (end == std::string::npos) break;
    const std::string name = word.substr(at + 1, end - at - 1);
    const bool is_name = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '-';
    });
    if (!is_name || (at > 0 && word[at - 1] == '$')) {  // braces of a shell or of a format
      at = end;
      continue;
    }
    const auto value = values.find(name);
    if (value == values.end())
      throw Error(fmt::format("{{{}}}", name), "is in the command, and nothing varies it",
                  fmt::format("add --vary {}=..., or mend the name", name));
    used.insert(name);
    word.replace(at, end + 1 - at, value->second);
    at += value->second.size();
  }
  return word;
}

CommandSetting setting_of(const CommandRequest& request, const std::vector<Axis>& axes,
                          const Values& values) {
  CommandSetting out;
  std::set<std::string> used;
  for (const std::string& word : request.command) out.command.words.push_back(filled(word, values, used));
  double workers = 0;
  for (const Axis& axis : axes) {
    const std::string& value = values.at(axis.name);
    out.values += fmt::format("{}{}={}", out.values.empty() ? "" : ", ", axis.name, value);
    if (axis.name.find("worker") != std::string::npos) workers += number_from<double>(value).value_or(0);
    if (axis.is_variable()) {
      out.environment.emplace_back(axis.name.substr(Axis::variable.size()), value);
    } else if (!used.contains(axis.name)) {
      throw Error("--vary", fmt::format("{} does not occur in the command", axis.name),
                  fmt::format("write {{{}}} where its value belongs, or env:{} for a variable", axis.name,
                              axis.name));
    }
  }
  out.price = {workers};
  return out;
}

/// A process of the system, as /proc tells it.
struct Process {
  char state = '?';
  double seconds = 0;  ///< of processors, with ended children
};

Process process_of(pid_t id) {
  constexpr std::size_t state = 3, first_of_times = 14, times = 4;
  const std::vector<std::string> fields = fields_of_stat(fmt::format("/proc/{}/stat", id));
  if (fields.size() < first_of_times + times) return {};
  Process out{.state = fields[state].front()};
  for (std::size_t i = first_of_times; i < first_of_times + times; ++i)
    out.seconds += number_from<double>(fields[i]).value_or(0) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return out;
}

/// The process and all that it started, in whatever sessions.
std::vector<pid_t> tree_of(pid_t root) {
  std::vector<pid_t> out{root};
  for (std::size_t i = 0; i < out.size(); ++i)
    std::ranges::copy(children_of_process(std::to_string(out[i])), std::back_inserter(out));
  return out;
}

/// A setting that runs, or is stopped.
class Session {
 public:
  Session(const CommandSetting& setting, const CommandTiming& timing, fs::path folder)
      : setting_(setting), timing_(timing), folder_(std::move(folder)) {}
  ~Session() { end(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool runs() const { return process_ > 0; }
  void start() {
    fs::create_directories(folder_);
    for (const char* name : {"steps", "output"}) fs::remove(folder_ / name);
    Variables environment = setting_.environment;
    environment.emplace_back("ASSAY_STEPS", (folder_ / "steps").string());
    process_ = start_child(setting_.command, {.environment = environment, .output = folder_ / "output"});
    begun_ = Steady::now();
    read_ = 0;
    stream.writer.clear();
  }
  void signal_all(int signal) const {
    for (const pid_t one : tree_of(process_)) kill(one, signal);
  }
  /// Stops all of it, and forgets the steps until then; twice, since one may start another meanwhile.
  void stop() {
    for (int i = 0; i < 2 && runs(); ++i) signal_all(SIGSTOP);
    const auto is_stopped = [&] { return !runs() || process_of(process_).state == 'T'; };
    for (int i = 0; i < 100 && !is_stopped(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    more_steps();
  }
  void end() {
    if (!runs()) return;
    signal_all(SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = 0;
  }
  /// Says how it ended; nothing while it runs.
  std::optional<ChildEnd> ended() {
    const auto end = runs() ? end_of(process_) : std::nullopt;
    if (end) kill(-std::exchange(process_, 0), SIGKILL);
    return end;
  }
  /// The steps that came since the last question.
  std::vector<TimedStep> more_steps() {
    std::ifstream file(folder_ / (timing_.match.empty() ? "steps" : "output"));
    if (!file.seekg(static_cast<std::streamoff>(read_))) return {};
    std::string text(std::istreambuf_iterator<char>(file), {});
    text.erase(text.find_last_of("\r\n") + 1);  // the last line may be half written
    read_ += text.size();
    std::ranges::replace(text, '\r', '\n');  // progress bars write a line over and over
    return text.empty()            ? std::vector<TimedStep>()
           : timing_.match.empty() ? stream.take(text, setting_.values)
                                   : printed(text);
  }
  double processor_seconds() const {
    double out = 0;
    for (const pid_t one : tree_of(process_)) out += process_of(one).seconds;
    return out;
  }
  /// Bytes, of which shared ones are divided among those that share them.
  double memory() const {
    double out = 0;
    for (const pid_t one : tree_of(process_))
      out += bytes_in(try_read(fmt::format("/proc/{}/smaps_rollup", one)).value_or(""), "Pss");
    return out;
  }
  double seconds_since_start() const { return seconds_since(begun_); }
  std::string last_line() const {
    const std::string text = last_lines(folder_ / "output", 1);
    return text.empty() ? "" : fmt::format(": {}", csv::trimmed(text));
  }
  StepStream stream;

 private:
  std::vector<TimedStep> printed(const std::string& text) const {
    std::vector<TimedStep> out;
    const std::regex expression(timing_.match);
    for (const std::string_view line : parts_of(text, '\n')) {
      const SearchedEnd end = searched_end(line);
      if (!std::regex_search(end.text.begin(), end.text.end(), expression, end.flags)) continue;
      for (const auto& [name, times] : printed_times(std::string(line), timing_, setting_.values))
        for (const double seconds : times.seconds) out.push_back({.seconds = seconds});
    }
    return out;
  }

  const CommandSetting& setting_;
  const CommandTiming& timing_;
  fs::path folder_;
  pid_t process_ = 0;
  Steady::time_point begun_;
  std::size_t read_ = 0;  ///< bytes
};

/// Runs a session from its start to its end. Returns its seconds, and 0 after an interrupt or with a fault.
double seconds_to_the_end(Session& session, double most, const Hooks& hooks, std::string& fault) {
  session.start();
  while (!hooks.stopped() && fault.empty()) {
    const double seconds = session.seconds_since_start();
    if (const auto end = session.ended()) {
      if (end->passed()) return seconds;
      fault = end->text() + session.last_line();
    } else if (seconds > most) {
      fault = fmt::format("hangs: it did not end in {}", seconds_text(seconds));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return 0;
}

class CommandTurns {
 public:
  CommandTurns(const std::vector<CommandSetting>& settings, std::vector<Candidate>& candidates,
               const CommandPolicy& policy, const Hooks& hooks)
      : candidates_(candidates), policy_(policy), hooks_(hooks) {
    for (std::size_t i = 0; i < candidates.size(); ++i)
      sessions_.push_back(std::make_unique<Session>(settings[i < 2 ? 0 : i - 1], policy.timing,
                                                    folder_.path() / std::to_string(i)));
    fresh_.assign(candidates.size(), policy.fresh);
    longest_.assign(candidates.size(), 0);
  }

  /// Starts each setting, one after the other, until it makes steps.
  void warm_up() {
    for (std::size_t i = 0; i < sessions_.size() && !hooks_.stopped(); ++i) {
      hooks_.say(fmt::format("start {}", candidates_[i].name));
      if (!start(i)) continue;
      if (whole_runs_) return;
      sessions_[i]->stop();
      if (fresh_[i]) sessions_[i]->end();
      // What does not fit beside the others is started anew in each turn.
      const Limits limits = limits_of_process(try_read);
      if (available_memory(try_read, limits) < kept_free * total_memory(try_read, limits)) {
        fresh_[i] = true;
        sessions_[i]->end();
      }
    }
    turn_seconds_ = std::max(turn_seconds_, shortest_turn);
  }

  bool takes_whole_runs() const { return whole_runs_; }

  int rounds(double seconds_left) const {
    const double round = turn_seconds_ * static_cast<double>(candidates_.size());
    const auto whole = static_cast<int>(seconds_left / std::max(round, 1e-3));
    if (whole < static_cast<int>(fewest_rounds)) {
      throw Error("--budget",
                  fmt::format("leaves {} for rounds of {}, and {} are the fewest",
                              seconds_text(std::max(0.0, seconds_left)), seconds_text(round), fewest_rounds),
                  "give it longer, or try fewer settings");
    }
    constexpr int most = 1000;
    return std::min(whole, most);
  }

  Turn take(std::size_t at) {
    hooks_.say(candidates_[at].name);
    Session& session = *sessions_[at];
    if (whole_runs_) {
      std::string fault;
      const double seconds = seconds_to_the_end(session, limit(0), hooks_, fault);
      if (!fault.empty()) leave_out(at, fault);
      return seconds > 0 ? Turn{.seconds = {{seconds}}} : Turn();
    }
    if (session.runs()) {
      if (session.more_steps().size() > 1) {  // the one that was under way may have ended
        leave_out(at, "goes on while it is stopped: try --fresh");
        return {};
      }
      session.signal_all(SIGCONT);
    } else if (!start(at)) {
      return {};
    }
    const auto start_of_turn = Steady::now();
    const double before_turn = session.processor_seconds();
    std::vector<TimedStep> steps;
    auto last = Steady::now();
    while (!hooks_.stopped()) {
      const std::size_t before = steps.size();
      for (const TimedStep& one : session.more_steps()) steps.push_back(one);
      if (steps.size() > before) last = Steady::now();
      if (counted(steps).size() >= fewest_steps && seconds_since(start_of_turn) >= turn_seconds_) break;
      if (const auto end = session.ended()) {
        if (!end->passed()) {
          leave_out(at, end->text() + session.last_line());
          return {};
        }
        for (const TimedStep& one : session.more_steps()) steps.push_back(one);
        if (counted(steps).size() >= fewest_steps) break;
        if (!start(at)) return {};  // its epochs are over: once more
        steps.clear();
      } else if (seconds_since(last) > limit(at)) {
        leave_out(at, fmt::format("hangs: no step in {}", seconds_text(limit(at))));
        return {};
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    TimedStep all{.samples = 0};
    for (const TimedStep& one : counted(steps)) {
      all.seconds += one.seconds;
      all.wait += one.wait;
      all.samples += one.samples;
    }
    if (session.runs()) note(at, all, seconds_since(start_of_turn), before_turn);
    session.stop();
    if (fresh_[at]) session.end();
    return all.samples > 0 ? Turn{.seconds = {{all.seconds / all.samples}}} : Turn();
  }

 private:
  double limit(std::size_t at) const { return std::max(longest_wait, longest_by_seen * longest_[at]); }

  void leave_out(std::size_t at, const std::string& why) {
    sessions_[at]->end();
    if (at < 2)
      throw Error(fmt::format("the present setting, {}", candidates_[at].name), why, "run it by hand");
    candidates_[at].left_out = why;
  }

  /// The steps of a turn that count: of training, behind those that are dropped after a stop and after a
  /// start.
  static std::vector<TimedStep> counted(const std::vector<TimedStep>& steps) {
    std::vector<TimedStep> out;
    std::size_t drop = dropped_steps;
    for (const TimedStep& one : steps) {
      if (one.is_validation) continue;
      if (one.is_first) drop = dropped_steps;
      if (drop > 0) {
        --drop;
      } else {
        out.push_back(one);
      }
    }
    return out;
  }

  /// Starts a setting, and waits until its first steps have passed. Says whether it makes steps.
  bool start(std::size_t at) {
    Session& session = *sessions_[at];
    session.start();
    std::size_t steps = 0;
    double slowest = 0;
    while (steps <= dropped_steps) {
      if (hooks_.stopped()) return false;
      for (const TimedStep& one : session.more_steps()) {
        if (steps++ == 0) candidates_[at].start_up = session.seconds_since_start();
        if (steps > 1) slowest = std::max(slowest, one.seconds);
      }
      if (const auto end = session.ended()) {
        if (end->passed() && steps == 0 && at == 0 && policy_.timing.match.empty()) {
          // It says nothing of its steps: its time as a whole is all that there is.
          whole_runs_ = true;
          longest_[at] = turn_seconds_ = session.seconds_since_start();
          return true;
        }
        leave_out(at, (end->passed() ? "ended before its third step" : end->text()) + session.last_line());
        return false;
      }
      if (session.seconds_since_start() > policy_.budget_seconds / 2) {
        leave_out(at, fmt::format("made no three steps in {}", seconds_text(policy_.budget_seconds / 2)));
        return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    longest_[at] = std::max(longest_[at], slowest);
    turn_seconds_ = std::max(turn_seconds_, static_cast<double>(dropped_steps + 2 * fewest_steps) * slowest);
    const double own = session.stream.train, present = sessions_.front()->stream.train;
    if (present > 0 && own > 0 && own != present) {
      leave_out(at, fmt::format("has {} samples in an epoch, and the present setting {}", count_text(own),
                                count_text(present)));
      return false;
    }
    return true;
  }

  /// Notes what all steps of a turn together say beside its time.
  void note(std::size_t at, const TimedStep& all, double seconds_of_turn, double used_before) {
    Candidate& one = candidates_[at];
    one.peak_bytes = std::max(one.peak_bytes, sessions_[at]->memory());
    if (all.seconds > 0) one.wait_share = all.wait / all.seconds;
    one.epoch_samples = sessions_[at]->stream.train;
    const double cores = (sessions_[at]->processor_seconds() - used_before) / seconds_of_turn;
    if (all.seconds > 0) one.processor_seconds = cores * all.seconds / all.samples;
  }

  std::vector<Candidate>& candidates_;
  const CommandPolicy& policy_;
  const Hooks& hooks_;
  const ScratchFolder folder_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<bool> fresh_;
  std::vector<double> longest_;  ///< seconds of a step so far
  double turn_seconds_ = 0;
  bool whole_runs_ = false;
};

}  // namespace

std::vector<TimedStep> StepStream::take(const std::string& lines, const std::string& setting) {
  std::vector<TimedStep> out;
  for (const std::string_view line : parts_of(lines, '\n')) {
    const auto cells = parts_of(line, ',');
    constexpr std::size_t columns = 8;
    if (cells.size() != columns || cells[0] == "step") continue;
    if (!writer.empty() && writer != cells[5])
      throw Error("$ASSAY_STEPS",
                  fmt::format("processes {} and {} of {} write it", writer, cells[5], setting),
                  "let assay.timed() run in one of them alone");
    writer = cells[5];
    const auto number = [&](std::size_t at) { return number_from<double>(cells[at]).value_or(0); };
    out.push_back({.seconds = std::clamp(number(1), 0.0, most_seconds),
                   .wait = std::clamp(number(2), 0.0, most_seconds),
                   .samples = std::clamp(number(3), 1.0, most_amount),
                   .is_validation = cells[4] == "validation",
                   .is_first = cells[0] == "0"});
    if (!out.back().is_validation) train = std::clamp(number(6), 0.0, most_amount);
  }
  return out;
}

std::vector<CommandSetting> settings_of(const CommandRequest& request) {
  std::vector<Axis> axes;
  for (const std::string& text : request.vary) {
    axes.push_back(axis_of(text, "--vary"));
    if (std::ranges::count(axes, axes.back().name, &Axis::name) > 1)
      throw Error("--vary", fmt::format("names {} twice", axes.back().name), "give all of its values once");
  }
  std::vector<Values> all{{}};
  for (const Axis& axis : axes) {
    std::vector<Values> longer;
    for (const Values& one : all) {
      for (const std::string& value : axis.values) {
        longer.push_back(one);
        longer.back()[axis.name] = value;
      }
    }
    all = std::move(longer);
  }
  Values present = all.front();
  for (const auto& [name, value] : values_of(request.present, axes, "--present")) present[name] = value;
  std::vector<Values> excepted;
  for (const std::string& text : request.except) excepted.push_back(values_of(text, axes, "--except"));
  std::vector<CommandSetting> out{setting_of(request, axes, present)};
  for (const Values& one : all) {
    const auto covers = [&](const Values& part) {
      return std::ranges::all_of(part,
                                 [&](const auto& value) { return one.at(value.first) == value.second; });
    };
    if (one != present && std::ranges::none_of(excepted, covers))
      out.push_back(setting_of(request, axes, one));
  }
  if (out.size() < 2)
    throw Error("--vary", "leaves nothing to try beside the present setting",
                "name more values, or except fewer");
  return out;
}

std::vector<Candidate> candidates_of(const std::vector<CommandSetting>& settings) {
  std::vector<Candidate> out;
  for (const CommandSetting& one : settings) {
    out.push_back({.name = one.values, .price = one.price});
    if (out.size() == 1) out.push_back(out.front());
  }
  return out;
}

std::string measure_commands(const std::vector<CommandSetting>& settings, std::vector<Candidate>& candidates,
                             const CommandPolicy& policy, const Hooks& hooks) {
  const auto start = Steady::now();
  const Inheritance ended_at_last;
  CommandTurns turns(settings, candidates, policy, hooks);
  turns.warm_up();
  if (hooks.stopped()) return "";
  const int rounds = turns.rounds(policy.budget_seconds - seconds_since(start));
  const TakeTurns each = one_by_one([&](std::size_t at) { return turns.take(at); }, hooks);
  const TakeTurns take_turns = [&](std::span<const std::size_t> order, int round) {
    // Steps may be slower than they were in the warm-up, and epochs end.
    const bool late =
        seconds_since(start) > policy.budget_seconds && round >= static_cast<int>(fewest_rounds);
    std::vector<Turn> out = late ? std::vector<Turn>() : each(order, round);
    if (out.empty()) return out;
    const auto of = [&](std::size_t at) {
      return out[static_cast<std::size_t>(std::ranges::find(order, at) - order.begin())].seconds;
    };
    const auto present = of(0), twin = of(1);
    for (std::size_t i = 0; i < out.size(); ++i) out[i].control = order[i] == 0 ? present : twin;
    return out;
  };
  measure_rounds(candidates, {.rounds = rounds, .seed = policy.seed, .kept = 2}, take_turns, hooks);
  candidates.erase(candidates.begin() + 1);  // the twin
  for (Candidate& one : candidates) {
    constexpr double alike = 1.1;
    one.price.push_back(one.peak_bytes > 0 ? std::floor(std::log(one.peak_bytes) / std::log(alike)) : 0);
  }
  return turns.takes_whole_runs() ? "A turn was a run of the command, from its start to its end."
         : policy.fresh           ? "A turn was a start of the command, and some of its steps."
                                  : "Each setting was started once, stopped, and continued in short turns.";
}

double whole_run(const CommandSetting& setting, const Hooks& hooks) {
  const ScratchFolder folder;
  const Inheritance ended_at_last;
  const CommandTiming timing;
  Session session(setting, timing, folder.path());
  std::string fault;
  const double seconds = seconds_to_the_end(session, std::numeric_limits<double>::infinity(), hooks, fault);
  if (!fault.empty()) throw Error(setting.values, fault, "run it by hand");
  if (seconds <= 0) throw Stopped{};
  return seconds;
}

}  // namespace assay
