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
                     .operation = "doubling",
                     .problem = "rows=2,columns=3",
                     .per_step = 2,
                     .seconds = 4e-3,
                     .call_seconds = 2e-3},
                    {.name = "aten::mm",
                     .operation = "doubling",
                     .problem = "rows=4,columns=3",
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
  EXPECT_EQ(found.rows[0].present_by, "the trace");
  EXPECT_EQ(found.rows[0].best_by, "doubling/fast#1");
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
  EXPECT_EQ(found.rows[0].present_by, "the trace");
  EXPECT_NEAR(found.rows[0].saved.middle, 0.5e-3, 1e-12);
  EXPECT_EQ(found.rows[1].present_by, "doubling/torch#1");
  EXPECT_TRUE(found.rows[1].is_ahead());
  EXPECT_THAT(to_markdown(document_of(found)), HasSubstr("nothing: what is in use is faster"));
  EXPECT_THAT(found.risks, Contains(HasSubstr("1 of 2 gains are over times in the trace")));
}

TEST(StepAudit, RefusesAPresentThatIsInFewCases) {
  const std::vector<TrialResult> trials{trial("fast", one, 1e-3), trial("fast", other, 0.5e-3),
                                        trial("mine", one, 9e-3), trial("mine", other, 9e-3)};
  // Slower than the trace, which then counts, but measured in each case.
  EXPECT_EQ(audit(trials, "/mine/").rows[0].present_by, "the trace");
  EXPECT_THAT([&] { audit(trials, "/typo/"); },
              ThrowsMessage<Error>(HasSubstr("\"/typo/\" is in 0 of 2 cases that were measured")));
}

TEST(StepAudit, RefusesResultsOfOtherCases) {
  EXPECT_THAT([] { audit({trial("fast", "rows=9,columns=9", 1e-3)}); },
              ThrowsMessage<Error>(HasSubstr("has no case that was measured in results of suite mine")));
  const StepAudit half = audit({trial("fast", one, 1e-3)});
  EXPECT_FALSE(half.rows[1].is_measured());
  EXPECT_THAT(half.risks, Contains(HasSubstr("1 of 2 cases were not measured")));
}

}  // namespace
}  // namespace assay
