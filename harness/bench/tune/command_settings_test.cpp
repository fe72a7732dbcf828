// Commands are lines of a shell that write steps as assay.timed() does; no test asserts a time.
#include "bench/tune/command_settings.hpp"

#include "assay/error.hpp"
#include "assay/files.hpp"
#include "core/files/scratch.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

CommandRequest request(std::string line, std::vector<std::string> vary) {
  return {
      .command = {"/bin/sh", "-c", std::move(line)}, .vary = std::move(vary), .present = {}, .except = {}};
}

TEST(CommandSettings, AreThePresentOneAndEveryOtherCombination) {
  CommandRequest given =
      request("train {workers} {batch} ${HOME} {}", {"workers=0,2", "batch=32,64", "env:N=1"});
  given.present = "batch=64";
  given.except = {"workers=2,batch=32"};
  const auto settings = settings_of(given);
  std::vector<std::string> names;
  for (const CommandSetting& one : settings) names.push_back(one.values);
  EXPECT_THAT(names, ElementsAre("workers=0, batch=64, env:N=1", "workers=0, batch=32, env:N=1",
                                 "workers=2, batch=64, env:N=1"));
  EXPECT_EQ(settings[2].command.words.back(), "train 2 64 ${HOME} {}");
  EXPECT_THAT(settings[2].environment, ElementsAre(std::pair{"N", std::optional<std::string>("1")}));
  EXPECT_THAT(settings[2].price, ElementsAre(2));
}

TEST(CommandSettings, RefuseNamesThatMeanNothing) {
  EXPECT_THAT([] { settings_of(request("train {typo}", {"workers=0,1"})); },
              ThrowsMessage<Error>(AllOf(HasSubstr("{typo}"), HasSubstr("--vary typo="))));
  EXPECT_THAT([] { settings_of(request("train", {"workers=0,1"})); },
              ThrowsMessage<Error>(HasSubstr("workers does not occur")));
  EXPECT_THAT([] { settings_of(request("train {w}", {"w"})); }, ThrowsMessage<Error>(HasSubstr("'w'")));
  EXPECT_THAT([] { settings_of(request("train {w}", {"w=1"})); },
              ThrowsMessage<Error>(HasSubstr("nothing to try")));
  CommandRequest given = request("train {w}", {"w=1,2"});
  given.present = "batch=1";
  EXPECT_THAT([&] { settings_of(given); }, ThrowsMessage<Error>(HasSubstr("nothing varies batch")));
}

TEST(StepStreams, HaveStepsWhoseSumsStayNumbers) {
  StepStream stream;
  const auto steps = stream.take(
      "step,seconds,wait,samples,phase,process,train,validation\n0,0.5,0.1,32,training,7,100,0\n"
      "1,1e308,-1,1e308,validation,7,1e308,0\nhalf a line\n",
      "workers=0");
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].seconds, 0.5);
  EXPECT_TRUE(steps[0].is_first);
  EXPECT_EQ(stream.train, 100) << "of training alone";
  EXPECT_EQ(steps[1].seconds, 1e9);
  EXPECT_EQ(steps[1].wait, 0);
  EXPECT_EQ(steps[1].samples, 1e30);
  EXPECT_THAT([&] { stream.take("2,1,1,1,training,8,100,0\n", "workers=0"); },
              ThrowsMessage<Error>(HasSubstr("processes 7 and 8 of workers=0 write it")));
}

/// Steps that claim to take as many seconds as `seconds` says, and do not end; after `body`.
std::string steps(const std::string& seconds, const std::string& body = "") {
  return "n=0; " + body + " while :; do echo $n," + seconds +
         ",0,1,training,$$,100,0 >> $ASSAY_STEPS; n=$((n + 1)); sleep 0.01; done";
}

std::vector<Candidate> measured(const CommandRequest& given,
                                const CommandPolicy& policy = {.budget_seconds = 60}) {
  const auto settings = settings_of(given);
  auto out = candidates_of(settings);
  const Hooks hooks{.stop = [&] { return out.front().turns.size() >= 7; }};
  measure_commands(settings, out, policy, hooks);
  return out;
}

TEST(CommandTurns, CompareTheSecondsThatStepsSay) {
  const auto all = measured(request(steps("$W"), {"env:W=0.02,0.01"}));
  ASSERT_EQ(all.size(), 2U) << "the twin is gone";
  ASSERT_GE(all[0].turns.size(), fewest_rounds);
  const TuneRuling ruling = ruled({.control = "{}"}, all);
  EXPECT_EQ(ruling.chosen, 1U);
  EXPECT_NEAR(ruling.candidates[1].ratio.middle, 0.5, 1e-9);
  EXPECT_EQ(all[1].epoch_samples, 100);
  EXPECT_GT(all[1].peak_bytes, 0);
}

TEST(CommandTurns, LeaveOutWhatCrashes) {
  const auto all =
      measured(request(steps("0.01", "test {w} = 1 || { echo no memory; exit 3; };"), {"w=1,2"}));
  EXPECT_THAT(all[1].left_out, AllOf(HasSubstr("exit code 3"), HasSubstr("no memory")));
  EXPECT_THAT(all[1].turns, IsEmpty());
  EXPECT_GE(all[0].turns.size(), fewest_rounds);
}

TEST(CommandTurns, LeaveOutWhatHasAnotherNumberOfSamples) {
  const auto all =
      measured(request("n=0; while :; do echo $n,0.01,0,1,training,$$,{w},0 >> $ASSAY_STEPS; "
                       "n=$((n + 1)); sleep 0.01; done",
                       {"w=100,50"}));
  EXPECT_THAT(all[1].left_out, HasSubstr("50 samples"));
}

// A process that left its parents has left their tree: stopping the tree does not stop it.
TEST(CommandTurns, LeaveOutWhatGoesOnWhileItIsStopped) {
  const auto all = measured(request(
      "if test {w} = 2; then (" + steps("0.01") + " &); exec sleep 100; fi; " + steps("0.01"), {"w=1,2"}));
  EXPECT_THAT(all[1].left_out, HasSubstr("goes on while it is stopped: try --fresh"));
  EXPECT_GE(all[0].turns.size(), fewest_rounds);
}

TEST(CommandTurns, StartAnewInEachTurnWhereThatIsWanted) {
  const ScratchFolder folder;
  const std::string starts = (folder.path() / "starts").string();
  const auto all = measured(request(steps("0.01", "echo {w} >> '" + starts + "';"), {"w=1,2"}),
                            {.budget_seconds = 60, .fresh = true});
  ASSERT_GE(all[1].turns.size(), fewest_rounds);
  const std::string noted = read_file(starts);
  EXPECT_GT(std::ranges::count(noted, '2'), std::ssize(all[1].turns)) << "and once to warm up";
}

TEST(CommandTurns, BeginAnotherEpochWhereOneIsOver) {
  const auto all =
      measured(request("n=0; while [ $n -lt 40 ]; do echo $n,0.0{w},0,1,training,$$,100,0 >> "
                       "$ASSAY_STEPS; n=$((n + 1)); sleep 0.01; done",
                       {"w=1,2"}));
  ASSERT_GE(all[1].turns.size(), fewest_rounds);
  EXPECT_NEAR(all[1].turns.back().seconds.front().front(), 0.02, 1e-12);
}

TEST(CommandTurns, RunASettingToItsEndOrSayHowItFailed) {
  const auto settings = settings_of(request("exit {w}", {"w=0,3"}));
  EXPECT_GT(whole_run(settings[0], {}), 0);
  EXPECT_THAT([&] { whole_run(settings[1], {}); },
              ThrowsMessage<Error>(AllOf(HasSubstr("w=3"), HasSubstr("exit code 3"))));
}

TEST(CommandTurns, NameThePresentSettingThatCannotBeMeasured) {
  EXPECT_THAT([] { measured(request("echo {w} | grep 2", {"w=1,2"})); },
              ThrowsMessage<Error>(AllOf(HasSubstr("the present setting, w=1"), HasSubstr("exit code 1"))));
  EXPECT_THAT(
      [] {
        measured(request(steps("0.01", "test {w} = 1 && echo 0,1,0,1,training,1,100,0 >> $ASSAY_STEPS;"),
                         {"w=1,2"}));
      },
      ThrowsMessage<Error>(HasSubstr("processes 1 and")));
}

TEST(CommandTurns, TakeWholeRunsOfWhatSaysNothing) {
  const auto all = measured(request("sleep 0.0{w}", {"w=1,2"}));
  EXPECT_GE(all[0].turns.size(), fewest_rounds);
  EXPECT_GT(all[1].turns.front().seconds.front().front(), 0);
}

// A progress bar rewrites its line: 20 ms or 10 ms a step.
TEST(CommandTurns, ReadANumberThatIsPrintedAgainAndAgain) {
  CommandPolicy policy{.budget_seconds = 60};
  policy.timing.match = "step: ([0-9.]+) ms";
  const auto all =
      measured(request("while :; do printf 'step: {w} ms\\r'; sleep 0.01; done", {"w=20,10"}), policy);
  ASSERT_GE(all[1].turns.size(), fewest_rounds);
  EXPECT_NEAR(all[1].turns.front().seconds.front().front(), 0.01, 1e-12);
}

}  // namespace
}  // namespace assay
