#include "bench/measure/shards_of_one_run.hpp"

#include "assay/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace assay {

void require_equal(const OneRun& files, std::string_view what, const std::string& is,
                   const std::string& expected) {
  if (is == expected) return;
  throw Error(files.name, fmt::format("has the {} '{}', and {} has '{}'", what, is, files.first, expected),
              files.remedy);
}

void require_each_once(std::span<const NamedShard> shards) {
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
  throw Error(
      "merge",
      fmt::format("lacks shard{} {} of {}", missing.size() == 1 ? "" : "s", fmt::join(missing, ", "), range),
      "run what is missing, and give the files of all shards");
}

}  // namespace assay
