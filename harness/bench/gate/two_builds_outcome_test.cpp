// Tests how a gate of two builds ends, with launches from a script.
#include "bench/gate/gates.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

PairedTrial single_trial(const std::string& key) {
  return {.trial = {.key = key, .operation = key, .threads = 1}};
}

/// Every launch of the head takes `ratio` times as long as that of the base; 21 of them decide.
PairedTrial measured(const std::string& key, double ratio, int launches = 21) {
  PairedTrial out = single_trial(key);
  out.launches.assign(static_cast<std::size_t>(launches), {.base = {1.0}, .head = {ratio}, .control = {1.0}});
  return out;
}

PairedTrial left_out(const std::string& key, Standing standing) {
  PairedTrial out = single_trial(key);
  out.left_out = {standing, "as this test wants it"};
  return out;
}

Outcome ended(std::vector<PairedTrial> trials, const FailurePolicy& failing = {}, bool partial = false) {
  const TwoBuilds run{.suite = "s",
                      .command = "assay gate",
                      .budget_seconds = 10,
                      .seconds = 10,
                      .partial = partial,
                      .trials = std::move(trials)};
  return judged(run, {}, {.failing = failing}).outcome;
}

constexpr FailurePolicy demanding{.undecided_fails = true};
constexpr FailurePolicy bisecting{.bisection = true};

TEST(TwoBuildsOutcomes, IsThatOfASkippedTestWhereNothingRunsHere) {
  const Outcome end = ended({left_out("a", Standing::skipped), left_out("b", Standing::skipped)});
  EXPECT_EQ(end.word, Word::skipped);
  EXPECT_THAT(end.text(), HasSubstr("SKIPPED: nothing selected runs on this machine"));
  EXPECT_EQ(ended({left_out("a", Standing::skipped), left_out("b", Standing::added)}).exit_code(),
            exit_code::undecided);
}

TEST(TwoBuildsOutcomes, CountsWhatWasNotJudged) {
  const std::vector<PairedTrial> trials{measured("a", 1), measured("b", 1, 1),
                                        left_out("c", Standing::not_comparable),
                                        left_out("d", Standing::gone)};
  const Outcome warned = ended(trials);
  EXPECT_EQ(warned.exit_code(), exit_code::passed);
  EXPECT_THAT(warned.text(), AllOf(HasSubstr("DECIDED 1 of 2 in 10 s: none slower"),
                                   HasSubstr(", 1 undecided, 1 not comparable, 1 gone")));
  EXPECT_EQ(ended(trials, demanding).exit_code(), exit_code::undecided);
  EXPECT_EQ(ended({measured("a", 1), left_out("d", Standing::gone)}, demanding).exit_code(),
            exit_code::undecided);
  EXPECT_EQ(ended({left_out("a", Standing::same), left_out("d", Standing::gone)}, demanding).exit_code(),
            exit_code::undecided);
  EXPECT_EQ(ended({measured("a", 1)}, demanding).exit_code(), exit_code::passed);
}

TEST(TwoBuildsOutcomes, FailsForKernelsThatCameToNoEndWhateverTheOthersDid) {
  const Outcome passed = ended({measured("a", 1), left_out("b", Standing::crashed)});
  EXPECT_EQ(passed.exit_code(), exit_code::crashed);
  EXPECT_THAT(passed.text(), HasSubstr("CRASHED: b as this test wants it"));
  const Outcome slower = ended({measured("a", 1.1), left_out("b", Standing::timed_out)});
  EXPECT_EQ(slower.exit_code(), exit_code::crashed);
  EXPECT_THAT(slower.text(), AllOf(HasSubstr("REGRESSION: 1 of 1"), HasSubstr("CRASHED: b")));
}

TEST(TwoBuildsOutcomes, IsBadOrGoodForABisectionOnlyWhenThatIsKnown) {
  EXPECT_EQ(ended({measured("a", 1), measured("b", 1.1)}, bisecting).exit_code(), exit_code::found);
  EXPECT_EQ(ended({measured("a", 1), measured("b", 1)}, bisecting).exit_code(), exit_code::passed);
  EXPECT_EQ(ended({measured("a", 1), measured("b", 1, 1)}, bisecting).word, Word::undecided);
}

TEST(TwoBuildsOutcomes, DecideNothingOfAnInterruptedRun) {
  const Outcome end = ended({measured("a", 1.1)}, {}, true);
  EXPECT_EQ(end.word, Word::interrupted);
  EXPECT_THAT(end.text(), HasSubstr("1 of 1 trials were measured; nothing is decided"));
  EXPECT_TRUE(end.besides.empty());
}

}  // namespace
}  // namespace assay
