#include "bench/gate/benchmark_programs.hpp"

#include "assay/error.hpp"
#include "bench/exchange/google_benchmark.hpp"
#include "core/files/child_process.hpp"
#include "core/files/scratch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

namespace assay {
namespace {

constexpr int repetitions = 3;
constexpr std::array side_names{"base", "head", "control"};
constexpr std::array there_and_back{0, 1, 2, 2, 1, 0};

/// Names in a filter stand for themselves.
std::string literally(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string filter_of(const TwoBuilds& run, const std::vector<std::size_t>& trials) {
  std::string out;
  for (const std::size_t i : trials) out += (out.empty() ? "^(" : "|") + literally(run.trials[i].trial.key);
  return out + ")$";
}

/// `named` is what the user called the program: `program` is a copy that is gone when this is read.
std::map<std::string, std::vector<double>> run_once(const std::filesystem::path& program,
                                                    const std::string& named, const char* side,
                                                    const std::string& filter, double seconds,
                                                    const ScratchFolder& scratch, const Hooks& hooks) {
  const auto results = scratch.path() / "results.json", output = scratch.path() / "output.txt";
  std::filesystem::remove(results);
  const pid_t child =
      start_child({.words = {program.string(), "--benchmark_filter=" + filter,
                             fmt::format("--benchmark_min_time={:g}", seconds),
                             fmt::format("--benchmark_repetitions={}", repetitions),
                             "--benchmark_enable_random_interleaving=true",
                             "--benchmark_out=" + results.string(), "--benchmark_out_format=json"}},
                  {.fixed_addresses = true, .output = output});
  const ChildEnd end = wait_for_children({child}, {.stopped = hooks.stop});
  if (hooks.stopped()) return {};
  if (!end.passed() || !std::filesystem::exists(results)) {
    throw Error(named, fmt::format("as {}: {}", side, end.text()),
                fmt::format("run it by hand with --benchmark_filter='{}'", filter));
  }
  std::map<std::string, std::vector<double>> out;
  for (const TrialResult& trial : results_from_google_benchmark(read_file(results), named).trials) {
    for (const Launch& repetition : trial.launches) out[trial.key].push_back(repetition.front().seconds);
  }
  return out;
}

}  // namespace

std::optional<std::vector<std::string>> benchmarks_of(const std::filesystem::path& program,
                                                      const std::string& filter, const Hooks& hooks) {
  const ScratchFolder scratch;
  const auto output = scratch.path() / "names.txt";
  std::vector<std::string> words{program.string(), "--benchmark_list_tests=true"};
  if (!filter.empty()) words.push_back("--benchmark_filter=" + filter);
  const pid_t child = start_child({.words = words}, {.output = output});
  const ChildEnd end = wait_for_children({child}, {.stopped = hooks.stop});
  if (hooks.stopped()) throw Stopped{};
  if (!end.passed()) return std::nullopt;
  const std::string text = read_file(output);
  if (text.empty())
    return std::nullopt;  // passes whatever it is asked; Google Benchmark says when nothing matches
  std::vector<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && !line.starts_with("Failed to match")) names.push_back(line);
  }
  return names;
}

std::vector<PairedTrial> matched(const std::vector<std::string>& base, const std::vector<std::string>& head) {
  std::vector<PairedTrial> out;
  const auto add = [&](const std::string& name, const std::vector<std::string>& other, Standing left_out,
                       const char* why) {
    PairedTrial& trial = out.emplace_back();
    trial.trial.key = trial.trial.operation = name;
    if (std::ranges::find(other, name) != other.end()) return;
    trial.left_out = left_out;
    trial.why_left_out = why;
  };
  for (const std::string& name : head) add(name, base, Standing::added, "the base does not have it");
  for (const std::string& name : base) {
    if (std::ranges::find(head, name) == head.end())
      add(name, head, Standing::gone, "the head does not have it");
  }
  return out;
}

PairedSample benchmark_launches(std::filesystem::path base, std::filesystem::path head, double seconds,
                                const Hooks& hooks) {
  return [=](TwoBuilds& run, const std::vector<std::size_t>& trials, int launch) {
    hooks.say(fmt::format("launch {}: {} of {} benchmarks", launch + 1, trials.size(), run.trials.size()));
    const ScratchFolder scratch;
    std::array<std::filesystem::path, 3> programs;
    for (std::size_t side = 0; side < programs.size(); ++side) {
      programs[side] = scratch.path() / fmt::format("p{}", side);
      std::filesystem::copy_file(side == 1 ? head : base, programs[side]);
    }
    const std::string filter = filter_of(run, trials);
    std::array<std::map<std::string, std::vector<double>>, 3> seen;
    for (const int turn : there_and_back) {
      const auto side = static_cast<std::size_t>(turn);
      for (auto& [name, slices] : run_once(programs[side], (side == 1 ? head : base).string(),
                                           side_names[side], filter, seconds, scratch, hooks)) {
        seen[side][name].insert(seen[side][name].end(), slices.begin(), slices.end());
      }
      if (hooks.stopped()) return;
    }
    for (const std::size_t i : trials) {
      const std::string& name = run.trials[i].trial.key;
      if (std::ranges::any_of(seen, [&](const auto& side) { return !side.contains(name); })) {
        run.trials[i].left_out = Standing::not_comparable;
        run.trials[i].why_left_out = "one of the programs reported no time for it";
        continue;
      }
      run.trials[i].launches.push_back(
          {.base = seen[0][name], .head = seen[1][name], .control = seen[2][name]});
    }
  };
}

}  // namespace assay
