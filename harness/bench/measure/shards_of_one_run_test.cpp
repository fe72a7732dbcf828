#include "bench/measure/shards_of_one_run.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace assay {
namespace {

using ::testing::StrEq;
using ::testing::ThrowsMessage;

/// `a.json`, `b.json`, ... hold these shards of three.
void require_once(const std::vector<int>& indices) {
  std::vector<NamedShard> shards;
  for (const int index : indices) {
    shards.push_back(
        {.name = std::string(1, static_cast<char>('a' + shards.size())) + ".json", .shard = {index, 3}});
  }
  require_each_once(shards);
}

TEST(ShardsOfOneRun, AreThereOnceEach) {
  EXPECT_NO_THROW(require_once({0, 1, 2}));
  EXPECT_THAT(
      [] {
        require_once({0, 1, 1, 2});
      },
      ThrowsMessage<Error>(StrEq("c.json: is shard 1 of 0 to 2, and so is b.json\n  give each shard once")));
  EXPECT_THAT([] { require_once({1}); },
              ThrowsMessage<Error>(StrEq("merge: lacks shards 0, 2 of 0 to 2\n  run what is missing, and "
                                         "give the files of all shards")));
}

TEST(ShardsOfOneRun, AgreeInWhatIsCompared) {
  const OneRun files{.name = "b.json", .first = "a.json", .remedy = "merge one run"};
  EXPECT_NO_THROW(require_equal(files, "seed", "42", "42"));
  EXPECT_THAT([&] { require_equal(files, "seed", "1", "42"); },
              ThrowsMessage<Error>(StrEq("b.json: has the seed '1', and a.json has '42'\n  merge one run")));
}

}  // namespace
}  // namespace assay
