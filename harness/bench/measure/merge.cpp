// Merges shards: they must be of one run, each must be there once, and machines that differ share no seconds.
#include "bench/measure/merge.hpp"

#include "core/machine/roofline.hpp"
#include "core/text/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <utility>

namespace assay {
namespace {

/// The text around the index in the name of a shard's file.
struct NamePattern {
  std::string before, behind;
  bool operator==(const NamePattern&) const = default;
};

/// Nothing where the last number of the file name is not the index: `shard-3.json` is shard 3.
std::optional<NamePattern> pattern_of(const NamedShard& one) {
  static const std::regex last_number("(.*[^0-9])?([0-9]+)([^0-9/]*)");
  std::smatch found;
  const bool has_one = std::regex_match(one.name, found, last_number);
  if (!has_one || found[2].str() != std::to_string(one.shard.index)) return std::nullopt;
  return NamePattern{found[1].str(), found[3].str()};
}

/// The file of the shard whose index a shell knows as `index`, named as the others are. Where they follow no
/// pattern, its name is one that none of them has.
std::string file_for(std::span<const NamedShard> shards, const std::string& index) {
  const auto pattern = pattern_of(shards.front());
  const bool all = std::ranges::all_of(shards, [&](const NamedShard& s) { return pattern_of(s) == pattern; });
  // A letter behind it would belong to the name of the variable.
  if (!pattern || !all || !pattern->behind.starts_with('.')) return "missing-" + index + ".json";
  const std::string before = pattern->before.empty() ? "" : shell_word(pattern->before);
  return before + index + shell_word(pattern->behind);
}

/// `3,7-9`, as Slurm takes it.
std::string in_ranges(const std::vector<int>& indices) {
  std::string out;
  for (std::size_t i = 0; i < indices.size();) {
    std::size_t end = i + 1;
    while (end < indices.size() && indices[end] == indices[end - 1] + 1) ++end;
    out += fmt::format("{}{}", out.empty() ? "" : ",", indices[i]);
    if (end - i > 1) out += fmt::format("-{}", indices[end - 1]);
    i = end;
  }
  return out;
}

/// Returns the commands that run the missing shards, to be pasted.
std::string repair(std::span<const NamedShard> shards, const std::vector<int>& missing,
                   const std::string& command) {
  const Shard& of_them = shards.front().shard;
  const auto run = [&](const std::string& index) {
    std::string out, options = fmt::format(" {} -o {}", to_options(of_them, index), file_for(shards, index));
    for (const std::string& word : shell_words(command))  // what stands behind -- is a program's
      out += (word == "--" ? std::exchange(options, "") : "") + " " + shell_word(word);
    return out.erase(0, 1) + options;
  };
  const std::string here = missing.size() == 1
                               ? run(std::to_string(missing.front()))
                               : fmt::format("for i in {}; do {}; done", fmt::join(missing, " "), run("$i"));
  return fmt::format(
      "run what is missing, and merge again with its files:\n  {}\n"
      "  where they were tasks of a Slurm array, submit it again with --array={}",
      here, in_ranges(missing));
}

constexpr const char* one_run = "merge shards of one run: one suite, selection, seed and build";

/// Deciding facts that belong to the machine, with the settings that fit a library to it. All others belong
/// to the build or to its surroundings, and a difference there is none of machines.
constexpr std::array<std::string_view, 8> facts_of_machine{
    "processor",  "cores",         "instruction sets",  "caches",
    "hypervisor", "OpenBLAS core", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"};

std::vector<Fact> facts_of_build(const Machine& machine) {
  std::vector<Fact> out = machine.facts;
  std::erase_if(out, [](const Fact& fact) {
    return std::ranges::find(facts_of_machine, fact.name) != facts_of_machine.end();
  });
  return out;
}

/// Returns the value of an option of the command, as 6 of `--launches 6`.
std::string setting(const Results& results, const std::string& option) {
  const std::size_t at = results.command.find(" " + option);
  if (at == std::string::npos) return "the usual";
  const std::size_t value = std::min(at + 1 + option.size() + 1, results.command.size());
  return results.command.substr(value, results.command.find(' ', value) - value);
}

void require_same_run(const NamedRun<Results>& file, const NamedRun<Results>& first) {
  const Results &a = file.run, &b = first.run;
  const ShardRecord &r = *a.shard, &s = *b.shard;
  const OneRun both{.name = file.name, .first = first.name, .remedy = one_run};
  require_equal(both, "suite", a.suite, b.suite);
  require_equal(both, "number of shards", r.shard.count, s.shard.count);
  require_equal(both, "seed", a.seed, b.seed);
  require_equal(both, "selection", r.selection, s.selection);
  require_equal(both, "number of selected cases", r.cases, s.cases);
  require_equal(both, "fingerprint of the selected cases", r.fingerprint, s.fingerprint);
  require_equal(both, "commit", a.commit, b.commit);
  for (const char* option : {"--launches", "--benchmark_repetitions", "--benchmark_min_time"}) {
    require_equal(both, option, setting(a, option), setting(b, option));
  }
  const auto different = differences(facts_of_build(b.machine), facts_of_build(a.machine), true);
  if (different.empty()) return;
  throw Error(file.name, fmt::format("is of another build than {}: {}", first.name, different.front()),
              "run all shards with the same program, libraries and variables");
}

/// The trials of all shards, each case at its place in the selection.
std::vector<TrialResult> trials_in_order(std::vector<NamedRun<Results>>& files) {
  const auto cases = static_cast<std::size_t>(files.front().run.shard->cases);
  std::size_t held = 0;
  for (const NamedRun<Results>& file : files) held += file.run.shard->positions.size();
  const auto refuse = [](const std::string& where, const std::string& what) {
    throw Error(where, what, "merge shards of one run");
  };
  if (held != cases)
    refuse("merge", fmt::format("the shards hold {} cases, and {} were selected", held, cases));
  std::vector<std::vector<TrialResult>> places(cases);
  std::map<std::string, std::string> known;  // trials and places, and the files that hold them
  for (NamedRun<Results>& file : files) {
    const auto& positions = file.run.shard->positions;
    std::vector<std::string> names;
    for (TrialResult& trial : file.run.trials) {
      const auto [other, is_new] = known.emplace(trial.key, file.name);
      if (!is_new)
        refuse(file.name, fmt::format("holds the trial {}, and so does {}", trial.key, other->second));
      if (names.empty() || names.back() != case_of(trial)) names.push_back(case_of(trial));
      if (names.size() > positions.size()) break;
      const std::int64_t place = positions[names.size() - 1];
      const std::string& holder = known.emplace(std::to_string(place), file.name).first->second;
      if (holder != file.name)
        refuse(file.name, fmt::format("holds case {} of the selection, and so does {}", place, holder));
      places.at(static_cast<std::size_t>(place)).push_back(std::move(trial));
    }
    if (names.size() != positions.size()) {
      throw Error(file.name, fmt::format("lists {} cases and holds another number", positions.size()),
                  "restore the file as it was written, or run the shard again");
    }
  }
  std::vector<TrialResult> out;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].empty()) {
      throw Error("merge", fmt::format("no shard holds case {} of the {} that were selected", i, cases),
                  "run all shards again");
    }
    std::ranges::move(places[i], std::back_inserter(out));
  }
  return out;
}

/// `shards 0, 2: this; shard 1: that`, or the text alone where all say the same.
std::string by_shard(const std::vector<NamedRun<Results>>& files,
                     const std::function<std::string(const Results&)>& text_of) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> groups;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string text = text_of(files[i].run);
    auto group = std::ranges::find(groups, text, [](const auto& g) { return g.first; });
    if (group == groups.end()) group = groups.insert(groups.end(), {text, {}});
    group->second.push_back(i);
  }
  if (groups.size() == 1) return groups.front().first;
  std::string out;
  for (const auto& [text, shards] : groups) {
    out += fmt::format("{}shard{} {}: {}", out.empty() ? "" : "; ", shards.size() == 1 ? "" : "s",
                       fmt::join(shards, ", "), text);
  }
  return out;
}

/// All facts of all shards, with the values of each where they differ.
std::vector<Fact> facts_of_all(const std::vector<NamedRun<Results>>& files) {
  std::vector<Fact> out;
  for (const NamedRun<Results>& file : files) {
    for (const Fact& fact : file.run.machine.facts) {
      if (find_fact(out, fact.name) != nullptr) continue;
      out.push_back(
          {.name = fact.name,
           .value = by_shard(files, [&](const Results& r) { return fact_value(r.machine.facts, fact.name); }),
           .decides = fact.decides});
    }
  }
  return out;
}

/// Empty when seconds of all shards belong together.
std::string why_mixed(const std::vector<NamedRun<Results>>& files) {
  std::vector<std::string> names;
  const Machine& first = files.front().run.machine;
  for (const NamedRun<Results>& file : files) {
    for (const std::string_view name : facts_of_machine) {
      const std::string fact(name);
      const bool known = std::ranges::find(names, fact) != names.end();
      if (!known && fact_value(file.run.machine.facts, fact) != fact_value(first.facts, fact))
        names.push_back(fact);
    }
  }
  if (names.empty()) return "";
  return fmt::format("the shards ran on machines that differ in {} ({})", fmt::join(names, ", "),
                     by_shard(files, [](const Results& r) { return r.machine.key; }));
}

Machine machine_of_all(const std::vector<NamedRun<Results>>& files, bool mixed) {
  Machine out = files.front().run.machine;
  out.facts = facts_of_all(files);
  for (const NamedRun<Results>& file : files) {
    out.cores = std::min(out.cores, file.run.machine.cores);
    out.memory_bytes = std::min(out.memory_bytes, file.run.machine.memory_bytes);
  }
  if (mixed) {
    out.key = "mixed";  // no machine has this key, so that no baseline is taken for one of all
    out.caches.clear();
  }
  return out;
}

/// Shares are means over the seconds of each shard; what one shard could not see is not visible in all.
Weather weather_of_all(const std::vector<NamedRun<Results>>& files) {
  Weather out;
  const auto add_count = [](double& sum, double count) { sum = sum < 0 || count < 0 ? -1 : sum + count; };
  for (const NamedRun<Results>& file : files) {
    const Weather& one = file.run.weather;
    if (one.seconds <= 0) continue;  // a shard that timed nothing
    out.steal_share += one.seconds * one.steal_share;
    out.other_busy_share += one.seconds * one.other_busy_share;
    add_count(out.cpu_pressure_share, one.cpu_pressure_share < 0 ? -1 : one.seconds * one.cpu_pressure_share);
    out.seconds += one.seconds;
    out.involuntary_switches += one.involuntary_switches;
    add_count(out.migrations, one.migrations);
    out.major_faults += one.major_faults;
  }
  if (out.seconds <= 0) return out;
  out.steal_share /= out.seconds;
  out.other_busy_share /= out.seconds;
  if (out.cpu_pressure_share > 0) out.cpu_pressure_share /= out.seconds;
  return out;
}

/// One for each thread count, the larger of each figure: no shard may be held against less than its own.
std::vector<Roof> roofs_of_all(const std::vector<NamedRun<Results>>& files) {
  std::map<int, Roof> roofs;
  for (const NamedRun<Results>& file : files) {
    for (const Roof& roof : file.run.roofs) {
      const auto [known, is_new] = roofs.emplace(roof.threads, roof);
      if (!is_new) raise(known->second, roof);
    }
  }
  std::vector<Roof> out;
  for (const auto& [threads, roof] : roofs) out.push_back(roof);
  return out;
}

/// Returns the items of the lists of all files, each once by its name.
template <class Said>
std::vector<Said> said_by_all(const std::vector<NamedRun<Results>>& files, std::vector<Said> Results::*list,
                              std::string Said::*name) {
  std::vector<Said> out;
  for (const NamedRun<Results>& file : files) {
    for (const Said& one : file.run.*list) {
      if (std::ranges::find(out, one.*name, name) == out.end()) out.push_back(one);
    }
  }
  return out;
}

}  // namespace

void require_each_once(std::span<const NamedShard> shards, const std::string& command) {
  const int count = shards.front().shard.count;
  const std::string range = fmt::format("0 to {}", count - 1);
  std::vector<int> missing;
  for (int index = 0; index < count; ++index) missing.push_back(index);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const int index = shards[i].shard.index;
    if (std::erase(missing, index) > 0) continue;
    throw Error(shards[i].name,
                fmt::format("is shard {} of {}, and so is {}", index, range, shards[i - 1].name),
                "give each shard once");
  }
  if (missing.empty()) return;
  throw MissingShards(
      "merge",
      fmt::format("lacks shard{} {} of {}", missing.size() == 1 ? "" : "s", fmt::join(missing, ", "), range),
      repair(shards, missing, command));
}

Results merged(std::vector<NamedRun<Results>> files) {
  for (const NamedRun<Results>& file : files) {
    require_shard(file, "`run`, `gate` or `tune command`");
    require_same_run(file, files.front());
  }
  put_in_order(files, &Results::command);
  std::vector<TrialResult> trials = trials_in_order(files);
  const std::string mixed = why_mixed(files);
  Results out = files.front().run;
  out.machine = machine_of_all(files, !mixed.empty());
  for (const NamedRun<Results>& file : files) {
    out.date = std::min(out.date, file.run.date);
    out.partial = out.partial || file.run.partial;
    if (&file != &files.front()) std::ranges::copy(file.run.again, std::back_inserter(out.again));
  }
  out.shard.reset();
  out.merged_shards = static_cast<int>(files.size());
  out.mixed_machines = mixed;
  out.roofs = mixed.empty() ? roofs_of_all(files) : std::vector<Roof>{};
  out.weather = weather_of_all(files);
  out.calls = said_by_all(files, &Results::calls, &VariantCalls::variant);
  out.steps = said_by_all(files, &Results::steps, &VariantStep::variant);
  out.figures = said_by_all(files, &Results::figures, &Figure::tag);
  out.trials = std::move(trials);
  return out;
}

}  // namespace assay
