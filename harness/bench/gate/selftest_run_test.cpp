// Self-tests from their request to their outcome, with launches from a script: no process is started.
#include "assay/error.hpp"
#include "bench/gate/selftest.hpp"
#include "core/check/doubling_test.hpp"

#include <gmock/gmock.h>

#include <set>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string naive = "doubling/naive/rows=3,columns=5#1", flat = "doubling/flat/rows=3,columns=5#1";

Registry registry() {
  Registry out = testing::doubling_registry();
  out.add<testing::Doubling>({.name = "flat", .run = testing::doubled});
  return out;
}

/// Launches in which a head takes as long as its base, times what is planted in it.
PairedSample as_planted(const PairedPrograms& programs, const Hooks&) {
  return [planted = programs.planted](TwoBuilds& run, const std::vector<std::size_t>& trials, int) {
    for (const std::size_t i : trials) {
      const auto plant = planted.find(run.trials[i].trial.key);
      const double head = plant == planted.end() ? 1 : 1 + plant->second;
      run.trials[i].launches.push_back({.base = {1}, .head = {head}, .control = {1}});
    }
  };
}

SelfTestRequest request_for(const Registry& registry) {
  SelfTestRequest out{.suite = {.name = "s", .cases = {{"doubling", "rows=3,columns=5"}}},
                      .program = "p",
                      .runs = 1,
                      .planted_runs = 1,
                      .plants = {0.1},
                      .budget_seconds = 1000,
                      .command = "assay selftest",
                      .launches = as_planted};
  out.description = describe(registry, {.cases = out.suite.cases, .threads = {1}});
  return out;
}

std::vector<std::string> plants_found_slower(const SelfTest& test) {
  std::vector<std::string> out;
  for (const SelfTestRun& run : test.runs) {
    for (const Plant& plant : run.plants) {
      if (plant.found == Standing::slower) out.push_back(plant.key);
    }
  }
  return out;
}

TEST(RunSelfTest, FindsWhatItPlantsAndNothingInAnUnchangedProgram) {
  const Registry operations = registry();
  const SelfTest test = run_selftest(request_for(operations), operations, {});
  ASSERT_THAT(test.runs, SizeIs(2));
  EXPECT_THAT(test.runs[0].plants, IsEmpty());
  EXPECT_EQ(test.runs[0].trials, 2U);
  EXPECT_EQ(test.runs[0].undecided, 0U);
  EXPECT_THAT(test.runs[1].plants, SizeIs(1));
  EXPECT_THAT(plants_found_slower(test), SizeIs(1));
  for (const SelfTestRun& run : test.runs) EXPECT_THAT(run.alarms, IsEmpty());
  EXPECT_THAT(test.asked, ElementsAre(0.1));
  EXPECT_EQ(test.suite, "s");
  EXPECT_EQ(test.raw_hash, "") << "nobody keeps anything";
}

TEST(RunSelfTest, TellsAFalseAlarm) {
  const Registry operations = registry();
  SelfTestRequest request = request_for(operations);
  request.planted_runs = 0;
  request.launches = [](PairedPrograms programs, const Hooks& hooks) {
    programs.planted[flat] = 0.1;
    return as_planted(programs, hooks);
  };
  const SelfTest test = run_selftest(request, operations, {});
  ASSERT_THAT(test.runs, SizeIs(1));
  EXPECT_THAT(test.runs[0].alarms, ElementsAre(flat));
  EXPECT_THAT(test.asked, IsEmpty());
}

TEST(RunSelfTest, KeepsGatesFromWhichTheSameFollowsAgain) {
  const Registry operations = registry();
  SelfTestRequest request = request_for(operations);
  request.runs = 2;
  std::vector<std::string> lines;
  request.keep = [&](const std::string& line) { lines.push_back(line); };
  const SelfTest test = run_selftest(request, operations, {});
  ASSERT_THAT(lines, SizeIs(3));
  std::set<std::uint64_t> seeds;
  std::string text;
  for (const std::string& line : lines) {
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    seeds.insert(two_builds_from_json(line, "kept").seed);
    text += line;
  }
  EXPECT_THAT(seeds, SizeIs(3)) << "each gate draws anew";

  const std::vector<KeptGates> kept{{"kept", text}};
  const SelfTest again = judged_anew(kept, operations);
  ASSERT_THAT(again.runs, SizeIs(3));
  EXPECT_EQ(plants_found_slower(again), plants_found_slower(test));
  EXPECT_EQ(again.runs[2].plants[0].bound, test.runs[2].plants[0].bound);
  EXPECT_EQ(again.raw_hash, test.raw_hash);
  EXPECT_EQ(again.suite, "s");
  EXPECT_EQ(again.interrupted, 0U);
}

TEST(RunSelfTest, KeepsNothingOfAGateThatWasInterrupted) {
  const Registry operations = registry();
  SelfTestRequest request = request_for(operations);
  std::vector<std::string> lines;
  request.keep = [&](const std::string& line) { lines.push_back(line); };
  int gates = 0;
  bool stop = false;
  request.launches = [&](const PairedPrograms& programs, const Hooks& hooks) {
    stop = ++gates == 2;
    return as_planted(programs, hooks);
  };
  const SelfTest test = run_selftest(request, operations, {.stop = [&] { return stop; }});
  EXPECT_THAT(test.runs, SizeIs(1));
  EXPECT_THAT(lines, SizeIs(1));

  gates = 1;
  stop = false;
  const SelfTest none = run_selftest(request, operations, {.stop = [&] { return stop; }});
  EXPECT_THAT(none.runs, IsEmpty());
  EXPECT_THAT(lines, SizeIs(1));
  EXPECT_EQ(none.raw_hash, "");
}

TEST(RunSelfTest, DoesNotTryAgainWhatCrashed) {
  const Registry operations = registry();
  SelfTestRequest request = request_for(operations);
  request.runs = 3;
  request.planted_runs = 0;
  int tried = 0;
  request.launches = [&](const PairedPrograms& programs, const Hooks& hooks) {
    return [&tried, others = as_planted(programs, hooks)](TwoBuilds& run, std::vector<std::size_t> trials,
                                                          int launch) {
      std::erase_if(trials, [&](std::size_t i) {
        PairedTrial& trial = run.trials[i];
        if (trial.trial.key != flat) return false;
        ++tried;
        trial.left_out = {Standing::crashed, "the head crashed"};
        return true;
      });
      others(run, trials, launch);
    };
  };
  const SelfTest test = run_selftest(request, operations, {});
  ASSERT_THAT(test.faults, SizeIs(1)) << "once, and not for each gate";
  EXPECT_EQ(test.faults[0].key, flat);
  EXPECT_EQ(test.faults[0].standing, Standing::crashed);
  EXPECT_EQ(test.faults[0].why, "the head crashed");
  EXPECT_EQ(tried, 1);
  ASSERT_THAT(test.runs, SizeIs(3));
  for (const SelfTestRun& run : test.runs)
    EXPECT_EQ(run.trials, 1U) << "the other one is judged all the same";
}

/// 15 elements are 120 bytes, which take 0.06 ns at twice 1 TB/s.
TEST(RunSelfTest, LeavesOutWhatIsFasterThanAnyKernelCanBeWithOneRoofForAllGates) {
  const Registry operations = registry();
  SelfTestRequest request = request_for(operations);
  request.runs = 2;
  request.planted_runs = 0;
  int measured = 0;
  request.roof = [&] {
    ++measured;
    return Roof{.flops_per_second = 1e11, .bandwidth = {{"L1", 32768, 1e12}}};
  };
  request.launches = [](const PairedPrograms&, const Hooks&) -> PairedSample {
    return [](TwoBuilds& run, const std::vector<std::size_t>& trials, int) {
      for (const std::size_t i : trials) {
        const double seconds = run.trials[i].trial.key == flat ? 1e-12 : 1e-9;
        run.trials[i].launches.push_back({.base = {seconds}, .head = {seconds}, .control = {seconds}});
      }
    };
  };
  std::string kept;
  request.keep = [&](const std::string& line) { kept += line; };
  const SelfTest test = run_selftest(request, operations, {});
  EXPECT_EQ(measured, 4) << "as often as a roof that is beaten is measured";
  ASSERT_THAT(test.faults, SizeIs(1));
  EXPECT_EQ(test.faults[0].key, flat);
  EXPECT_EQ(test.faults[0].standing, Standing::impossible);
  EXPECT_THAT(test.faults[0].why, HasSubstr("its bytes take 0.0600 ns at twice the bandwidth of L1"));
  EXPECT_EQ(test.runs.at(1).trials, 1U);
  EXPECT_THAT(selftest_markdown(test), HasSubstr("* `" + flat + "`, impossible: took "));

  const SelfTest again = judged_anew(std::vector<KeptGates>{{"kept", kept}}, operations);
  ASSERT_THAT(again.faults, SizeIs(1));
  EXPECT_EQ(again.faults[0].why, test.faults[0].why);
}

TEST(RunSelfTest, RefusesAFilterThatSelectsNothingBeforeAnythingIsStarted) {
  const Registry operations = registry();
  SelfTestRequest request = request_for(operations);
  request.filter = "nothing_of_this_name";
  request.launches = [](const PairedPrograms&, const Hooks&) -> PairedSample {
    ADD_FAILURE() << "launches were made";
    return {};
  };
  try {
    run_selftest(request, operations, {});
    FAIL();
  } catch (const Error& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("selects nothing in suite 's'"));
  }
  request.filter = "naive";
  request.launches = as_planted;
  const SelfTest test = run_selftest(request, operations, {});
  ASSERT_THAT(test.runs, SizeIs(2));
  EXPECT_EQ(test.runs[0].trials, 1U);
  EXPECT_THAT(plants_found_slower(test), ElementsAre(naive));
}

std::string message_of(const std::vector<KeptGates>& files) {
  try {
    judged_anew(files, registry());
  } catch (const Error& failure) {
    return failure.what();
  }
  return "";
}

TEST(JudgedAnew, RefusesFilesThatHoldTheSameOrNothingOrSomethingElse) {
  const TwoBuilds run{.suite = "s"};
  std::string line = to_json(run);
  std::erase(line, '\n');
  EXPECT_THAT(message_of({{"a", line + '\n'}, {"b", line + '\n'}}),
              HasSubstr("--again b: holds what another of the files holds"));
  EXPECT_THAT(message_of({{"a", ""}}), HasSubstr("a: holds no gate"));
  EXPECT_THAT(message_of({{"a", line + "\n{\n"}}), HasSubstr("a, line 2"));
}

TEST(JudgedAnew, LeavesOutGatesThatWereNotFinished) {
  std::string line = to_json(TwoBuilds{.suite = "s", .partial = true});
  std::erase(line, '\n');
  const std::vector<KeptGates> kept{{"kept", line + '\n'}};
  const SelfTest test = judged_anew(kept, registry());
  EXPECT_EQ(test.interrupted, 1U);
  EXPECT_THAT(test.runs, IsEmpty());
}

TEST(JudgedAnew, RemembersThatACoreWasBusy) {
  std::string line = to_json(TwoBuilds{.suite = "s", .busy = true});
  std::erase(line, '\n');
  const std::vector<KeptGates> kept{{"kept", line + '\n'}};
  EXPECT_TRUE(judged_anew(kept, registry()).busy);
}

}  // namespace
}  // namespace assay
