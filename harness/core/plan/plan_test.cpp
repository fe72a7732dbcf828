#include "assay/plan.hpp"

#include "assay/error.hpp"
#include "core/check/doubling_test.hpp"
#include "core/machine/described_topology_test.hpp"

#include <gmock/gmock.h>

#include <optional>

namespace assay {
namespace {

using ::testing::AllOf;
using testing::doubled;
using testing::Doubling;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

Registry three_variants() {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "flat", .run = doubled});
  registry.add<Doubling>({.name = "threaded", .threaded = true, .run = doubled});
  return registry;
}

Suite two_cases() {
  return {.name = "s",
          .cases = {{.operation = "doubling", .problem = "rows=1,columns=2"},
                    {.operation = "doubling", .problem = "rows=3,columns=4"}}};
}

Machine four_cores() { return {.key = "m", .cores = 4, .memory_bytes = 1e9}; }

std::vector<std::string> keys(const Selection& selection) {
  const Registry registry = three_variants();
  std::vector<std::string> out;
  for (const Trial& trial : make_plan(registry, two_cases(), selection, four_cores()))
    out.push_back(trial.key);
  return out;
}

TEST(Plan, RunsThreadedVariantsWithOneThreadAndWithAllCores) {
  EXPECT_THAT(keys({.filter = "columns=2"}),
              ElementsAre("doubling/naive/rows=1,columns=2#1", "doubling/flat/rows=1,columns=2#1",
                          "doubling/threaded/rows=1,columns=2#1", "doubling/threaded/rows=1,columns=2#4"));
}

TEST(Plan, RunsNoMoreThreadsThanAPersonWouldOnThisMachine) {
  const Registry registry = three_variants();
  const auto threads = [&](const char* machine, std::vector<int> allowed, std::optional<double> quota) {
    const int cores = usable_cores(testing::topology_of(machine), allowed, quota);
    std::vector<int> out;
    for (const Trial& trial : make_plan(registry, two_cases(), {.filter = "threaded/rows=1"},
                                        {.key = "m", .cores = cores, .memory_bytes = 1e9})) {
      if (trial.variant != 0) out.push_back(trial.context.threads);
    }
    return out;
  };
  EXPECT_THAT(threads("core:4 pu:2", {0, 1, 2, 3, 4, 5, 6, 7}, {}), ElementsAre(1, 4)) << "one for each core";
  EXPECT_THAT(threads("core:4 pu:2", {1, 4, 5}, {}), ElementsAre(1, 2)) << "a CPU set with holes";
  EXPECT_THAT(threads("core:1 pu:2", {0, 1}, {}), ElementsAre(1));
  EXPECT_THAT(threads("core:4 pu:1", {0, 1, 2, 3}, 0.5), ElementsAre(1)) << "half a core";
  EXPECT_THAT(threads("core:4 pu:1", {0, 1, 2, 3}, 2.5), ElementsAre(1, 2));
}

TEST(Plan, KeepsNaiveOfEverySelectedCase) {
  EXPECT_THAT(keys({.filter = "flat/rows=3"}),
              ElementsAre("doubling/naive/rows=3,columns=4#1", "doubling/flat/rows=3,columns=4#1"));
}

TEST(Plan, NeverTimesAVariantThatIsSetApart) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "plausible", .known_bad = "nowhere", .run = doubled});
  registry.add<Doubling>({.name = "replayed", .known_cheat = "nowhere", .run = doubled});
  registry.add<Doubling>({.name = "suspicious", .known_honest = "nowhere", .run = doubled});
  for (const Trial& trial : make_plan(registry, two_cases(), {}, four_cores())) {
    EXPECT_EQ(trial.variant, 0U) << trial.key;
  }
}

TEST(Plan, NegatesAFilterWithALeadingMinus) {
  EXPECT_THAT(keys({.filter = "-threaded|rows=3"}),
              ElementsAre("doubling/naive/rows=1,columns=2#1", "doubling/flat/rows=1,columns=2#1"));
}

TEST(Plan, TakesTheThreadCountsItIsGiven) {
  EXPECT_THAT(keys({.filter = "threaded/rows=1", .threads = {3}}),
              ElementsAre("doubling/naive/rows=1,columns=2#1", "doubling/threaded/rows=1,columns=2#3"));
}

TEST(Plan, RefusesASelectionOfNothing) {
  EXPECT_THAT([] { keys({.filter = "no such thing"}); }, ThrowsMessage<Error>(HasSubstr("selects nothing")));
}

TEST(Plan, RefusesABrokenFilter) {
  EXPECT_THAT([] { keys({.filter = "("}); }, ThrowsMessage<Error>(HasSubstr("not a regular expression")));
}

TEST(Plan, RefusesACaseThatDoesNotFitInMemory) {
  const Registry registry = three_variants();
  Suite huge{.name = "s",
             .cases = {{.operation = "doubling", .problem = "rows=2147483648,columns=2147483648"}}};
  EXPECT_THAT([&] { make_plan(registry, huge, {}, four_cores()); },
              ThrowsMessage<Error>(HasSubstr("needs 1.29e+11 GiB, and 0.931 GiB of memory are available")));
  Machine limited = four_cores();
  limited.facts = {{"memory", "1 GiB", false}};
  EXPECT_THAT([&] { make_plan(registry, huge, {}, limited); },
              ThrowsMessage<Error>(AllOf(HasSubstr("doubling/rows=2147483648,columns=2147483648: needs"),
                                         HasSubstr("0.931 GiB of 1 GiB are available"),
                                         HasSubstr("lift the limit on memory"))));
}

// 24 bytes an element: 1,048,576 of them take 24 MiB, with a quarter more 30, and the program 64.
TEST(Plan, LeavesRoomBesideTheFootprint) {
  const Registry registry = three_variants();
  const Suite suite{.name = "s", .cases = {{.operation = "doubling", .problem = "rows=1024,columns=1024"}}};
  const auto plan = [&](double mebibytes) {
    return [&, mebibytes] {
      make_plan(registry, suite, {}, {.key = "m", .cores = 1, .memory_bytes = mebibytes * 0x1p20});
    };
  };
  EXPECT_THAT(plan(93), ThrowsMessage<Error>(HasSubstr("are available")));
  EXPECT_NO_THROW(plan(94)());
}

// doubling/rows=1,columns=2 is in shard 2 of 0 to 2, doubling/rows=3,columns=4 in shard 0, and both are in
// shard 1 of 0 to 1: FNV-1a modulo 3 and 2.
TEST(Plan, GivesAShardItsCasesWithAllTheirVariants) {
  EXPECT_THAT(keys({.filter = "flat|threaded", .threads = {2}, .shard = Shard{2, 3}}),
              ElementsAre("doubling/naive/rows=1,columns=2#1", "doubling/flat/rows=1,columns=2#1",
                          "doubling/threaded/rows=1,columns=2#2"));
  EXPECT_THAT(keys({.filter = "flat", .shard = Shard{0, 3}}),
              ElementsAre("doubling/naive/rows=3,columns=4#1", "doubling/flat/rows=3,columns=4#1"));
}

// By their names both cases are in one of two shards.
TEST(Plan, GivesAShardTheCasesThatDurationsPlaceThere) {
  const Durations durations{.file = "before.json",
                            .seconds = {{"doubling/rows=1,columns=2", 1}, {"doubling/rows=3,columns=4", 2}}};
  const auto flat = [&](int index) {
    return keys({.filter = "flat", .shard = Shard{index, 2}, .durations = durations});
  };
  EXPECT_THAT(flat(0), ElementsAre("doubling/naive/rows=3,columns=4#1", "doubling/flat/rows=3,columns=4#1"));
  EXPECT_THAT(flat(1), ElementsAre("doubling/naive/rows=1,columns=2#1", "doubling/flat/rows=1,columns=2#1"));
  const Registry registry = three_variants();
  const auto record = [&](const Durations& given) {
    return *shard_record(registry, two_cases(), {.shard = Shard{0, 2}, .durations = given}, four_cores());
  };
  EXPECT_THAT(record(durations).positions, ElementsAre(1));
  EXPECT_EQ(record(durations).shard.places.size(), 2U);
  Durations others = durations;
  others.seconds["doubling/rows=1,columns=2"] = 3;
  EXPECT_NE(record(durations).fingerprint, record(others).fingerprint)
      << "shards of other places do not make one whole";
}

TEST(Plan, OfAShardWithoutCasesIsEmptyButASelectionOfNothingIsRefused) {
  EXPECT_THAT(keys({.shard = Shard{0, 2}}), IsEmpty());
  EXPECT_THAT(
      [] {
        keys({.filter = "no such thing", .shard = Shard{0, 2}});
      },
      ThrowsMessage<Error>(HasSubstr("selects nothing")));
}

TEST(Plan, AsksNoMemoryForWhatOtherShardsHold) {
  const Registry registry = three_variants();
  Suite suite = two_cases();
  suite.cases.push_back({.operation = "doubling", .problem = "rows=2147483648,columns=2147483648"});
  const auto plan = [&](int index) {
    return [&, index] { make_plan(registry, suite, {.shard = Shard{index, 3}}, four_cores()); };
  };
  const int huge = shard_of("doubling", "rows=2147483648,columns=2147483648", 3);
  EXPECT_THAT(plan(huge), ThrowsMessage<Error>(HasSubstr("are available")));
  EXPECT_NO_THROW(plan((huge + 1) % 3)());
}

TEST(Plan, RecordsWhichOfAllSelectedCasesAShardHolds) {
  const Registry registry = three_variants();
  const auto record = [&](const Selection& selection, const Suite& suite = two_cases()) {
    return shard_record(registry, suite, selection, four_cores());
  };
  EXPECT_FALSE(record({}).has_value());
  const ShardRecord first = *record({.filter = "flat", .threads = {1, 2}, .shard = Shard{0, 3}});
  EXPECT_EQ(first.shard, (Shard{0, 3}));
  EXPECT_EQ(first.selection, "-k 'flat' --threads 1,2");
  EXPECT_EQ(first.cases, 2);
  EXPECT_THAT(first.positions, ElementsAre(1));
  EXPECT_THAT(record({.shard = Shard{2, 3}})->positions, ElementsAre(0));
  EXPECT_THAT(record({.shard = Shard{1, 3}})->positions, IsEmpty());
}

TEST(Plan, RecordsOneFingerprintForAllShardsOfOneSelectionAndAnotherForEveryOther) {
  const Registry registry = three_variants();
  const auto fingerprint = [&](const Selection& selection, const Suite& suite = two_cases()) {
    return shard_record(registry, suite, selection, four_cores())->fingerprint;
  };
  const std::string one = fingerprint({.shard = Shard{0, 3}});
  EXPECT_EQ(fingerprint({.shard = Shard{1, 3}}), one);
  EXPECT_NE(fingerprint({.filter = "rows=3", .shard = Shard{1, 3}}), one);
  EXPECT_NE(fingerprint({.seed = 43, .shard = Shard{1, 3}}), one);
  Suite heavier = two_cases();
  heavier.cases[0].per_step = 7;
  EXPECT_NE(fingerprint({.shard = Shard{1, 3}}, heavier), one);
}

TEST(Plan, TellsWorkloadsApartByProblemAndSeed) {
  const Registry registry = three_variants();
  const Operation& operation = registry.at("doubling");
  const std::string one = workload_hash(operation, "rows=1,columns=2", 42);
  EXPECT_EQ(one, workload_hash(operation, "rows=1,columns=2", 42));
  EXPECT_NE(one, workload_hash(operation, "rows=1,columns=3", 42));
  EXPECT_NE(one, workload_hash(operation, "rows=1,columns=2", 43));
}

}  // namespace
}  // namespace assay
