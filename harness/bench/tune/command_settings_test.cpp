// Commands are lines of a shell that write steps as assay.timed() does; no test asserts a time.
#include "bench/tune/command_settings.hpp"

#include "assay/error.hpp"
#include "assay/files.hpp"
#include "core/files/scratch.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

namespace assay {
namespace {

using ::testing::AllOf;
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

TEST(CommandSettings, KnowTheSamplesOfAStepFromOneThatIsNamedBatch) {
  const auto samples = [](const std::string& line, std::vector<std::string> vary) {
    std::vector<double> out;
    for (const CommandSetting& one : settings_of(request(line, std::move(vary)))) out.push_back(one.samples);
    return out;
  };
  EXPECT_THAT(samples("{batch} {workers}", {"batch=32,64", "workers=0"}), ElementsAre(32, 64));
  EXPECT_THAT(samples("{bs}", {"bs=8,16"}), ElementsAre(8, 16));
  EXPECT_THAT(samples("train", {"env:BATCH_SIZE=8,16"}), ElementsAre(8, 16));
  EXPECT_THAT(samples("{workers}", {"workers=0,1"}), ElementsAre(1, 1)) << "nothing changes them";
  EXPECT_THAT(samples("{batch} {accumulate}", {"batch=32,64", "accumulate=2"}), ElementsAre(0, 0));
  EXPECT_THAT(samples("{micro-batch}", {"micro-batch=32,64"}), ElementsAre(0, 0));
  EXPECT_THAT(samples("{batch}", {"batch=auto,64"}), ElementsAre(0, 64));
}

TEST(StepStreams, HaveStepsWhoseSumsStayNumbers) {
  StepStream stream;
  const auto steps = stream.take(
      "step,seconds,wait,samples,phase,process,train,validation\n0,0.5,0.1,32,training,7,100,0\n"
      "1,1e308,-1,1e308,validation,7,20,0\nhalf a line\n",
      "workers=0");
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].seconds, 0.5);
  EXPECT_TRUE(steps[0].is_first);
  EXPECT_EQ(stream.train, 100) << "of training alone";
  EXPECT_EQ(stream.validation, 20);
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

/// Lines of $ASSAY_STEPS without end; `n` counts them.
std::string lines(const std::string& line) {
  return "n=0; while :; do echo " + line + " >> $ASSAY_STEPS; n=$((n + 1)); sleep 0.01; done";
}

// Only the first 20 steps wait, which are over before the last turns.
TEST(CommandTurns, SumUpTheWaitsOfAllTurns) {
  const auto all =
      measured(request(lines("$n,0.02,$((n < 20 ? 1 : 0))e-2,1,training,$$,100,0"), {"env:W=1,2"}));
  for (const Candidate& one : all) {
    EXPECT_GT(one.wait_share, 0) << one.name;
    EXPECT_LT(one.wait_share, 0.5) << one.name;
    EXPECT_GT(one.processor_seconds, 0) << one.name;
  }
}

// Each tenth line is a step of validation of 10 of 30 samples.
TEST(CommandTurns, SeeTheValidationOfAnEpoch) {
  const auto all = measured(request(
      "n=0; while :; do if test $((n % 10)) = 9; then echo $n,0.02,0,10,validation,$$,30,0; else echo "
      "$n,0.01,0,1,training,$$,100,0; fi >> $ASSAY_STEPS; n=$((n + 1)); sleep 0.01; done",
      {"env:W=1,2"}));
  const TuneRuling ruling = ruled({.control = "{}"}, all);
  for (const Candidate& one : ruling.candidates) {
    EXPECT_NEAR(one.validation, 0.06, 1e-9) << one.name;
    EXPECT_NEAR(one.epoch_seconds() - one.start_up, 1.06, 1e-9) << one.name;
  }
}

TEST(CommandTurns, KnowHowManySamplesAStepHas) {
  const auto all = measured(request(lines("$n,0.01,0,$S,training,$$,100,0"), {"env:S=32,64"}));
  EXPECT_EQ(all[0].step_samples, 32);
  EXPECT_EQ(all[1].step_samples, 64);
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

TEST(CommandTurns, LeaveOutWhatTwoProcessesWrite) {
  const auto all = measured(
      request(steps("0.01", "test {w} = 1 || echo 0,1,0,1,training,1,100,0 >> $ASSAY_STEPS;"), {"w=1,2"}));
  EXPECT_THAT(all[1].left_out, HasSubstr("processes 1 and"));
  EXPECT_GE(all[0].turns.size(), fewest_rounds);
}

TEST(CommandTurns, LeaveOutStepsOfNoTime) {
  const auto all = measured(request(steps("$W"), {"env:W=0.01,0"}));
  EXPECT_THAT(all[1].left_out, HasSubstr("take no time"));
  EXPECT_GE(all[0].turns.size(), fewest_rounds);
}

// Both take no more than their share of the budget, and the rounds have the rest.
TEST(CommandTurns, LeaveOutWhatHangsAtItsStart) {
  const auto all = measured(request("test {w} = 1 || exec sleep 100; " + steps("0.01"), {"w=1,2,3"}),
                            {.budget_seconds = 22});
  EXPECT_THAT(all[1].left_out, HasSubstr("no step of it counts in"));
  EXPECT_THAT(all[2].left_out, HasSubstr("no step of it counts in"));
  EXPECT_GE(all[0].turns.size(), fewest_rounds);
}

// The first two steps of each epoch never count.
TEST(CommandTurns, LeaveOutEpochsOfTwoSteps) {
  const auto all = measured(request(lines("$((n % {e})),0.01,0,1,training,$$,100,0"), {"e=100,2"}),
                            {.budget_seconds = 16});
  EXPECT_THAT(all[1].left_out, HasSubstr("has epochs of 2 steps"));
  EXPECT_GE(all[0].turns.size(), fewest_rounds);
}

TEST(CommandTurns, KeepFewerWhileMemoryIsShort) {
  const ScratchFolder folder;
  const std::string starts = (folder.path() / "starts").string();
  const auto settings = settings_of(request(steps("0.01", "echo {w} >> '" + starts + "';"), {"w=1,2"}));
  auto all = candidates_of(settings);
  const Hooks hooks{.stop = [&] { return all.front().turns.size() >= 8; }};
  CommandPolicy policy{.budget_seconds = 60};
  policy.read = [&](const std::string& path) -> std::optional<std::string> {
    if (path != "/proc/meminfo") return std::nullopt;
    const bool short_of_it = all.front().turns.size() >= 2;
    return fmt::format("MemTotal: 1000 kB\nMemAvailable: {} kB\n", short_of_it ? 100 : 900);
  };
  measure_commands(settings, all, policy, hooks);
  ASSERT_GE(all[1].turns.size(), fewest_rounds);
  const std::string noted = read_file(starts);
  EXPECT_GT(std::ranges::count(noted, '2'), 2) << "in turns, and not in the first ones";
  EXPECT_LE(std::ranges::count(noted, '2'), std::ssize(all[1].turns));
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

/// A ruling that takes the second of two settings.
TuneRuling ruling_of(const std::vector<CommandSetting>& settings) {
  TuneRuling out{.candidates = candidates_of(settings), .advice = Advice::take, .chosen = 1};
  out.candidates.erase(out.candidates.begin());
  return out;
}

TEST(ChosenCommands, AreConfirmedByRunsToTheirEnds) {
  const auto settings = settings_of(request("sleep {w}", {"w=0.3,0.01"}));
  TuneRuling ruling = ruling_of(settings);
  EXPECT_THAT(confirm(settings, ruling, 60, {}),
              AllOf(HasSubstr("Confirmed by one run of each: w=0.3 took"), HasSubstr("; w=0.01 took")));
  EXPECT_EQ(ruling.advice, Advice::take);
  EXPECT_EQ(ruling.chosen, 1U);
}

TEST(ChosenCommands, AreNotConfirmedWhereTheyAreSlowerFailOrDoNotEnd) {
  for (const auto& [slow, why] : std::vector<std::pair<std::string, std::string>>{
           {"sleep 0.3", "w=false took"},
           {"echo no memory; exit 3", "w=false ended with exit code 3 after"},
           {"sleep 100", "w=false did not end in"}}) {
    const auto settings = settings_of(request("if {w}; then exit 0; fi; " + slow, {"w=true,false"}));
    TuneRuling ruling = ruling_of(settings);
    EXPECT_EQ(confirm(settings, ruling, 1, {}), "");
    EXPECT_THAT(ruling.doubt,
                AllOf(HasSubstr("NOT CONFIRMED by one run of each: w=true took"), HasSubstr(why)));
    EXPECT_EQ(ruling.advice, Advice::undecided);
    EXPECT_EQ(ruling.chosen, 0U);
  }
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

/// Candidates of a command that prints a line again and again.
std::vector<Candidate> printing(const std::string& line, std::vector<std::string> vary,
                                CommandPolicy policy) {
  policy.budget_seconds = 60;
  return measured(request("while :; do echo " + line + "; sleep 0.01; done", std::move(vary)), policy);
}

// A batch twice as large takes twice as long for a step.
TEST(PrintedSteps, ArePerSampleWhereABatchIsVaried) {
  CommandPolicy policy;
  policy.timing.match = "step: ([0-9.]+) ms";
  auto all = printing("step: {batch} ms", {"batch=10,20"}, policy);
  for (const Candidate& one : all) EXPECT_NEAR(one.turns.front().seconds.front().front(), 0.001, 1e-12);
  EXPECT_EQ(all[0].step_samples, 10);
  EXPECT_EQ(all[1].step_samples, 20);
  policy.timing = {.match = "([0-9.]+) samples/s", .rate = true, .each = true};
  all = printing("{batch}000 samples/s", {"batch=10,20"}, policy);
  EXPECT_NEAR(all[1].turns.front().seconds.front().front(), 1.0 / 20000, 1e-12);
  policy.timing.match = "([0-9.]+)it/s";
  all = printing("{batch}000it/s", {"batch=10,20"}, policy);
  EXPECT_NEAR(all[1].turns.front().seconds.front().front(), 1.0 / 20000 / 20, 1e-12);
}

TEST(PrintedSteps, AreRefusedWhereTheirSamplesAreNotKnown) {
  CommandPolicy policy;
  policy.timing.match = "step: ([0-9.]+) ms";
  EXPECT_THAT(
      [&] {
        printing("step: 1 ms {batch} {accum}", {"batch=1,2", "accum=1,2"}, policy);
      },
      ThrowsMessage<Error>(AllOf(HasSubstr("--match"), HasSubstr("batch=1, accum=1"),
                                 HasSubstr("let one setting alone change their number"))));
}

TEST(PrintedSteps, ThatAreNoNumbersAreARow) {
  CommandPolicy policy;
  policy.timing.match = "step: ([0-9.]+) ms";
  const auto all = printing("step: {w} ms", {"w=20,0"}, policy);
  EXPECT_THAT(all[1].left_out, HasSubstr("`w=0`: prints \"0\", which is no number above 0"));
  EXPECT_GE(all[0].turns.size(), fewest_rounds);
  policy.timing.match = "step: ([0-9.]+ ms";
  EXPECT_THAT([&] { printing("step: {w} ms", {"w=20,10"}, policy); },
              ThrowsMessage<Error>(AllOf(HasSubstr("--match"), HasSubstr("is not a regular expression"))));
}

}  // namespace
}  // namespace assay
