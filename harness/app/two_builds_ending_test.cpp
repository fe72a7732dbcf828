// Tests how a gate of two builds ends, with launches from a script.
#include "app/two_builds_ending.hpp"

#include "assay/pipeline.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

PairedTrial trial(const std::string& key) { return {.trial = {.key = key, .operation = key, .threads = 1}}; }

/// Every launch of the head takes `ratio` times as long as that of the base; 21 of them decide.
PairedTrial measured(const std::string& key, double ratio, int launches = 21) {
  PairedTrial out = trial(key);
  out.launches.assign(static_cast<std::size_t>(launches), {.base = {1.0}, .head = {ratio}, .control = {1.0}});
  return out;
}

PairedTrial left_out(const std::string& key, Standing standing) {
  PairedTrial out = trial(key);
  out.left_out = standing;
  out.why_left_out = "as this test wants it";
  return out;
}

struct Ended {
  int code = -1;
  std::string output;
};

Ended ended(std::vector<PairedTrial> trials, const VerdictOptions& options = {}, bool partial = false) {
  const TwoBuilds run{.suite = "s",
                      .command = "assay gate",
                      .budget_seconds = 10,
                      .seconds = 10,
                      .partial = partial,
                      .trials = std::move(trials)};
  ::testing::internal::CaptureStdout();
  const int code = end_two_builds(options, run, {});
  return {code, ::testing::internal::GetCapturedStdout()};
}

const VerdictOptions demanding{.judging = {.undecided_fails = true}};
const VerdictOptions bisecting{.judging = {.exit_codes = ExitCodes::bisect}};

TEST(EndOfTwoBuilds, IsThatOfASkippedTestWhereNothingRunsHere) {
  const Ended end = ended({left_out("a", Standing::skipped), left_out("b", Standing::skipped)});
  EXPECT_EQ(end.code, exit_code::all_skipped);
  EXPECT_THAT(end.output, HasSubstr("SKIPPED: nothing selected runs on this machine"));
  EXPECT_EQ(ended({left_out("a", Standing::skipped), left_out("b", Standing::added)}).code,
            exit_code::undecided);
}

TEST(EndOfTwoBuilds, CountsWhatWasNotJudged) {
  const std::vector<PairedTrial> trials{measured("a", 1), measured("b", 1, 1),
                                        left_out("c", Standing::not_comparable),
                                        left_out("d", Standing::gone)};
  const Ended warned = ended(trials);
  EXPECT_EQ(warned.code, exit_code::passed);
  EXPECT_THAT(warned.output,
              AllOf(HasSubstr("PASSED: 2 trials"), HasSubstr(", 1 undecided, 1 not comparable, 1 gone")));
  EXPECT_EQ(ended(trials, demanding).code, exit_code::undecided);
  EXPECT_EQ(ended({measured("a", 1), left_out("d", Standing::gone)}, demanding).code, exit_code::undecided);
  EXPECT_EQ(ended({left_out("a", Standing::same), left_out("d", Standing::gone)}, demanding).code,
            exit_code::undecided);
  EXPECT_EQ(ended({measured("a", 1)}, demanding).code, exit_code::passed);
}

TEST(EndOfTwoBuilds, FailsForKernelsThatCameToNoEndWhateverTheOthersDid) {
  const Ended passed = ended({measured("a", 1), left_out("b", Standing::crashed)});
  EXPECT_EQ(passed.code, exit_code::crashed);
  EXPECT_THAT(passed.output,
              AllOf(HasSubstr("PASSED: 1 trials"), HasSubstr("CRASHED: b: as this test wants it")));
  const Ended slower = ended({measured("a", 1.1), left_out("b", Standing::timed_out)});
  EXPECT_EQ(slower.code, exit_code::crashed);
  EXPECT_THAT(slower.output, AllOf(HasSubstr("REGRESSION: 1 of 1"), HasSubstr("CRASHED: b")));
}

TEST(EndOfTwoBuilds, IsBadOrGoodForABisectionOnlyWhenThatIsKnown) {
  EXPECT_EQ(ended({measured("a", 1), measured("b", 1.1)}, bisecting).code, exit_code::found);
  EXPECT_EQ(ended({measured("a", 1), measured("b", 1)}, bisecting).code, exit_code::passed);
  const int open = ended({measured("a", 1), measured("b", 1, 1)}, bisecting).code;
  EXPECT_EQ(translated(open, ExitCodes::bisect), 125);
}

TEST(EndOfTwoBuilds, OffersNothingToRepeatOfAnInterruptedRun) {
  EXPECT_THAT(ended({measured("a", 1.1)}).output, HasSubstr("again: assay gate -k '^a$'"));
  const Ended end = ended({measured("a", 1.1)}, {}, true);
  EXPECT_EQ(end.code, exit_code::interrupted);
  EXPECT_THAT(end.output, AllOf(HasSubstr("INTERRUPTED"), Not(HasSubstr("again:"))));
}

}  // namespace
}  // namespace assay
