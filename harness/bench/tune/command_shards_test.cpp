// Shards of the settings of a command, with turns from a script: no clock is involved.
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "bench/measure/merge.hpp"
#include "bench/tune/command_settings.hpp"
#include "core/files/scratch.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

constexpr TuneWords shard_words{
    .setting = "setting", .settings = "settings", .control = "the control was {}"};

/// A command of which the present setting is w=1, beside w=2 to w=5.
CommandRequest training(const std::string& program = "train") {
  return {.command = {program, "{w}"}, .vary = {"w=1,2,3,4,5"}, .present = {}, .except = {}};
}

/// Shard `index` of 0 to 1: w=2 and w=4, or w=3 and w=5. The second machine is half as fast; a setting takes
/// so many times as long as the present one in each of ten turns, and `control` is that of the twin.
struct ScriptedShards {
  std::map<std::string, double> times;
  double control = 1;
  std::string program = "train";

  NamedRun<Results> shard(int index) const {
    TuneRecord record{.title = "Settings of train {w}"};
    record.made = {.date = "2026-01-01T00:00:00Z",
                   .commit = "c0ffee",
                   .command = "assay tune command --vary w=1,2,3,4,5 --match ' -- ([0-9]+)' -- train '{w}'",
                   .machine = {.key = "a_2c"},
                   .weather = {}};
    auto settings = settings_of(training(program));
    const ShardRecord part = keep_shard(settings, {index, 2}, record.made);
    const double second = index == 0 ? 1 : 2;
    for (const CommandSetting& one : settings) {
      Candidate& candidate = record.ruling.candidates.emplace_back();
      candidate = {.name = one.values, .price = {one.price.front(), 7}};
      const auto found = times.find(one.values);
      const double ratio = found == times.end() ? 1 : found->second;
      if (ratio == 0) candidate.left_out = "ended with exit code 3";
      for (int turn = 0; turn < 10 && ratio > 0; ++turn) {
        const double luck = second * (1 + 0.001 * ((turn * 7 + index) % 5)), present = luck;
        const bool is_present = &one == &settings.front();
        candidate.turns.push_back({.seconds = {{present * ratio * (1 + 0.0001 * (turn % 3))}},
                                   .control = {{is_present ? present : present * control}}});
        if (is_present) candidate.turns.back().seconds = {{present}};
      }
    }
    const std::string name = fmt::format("part{}.json", index);
    return {name, results_from_json(to_json(results_of(record, part)), name)};
  }
  std::vector<NamedRun<Results>> shards() const { return {shard(1), shard(0)}; }
  TuneRuling ruling() const { return ruled(shard_words, candidates_of(merged(shards()))); }
};

TEST(ShardsOfSettings, HaveThePresentOneAndEveryOtherOneInTurn) {
  std::vector<std::string> names;
  Circumstances made{.date = "", .commit = "", .command = "assay tune command --vary w=1,2,3,4,5"};
  for (const int index : {0, 1, 2}) {
    auto settings = settings_of(training());
    const ShardRecord part = keep_shard(settings, {index, 3}, made);
    EXPECT_EQ(part.cases, 4) << "the level is that of all";
    EXPECT_EQ(part.selection, "tune command --vary w=1,2,3,4,5");
    EXPECT_EQ(settings.front().values, "w=1");
    for (const CommandSetting& one : settings) names.push_back(one.values);
  }
  EXPECT_THAT(names, ElementsAre("w=1", "w=2", "w=5", "w=1", "w=3", "w=1", "w=4"));
  auto settings = settings_of(training());
  EXPECT_THAT(
      [&] {
        keep_shard(settings, {0, 5}, made);
      },
      ThrowsMessage<Error>(HasSubstr("--shard-count: is above the 4 settings to try")));
}

TEST(ShardsOfSettings, PutTogetherTakeABetterOneOfOneShard) {
  const Results all = merged(ScriptedShards{.times = {{"w=3", 0.8}, {"w=4", 1.3}}}.shards());
  EXPECT_EQ(all.suite, settings_suite);
  EXPECT_EQ(all.about, "Settings of train {w}");
  const TuneRuling ruling = ruled(shard_words, candidates_of(all));
  std::vector<std::string> names;
  for (const Candidate& one : ruling.candidates) names.push_back(one.name);
  EXPECT_THAT(names, ElementsAre("w=1", "w=2", "w=3", "w=4", "w=5"));
  EXPECT_EQ(ruling.advice, Advice::take);
  EXPECT_EQ(ruling.candidates[ruling.chosen].name, "w=3");
  EXPECT_NEAR(ruling.candidates[2].ratio.middle, 0.8, 1e-3) << "to the present one of its machine";
  EXPECT_EQ(ruling.candidates[3].decision, Decision::reject);
  EXPECT_THAT(ruling.candidates[3].price, ElementsAre(0, 7));
}

TEST(ShardsOfSettings, TakeTheBestOfSeveralShards) {
  EXPECT_EQ((ScriptedShards{.times = {{"w=2", 0.9}, {"w=5", 0.7}}}.ruling().chosen), 4U);
  EXPECT_EQ((ScriptedShards{.times = {{"w=2", 0.7}, {"w=5", 0.9}}}.ruling().chosen), 1U);
}

TEST(ShardsOfSettings, ThatAreAllTheSameKeepThePresentOne) {
  const TuneRuling ruling = ScriptedShards{}.ruling();
  EXPECT_EQ(ruling.advice, Advice::keep);
  EXPECT_EQ(ruling.chosen, 0U);
  EXPECT_EQ(ruling.tied, 5U);
}

TEST(ShardsOfSettings, AreConfoundedWhereTheControlOfTheirOwnMoved) {
  const ScriptedShards quiet{.times = {{"w=3", 0.8}}}, restless{.times = {{"w=2", 0.8}}, .control = 1.1};
  const TuneRuling ruling = ruled(shard_words, candidates_of(merged({quiet.shard(1), restless.shard(0)})));
  EXPECT_EQ(ruling.candidates[1].decision, Decision::confounded);
  EXPECT_EQ(ruling.candidates[ruling.chosen].name, "w=3");
}

TEST(ShardsOfSettings, KeepWhatWasLeftOut) {
  const TuneRuling ruling = ScriptedShards{.times = {{"w=3", 0}, {"w=5", 0}}}.ruling();
  EXPECT_EQ(ruling.candidates[2].left_out, "ended with exit code 3");
  EXPECT_THAT(ruling.candidates[2].turns, IsEmpty());
  EXPECT_THAT(ruling.candidates[0].turns, SizeIs(10));
  EXPECT_EQ(ruling.advice, Advice::keep);
}

TEST(ShardsOfSettings, ThatAreMissingAreNamedWithTheCommandThatRunsThem) {
  EXPECT_THAT([] { merged(std::vector<NamedRun<Results>>{ScriptedShards{}.shard(0)}); },
              ThrowsMessage<MissingShards>(
                  AllOf(HasSubstr("lacks shard 1 of 0 to 1"),
                        HasSubstr("\n  assay tune command --vary w=1,2,3,4,5 --match ' -- ([0-9]+)' "
                                  "--shard-count 2 --shard-index 1 -o part1.json -- train '{w}'\n"))));
}

std::string refusal_of_changed(const std::function<void(NamedRun<Results>&)>& change) {
  auto files = ScriptedShards{}.shards();
  change(files[1]);
  try {
    candidates_of(merged(std::move(files)));
  } catch (const Error& error) {
    return error.what();
  }
  return "merged";
}

TEST(ShardsOfSettings, AreRefusedWhereTheyAreThereTwiceOrOfAnotherCommand) {
  EXPECT_EQ(refusal_of_changed([](NamedRun<Results>&) {}), "merged");
  EXPECT_THAT(refusal_of_changed([](NamedRun<Results>& file) {
                file = {"copy.json", ScriptedShards{}.shard(1).run};
              }),
              HasSubstr("is shard 1 of 0 to 1, and so is"));
  EXPECT_THAT(refusal_of_changed([](NamedRun<Results>& file) { file.run.shard->selection += " --fresh"; }),
              AllOf(HasSubstr("part0.json: has the selection 'tune command --vary"), HasSubstr("--fresh'")));
  EXPECT_THAT(refusal_of_changed([](NamedRun<Results>& file) { file.run.commit = "b"; }),
              HasSubstr("commit 'b'"));
  EXPECT_THAT(refusal_of_changed([](NamedRun<Results>& file) { file.run.shard.reset(); }),
              HasSubstr("is no shard"));
}

TEST(ShardsOfSettings, AreRefusedWhereTheScriptIsAnother) {
  const ScratchFolder folder;
  const std::string script = (folder.path() / "train.py").string();
  write_file(script, "one");
  const ScriptedShards scripted{.times = {}, .program = script};
  auto files = std::vector<NamedRun<Results>>{scripted.shard(0), scripted.shard(1)};
  EXPECT_NO_THROW(merged(files));
  write_file(script, "two");
  files[1] = scripted.shard(1);
  EXPECT_THAT([&] { merged(files); },
              ThrowsMessage<Error>(HasSubstr("part1.json: is of another build than part0.json: program: ")));
}

// A file that somebody changed.
TEST(ShardsOfSettings, AreRefusedWhereTurnsAreNotBesideThePresentOne) {
  for (const std::size_t trial : {0U, 1U, 2U}) {
    EXPECT_THAT(refusal_of_changed(
                    [&](NamedRun<Results>& file) { file.run.trials[trial].launches.front().resize(5); }),
                HasSubstr("setting/tried/w=2#1: has turns without the present setting, or few"));
  }
  EXPECT_THAT(refusal_of_changed([](NamedRun<Results>& file) {
                for (TrialResult& trial : file.run.trials) trial.launches.clear();
              }),
              HasSubstr("or few"));
}

}  // namespace
}  // namespace assay
