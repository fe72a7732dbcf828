// Histories of runs with round numbers, and what other tools read of them.
#include "bench/report/history.hpp"

#include "assay/error.hpp"
#include "bench/report/hand_made_test.hpp"
#include "core/json/json.hpp"
#include "core/text/utf8.hpp"

#include <gmock/gmock.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

constexpr const char* packed_key = "gemm/packed/m=64,n=64,k=64#1";

/// Six launches on a day of 2026; packed takes so many times as long as 51 µs.
NamedRun<Results> run_on(const std::string& day, double times) {
  Results out = hand_made::network();
  out.date = day + "T03:04:05Z";
  for (TrialResult& trial : out.trials) {
    const Launch first = trial.launches[1];
    trial.launches.assign(6, first);
  }
  for (Launch& launch : out.trials[1].launches) launch[0].seconds *= times;
  return {day + ".json", out};
}

const HistoryRow& packed_row(const History& history) {
  return *std::ranges::find(history.rows, packed_key, &HistoryRow::key);
}

History history_from(std::vector<NamedRun<Results>> runs, const std::vector<Acceptance>& acceptances = {}) {
  return history_of(std::move(runs), {}, acceptances);
}

TEST(Histories, CompareTheLastRunWithTheFirst) {
  const History history =
      history_from({run_on("2026-01-03", 1.5), run_on("2026-01-01", 1), run_on("2026-01-02", 1)});
  ASSERT_EQ(history.runs.size(), 3U);
  EXPECT_EQ(history.runs[0].date, "2026-01-01T03:04:05Z") << "by date, whatever the order of the files";
  EXPECT_EQ(history.rows.front().key, packed_key) << "what is slower comes first";
  EXPECT_EQ(history.rows.front().verdict->standing, Standing::slower);
  EXPECT_THAT(history.rows.front().trend, StartsWith("1.50x slower"));
  EXPECT_NEAR(history.rows.front().seconds[2]->middle, 76.5e-6, 1e-9);
  EXPECT_THAT(to_text(history), HasSubstr("HISTORY: 4 trials in 3 runs, 1 slower"));
  EXPECT_EQ(packed_row(history_from({run_on("2026-01-01", 1), run_on("2026-01-02", 1)})).verdict->standing,
            Standing::same);
}

TEST(Histories, FitATerminalAndEndWithTheLargestSlowDown) {
  std::vector<NamedRun<Results>> runs;
  for (int day = 11; day < 29; ++day) runs.push_back(run_on("2026-01-" + std::to_string(day), 1));
  runs.back().run.trials[1].launches.assign(6, {Slice{.seconds = 102e-6}});
  runs.back().run.trials[2].launches.assign(6, {Slice{.seconds = 15e-6}});
  const std::string text = to_text(history_from(std::move(runs)));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80U) << line;
  EXPECT_THAT(text, HasSubstr("\n✗ gemm/packed/m=64,n=64,k=64#1\n      51.0 µs   51.0 µs"));
  EXPECT_THAT(text, HasSubstr("  51.0 µs    102 µs  1.63x slower"))
      << "2 by the root of 1.5: naive moved, too";
  EXPECT_LT(text.find("≤ gemm/naive"), text.find("✗ elementwise_add/naive"));
  EXPECT_LT(text.find("✗ elementwise_add/naive"), text.find("✗ gemm/packed"));
  EXPECT_GT(text.find("HISTORY: "), text.find("✗ gemm/packed"));
}

TEST(Histories, BeginAnewWhereTheMachineChanged) {
  NamedRun<Results> other = run_on("2026-01-02", 1.3);
  other.run.machine.facts[0].value = "another CPU";
  const History history = history_from({run_on("2026-01-01", 1), other});
  EXPECT_THAT(history.runs[1].changes, ElementsAre(HasSubstr("a CPU -> another CPU")));
  EXPECT_EQ(history.compared_from, 1U);
  EXPECT_FALSE(packed_row(history).verdict);
  EXPECT_EQ(packed_row(history).trend, "one run since the machine changed");
  EXPECT_THAT(to_markdown(history), HasSubstr("Before run 2 the machine or the build changed"));
  NamedRun<Results> later = other;
  later.run.date = "2026-01-03T00:00:00Z";
  EXPECT_EQ(packed_row(history_from({run_on("2026-01-01", 1), other, later})).verdict->standing,
            Standing::same);
}

TEST(Histories, ShowWhatWasAccepted) {
  const Acceptance acceptance{
      .key = packed_key, .ratio = 1.4, .reason = "half the memory", .until = *date_from("2026-10-01")};
  const History history = history_from({run_on("2026-01-01", 1), run_on("2026-01-02", 1.3)}, {acceptance});
  EXPECT_EQ(packed_row(history).accepted, "1.40 times as long until 2026-10-01: half the memory");
}

TEST(Histories, LeaveOutWhatWasNotMeasured) {
  NamedRun<Results> without = run_on("2026-01-02", 1);
  without.run.trials[1].launches.clear();
  const History history = history_from({run_on("2026-01-01", 1), without});
  EXPECT_FALSE(packed_row(history).seconds[1]);
  EXPECT_THAT(history_bencher(history), Not(HasSubstr(packed_key)));
  EXPECT_THAT(history_openmetrics(history),
              HasSubstr("n=64,k=64#1\",suite=\"tiny\",machine=\"cpu_1c\"} 5.1e-05"));
}

TEST(Histories, OfSeveralSuitesAreRefused) {
  NamedRun<Results> other = run_on("2026-01-02", 1);
  other.run.suite = "large";
  EXPECT_THAT(
      [&] {
        history_from({run_on("2026-01-01", 1), other});
      },
      ThrowsMessage<Error>(AllOf(HasSubstr("2026-01-02.json"), HasSubstr("suite large"))));
  NamedRun<Results> mixed = run_on("2026-01-02", 1);
  mixed.run.mixed_machines = "two machines";
  EXPECT_THAT(
      [&] {
        history_from({run_on("2026-01-01", 1), mixed});
      },
      ThrowsMessage<Error>(HasSubstr("several machines")));
}

TEST(Histories, AreTablesWithAColumnPerTrial) {
  const std::string csv = history_csv(history_from({run_on("2026-01-01", 1), run_on("2026-01-02", 1)}));
  EXPECT_THAT(
      csv,
      StartsWith("time,commit,machine,\"gemm/naive/m=64,n=64,k=64#1\",\"gemm/packed/m=64,n=64,k=64#1\","));
  EXPECT_THAT(csv, HasSubstr("\n2026-01-02T03:04:05Z,abc123,cpu_1c,0.000102,5.1e-05,1e-05,1.25e-05\n"));
}

TEST(Histories, AreMetricsOfBencherInNanoseconds) {
  const Json json = parse_json(history_bencher(history_from({run_on("2026-01-01", 1)})), "BMF");
  const Json& latency = json.at(packed_key).at("latency");
  EXPECT_NEAR(latency.at("value").number(), 51000, 1e-6);
  EXPECT_NEAR(latency.at("lower_value").number(), 51000, 1e-6);
}

TEST(Histories, AreListsOfGithubActionBenchmark) {
  const Json json =
      parse_json(history_github_action_benchmark(history_from({run_on("2026-01-01", 1)})), "a list");
  EXPECT_EQ(json.at(1).at("name"), packed_key);
  EXPECT_EQ(json.at(1).at("unit"), "ns");
  EXPECT_EQ(json.at(1).at("range"), "51000 to 51000");
}

// 2026-01-01 is 20,454 days after 1970-01-01: 56 years of 365 days and 14 leap days.
TEST(Histories, AreOpenMetricsWithTheSecondOfTheRun) {
  NamedRun<Results> run = run_on("2026-01-01", 1);
  run.run.machine.key = "a\"b\\c\nd";
  const std::string text = history_openmetrics(history_from({run}));
  EXPECT_THAT(text, HasSubstr("machine=\"a\\\"b\\\\c\\nd\"} 5.1e-05 1767236645\n"));
  EXPECT_THAT(text, ::testing::EndsWith("# EOF\n"));
}

TEST(Histories, EscapeNamesInMarkdown) {
  NamedRun<Results> run = run_on("2026-01-01", 1);
  run.name = "a|b\n@you.json";
  EXPECT_THAT(to_markdown(history_from({run})), Not(HasSubstr("\n@you")));
}

}  // namespace
}  // namespace assay
