// Numbers that commands print, and what a gate would see of runs. Commands that run are tested end to end.
#include "bench/gate/wrapped_commands.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::vector<double> numbers(const std::string& output, CommandTiming timing) {
  timing.name = "step";
  return printed_times(output, timing, "./train").at("step").seconds;
}

TEST(PrintedTimes, AreOfTheUnitBehindThem) {
  const CommandTiming timing{.match = "([0-9.e-]+)"};
  for (const auto& [text, seconds] : std::vector<std::pair<std::string, double>>{{"a 1.5 ms", 1.5e-3},
                                                                                 {"2us", 2e-6},
                                                                                 {"3 µs", 3e-6},
                                                                                 {"4 ns.", 4e-9},
                                                                                 {"5 msec", 5},
                                                                                 {"6 s", 6},
                                                                                 {"7", 7},
                                                                                 {"8e-3 m", 8e-3}}) {
    EXPECT_THAT(numbers(text + "\nb\n", timing), ElementsAre(seconds)) << text;
  }
  EXPECT_THAT(numbers("1 ms\n", {.match = "([0-9]+)", .unit = PrintedUnit::microseconds}), ElementsAre(1e-6));
  EXPECT_THAT(numbers("4 GB/s\n", {.match = "([0-9]+)", .rate = true}), ElementsAre(0.25));
}

// The search used up the stack.
TEST(PrintedTimes, AreAtTheEndOfALongLine) {
  const std::string long_line = std::string(1'000'000, 'a');
  EXPECT_THAT(numbers(long_line + " time: 3 ms\n", {.match = "a*.*time: ([0-9.]+) ms"}), ElementsAre(3e-3));
  EXPECT_THROW(numbers(long_line + "5\n", {.match = "^a([0-9]+)"}), Error) << "it does not begin there";
  EXPECT_THROW(numbers("1 ms", {.match = std::string(5000, '(') + std::string(5000, ')')}), Error);
}

TEST(PrintedTimes, AreThoseOfTheLastMatchOfTheLastLine) {
  const CommandTiming timing{.match = "time: ([0-9.]+) ms"};
  EXPECT_THAT(numbers("time: 1 ms\rtime: 6 ms\n", timing), ElementsAre(6e-3));
  EXPECT_THAT(numbers("time: 1 ms\ntime: 2 ms time: 3 ms\nend\n", timing), ElementsAre(3e-3));
}

TEST(PrintedTimes, AreThoseOfEachLineWhereEachCounts) {
  const CommandTiming timing{.match = "time: ([0-9.]+) ms", .each = true};
  EXPECT_THAT(numbers("time: 1 ms\nother\ntime: 2 ms time: 3 ms\n", timing), ElementsAre(1e-3, 3e-3));
  EXPECT_TRUE(printed_times("other\n", timing, "./train").empty());
  EXPECT_THROW(numbers("time: 1 ms\ntime: 0 ms\ntime: 2 ms\n", timing), Error);
}

TEST(PrintedTimes, KnowHowManyDigitsTheyHave) {
  const auto resolution = [](const std::string& output) {
    return printed_times(output, {.name = "x", .match = "([0-9.e-]+)"}, "x").at("x").resolution;
  };
  EXPECT_NEAR(resolution("20"), 0.5 / 20, 1e-12);
  EXPECT_NEAR(resolution("2.50"), 0.005 / 2.5, 1e-12);
  EXPECT_NEAR(resolution("2.5e-3"), 0.05 / 2.5, 1e-12);
}

TEST(PrintedTimes, MayHaveNames) {
  const ReportedTimes times =
      printed_times("load: 1\nstep: 2\nstep: 3\n", {.match = "(\\w+): ([0-9]+)"}, "x");
  EXPECT_THAT(times.at("load").seconds, ElementsAre(1));
  EXPECT_THAT(times.at("step").seconds, ElementsAre(3));
}

TEST(PrintedTimes, AreRefusedWhereTheyAreNone) {
  const auto reading = [](const std::string& output, const std::string& match) {
    return [=] { printed_times(output, {.match = match}, "./train"); };
  };
  EXPECT_THAT(reading("nothing", "([0-9]+) ms"),
              ThrowsMessage<Error>(HasSubstr("`./train`: prints no line that matches '([0-9]+) ms'")));
  for (const char* none : {"0", "-1", "nan", "inf", "1x", ""}) {
    EXPECT_THAT(reading(std::string("t=") + none, "t=(.*)"),
                ThrowsMessage<Error>(HasSubstr("which is no number above 0")))
        << none;
  }
  EXPECT_THAT(reading("1", "[0-9]"), ThrowsMessage<Error>(HasSubstr("--match: '[0-9]' has 0 groups")));
  EXPECT_THAT(reading("1", "([0-9]"), ThrowsMessage<Error>(HasSubstr("is not a regular expression")));
}

TEST(VisibleInAGate, GrowsWithTheSpreadOfRunsAndNeedsEnoughOfThem) {
  const auto visible = [](double spread, std::size_t runs, double run_seconds) {
    TrialResult trial;
    for (std::size_t i = 0; i < runs; ++i) {
      const double run = 1 + spread * (i % 4 == 1 ? 1 : i % 4 == 3 ? -1 : 0);
      trial.launches.push_back({{.seconds = run, .cpu_seconds = run}});
    }
    return visible_in_gate(trial, run_seconds, policy_with(1.03), 300);
  };
  EXPECT_NEAR(visible(0, 32, 0.1), 1.03, 1e-9) << "no less than what the same excludes";
  EXPECT_GT(visible(0.05, 32, 0.1), visible(0.02, 32, 0.1));
  EXPECT_EQ(visible(0.02, 8, 0.1), 0) << "four pairs";
  EXPECT_EQ(visible(0.02, 32, 50), 0) << "two launches";
}

}  // namespace
}  // namespace assay
