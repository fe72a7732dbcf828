#include "bench/tune/command_settings.hpp"

#include "assay/csv.hpp"
#include "assay/error.hpp"
#include "assay/random.hpp"
#include "core/files/scratch.hpp"
#include "core/json/fields.hpp"
#include "core/machine/clock.hpp"
#include "core/plan/trial_key.hpp"
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
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <span>
#include <thread>
#include <tuple>

namespace assay {
namespace {

namespace fs = std::filesystem;
using Steady = std::chrono::steady_clock;

/// Uncounted steps of a turn: the one that the stop fell into, and those with cold caches and full queues.
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
  /// Whether a part of the name matches, in small letters or large.
  bool has(const char* part) const { return std::regex_search(name, std::regex(part, std::regex::icase)); }
  static constexpr std::string_view variable = "env:";
};
/// Names of settings that are the samples of a step, and of those that may change their number.
constexpr const char *batch = "^(env:)?(batch([_-]?size)?|bs)$", *changes_samples = "batch|accum|^(env:)?bs$";

Axis axis_of(const std::string& text, const char* option) {
  const auto at = text.find('=');
  if (at == 0 || at == std::string::npos || at + 1 == text.size())
    throw Error(option, fmt::format("'{}' is no name and its values", text), "write workers=0,1,2");
  const auto values = parts_of(std::string_view(text).substr(at + 1), ',');
  return {.name = text.substr(0, at), .values = {values.begin(), values.end()}};
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
  const auto changing = std::ranges::count_if(axes, [](const Axis& one) { return one.has(changes_samples); });
  double workers = 0;
  for (const Axis& axis : axes) {
    const std::string& value = values.at(axis.name);
    out.values += fmt::format("{}{}={}", out.values.empty() ? "" : ", ", axis.name, value);
    const double number = std::max(0.0, number_from<double>(value).value_or(0));
    if (axis.has("worker")) workers += number;
    if (axis.has(changes_samples)) out.samples = changing == 1 && axis.has(batch) ? number : 0;
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

/// Numbers of fields of /proc/PID/stat: its state, and the processor time of it and of its ended children.
constexpr std::size_t state_field = 3, first_of_times = 14, last_of_times = 17;

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
  Session(const CommandSetting& setting, CommandTiming timing, fs::path folder)
      : setting_(setting), timing_(std::move(timing)), folder_(std::move(folder)) {}
  ~Session() { end(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool runs() const { return process_ > 0; }
  void start() {
    fs::create_directories(folder_);
    for (const char* name : {"steps", "output"}) fs::remove(folder_ / name);
    Variables environment = setting_.environment;
    environment.emplace_back("ASSAY_STEPS", (folder_ / "steps").string());
    // Python keeps what it prints into a file until there are kilobytes of it.
    if (!timing_.match.empty()) environment.emplace_back("PYTHONUNBUFFERED", "1");
    process_ = start_child(setting_.command, {.environment = environment, .output = folder_ / "output"});
    begun_ = Steady::now();
    read_ = made = 0;
    stream.writer.clear();
  }
  void signal_all(int signal) const {
    for (const pid_t one : tree_of(process_)) kill(one, signal);
  }
  /// Stops all of it, and forgets the steps until then; twice, since one may start another meanwhile.
  void stop() {
    for (int i = 0; i < 2 && runs(); ++i) signal_all(SIGSTOP);
    const auto is_stopped = [&] {
      const std::vector<std::string> fields = fields_of_stat(fmt::format("/proc/{}/stat", process_));
      return fields.size() <= state_field || fields[state_field] == "T";
    };
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
  /// Steps since the last question, the first after a start marked. Sets `fault` where they cannot be used.
  std::vector<TimedStep> more_steps() {
    std::ifstream file(folder_ / (timing_.match.empty() ? "steps" : "output"));
    if (!file.seekg(static_cast<std::streamoff>(read_))) return {};
    std::string text(std::istreambuf_iterator<char>(file), {});
    text.erase(text.find_last_of("\r\n") + 1);  // the last line may be half written
    read_ += text.size();
    if (text.empty()) return {};
    std::ranges::replace(text, '\r', '\n');  // progress bars write a line over and over
    std::vector<TimedStep> out;
    try {
      out = timing_.match.empty() ? stream.take(text, setting_.values) : printed(text);
    } catch (const Error& unusable) {
      fault = unusable.what();
    }
    if (made == 0 && !out.empty()) out.front().is_first = true;
    made += out.size();
    return out;
  }
  double processor_seconds() const {
    double ticks = 0;
    for (const pid_t one : tree_of(process_)) {
      const std::vector<std::string> fields = fields_of_stat(fmt::format("/proc/{}/stat", one));
      for (std::size_t i = first_of_times; i <= last_of_times && i < fields.size(); ++i)
        ticks += number_from<double>(fields[i]).value_or(0);
    }
    return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
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
  std::string fault;
  std::size_t made = 0;  ///< steps since the start

 private:
  std::vector<TimedStep> printed(const std::string& text) const {
    // A rate counts samples, but where progress bars write one, of steps.
    const bool of_samples = timing_.rate && timing_.match.find("it/s") == std::string::npos;
    std::vector<TimedStep> out;
    for (const auto& [name, times] : printed_times(text, timing_, setting_.values))
      for (const double seconds : times.seconds)
        out.push_back(
            {.seconds = seconds * (of_samples ? setting_.samples : 1), .samples = setting_.samples});
    return out;
  }

  const CommandSetting& setting_;
  const CommandTiming timing_;
  fs::path folder_;
  pid_t process_ = 0;
  Steady::time_point begun_;
  std::size_t read_ = 0;  ///< bytes
};

class CommandTurns {
 public:
  CommandTurns(const std::vector<CommandSetting>& settings, std::vector<Candidate>& candidates,
               const CommandPolicy& policy, const Hooks& hooks)
      : candidates_(candidates), policy_(policy), hooks_(hooks) {
    const auto unknown = std::ranges::find(settings, 0.0, &CommandSetting::samples);
    if (unknown != settings.end() && !policy.timing.match.empty()) {
      throw Error(
          "--match", fmt::format("does not say how many samples a step of {} has", unknown->values),
          "let one setting alone change their number, as --vary batch=32,64 (or batch_size, bs), name "
          "those that change none without 'batch' and 'accum', or call assay.timed()");
    }
    for (std::size_t i = 0; i < candidates.size(); ++i)
      tried_.push_back({.session = std::make_unique<Session>(settings[i < 2 ? 0 : i - 1], policy.timing,
                                                             folder_.path() / std::to_string(i)),
                        .fresh = policy.fresh});
  }

  /// Starts each setting, one after the other, until it makes steps.
  void warm_up() {
    for (std::size_t i = 0; i < tried_.size() && !hooks_.stopped(); ++i) {
      // A setting that hangs leaves the others, and the rounds, their share of the time.
      take(i, seconds_left() / 2 / static_cast<double>(i < 2 ? 1 : tried_.size() - i));
      if (whole_runs_) return;
      if (!candidates_[i].measured()) continue;
      turn_seconds_ =
          std::max(turn_seconds_, static_cast<double>(dropped_steps + 2 * fewest_steps) * tried_[i].longest);
      const double own = candidates_[i].epoch_samples, present = candidates_.front().epoch_samples;
      if (present > 0 && own > 0 && own != present) {
        leave_out(i, fmt::format("has {} samples in an epoch, and the present setting {}", count_text(own),
                                 count_text(present)));
      }
    }
  }

  bool takes_whole_runs() const { return whole_runs_; }
  double seconds_left() const { return policy_.budget_seconds - seconds_since(begun_); }

  int rounds() const {
    const double left = std::max(0.0, seconds_left()), round = round_seconds(), most = 1000,
                 least = static_cast<double>(fewest_rounds) * round;
    if (left < least) {
      throw Error("--budget",
                  fmt::format("leaves {} for rounds of {}, and {} are the fewest", seconds_text(left),
                              seconds_text(round), fewest_rounds),
                  fmt::format("--budget {:.0f}, or try fewer settings",
                              std::ceil((policy_.budget_seconds - left + 2 * least) / 10) * 10));
    }
    return static_cast<int>(std::min(left / round, most));
  }

  /// Continues a setting, or starts it. It hangs where no step of it counts in so many seconds, or in what
  /// its turns before let expect: of training, behind those dropped after a stop and the start of an epoch.
  Turn take(std::size_t at, double most = 0) {
    Candidate& one = candidates_[at];
    Tried& own = tried_[at];
    Session& session = *own.session;
    if (most <= 0) {
      most = one.start_up + std::max(std::min(longest_wait, policy_.budget_seconds / 2),
                                     longest_by_seen * std::max(tried_.front().longest, own.longest));
    }
    hooks_.say((session.runs() ? "" : "start ") + one.name);
    if (!session.runs()) {
      session.start();
    } else if (session.more_steps().size() > 1) {  // the one that was under way may have ended
      return leave_out(at, "goes on while it is stopped: try --fresh");
    } else {
      session.signal_all(SIGCONT);
    }
    auto begun = Steady::now(), last = begun;
    double used_before = session.processor_seconds();
    TimedStep turn{.samples = 0};
    std::size_t drop = dropped_steps, count = 0;
    while (count < fewest_steps || (session.runs() && seconds_since(begun) < turn_seconds_)) {
      if (hooks_.stopped()) return {};
      std::this_thread::sleep_for(std::chrono::milliseconds(whole_runs_ ? 1 : 5));
      const bool starts = session.made == 0;
      const auto end = session.ended();
      const std::vector<TimedStep> steps = session.more_steps();
      if (!session.fault.empty()) return leave_out(at, session.fault);
      if (end && !end->passed()) return leave_out(at, end->text() + session.last_line());
      if (end && session.made == 0 && candidates_.front().start_up == 0 && policy_.timing.match.empty()) {
        // It says nothing of its steps: its time as a whole is all that there is.
        whole_runs_ = true;
        own.longest = turn_seconds_ = session.seconds_since_start();
        return {.seconds = {{turn_seconds_}}};
      }
      if (end && session.made <= dropped_steps)
        return leave_out(at, "ended before its third step" + session.last_line());
      if (starts && session.made > 0) {
        one.start_up = session.seconds_since_start();
        begun = Steady::now();
        used_before = session.processor_seconds();
      }
      for (const TimedStep& step : steps) {
        if (step.is_first && !step.is_validation) drop = dropped_steps;
        if (drop > 0) {
          if (!step.is_validation) --drop;
        } else if (step.is_validation) {
          own.validation.add(step);
        } else {
          turn.add(step);
          ++count;
          last = Steady::now();
          own.longest = std::max(own.longest, step.seconds);
          one.step_samples = std::max(one.step_samples, step.samples);
        }
      }
      if (end && count < fewest_steps) session.start();  // its epochs are over: once more
      if (seconds_since(last) > most) {
        return leave_out(at,
                         fmt::format("no step of it counts in {}: it hangs, starts too slowly for --budget, "
                                     "or has epochs of {} steps, which do not",
                                     seconds_text(most), dropped_steps));
      }
    }
    if (turn.seconds <= 0) return leave_out(at, "says that its steps take no time");
    one.epoch_samples = session.stream.train;
    if (session.runs()) {
      own.steps.add(turn);
      own.used += (session.processor_seconds() - used_before) / seconds_since(begun) * turn.seconds;
      one.wait_share = own.steps.wait / own.steps.seconds;
      one.processor_seconds = own.used / own.steps.samples;
      one.validation =
          session.stream.validation * own.validation.seconds / std::max(1.0, own.validation.samples);
      one.peak_bytes = std::max(one.peak_bytes, session.memory());
    }
    keep_within_memory(at);
    session.stop();
    if (own.fresh) session.end();
    return {.seconds = {{turn.seconds / turn.samples}}};
  }

 private:
  /// A setting, and what all of its turns sum up to.
  struct Tried {
    std::unique_ptr<Session> session;
    bool fresh = false;  ///< it is started anew in each turn
    double longest = 0;  ///< seconds of a step so far
    TimedStep steps{.samples = 0}, validation{.samples = 0};
    double used = 0;  ///< seconds of processors in those steps
  };

  double round_seconds() const {
    return turn_seconds_ * static_cast<double>(std::ranges::count_if(candidates_, &Candidate::measured));
  }

  /// Returns the turn of nothing that it has had.
  Turn leave_out(std::size_t at, const std::string& why) {
    tried_[at].session->end();
    if (at < 2)
      throw Error(fmt::format("the present setting, {}", candidates_[at].name), why, "run it by hand");
    candidates_[at].left_out = why;
    return {};
  }

  /// Where too little memory is left, ends one that is stopped, which starts anew in each turn from then on;
  /// the present setting at last.
  void keep_within_memory(std::size_t running) {
    const Limits limits = limits_of_process(policy_.read);
    if (available_memory(policy_.read, limits) >= kept_free * total_memory(policy_.read, limits)) return;
    for (std::size_t i = tried_.size(); i-- > 0;) {
      if (i == running || !tried_[i].session->runs()) continue;
      tried_[i].fresh = true;
      return tried_[i].session->end();
    }
  }

  std::vector<Candidate>& candidates_;
  const CommandPolicy& policy_;
  const Hooks& hooks_;
  const Steady::time_point begun_ = Steady::now();
  const ScratchFolder folder_;
  std::vector<Tried> tried_;
  double turn_seconds_ = shortest_turn;
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
    (out.back().is_validation ? validation : train) = std::clamp(number(6), 0.0, most_amount);
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
    for (const Values& one : all)
      for (const std::string& value : axis.values) longer.emplace_back(one)[axis.name] = value;
    all = std::move(longer);
  }
  Values present = all.front();
  for (const auto& [name, value] : values_of(request.present, axes, "--present")) present[name] = value;
  std::vector<Values> excepted;
  for (const std::string& text : request.except) excepted.push_back(values_of(text, axes, "--except"));
  std::vector<CommandSetting> out{setting_of(request, axes, present)};
  for (const Values& one : all) {
    const auto covers = [&](const Values& part) { return std::ranges::includes(one, part); };
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
    out.push_back({.name = one.values, .price = one.price, .step_samples = one.samples});
    if (out.size() == 1) out.push_back(out.front());
  }
  return out;
}

std::string measure_commands(const std::vector<CommandSetting>& settings, std::vector<Candidate>& candidates,
                             const CommandPolicy& policy, const Hooks& hooks) {
  const Inheritance ended_at_last;
  CommandTurns turns(settings, candidates, policy, hooks);
  turns.warm_up();
  if (hooks.stopped()) return "";
  const int rounds = turns.rounds();
  const TakeTurns each = one_by_one([&](std::size_t at) { return turns.take(at); }, hooks);
  const TakeTurns take_turns = [&](std::span<const std::size_t> order, int round) {
    // Steps may be slower than they were in the warm-up, and epochs end.
    const bool late = turns.seconds_left() < 0 && round >= static_cast<int>(fewest_rounds);
    std::vector<Turn> out = late ? std::vector<Turn>() : each(order, round);
    if (out.empty()) return out;
    const auto of = [&](std::size_t at) {
      return out[static_cast<std::size_t>(std::ranges::find(order, at) - order.begin())].seconds;
    };
    const auto present = of(0), twin = of(1);
    for (std::size_t i = 0; i < out.size(); ++i) out[i].control = order[i] == 0 ? present : twin;
    return out;
  };
  measure_rounds(candidates, {.rounds = rounds, .seed = policy.seed, .kept = 2, .family = policy.family},
                 take_turns, hooks);
  candidates.erase(candidates.begin() + 1);  // the twin
  for (Candidate& one : candidates) {
    constexpr double alike = 1.1;
    one.price.push_back(one.peak_bytes > 0 ? std::floor(std::log(one.peak_bytes) / std::log(alike)) : 0);
  }
  return turns.takes_whole_runs() ? "A turn was a run of the command, from its start to its end."
         : policy.fresh           ? "A turn was a start of the command, and some of its steps."
                                  : "Each setting was started once, stopped, and continued in short turns.";
}

std::string confirm(const std::vector<CommandSetting>& settings, TuneRuling& ruling, double most,
                    const Hooks& hooks) {
  const ScratchFolder folder;
  const Inheritance ended_at_last;
  if (ruling.chosen == 0) return "";
  const Candidate &present = ruling.candidates.front(), &chosen = ruling.candidates[ruling.chosen];
  constexpr double longest_by_forecast = 3;
  const double limit = std::max(most, longest_by_forecast * present.epoch_seconds());
  bool confirmed = true;
  double before = 0;
  std::string said;
  for (const std::size_t at : {std::size_t{0}, ruling.chosen}) {
    Session session(settings[at], {}, folder.path());
    session.start();
    std::optional<ChildEnd> end;
    while (!end && session.seconds_since_start() < limit && !hooks.stopped()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      end = session.ended();
    }
    if (hooks.stopped()) throw Stopped{};
    const double took = session.seconds_since_start();
    const bool passed = end && end->passed();
    said += fmt::format("{}{} {} {}{}", said.empty() ? "" : "; ", settings[at].values,
                        passed ? "took"
                        : end  ? end->text() + " after"
                               : "did not end in",
                        seconds_text(took), passed ? "" : session.last_line());
    confirmed = confirmed && passed && (at == 0 || took <= before * std::max(1.0, chosen.ratio.high));
    before = took;
  }
  if (confirmed) return fmt::format("Confirmed by one run of each: {}.", said);
  ruling.doubt = fmt::format("NOT CONFIRMED by one run of each: {}", said);
  ruling.advice = Advice::undecided;
  ruling.chosen = 0;
  return "";
}

ShardRecord keep_shard(std::vector<CommandSetting>& settings, const Shard& shard, Circumstances& made) {
  ShardRecord out{.shard = shard, .cases = std::ssize(settings) - 1};
  if (shard.count > out.cases)
    throw Error("--shard-count", fmt::format("is above the {} settings to try", out.cases), "give fewer");
  out.selection = made.command.substr(std::min(made.command.find("tune command"), made.command.size()));
  out.fingerprint = fmt::format("{:016x}", fnv1a(out.selection));
  constexpr std::uintmax_t longest_script = 1 << 20;  // what is longer is data
  std::string scripts;
  for (const std::string& word : settings.front().command.words)
    if (fs::is_regular_file(word) && fs::file_size(word) <= longest_script) scripts += read_file(word);
  made.machine.facts.push_back({"program", fmt::format("{:016x}", fnv1a(scripts)), true});
  std::vector<CommandSetting> kept{settings.front()};
  for (std::int64_t i = shard.index; i < out.cases; i += shard.count) {
    out.positions.push_back(i);
    kept.push_back(settings[static_cast<std::size_t>(i) + 1]);
  }
  settings = std::move(kept);
  return out;
}

Results results_of(const TuneRecord& record, const ShardRecord& shard) {
  const auto& [date, commit, command, machine, weather] = record.made;
  Results out{.suite = std::string(settings_suite), .about = record.title, .shard = shard};
  std::tie(out.date, out.commit, out.command) = std::tie(date, commit, command);
  std::tie(out.machine, out.weather) = std::tie(machine, weather);
  const std::span all(record.ruling.candidates);
  for (const Candidate& one : all.subspan(1)) {
    const auto add = [&](const char* variant, const Candidate& of, auto times) {
      const TrialKey key{"setting", variant, with_present_names(one.name)};
      TrialResult& trial = out.trials.emplace_back();
      trial = {.key = key.text(), .operation = key.operation, .variant = variant, .problem = key.problem};
      trial.note = of.name;
      trial.skipped = of.left_out;
      trial.figures = {{"workers", of.price.front()},
                       {"memory_class", of.price.back()},
                       {"peak_bytes", of.peak_bytes},
                       {"wait_share", of.wait_share},
                       {"samples_of_a_step", of.step_samples}};
      Launch& turns = trial.launches.emplace_back();
      for (const Turn& turn : of.turns) turns.push_back({.seconds = (turn.*times).front().front()});
    };
    add("tried", one, &Turn::seconds);
    add("control", one, &Turn::control);
    add("present", all.front(), &Turn::seconds);
  }
  return out;
}

std::vector<Candidate> candidates_of(const Results& results) {
  const auto seconds_of_turns = [](const TrialResult& trial) {
    return trial.launches.empty() ? std::vector<double>() : seconds_of(trial.launches.front());
  };
  const auto candidate = [](const TrialResult& trial) {
    return Candidate{.name = trial.note,
                     .price = {figure_of(trial, "workers"), figure_of(trial, "memory_class")},
                     .left_out = trial.skipped,
                     .peak_bytes = figure_of(trial, "peak_bytes"),
                     .wait_share = figure_of(trial, "wait_share"),
                     .step_samples = figure_of(trial, "samples_of_a_step")};
  };
  std::vector<Candidate> out(1);
  for (std::size_t i = 0; i + 2 < results.trials.size(); i += 3) {
    const std::span trials = std::span(results.trials).subspan(i, 3);
    const auto own = seconds_of_turns(trials[0]), control = seconds_of_turns(trials[1]),
               present = seconds_of_turns(trials[2]);
    Candidate& one = out.emplace_back(candidate(trials[0]));
    const bool is_short = one.measured() && own.size() < fewest_rounds;
    if (is_short || control.size() != own.size() || present.size() < own.size())
      throw Error(trials[0].key, "has turns without the present setting, or few", "run its shard again");
    for (std::size_t turn = 0; turn < own.size(); ++turn)
      one.turns.push_back(
          {.seconds = {{own[turn] / present[turn]}}, .control = {{control[turn] / present[turn]}}});
    if (present.size() <= out.front().turns.size()) continue;
    out.front() = candidate(trials[2]);
    out.front().turns.assign(present.size(), {.seconds = {{1}}, .control = {{1}}});
  }
  return out;
}

}  // namespace assay
