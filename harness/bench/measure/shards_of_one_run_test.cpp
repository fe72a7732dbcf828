#include "bench/measure/merge.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::StrEq;
using ::testing::ThrowsMessage;

/// Throws for shards of files with these names and indices, of so many.
void require_named(const std::vector<std::pair<std::string, int>>& files, Shard of_them) {
  std::vector<NamedShard> shards;
  for (const auto& [name, index] : files) {
    of_them.index = index;
    shards.push_back({.name = name, .shard = of_them});
  }
  require_each_once(shards, "assay run -s s");
}

/// The lines behind the first one.
std::string repair_of(const std::vector<std::pair<std::string, int>>& files, const Shard& of_them) {
  try {
    require_named(files, of_them);
  } catch (const MissingShards& missing) {
    const std::string text = missing.what();
    return text.substr(text.find('\n') + 1);
  }
  return "";
}

/// `a.json`, `b.json`, ... hold these shards of three.
void require_once(const std::vector<int>& indices) {
  std::vector<NamedShard> shards;
  for (const int index : indices) {
    shards.push_back(
        {.name = std::string(1, static_cast<char>('a' + shards.size())) + ".json", .shard = {index, 3}});
  }
  require_each_once(shards, "assay run -s s");
}

TEST(ShardsOfOneRun, AreThereOnceEach) {
  EXPECT_NO_THROW(require_once({0, 1, 2}));
  EXPECT_THAT(
      [] {
        require_once({0, 1, 1, 2});
      },
      ThrowsMessage<Error>(StrEq("c.json: is shard 1 of 0 to 2, and so is b.json\n  give each shard once")));
  EXPECT_THAT([] { require_once({1}); },
              ThrowsMessage<MissingShards>(HasSubstr("merge: lacks shards 0, 2 of 0 to 2\n")));
  EXPECT_THAT(
      [] {
        require_once({1, 1});
      },
      ThrowsMessage<Error>(HasSubstr("so is a.json")))
      << "what is there twice is said first";
}

TEST(ShardsOfOneRun, ThatAreMissingAreNamedWithTheCommandsThatRunThem) {
  EXPECT_EQ(repair_of({{"out/s-0.json", 0}, {"out/s-2.json", 2}}, {0, 3}),
            "  run what is missing, and merge again with its files:\n"
            "  assay run -s s --shard-count 3 --shard-index 1 -o out/s-1.json\n"
            "  where they were tasks of a Slurm array, submit it again with --array=1");
  EXPECT_EQ(repair_of({{"4.json", 4}, {"10.json", 10}}, {0, 12, "before.json", {}}),
            "  run what is missing, and merge again with its files:\n"
            "  for i in 0 1 2 3 5 6 7 8 9 11; do assay run -s s --shard-count 12 --shard-index $i "
            "--shard-durations before.json -o $i.json; done\n"
            "  where they were tasks of a Slurm array, submit it again with --array=0-3,5-9,11");
}

TEST(ShardsOfOneRun, ThatAreMissingGetAFileThatIsNotThereYet) {
  EXPECT_THAT(repair_of({{"my out/s0.json", 0}}, {0, 2}), HasSubstr(" -o 'my out/s'1.json\n"));
  for (const auto& files :
       std::vector<std::vector<std::pair<std::string, int>>>{{{"s0.json", 0}, {"s1.json", 2}},
                                                             {{"s0.json", 0}, {"t2.json", 2}},
                                                             {{"s00.json", 0}},
                                                             {{"2/s.json", 2}},
                                                             {{"s.json", 0}},
                                                             {{"s0_json", 0}}}) {
    EXPECT_THAT(repair_of(files, {0, 3}), HasSubstr(" -o missing-")) << files.front().first;
  }
}

TEST(ShardsOfOneRun, AgreeInWhatIsCompared) {
  const OneRun files{.name = "b.json", .first = "a.json", .remedy = "merge one run"};
  EXPECT_NO_THROW(require_equal(files, "seed", 42, 42));
  EXPECT_THAT([&] { require_equal(files, "seed", 1, 42); },
              ThrowsMessage<Error>(StrEq("b.json: has the seed '1', and a.json has '42'\n  merge one run")));
}

}  // namespace
}  // namespace assay
