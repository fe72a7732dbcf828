// Tests the words of a gate of two builds: what makes it doubtful, and that it was interrupted.
#include "bench/gate/two_builds.hpp"

#include "core/text/utf8.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TwoBuilds run_of_one_trial(double ratio) {
  TwoBuilds run{.suite = "s", .budget_seconds = 10, .seconds = 12};
  PairedTrial& trial = run.trials.emplace_back();
  trial.trial.key = "gemm/packed/m=1#1";
  trial.launches.assign(21, {.base = {1.0}, .head = {ratio}, .control = {1.0}});
  return run;
}

TEST(TwoBuildsText, SaysThatARunWasInterruptedThoughTheMachineWasFit) {
  TwoBuilds run = run_of_one_trial(1);
  run.partial = true;
  GateFindings findings = findings_of(run);
  findings.comparison.unfit.clear();
  const std::string text = pull_request_text(pull_request_of(run, findings)),
                    markdown = pull_request_markdown(pull_request_of(run, findings));
  EXPECT_THAT(markdown, StartsWith("### Interrupted after 12 s: nothing is decided\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("\nInterrupted after 12 s: nothing is decided\n"), HasSubstr("0 same")));
}

TEST(TwoBuildsText, SaysWhatMakesAComparisonDoubtfulInAPullRequestToo) {
  TwoBuilds run = run_of_one_trial(1);
  run.base.facts = {{"build type", "Release"}, {"compiler", "GCC 12"}};
  run.head.facts = {{"build type", "Debug"}, {"compiler", "GCC 13"}};
  const GateFindings findings = findings_of(run);
  EXPECT_THAT(pull_request_text(pull_request_of(run, findings)),
              AllOf(HasSubstr("  head is no Release build (Debug)"), HasSubstr("  differs: compiler")));
  EXPECT_THAT(pull_request_markdown(pull_request_of(run, findings)),
              AllOf(HasSubstr("\n* head is no Release build (Debug)"), HasSubstr("\n* differs: compiler")));
  run.base.facts = run.head.facts = {{"build type", "Release"}};
  EXPECT_THAT(pull_request_markdown(pull_request_of(run, findings_of(run))),
              AllOf(Not(HasSubstr("no Release build")), Not(HasSubstr("differs: "))));
}

TEST(TwoBuildsText, SaysWhatTheMachineDoesNotAllow) {
  TwoBuilds run = run_of_one_trial(1);
  run.restriction = "address randomization stays on here";
  run = two_builds_from_json(to_json(run), "run.json");
  EXPECT_THAT(pull_request_text(pull_request_of(run, findings_of(run))),
              HasSubstr("\n  address randomization stays on here\n"));
  EXPECT_THAT(pull_request_markdown(pull_request_of(run, findings_of(run))),
              HasSubstr("\n* address randomization stays on here\n"));
}

std::size_t widest_line(const std::string& text) {
  std::size_t out = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out = std::max(out, display_width(line));
  return out;
}

TEST(TwoBuildsText, EndsWithTheLargestSlowDownInEightyColumns) {
  TwoBuilds run = run_of_one_trial(1.2);
  const auto add = [&](const std::string& key, double ratio) {
    run.trials.push_back(run_of_one_trial(ratio).trials.front());
    run.trials.back().trial.key = key;
  };
  add("gemm/faster/m=1#1", 0.5);
  add("gemm/worst/m=1#1", 1.5);
  run.trials.back().pointers = {std::string(90, 'x') + " " + std::string(60, 'y'), "last pointer"};
  add("gemm/slower/m=1#1", 1.3);
  run.base.name = std::string(60, 'b') + " " + std::string(60, 'c');
  const std::string text = pull_request_text(pull_request_of(run, findings_of(run)));
  std::vector<std::size_t> places;
  for (const char* row : {"▲ gemm/faster", "✗ gemm/packed", "✗ gemm/slower", "✗ gemm/worst"})
    places.push_back(text.find(row));
  EXPECT_TRUE(std::ranges::is_sorted(places)) << text;
  EXPECT_LT(places.back(), text.size()) << text;
  EXPECT_THAT(text, ::testing::EndsWith("    last pointer\n"));
  EXPECT_LE(widest_line(text), 80 + 16U) << "a word of 90 stays whole, behind its indent\n" << text;
}

TEST(TwoBuildsText, SaysHowManyRowsItLeftOutBeforeTheWorst) {
  TwoBuilds run;
  for (int i = 0; i < 23; ++i) {
    run.trials.push_back(run_of_one_trial(1.2 + 0.01 * i).trials.front());
    run.trials.back().trial.key = "gemm/v" + std::to_string(i) + "/m=1#1";
  }
  const std::string text = pull_request_text(pull_request_of(run, findings_of(run)));
  EXPECT_THAT(text, HasSubstr("  3 more slower: -o keeps them\n✗ gemm/v3/m=1#1\n"));
  EXPECT_THAT(text, Not(HasSubstr("gemm/v2/")));
  EXPECT_THAT(text, HasSubstr("✗ gemm/v22/m=1#1\n"));
}

TEST(TwoBuildsText, SaysWhyATrialIsUndecided) {
  TwoBuilds run = run_of_one_trial(1.05);
  run.trials.front().launches.resize(9);
  EXPECT_THAT(pull_request_text(pull_request_of(run, findings_of(run))),
              HasSubstr("probably slower, gemm/packed/m=1#1: 9 process starts do not decide it\n"));
}

TEST(TwoBuildsText, SaysWhyARowBeyondTheLimitIsUndecided) {
  TwoBuilds run = run_of_one_trial(1.05);
  for (PairedLaunch& launch : run.trials.front().launches) launch.control = {1.045};
  EXPECT_EQ(findings_of(run).comparison.rows.front().standing, Standing::undecided);
  EXPECT_THAT(findings_of(run).comparison.rows.front().why,
              HasSubstr("against the copy of the base it may be no slower"));
}

TEST(TwoBuildsText, SaysWhatWouldDecideIt) {
  const auto text_of = [](const TwoBuilds& run) {
    return pull_request_text(pull_request_of(run, findings_of(run)));
  };
  TwoBuilds run = run_of_one_trial(1.05);
  run.trials.front().launches.resize(9);
  EXPECT_THAT(text_of(run), HasSubstr("would take about --budget 30\n")) << "twice as many launches";
  // From half to twice the base: no number of launches that a gate takes would do.
  for (std::size_t i = 0; i < 9; ++i)
    run.trials.front().launches[i].head = {std::exp2(static_cast<double>(i) / 4 - 1)};
  EXPECT_THAT(text_of(run), HasSubstr("; 1 too near the limit, or too variable"));
  run.trials.front().launches.resize(2);
  EXPECT_THAT(text_of(run), HasSubstr("would have been seen: not known from so few process"));
}

TEST(TwoBuildsText, CallsNothingTheSameOnAMachineThatIsUnfit) {
  TwoBuilds run = run_of_one_trial(1);
  run.trials.push_back(run_of_one_trial(1.05).trials.front());
  for (PairedLaunch& launch : run.trials.back().launches) launch.control = launch.head;
  const GateFindings findings = findings_of(run);
  ASSERT_NE(findings.comparison.unfit, "");
  EXPECT_THAT(pull_request_text(pull_request_of(run, findings)), HasSubstr("\n0 same"));
}

}  // namespace
}  // namespace assay
