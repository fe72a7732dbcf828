#include "assay/shard.hpp"

#include "assay/error.hpp"
#include "assay/random.hpp"

#include <gmock/gmock.h>

#include <map>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

using Variables = std::map<std::string, std::string>;

ShardChoice choice(const Variables& variables, const ShardOptions& options = {}) {
  return chosen_shard(options, [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

ShardChoice detected(const Variables& variables, const ShardOptions& options = {}) {
  return choice(variables, {.index = options.index, .count = options.count, .detect = true});
}

/// `index/count`, or `whole`.
std::string text(const ShardChoice& chosen) {
  if (!chosen.shard) return "whole";
  return std::to_string(chosen.shard->index) + "/" + std::to_string(chosen.shard->count);
}

void expect_refused(const Variables& variables, const ShardOptions& options, const std::string& where,
                    const std::string& what) {
  EXPECT_THAT([&] { choice(variables, options); },
              ThrowsMessage<Error>(AllOf(HasSubstr(where + ": "), HasSubstr(what))));
}

// 85944171f73967e8 is in the vectors of the authors of FNV (draft-eastlake-fnv, appendix C). FNV-1a of
// "foo/bar", worked out by its definition, is 571d17d6ef2def0d.
TEST(Shard, OfACaseIsTheHashOfItsNameModuloTheCount) {
  ASSERT_EQ(fnv1a("foobar"), 0x85944171f73967e8U);
  ASSERT_EQ(fnv1a("foobar"), 0x85944171f73967e8U);
  EXPECT_EQ(shard_of("foo", "bar", 1), 0);
  EXPECT_EQ(shard_of("foo", "bar", 2), 1);
  EXPECT_EQ(shard_of("foo", "bar", 3), 1);
  EXPECT_EQ(shard_of("foo", "bar", 5), 4);
  EXPECT_EQ(shard_of("foo", "bar", 7), 1);
}

TEST(Shard, PutsEveryCaseIntoExactlyOne) {
  for (int rows = 1; rows < 50; ++rows) {
    const std::string problem = "rows=" + std::to_string(rows);
    int holders = 0;
    for (int index = 0; index < 7; ++index) {
      if (contains({.index = index, .count = 7}, "layernorm", problem)) ++holders;
    }
    EXPECT_EQ(holders, 1) << problem;
  }
}

/// Cases of the shard `index` of these seconds.
std::vector<std::string> held(int index, int count, const std::vector<std::string>& cases,
                              std::map<std::string, double> seconds) {
  const Shard shard = balanced({index, count}, cases, {.file = "before.json", .seconds = std::move(seconds)});
  EXPECT_EQ(shard.durations, "before.json");
  std::vector<std::string> out;
  for (const std::string& name : cases) {
    if (contains(shard, name.substr(0, 2), name.substr(3))) out.push_back(name.substr(3));
  }
  return out;
}

// 7, 6, 5, 4 and 3 go into shard 0, 1, 2, 2 and 1 of three: to 7, 9 and 9 seconds.
TEST(Shard, IsBalancedByTheDurationsOfItsCases) {
  const std::vector<std::string> cases{"op/3", "op/4", "op/5", "op/6", "op/7"};
  const std::map<std::string, double> seconds{{"op/3", 3}, {"op/4", 4}, {"op/5", 5},
                                              {"op/6", 6}, {"op/7", 7}, {"op/other", 100}};
  EXPECT_THAT(held(0, 3, cases, seconds), ElementsAre("7"));
  EXPECT_THAT(held(1, 3, cases, seconds), ElementsAre("3", "6"));
  EXPECT_THAT(held(2, 3, cases, seconds), ElementsAre("4", "5"));
}

TEST(Shard, IsTheSameWhateverTheOrderOfItsCases) {
  const std::map<std::string, double> equal{{"op/a", 1}, {"op/b", 1}, {"op/c", 1}, {"op/d", 1}};
  EXPECT_THAT(held(0, 2, {"op/a", "op/b", "op/c", "op/d"}, equal), ElementsAre("a", "c"));
  EXPECT_THAT(held(0, 2, {"op/d", "op/c", "op/b", "op/a"}, equal), ElementsAre("c", "a"));
}

// The median of 1, 2 and 9 is 2: 9 into shard 0; new, known, then 1 into shard 1.
TEST(Shard, TakesACaseWithoutADurationForTheMedian) {
  const std::vector<std::string> cases{"op/known", "op/long", "op/new", "op/short"};
  const std::map<std::string, double> seconds{{"op/short", 1}, {"op/known", 2}, {"op/long", 9}};
  EXPECT_THAT(held(0, 2, cases, seconds), ElementsAre("long"));
  EXPECT_THAT(held(1, 2, cases, seconds), ElementsAre("known", "new", "short"));
  EXPECT_THAT([&] { held(0, 2, {"op/new"}, seconds); },
              ThrowsMessage<Error>(AllOf(HasSubstr("before.json: holds a time of none of the cases"),
                                         HasSubstr("--shard-durations"))));
}

TEST(Shard, GoesByNamesWhereNoDurationPlacedACase) {
  EXPECT_EQ(balanced({1, 3}, {"foo/bar"}, {}), (Shard{1, 3}));
  const Shard placed = balanced({0, 5}, {"op/a"}, {.file = "f", .seconds = {{"op/a", 1}}});
  EXPECT_FALSE(contains(placed, "foo", "bar"));
  EXPECT_TRUE(contains({.index = 4, .count = 5, .durations = "f", .places = {{"op/a", 0}}}, "foo", "bar"));
}

TEST(Shard, IsSpelledWithWhatBalancedIt) {
  EXPECT_EQ(to_options({1, 3}), "--shard-count 3 --shard-index 1");
  EXPECT_EQ(to_options({1, 3, "my file", {}}, "$i"),
            "--shard-count 3 --shard-index $i --shard-durations 'my file'");
}

TEST(ShardChoice, IsTheWholeWhenNobodySpeaksOfShards) {
  EXPECT_EQ(text(choice({})), "whole");
  EXPECT_EQ(text(choice({{"GTEST_TOTAL_SHARDS", ""}, {"GTEST_SHARD_INDEX", ""}})), "whole")
      << "pipelines export variables that have no value";
}

TEST(ShardChoice, TakesTheOptions) {
  EXPECT_EQ(text(choice({}, {.index = 2, .count = 4})), "2/4");
  EXPECT_EQ(text(choice({}, {.index = 0, .count = 1})), "0/1");
}

TEST(ShardChoice, BelievesTestRunnersWithoutBeingAsked) {
  EXPECT_EQ(text(choice({{"GTEST_SHARD_INDEX", "1"}, {"GTEST_TOTAL_SHARDS", "3"}})), "1/3");
  EXPECT_EQ(text(choice({{"TEST_SHARD_INDEX", "4"}, {"TEST_TOTAL_SHARDS", "5"}})), "4/5");
  EXPECT_EQ(text(choice({{"TEST_TOTAL_SHARDS", "0"}})), "whole") << "Bazel's word for not sharded";
}

TEST(ShardChoice, NamesTheFilesThatTestRunnersWaitFor) {
  EXPECT_THAT(choice({{"GTEST_SHARD_STATUS_FILE", "g"}, {"TEST_SHARD_STATUS_FILE", "b"}}).status_files,
              ElementsAre("g", "b"));
  EXPECT_THAT(choice({}).status_files, IsEmpty());
}

TEST(ShardChoice, BelievesNoEngineWithoutBeingAsked) {
  EXPECT_EQ(text(choice({{"CI_NODE_INDEX", "2"},
                         {"CI_NODE_TOTAL", "4"},
                         {"CIRCLE_NODE_INDEX", "1"},
                         {"CIRCLE_NODE_TOTAL", "2"},
                         {"BUILDKITE_PARALLEL_JOB", "0"},
                         {"BUILDKITE_PARALLEL_JOB_COUNT", "3"},
                         {"SLURM_ARRAY_TASK_ID", "7"},
                         {"JOB_COMPLETION_INDEX", "1"},
                         {"AWS_BATCH_JOB_ARRAY_INDEX", "1"}})),
            "whole");
}

TEST(ShardChoice, CountsGitLabsJobsFromOne) {
  EXPECT_EQ(text(detected({{"CI_NODE_INDEX", "1"}, {"CI_NODE_TOTAL", "4"}})), "0/4");
  EXPECT_EQ(text(detected({{"CI_NODE_INDEX", "4"}, {"CI_NODE_TOTAL", "4"}})), "3/4");
  EXPECT_EQ(text(detected({{"CI_NODE_TOTAL", "1"}})), "0/1") << "a job that is not parallel has no index";
  EXPECT_THAT(
      [] {
        detected({{"CI_NODE_INDEX", "0"}, {"CI_NODE_TOTAL", "4"}});
      },
      ThrowsMessage<Error>(HasSubstr("CI_NODE_INDEX: is 0, and GitLab counts from 1")));
}

TEST(ShardChoice, CountsCircleAndBuildkiteJobsFromZero) {
  EXPECT_EQ(text(detected({{"CIRCLE_NODE_INDEX", "0"}, {"CIRCLE_NODE_TOTAL", "2"}})), "0/2");
  EXPECT_EQ(text(detected({{"BUILDKITE_PARALLEL_JOB", "2"}, {"BUILDKITE_PARALLEL_JOB_COUNT", "3"}})), "2/3");
}

TEST(ShardChoice, CountsSlurmTasksFromTheLeast) {
  Variables task{{"SLURM_ARRAY_TASK_ID", "12"},
                 {"SLURM_ARRAY_TASK_COUNT", "4"},
                 {"SLURM_ARRAY_TASK_MIN", "10"},
                 {"SLURM_ARRAY_TASK_MAX", "13"}};
  EXPECT_EQ(text(detected(task)), "2/4");
  task["SLURM_ARRAY_TASK_MAX"] = "16";  // --array=10-16:2
  EXPECT_THAT([&] { detected(task); },
              ThrowsMessage<Error>(AllOf(HasSubstr("SLURM_ARRAY_TASK_MAX: is 16"), HasSubstr("gaps"),
                                         HasSubstr("--array=0-3"))));
  task.erase("SLURM_ARRAY_TASK_MIN");
  EXPECT_THAT([&] { detected(task); }, ThrowsMessage<Error>(HasSubstr("SLURM_ARRAY_TASK_MIN")));
}

// --array=3,7 of eight shards.
TEST(ShardChoice, TakesAnArrayOfFewerTasksThanShardsForThoseThatWereLost) {
  const Variables task{{"SLURM_ARRAY_TASK_ID", "7"},
                       {"SLURM_ARRAY_TASK_COUNT", "2"},
                       {"SLURM_ARRAY_TASK_MIN", "3"},
                       {"SLURM_ARRAY_TASK_MAX", "7"}};
  EXPECT_EQ(text(detected(task, {.index = {}, .count = 8})), "7/8");
  EXPECT_THAT([&] { detected(task, {.index = {}, .count = 7}); },
              ThrowsMessage<Error>(HasSubstr("SLURM_ARRAY_TASK_ID: makes the shard 7 of 7")));
  EXPECT_THAT([&] { detected(task); },
              ThrowsMessage<Error>(HasSubstr("say with --shard-count how many shards there are")));
}

TEST(ShardChoice, AsksForTheCountWhereTheEngineHasOnlyAnIndex) {
  const Variables pod{{"JOB_COMPLETION_INDEX", "3"}}, child{{"AWS_BATCH_JOB_ARRAY_INDEX", "3"}};
  for (const Variables& one : {pod, child}) {
    EXPECT_EQ(text(detected(one, {.index = {}, .count = 8})), "3/8");
    EXPECT_THAT([&] { detected(one); },
                ThrowsMessage<Error>(HasSubstr("is given without a count\n  add --shard-count")));
  }
  EXPECT_EQ(text(detected({{"AWS_BATCH_JOB_ARRAY_INDEX", "3"}, {"AWS_BATCH_JOB_ARRAY_SIZE", "5"}})), "3/5");
}

TEST(ShardChoice, SaysWhenItSeesNoEngine) {
  EXPECT_THAT([] { detected({}); }, ThrowsMessage<Error>(HasSubstr("--shard=auto: sees no engine")));
  EXPECT_EQ(text(detected({{"GTEST_SHARD_INDEX", "1"}, {"GTEST_TOTAL_SHARDS", "3"}})), "1/3")
      << "a test runner is engine enough";
}

TEST(ShardChoice, AcceptsSourcesThatAgreeAndRefusesThoseThatDiffer) {
  const Variables both{{"GTEST_SHARD_INDEX", "1"},
                       {"GTEST_TOTAL_SHARDS", "3"},
                       {"TEST_SHARD_INDEX", "1"},
                       {"TEST_TOTAL_SHARDS", "3"}};
  EXPECT_EQ(text(choice(both, {.index = 1, .count = 3})), "1/3");
  expect_refused(both, {.index = 2, .count = 3}, "GTEST_SHARD_INDEX",
                 "means shard index 1, and --shard-index means 2");
  expect_refused(both, {.index = 1, .count = 4}, "GTEST_TOTAL_SHARDS",
                 "means shard count 3, and --shard-count means 4");
  EXPECT_THAT(
      [] {
        detected({{"CI_NODE_INDEX", "2"}, {"CI_NODE_TOTAL", "4"}, {"JOB_COMPLETION_INDEX", "2"}});
      },
      ThrowsMessage<Error>(
          HasSubstr("JOB_COMPLETION_INDEX: means shard index 2, and CI_NODE_INDEX means 1")));
}

TEST(ShardChoice, RefusesHalfOfAPair) {
  expect_refused({{"GTEST_TOTAL_SHARDS", "3"}}, {}, "GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX is not");
  expect_refused({{"TEST_SHARD_INDEX", "3"}}, {}, "TEST_SHARD_INDEX", "TEST_TOTAL_SHARDS is not");
  expect_refused({}, {.index = {}, .count = 3}, "--shard-count", "without an index");
  expect_refused({}, {.index = 1, .count = {}}, "--shard-index", "without a count");
  EXPECT_THAT(
      [] {
        detected({{"CIRCLE_NODE_TOTAL", "3"}});
      },
      ThrowsMessage<Error>(HasSubstr("CIRCLE_NODE_TOTAL: is set, but CIRCLE_NODE_INDEX is not")));
}

TEST(ShardChoice, RefusesDurationsWhereThereAreNoShards) {
  expect_refused({}, {.index = {}, .count = {}, .durations = "before.json"}, "--shard-durations",
                 "nothing says that there are any");
  EXPECT_EQ(text(choice({}, {.index = 1, .count = 2, .durations = "before.json"})), "1/2");
}

TEST(ShardChoice, RefusesWhatIsNoNumber) {
  for (const char* bad : {"two", "1.5", "-1", "3 ", "0x2", "99999999999999999999"}) {
    expect_refused({{"GTEST_SHARD_INDEX", bad}, {"GTEST_TOTAL_SHARDS", "4"}}, {}, "GTEST_SHARD_INDEX",
                   "no number");
  }
}

TEST(ShardChoice, RefusesAnIndexBeyondTheCountAndACountOfNone) {
  expect_refused({}, {.index = 4, .count = 4}, "--shard-index", "makes the shard 4 of 4");
  expect_refused({}, {.index = -1, .count = 4}, "--shard-index", "makes the shard -1 of 4");
  expect_refused({}, {.index = 0, .count = 0}, "--shard-count", "is 0, must be from 1");
  expect_refused({{"GTEST_SHARD_INDEX", "3"}, {"GTEST_TOTAL_SHARDS", "3"}}, {}, "GTEST_SHARD_INDEX",
                 "makes the shard 3 of 3");
}

TEST(ShardChoice, SaysWhoDecided) {
  EXPECT_EQ(choice({{"GTEST_SHARD_INDEX", "1"}, {"GTEST_TOTAL_SHARDS", "3"}}).source,
            "GTEST_SHARD_INDEX, GTEST_TOTAL_SHARDS");
}

}  // namespace
}  // namespace assay
