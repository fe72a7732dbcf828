#include "training/job/read_job.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const char* const whole = R"({"schema": "assay.job/1", "job": "j", "hardware": "h",
  "dataset": {"train": 1005, "validation": 50, "batch": 100, "drop_last": true, "checkpoint_every": 7},
  "loader": {"workers": 4, "prefetch": 3, "in_order": false, "load_contention": 1.2},
  "windows": [{"first_step": 0, "steps": 2, "wall_seconds": 0.3, "cache": "cold"},
              {"first_step": 5, "step_seconds": [0.1, 0.2]}],
  "phases": {"load": {"kind": "load", "seconds": [0.01, 0.03], "overlaps": true},
             "evaluate": {"kind": "compute", "mean_seconds": 0.5, "samples": 7, "scope": "validation",
                          "share": "12 %"},
             "save": {"kind": "other", "mean_seconds": 2, "scope": "checkpoint"}},
  "one_off_seconds": 1.5, "measured_epoch_seconds": 9,
  "claims": [{"where": "row", "steps": 10, "throughput": "5,641/s", "derivation": ["2 s", "3"]}]})";

auto refuses_phases(const std::string& text, const std::string& message) {
  EXPECT_THAT([&] { read_phases_json(text, "f.json"); }, ThrowsMessage<Error>(HasSubstr(message))) << text;
}

/// A job whose one member beside the required ones is this.
std::string job_with(const std::string& member) {
  return R"({"schema": "assay.job/1", "job": "j", )" + member + "}";
}

TEST(PhasesJson, IsReadWhole) {
  const Job job = read_phases_json(whole, "f.json");
  EXPECT_EQ(job.name, "j");
  EXPECT_EQ(job.source, "f.json");
  EXPECT_EQ(job.dataset.train, 1005);
  EXPECT_TRUE(job.dataset.drop_last);
  EXPECT_EQ(job.dataset.checkpoint_every, 7);
  EXPECT_EQ(job.loader.workers, 4);
  EXPECT_EQ(job.loader.prefetch, 3);
  EXPECT_FALSE(job.loader.in_order);
  EXPECT_EQ(job.loader.load_contention, 1.2);
  EXPECT_FALSE(job.loader.compute_contention);
  ASSERT_EQ(job.windows.size(), 2U);
  EXPECT_EQ(job.windows[0].cache, PageCache::cold);
  EXPECT_EQ(job.windows[1].steps, 2);
  EXPECT_NEAR(job.windows[1].wall_seconds, 0.3, 1e-12);
  EXPECT_NE(job.windows[0].run, job.windows[1].run);
  ASSERT_EQ(job.phases.size(), 3U);
  EXPECT_EQ(job.phases[2].scope, Scope::checkpoint);
  EXPECT_TRUE(job.phases[0].overlaps);
  EXPECT_NEAR(job.phases[0].mean_seconds, 0.02, 1e-12);
  EXPECT_EQ(job.phases[1].scope, Scope::validation);
  EXPECT_EQ(job.phases[1].share->text, "12 %");
  EXPECT_EQ(job.one_off_seconds, 1.5);
  EXPECT_EQ(job.epoch_seconds, 9);
  ASSERT_EQ(job.claims.size(), 1U);
  EXPECT_EQ(job.claims[0].derivation.size(), 2U);
}

TEST(PhasesJson, NamesTheKeyThatMayHaveBeenMeant) {
  refuses_phases(job_with(R"("phase": {})"), "f.json: has an unknown key \"phase\"; is it \"phases\"");
  refuses_phases(job_with(R"("loader": {"worker": 2})"),
                 "f.json: loader: has an unknown key \"worker\"; is it \"workers\"");
  refuses_phases(job_with(R"("windows": [{"steps": 1, "wall_second": 2}])"),
                 "f.json: windows[0]: has an unknown key \"wall_second\"; is it \"wall_seconds\"");
  refuses_phases(job_with(R"("phases": {"a": {"kind": "load", "mean": 2}})"),
                 "f.json: phases.a: has an unknown key \"mean\"");
}

TEST(PhasesJson, NamesWhatIsMissing) {
  refuses_phases(R"({"job": "j"})", "f.json: has no \"schema\"");
  refuses_phases(R"({"schema": "assay.job/1"})", "f.json: has no \"job\"");
  refuses_phases(R"({"schema": "assay.job/9", "job": "j"})", "assay.job/9; this program reads assay.job/1");
  refuses_phases(job_with(R"("windows": [{"steps": 2}])"), "f.json: windows[0]: has no \"wall_seconds\"");
  refuses_phases(job_with(R"("phases": {"a": {"kind": "load"}})"),
                 "f.json: phases.a: has no \"mean_seconds\"");
  refuses_phases(job_with(R"("phases": {"a": {"mean_seconds": 1}})"), "f.json: phases.a: has no \"kind\"");
  refuses_phases(job_with(R"("claims": [{"total": "2 s"}])"), "claims[0]: has a \"total\" without");
}

TEST(PhasesJson, NamesWhatCannotBe) {
  refuses_phases(job_with(R"("phases": {"a": {"kind": "lode", "mean_seconds": 1}})"),
                 "f.json: phases.a.kind: is \"lode\", must be one of load, copy, compute, sync, other");
  refuses_phases(job_with(R"("dataset": {"batch": 0})"), "f.json: dataset.batch: is 0");
  refuses_phases(job_with(R"("dataset": {"checkpoint_every": -1})"),
                 "f.json: dataset.checkpoint_every: is -1");
  refuses_phases(job_with(R"("phases": {"a": {"kind": "load", "mean_seconds": "nan"}})"),
                 "must be");
  refuses_phases(job_with(R"("windows": [{"steps": 3, "step_seconds": [1, 2]}])"),
                 "is 3, but step_seconds holds 2");
  refuses_phases(job_with(R"("phases": {"a": {"kind": "load", "mean_seconds": 3, "seconds": [1, 2]}})"),
                 "is 3, but the mean of seconds is 1.5");
  refuses_phases(job_with(R"("claims": [{"throughput": "5 min"}])"), "claims[0].throughput: is \"5 min\"");
  refuses_phases(job_with(R"("claims": [{"epoch": 5}])"), "claims[0].epoch: is a number, must be a string");
  refuses_phases(job_with(R"("phases": 3)"), "f.json: phases: is a number, must be an object");
  refuses_phases(job_with(R"("loader": {"load_contention": 0})"), "must be a number above 0");
}

TEST(PhasesJson, LeavesTimesBelowZeroToTheLint) {
  const Job job =
      read_phases_json(job_with(R"("phases": {"a": {"kind": "load", "mean_seconds": -1}})"), "f.json");
  EXPECT_EQ(job.phases[0].mean_seconds, -1);
}

}  // namespace
}  // namespace assay
