// Finds out which shard this is, from options, test runners and job arrays, all of which must agree.
#include "assay/shard.hpp"

#include "assay/error.hpp"
#include "assay/random.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/command.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay {
namespace {

/// A number, and the option or variable that it comes from.
struct Said {
  std::string name;
  std::int64_t value = 0;
};

/// Index and count as one runner or engine tells them.
struct Source {
  std::optional<Said> index, count;
};

/// Empty counts as not set: pipelines export variables that have no value.
std::optional<Said> variable(const Environment& environment, const char* name) {
  const char* text = environment(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  const auto value = number_from<std::int64_t>(text);
  if (!value || *value < 0) {
    throw Error(name, fmt::format("is '{}', no number", text), "set it to a number from 0, or unset it");
  }
  return Said{name, *value};
}

/// Returns nothing when neither variable is set. Throws Error when one is.
std::optional<Source> pair_of(const Environment& environment, const char* index, const char* count) {
  Source out{.index = variable(environment, index), .count = variable(environment, count)};
  if (!out.index && !out.count) return std::nullopt;
  if (!out.index || !out.count) {
    throw Error(out.index ? index : count, fmt::format("is set, but {} is not", out.index ? count : index),
                "set both, or neither");
  }
  return out;
}

/// Bazel writes a count of 0 where a test is not sharded.
std::optional<Source> bazel(const Environment& environment) {
  const auto count = variable(environment, "TEST_TOTAL_SHARDS");
  if (count && count->value == 0) return std::nullopt;
  return pair_of(environment, "TEST_SHARD_INDEX", "TEST_TOTAL_SHARDS");
}

/// Counts from 1. A job that is not parallel has a count of 1, and no index.
std::optional<Source> gitlab(const Environment& environment) {
  const auto count = variable(environment, "CI_NODE_TOTAL");
  if (count && count->value == 1 && !variable(environment, "CI_NODE_INDEX")) {
    return Source{.index = Said{"CI_NODE_TOTAL", 0}, .count = count};
  }
  auto out = pair_of(environment, "CI_NODE_INDEX", "CI_NODE_TOTAL");
  if (!out) return out;
  if (out->index->value == 0) throw Error("CI_NODE_INDEX", "is 0, and GitLab counts from 1", "unset it");
  --out->index->value;
  return out;
}

/// Array indices may begin anywhere: `--array=10-13` has four. Shards that were lost are run again as an
/// array of fewer tasks than the shards that are asked for, such as `--array=3,7`.
std::optional<Source> slurm(const Environment& environment, std::optional<std::int64_t> asked) {
  auto out = pair_of(environment, "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT");
  if (!out) return out;
  if (asked && out->count->value != *asked) return Source{.index = out->index, .count = std::nullopt};
  const auto least = variable(environment, "SLURM_ARRAY_TASK_MIN");
  const auto most = variable(environment, "SLURM_ARRAY_TASK_MAX");
  if (!least || out->index->value < least->value) {
    throw Error("SLURM_ARRAY_TASK_MIN", "is not set, or above SLURM_ARRAY_TASK_ID",
                "give --shard-index and --shard-count instead of --shard=auto");
  }
  if (most && most->value - least->value + 1 != out->count->value) {
    throw Error("SLURM_ARRAY_TASK_MAX",
                fmt::format("is {}, so the {} tasks from {} have gaps between them", most->value,
                            out->count->value, least->value),
                fmt::format("submit with --array=0-{}, or say with --shard-count how many shards there are",
                            out->count->value - 1));
  }
  out->index->value -= least->value;
  return out;
}

/// Reads an index whose count may be missing; then --shard-count takes its place. Kubernetes has no count,
/// and older AWS Batch has none.
std::optional<Source> index_of_job(const Environment& environment, const char* index,
                                   const char* count = nullptr) {
  const auto found = variable(environment, index);
  if (!found) return std::nullopt;
  return Source{found, count == nullptr ? std::nullopt : variable(environment, count)};
}

void collect(std::vector<Source>& out, std::optional<Source> found) {
  if (found) out.push_back(*std::move(found));
}

std::vector<Source> sources_of(const ShardOptions& options, const Environment& environment) {
  std::vector<Source> out;
  Source given;
  if (options.index) given.index = Said{"--shard-index", *options.index};
  if (options.count) given.count = Said{"--shard-count", *options.count};
  if (options.index || options.count) out.push_back(given);
  collect(out, pair_of(environment, "GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS"));
  collect(out, bazel(environment));
  if (!options.detect) return out;
  const std::size_t before = out.size();
  collect(out, gitlab(environment));
  collect(out, pair_of(environment, "CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL"));
  collect(out, pair_of(environment, "BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT"));
  collect(out, slurm(environment, options.count));
  collect(out, index_of_job(environment, "JOB_COMPLETION_INDEX"));
  collect(out, index_of_job(environment, "AWS_BATCH_JOB_ARRAY_INDEX", "AWS_BATCH_JOB_ARRAY_SIZE"));
  const bool runner = before > (options.index || options.count ? 1U : 0U);
  if (out.size() == before && !runner) {
    throw Error(
        "--shard=auto", "sees no engine that runs this job in parallel",
        "known: GitLab, CircleCI, Buildkite, Slurm arrays, Kubernetes indexed jobs, AWS Batch arrays; "
        "elsewhere give --shard-index and --shard-count");
  }
  return out;
}

/// Returns the value on which all sources agree; `what` names it in messages. Throws Error when two differ.
std::optional<Said> agreed(const std::vector<Source>& sources, std::optional<Said> Source::*member,
                           std::string_view what) {
  std::optional<Said> out;
  for (const Source& source : sources) {
    const std::optional<Said>& said = source.*member;
    if (!said) continue;
    if (out && out->value != said->value) {
      throw Error(said->name,
                  fmt::format("means {} {}, and {} means {}", what, said->value, out->name, out->value),
                  "make them agree, or unset one");
    }
    if (!out) out = said;
  }
  return out;
}

/// Cases that the file knows keep their seconds; the others get the median of these.
std::vector<std::pair<std::string, double>> with_seconds(const std::vector<std::string>& cases,
                                                         const Durations& durations) {
  std::vector<std::pair<std::string, double>> out;
  std::vector<double> known;
  for (const std::string& name : cases) {
    const auto found = durations.seconds.find(name);
    if (found != durations.seconds.end()) known.push_back(found->second);
  }
  if (known.empty()) {
    throw Error(durations.file, "holds a time of none of the cases that are selected",
                "name results of this suite with --shard-durations, or leave it out");
  }
  const double usual = median(known);
  for (const std::string& name : cases) {
    const auto found = durations.seconds.find(name);
    out.emplace_back(name, found == durations.seconds.end() ? usual : found->second);
  }
  return out;
}

}  // namespace

int shard_of(std::string_view operation, std::string_view problem, int count) {
  const std::uint64_t hash = fnv1a(fmt::format("{}/{}", operation, problem));
  return static_cast<int>(hash % static_cast<std::uint64_t>(count));
}

bool contains(const Shard& shard, std::string_view operation, std::string_view problem) {
  if (!shard.places.empty()) {
    const auto placed = shard.places.find(fmt::format("{}/{}", operation, problem));
    if (placed != shard.places.end()) return placed->second == shard.index;
  }
  return shard_of(operation, problem, shard.count) == shard.index;
}

Shard balanced(Shard shard, const std::vector<std::string>& cases, const Durations& durations) {
  if (durations.file.empty()) return shard;
  auto longest_first = with_seconds(cases, durations);
  std::ranges::sort(longest_first, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  // Seconds, then the number of cases, which divides cases that take no time. The first of equal loads wins.
  std::vector<std::pair<double, int>> loads(static_cast<std::size_t>(shard.count));
  for (const auto& [name, seconds] : longest_first) {
    const auto least = std::ranges::min_element(loads);
    least->first += seconds;
    ++least->second;
    shard.places[name] = static_cast<int>(least - loads.begin());
  }
  shard.durations = durations.file;
  return shard;
}

ShardChoice chosen_shard(const ShardOptions& options, const Environment& environment) {
  ShardChoice out;
  for (const char* name : {"GTEST_SHARD_STATUS_FILE", "TEST_SHARD_STATUS_FILE"}) {
    const char* file = environment(name);
    if (file != nullptr && *file != '\0') out.status_files.emplace_back(file);
  }
  const auto sources = sources_of(options, environment);
  if (sources.empty()) {
    if (options.durations.empty()) return out;
    throw Error("--shard-durations", "balances shards, and nothing says that there are any",
                "give --shard-count and --shard-index, or leave it out");
  }
  const auto index = agreed(sources, &Source::index, "shard index"),
             count = agreed(sources, &Source::count, "shard count");
  if (!index) throw Error(count->name, "is given without an index", "add --shard-index, from 0");
  if (!count) throw Error(index->name, "is given without a count", "add --shard-count");
  if (count->value < 1 || count->value > most_shards) {
    throw Error(count->name, fmt::format("is {}, must be from 1 to {}", count->value, most_shards),
                "give the number of jobs");
  }
  if (index->value < 0 || index->value >= count->value) {
    throw Error(index->name,
                fmt::format("makes the shard {} of {}; shards count from 0", index->value, count->value),
                fmt::format("{} says how many there are", count->name));
  }
  out.shard = Shard{.index = static_cast<int>(index->value), .count = static_cast<int>(count->value)};
  out.source = fmt::format("{}, {}", index->name, count->name);
  return out;
}

std::string to_options(const Shard& shard, std::string_view index) {
  const std::string balance =
      shard.durations.empty() ? "" : " --shard-durations " + shell_word(shard.durations);
  return fmt::format("--shard-count {} --shard-index {}{}", shard.count, index, balance);
}

std::string in_words(const ShardRecord& record) {
  const std::string held = record.positions.empty() ? "none" : fmt::format("{}", record.positions.size());
  return fmt::format("shard {} of 0 to {} holds {} of the {} selected cases", record.shard.index,
                     record.shard.count - 1, held, record.cases);
}

std::string without_options(std::string command, const Shard& shard) {
  const std::string options = " " + to_options(shard);
  if (const std::size_t at = command.find(options); at != std::string::npos)
    command.erase(at, options.size());
  return command;
}

}  // namespace assay
