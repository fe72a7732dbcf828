#include "bench/measure/shards_of_one_run.hpp"

#include "core/text/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

namespace assay {
namespace {

/// The text around the index in the name of a shard's file.
struct NamePattern {
  std::string before, behind;
  bool operator==(const NamePattern&) const = default;
};

/// Nothing where the last number of the file name is not the index: `shard-3.json` is shard 3.
std::optional<NamePattern> pattern_of(const NamedShard& one) {
  const std::string index = std::to_string(one.shard.index);
  const std::size_t folder = one.name.size() - std::filesystem::path(one.name).filename().string().size();
  const std::size_t last = one.name.find_last_of("0123456789");
  if (last == std::string::npos || last < folder) return std::nullopt;
  const std::size_t before = one.name.find_last_not_of("0123456789", last);
  const std::size_t first = before == std::string::npos ? 0 : before + 1;
  if (one.name.substr(first, last + 1 - first) != index) return std::nullopt;
  return NamePattern{one.name.substr(0, first), one.name.substr(last + 1)};
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
    return fmt::format("{} {} -o {}", command, to_options(of_them, index), file_for(shards, index));
  };
  const std::string here = missing.size() == 1
                               ? run(std::to_string(missing.front()))
                               : fmt::format("for i in {}; do {}; done", fmt::join(missing, " "), run("$i"));
  return fmt::format(
      "run what is missing, and merge again with its files:\n  {}\n"
      "  where they were tasks of a Slurm array, submit it again with --array={}",
      here, in_ranges(missing));
}

}  // namespace

void require_equal(const OneRun& files, std::string_view what, const std::string& is,
                   const std::string& expected) {
  if (is == expected) return;
  throw Error(files.name, fmt::format("has the {} '{}', and {} has '{}'", what, is, files.first, expected),
              files.remedy);
}

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

}  // namespace assay
