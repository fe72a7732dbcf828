#include "training/job/job.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

StepPhase phase_of(const char* name, std::vector<double> seconds) {
  StepPhase out{.name = name, .kind = PhaseKind::load, .samples = static_cast<Index>(seconds.size())};
  for (const double one : seconds) out.mean_seconds += one / static_cast<double>(seconds.size());
  out.seconds = std::move(seconds);
  return out;
}

Job job_of(const char* source, std::vector<StepPhase> phases) {
  return {.windows = {{.steps = 2, .wall_seconds = 1}}, .phases = std::move(phases), .source = source};
}

// 1,005 = 10 * 100 + 5.
TEST(StepCounts, KeepOrDropTheRest) {
  EXPECT_EQ(count_steps(1005, 100, false).steps(), 11);
  EXPECT_EQ(count_steps(1005, 100, true).steps(), 10);
  EXPECT_EQ(count_steps(1000, 100, false).steps(), 10);
  EXPECT_EQ(count_steps(5, 100, false).full, 0);
}

TEST(AppendedWindows, PoolTheirPhases) {
  Job job = job_of("a", {phase_of("load", {1, 2})});
  append_windows(job, job_of("b", {phase_of("load", {5, 4})}));
  EXPECT_EQ(job.windows.size(), 2U);
  EXPECT_NE(job.windows[0].run, job.windows[1].run);
  EXPECT_THAT(job.phases[0].seconds, ElementsAre(1, 2, 5, 4));
  EXPECT_EQ(job.phases[0].mean_seconds, 3);
  EXPECT_EQ(job.source, "a, b");
}

TEST(AppendedWindows, TakeAMissingPhaseForNoTime) {
  Job job = job_of("a", {phase_of("load", {1, 2})});
  append_windows(job, job_of("b", {phase_of("copy", {5, 4})}));
  ASSERT_EQ(job.phases.size(), 2U);
  EXPECT_THAT(job.phases[0].seconds, ElementsAre(1, 2, 0, 0));
  EXPECT_THAT(job.phases[1].seconds, ElementsAre(0, 0, 5, 4));
  EXPECT_EQ(job.phases[1].mean_seconds, 2.25);
}

// Validation is no part of a step: a file that lacks it did not measure it.
TEST(AppendedWindows, KeepAPhaseBesideTrainingAsItWasMeasured) {
  StepPhase validation = phase_of("validation", {0.5});
  validation.scope = Scope::validation;
  Job job = job_of("a", {phase_of("load", {1, 2}), validation});
  append_windows(job, job_of("b", {phase_of("load", {5, 4})}));
  EXPECT_THAT(job.phases[1].seconds, ElementsAre(0.5));
  job = job_of("a", {phase_of("load", {1, 2})});
  append_windows(job, job_of("b", {phase_of("load", {5, 4}), validation}));
  ASSERT_EQ(job.phases.size(), 2U);
  EXPECT_THAT(job.phases[1].seconds, ElementsAre(0.5));
}

TEST(AppendedWindows, AreOfOneJob) {
  Job job = job_of("a", {});
  job.dataset.batch = 100;
  Job other = job_of("b", {});
  other.dataset.batch = 200;
  EXPECT_THAT([&] { append_windows(job, other); }, ThrowsMessage<Error>(HasSubstr("b: has batch 200")));
}

}  // namespace
}  // namespace assay
