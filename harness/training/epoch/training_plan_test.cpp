#include "training/epoch/own_jobs.hpp"

#include "assay/error.hpp"
#include "core/json/fields.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

constexpr const char* job =
    R"({"schema": "assay.training/1", "name": "small", "network": "transformer", "width": 32,
 "samples": 1000, "batch": 64, "workers": 2, "prefetch": 4, "in_order": false, "records": "images.rec",
 "validation_samples": 100, "checkpoint_every": 5, "batch_delay": 0.001})";

std::string memory_refusal(const TrainingPlan& plan, double bytes) {
  try {
    require_memory(plan, "big.json", bytes);
  } catch (const Error& failure) {
    return failure.what();
  }
  return "";
}

TEST(TrainingJobs, ThatDoNotFitTheMemoryAreRefusedBeforeItIsFilled) {
  // 1000 records of 3 * 16 * 16 bytes; two batches ahead for each of two workers, of 64 samples as floats.
  TrainingPlan plan{.samples = 1000, .batch = 64, .workers = 2, .prefetch = 2};
  const double records = 1000 * 768, batches = 4 * 64 * 768 * 4;
  EXPECT_EQ(memory_refusal(plan, records + batches), "");
  EXPECT_THAT(memory_refusal(plan, records + batches - 1), HasSubstr("big.json: needs"));
  plan.records = "images.rec";
  EXPECT_EQ(memory_refusal(plan, batches), "") << "a file of records is not held in memory";
  plan.prefetch = 1024;
  EXPECT_THAT(memory_refusal(plan, batches), HasSubstr("fewer workers"));
}

TEST(TrainingJobs, AreReadWithWhatIsNotStatedAsUsual) {
  const TrainingJob read = training_job_from_json(job, "jobs/small.json");
  EXPECT_EQ(read.name, "small");
  EXPECT_EQ(read.plan.network, "transformer");
  EXPECT_EQ(read.plan.workers, 2);
  EXPECT_FALSE(read.plan.in_order);
  EXPECT_EQ(read.plan.side, 16);
  EXPECT_EQ(read.plan.records, std::filesystem::absolute("jobs/images.rec")) << "from the folder of the job";
  EXPECT_EQ(read.plan.steps(), 16) << "15 batches of 64 and one of 40";
  EXPECT_EQ(read.plan.size(15), 40);
  EXPECT_EQ(read.plan.validation_steps(), 2) << "of 64 and 36";
  EXPECT_EQ(read.plan.validation_size(1), 36);
  EXPECT_EQ(read.plan.batch_delay, 0.001);
  EXPECT_EQ(read.plan.checkpoints(), 3) << "after 5, 10 and 15 steps";
  const TrainingJob again = training_job_from_json(to_json(read), "job.json");
  EXPECT_EQ(to_json(again), to_json(read));
  EXPECT_THAT(in_words(read.plan), HasSubstr("validation of 100, checkpoint every 5, 1.00 ms of delay"));
}

}  // namespace
}  // namespace assay
