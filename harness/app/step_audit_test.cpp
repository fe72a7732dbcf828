#include "app/step_audit.hpp"

#include "assay/error.hpp"
#include "core/check/doubling_test.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// A step of 10 ms: two calls of 2 ms of one case, one of 1 ms of another, and 5 ms of loading.
TracedStep step() {
  return {.source = "trace.json",
          .steps = 3,
          .seconds = 10e-3,
          .parts = {{.name = "aten::mm",
                     .cases = {{"doubling", "rows=2,columns=3"}},
                     .text = "doubling/rows=2,columns=3",
                     .per_step = 2,
                     .seconds = 4e-3,
                     .call_seconds = 2e-3},
                    {.name = "aten::mm",
                     .cases = {{"doubling", "rows=4,columns=3"}},
                     .text = "doubling/rows=4,columns=3",
                     .per_step = 1,
                     .seconds = 1e-3,
                     .call_seconds = 1e-3},
                    {.share = StepShare::loading, .name = "loading", .per_step = 1, .seconds = 5e-3}},
          .notes = {}};
}

TrialResult trial(const std::string& variant, const std::string& problem, double seconds) {
  TrialResult out{.key = "doubling/" + variant + "/" + problem + "#1",
                  .operation = "doubling",
                  .variant = variant,
                  .problem = problem};
  out.agreement.agrees = true;
  for (const double factor : {0.9, 1.0, 1.1})
    out.launches.push_back({{factor * seconds, factor * seconds, 1}});
  return out;
}

Results results(std::vector<TrialResult> trials) {
  Results out{.suite = "mine"};
  out.trials = std::move(trials);
  return out;
}

constexpr const char *one = "rows=2,columns=3", *other = "rows=4,columns=3";

StepAudit audit(std::vector<TrialResult> trials, const std::string& present = "") {
  return audited(step(), results(std::move(trials)), testing::doubling_registry(), present);
}

TEST(StepAudit, GainsOfTheWholeStep) {
  const StepAudit found =
      audit({trial("fast", one, 1e-3), trial("slow", one, 3e-3), trial("fast", other, 0.5e-3)});
  EXPECT_EQ(found.rows[0].present.names, "the trace");
  EXPECT_EQ(found.rows[0].best.names, "doubling/fast#1");
  EXPECT_NEAR(found.rows[0].saved.middle, 2e-3, 1e-12);
  EXPECT_NEAR(found.rows[0].saved.low, 1.8e-3, 1e-12);
  EXPECT_NEAR(found.rows[1].saved.middle, 0.5e-3, 1e-12);
  EXPECT_NEAR(found.gain.middle, 10 / 7.5, 1e-9);
  EXPECT_NEAR(found.most, 2, 1e-9);
  // Three samples cover no more than this.
  EXPECT_EQ(found.gain.coverage, 0.75);
  EXPECT_THAT(found.risks, Contains(HasSubstr("2 of 2 gains are over times in the trace")));
  EXPECT_THAT(to_text(document_of(found)), HasSubstr("loading is 50.0 %"));
}

TEST(StepAudit, TakesTheFasterOfPyTorchAndTheTrace) {
  // PyTorch alone takes 0.8 ms of the first case, less than any variant, and 1.5 ms of the other, more than
  // the trace.
  const StepAudit found = audit({trial("torch", one, 0.8e-3), trial("fast", one, 1e-3),
                                 trial("torch", other, 1.5e-3), trial("fast", other, 0.5e-3)});
  EXPECT_EQ(found.rows[0].present.names, "the trace");
  EXPECT_NEAR(found.rows[0].saved.middle, 0.5e-3, 1e-12);
  EXPECT_EQ(found.rows[1].present.names, "doubling/torch#1");
  EXPECT_TRUE(found.rows[1].is_ahead());
  EXPECT_THAT(to_markdown(document_of(found)), HasSubstr("nothing: what is in use is faster"));
  EXPECT_THAT(found.risks, Contains(HasSubstr("1 of 2 gains are over times in the trace")));
}

TEST(StepAudit, RefusesAPresentThatIsInFewCases) {
  const std::vector<TrialResult> trials{trial("fast", one, 1e-3), trial("fast", other, 0.5e-3),
                                        trial("mine", one, 9e-3), trial("mine", other, 9e-3)};
  // Slower than the trace, which then counts, but measured in each case.
  EXPECT_EQ(audit(trials, "/mine/").rows[0].present.names, "the trace");
  EXPECT_THAT([&] { audit(trials, "/typo/"); },
              ThrowsMessage<Error>(HasSubstr("\"/typo/\" is in 0 of 2 cases that were measured")));
  EXPECT_THAT(
      [&] {
        audit({trials[0], trials[1], trials[2]}, "/mine/");
      },
      ThrowsMessage<Error>(HasSubstr("\"/mine/\" is in 1 of 2 cases that were measured")));
}

// One call of 1 ms is both cases: kernels of 0.2 and 0.9 ms are slower together, whatever the half of it is.
TEST(StepAudit, JudgesTheCasesOfACallTogether) {
  const auto audit_with = [](std::vector<TrialResult> trials) {
    TracedStep both = step();
    both.parts[1].cases.insert(both.parts[1].cases.begin(), both.parts[0].cases[0]);
    both.parts[1].text = "both";
    both.parts.erase(both.parts.begin());
    return audited(both, results(std::move(trials)), testing::doubling_registry(), "");
  };
  const StepAudit slower = audit_with({trial("fast", one, 0.2e-3), trial("fast", other, 0.9e-3)});
  ASSERT_EQ(slower.rows.size(), 1U);
  EXPECT_EQ(slower.rows[0].best.names, "doubling/fast#1 + doubling/fast#1");
  EXPECT_NEAR(slower.rows[0].best.seconds.middle, 1.1e-3, 1e-12);
  EXPECT_TRUE(slower.rows[0].is_ahead());
  EXPECT_EQ(slower.gain.middle, 1);
  const StepAudit faster = audit_with({trial("fast", one, 0.7e-3), trial("fast", other, 0.1e-3)});
  EXPECT_NEAR(faster.rows[0].saved.middle, 0.2e-3, 1e-12);
  // A measured kernel counts as in use where all of the call was measured.
  const StepAudit in_use = audit_with({trial("fast", one, 0.3e-3), trial("fast", other, 0.1e-3),
                                       trial("torch", one, 0.5e-3), trial("torch", other, 0.2e-3)});
  EXPECT_EQ(in_use.rows[0].present.names, "doubling/torch#1 + doubling/torch#1");
  EXPECT_NEAR(in_use.rows[0].saved.middle, 0.3e-3, 1e-12);
  EXPECT_THAT([&] { audit_with({trial("fast", one, 0.2e-3)}); },
              ThrowsMessage<Error>(HasSubstr("has no case that was measured")));
}

TEST(StepAudit, NamesTheRisksOfItsResults) {
  Results busy = results({trial("fast", one, 1e-3)});
  busy.weather.steal_share = 0.5;
  busy.partial = true;
  const auto risks = [](const Results& of) {
    return audited(step(), of, testing::doubling_registry(), "").risks;
  };
  EXPECT_THAT(risks(busy), Contains(HasSubstr("the host took 50.0 %")));
  EXPECT_THAT(risks(busy), Contains(HasSubstr("the results are partial")));
  busy.weather = {.other_busy_share = 0.76};
  EXPECT_THAT(risks(busy), Contains(HasSubstr("other processes used 76.0 %")));
  for (const std::string& risk : risks(results({trial("fast", one, 1e-3)})))
    EXPECT_THAT(risk, ::testing::Not(HasSubstr("host")));
}

TEST(StepAudit, RefusesResultsOfOtherCases) {
  EXPECT_THAT([] { audit({trial("fast", "rows=9,columns=9", 1e-3)}); },
              ThrowsMessage<Error>(HasSubstr("has no case that was measured in results of suite mine")));
  EXPECT_THAT([] { audit({trial("torch", one, 1e-3)}); },
              ThrowsMessage<Error>(HasSubstr("hold only kernels that are in use now")));
  const StepAudit half = audit({trial("fast", one, 1e-3)});
  EXPECT_FALSE(half.rows[1].is_measured());
  EXPECT_THAT(half.risks, Contains(HasSubstr("1 of 2 cases were not measured")));
}

}  // namespace
}  // namespace assay
