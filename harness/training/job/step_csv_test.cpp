#include "training/job/read_job.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

std::vector<double> steps(const std::string& text, const std::string& unit = "") {
  return read_step_csv(text, "f.csv", unit).windows.at(0).step_seconds;
}

auto refuses_csv(const std::string& text, const std::string& message, const std::string& unit = "") {
  EXPECT_THAT([&] { read_step_csv(text, "f.csv", unit); }, ThrowsMessage<Error>(HasSubstr(message))) << text;
}

TEST(StepCsv, IsReadWithAHeaderThatNamesTheUnit) {
  EXPECT_THAT(steps("step,ms\n0,100\n1,200\n"), ElementsAre(0.1, 0.2));
  EXPECT_THAT(steps("seconds\n0.1\n0.2"), ElementsAre(0.1, 0.2));
  EXPECT_THAT(steps("Step us\n100000\n"), ElementsAre(DoubleEq(0.1)));
}

TEST(StepCsv, IsReadWithoutAHeader) {
  EXPECT_THAT(steps("100\n200\n", "ms"), ElementsAre(0.1, 0.2));
  EXPECT_THAT(steps("7,100\n8,200\n", "ms"), ElementsAre(0.1, 0.2));
  EXPECT_EQ(read_step_csv("7,100\n8,200\n", "f.csv", "ms").windows[0].first_step, 7);
}

TEST(StepCsv, IsReadWithCarriageReturnsBlankLinesAndOtherSeparators) {
  EXPECT_THAT(steps("\xef\xbb\xbfstep;ms\r\n0;100\r\n\r\n1;200\r\n"), ElementsAre(0.1, 0.2));
  EXPECT_THAT(steps("step\ttime\n0\t100\n", "ms"), ElementsAre(0.1));
}

TEST(StepCsv, TakesTheUnitOfEachRow) {
  EXPECT_THAT(steps("time,unit\n100,ms\n0.2,s\n"), ElementsAre(DoubleEq(0.1), 0.2));
}

TEST(StepCsv, TakesLoadingOfTheSameSteps) {
  const Job job = read_step_csv("step_ms,load_ms\n100,30\n200,50\n", "f.csv");
  ASSERT_EQ(job.phases.size(), 1U);
  EXPECT_EQ(job.phases[0].kind, PhaseKind::load);
  EXPECT_THAT(job.phases[0].seconds, ElementsAre(DoubleEq(0.03), DoubleEq(0.05)));
  EXPECT_DOUBLE_EQ(job.phases[0].mean_seconds, 0.04);
}

TEST(StepCsv, KnowsColumnsOfTimmAndMmengine) {
  for (const char* header : {"step,batch_time,data_time", "step,time,data_time"}) {
    const Job job = read_step_csv(std::string(header) + "\n0,0.1,0.03\n1,0.2,0.05\n", "f.csv", "s");
    EXPECT_THAT(job.windows.at(0).step_seconds, ElementsAre(0.1, 0.2)) << header;
    ASSERT_EQ(job.phases.size(), 1U) << header;
    EXPECT_EQ(job.phases[0].kind, PhaseKind::load) << header;
  }
}

TEST(StepCsv, SaysWhatItDropped) {
  EXPECT_THAT(read_step_csv("step,ms,loss\n0,100,2.3\n", "f.csv").notes,
              ElementsAre(HasSubstr("dropped column loss")));
  EXPECT_THAT(read_step_csv("ms\n100\n", "f.csv").notes, Contains(HasSubstr("no column step")));
  EXPECT_THAT(read_step_csv("step,ms\n0,100\n", "f.csv").notes, IsEmpty());
}

TEST(StepCsv, NamesTheLineThatCannotBeRead) {
  refuses_csv("step,ms\n0,100\n1,fast\n", "f.csv: line 3: \"fast\" is no ms");
  refuses_csv("step,ms\n0,100\n\n1,-3\n", "f.csv: line 4: \"-3\" is no ms");
  refuses_csv("step,ms\n0,100\n1\n", "f.csv: line 3: has 1 cells");
  refuses_csv("step,ms\n0,nan\n", "f.csv: line 2: \"nan\"");
  refuses_csv("time,unit\n1,parsec\n", "f.csv: line 2: parsec is no unit");
}

TEST(StepCsv, TakesOnlyStepsThatFollowEachOther) {
  refuses_csv("step,ms\n0,100\n100,101\n", "line 3: step 100 does not follow step 0");
  refuses_csv("step,ms\n3,100\n3,101\n", "line 3: step 3 does not follow step 3");
  refuses_csv("step,ms\n0.5,100\n", "line 2: \"0.5\" is no number of a step");
  refuses_csv("step,ms\n1e300,100\n", "line 2: \"1e300\" is no number of a step");
}

TEST(StepCsv, IsRefusedWithoutAUnitOrWithTwo) {
  refuses_csv("100\n200\n", "does not say in which unit");
  refuses_csv("100\n", "--unit: fortnight is no unit", "fortnight");
  refuses_csv("ms\n100\n", "--unit: is s, but f.csv has a column ms", "s");
  refuses_csv("time,unit\n1,ms\n", "--unit: is s, but line 2", "s");
}

TEST(StepCsv, IsRefusedWithoutTimes) {
  refuses_csv("", "holds no step time");
  refuses_csv("step,ms\n", "holds no step time");
  refuses_csv("step,loss\n0,1\n", "names 0 columns of step times");
  refuses_csv("1,2,3\n", "3 columns need a header", "ms");
}

const std::string stream = "step,step_s,load_s,samples,phase,process,train,workers\n";

TEST(StepCsv, ReadsWhatAssayTimedStreams) {
  const Job job = read_step_csv(stream +
                                    "0,0.2,0.1,32,training,7,80,2\n1,0.1,0,32,training,7,80,2\n"
                                    "0,0.05,0,64,validation,7,64,0\n0,0.3,0.1,16,training,7,80,2\n",
                                "steps.csv", "");
  ASSERT_EQ(job.windows.size(), 2U);
  EXPECT_EQ(job.windows[0].step_seconds, (std::vector{0.2, 0.1}));
  EXPECT_EQ(job.windows[1].step_seconds, (std::vector{0.3}));
  EXPECT_EQ(job.dataset.batch, 32);
  EXPECT_EQ(job.dataset.train, 80);
  EXPECT_EQ(job.loader.workers, 2);
  ASSERT_EQ(job.phases.size(), 2U);
  EXPECT_EQ(job.phases[0].scope, Scope::validation);
  EXPECT_THAT(job.phases[0].seconds, ElementsAre(DoubleEq(0.025))) << "of half of its 64 samples";
  EXPECT_EQ(job.dataset.validation, 64);
  EXPECT_EQ(job.validated, 0) << "training goes on";
  EXPECT_EQ(job.phases[1].seconds, (std::vector{0.1, 0.0, 0.1}));
}

// A loader without a length says 0 samples: they are known once training goes on.
TEST(StepCsv, CountsTheSamplesOfAValidation) {
  const std::string validation = "0,0.1,0,8,validation,7,0,0\n1,0.1,0,4,validation,7,0,0\n";
  const std::string begun = stream + "0,0.2,0.1,8,training,7,80,2\n" + validation;
  Job job = read_step_csv(begun, "s.csv", "");
  EXPECT_EQ(job.dataset.validation, 0);
  EXPECT_EQ(job.validated, 12);
  job = read_step_csv(begun + "0,0.2,0.1,8,training,7,80,2\n", "s.csv", "");
  EXPECT_EQ(job.dataset.validation, 12);
  EXPECT_EQ(job.validated, 0);
}

TEST(StepCsv, RefusesLinesOfTwoProcesses) {
  EXPECT_THAT(
      [] {
        read_step_csv(stream + "0,0.2,0.1,32,training,7,80,2\n22,0.2,0.1,32,training,8,80,2\n", "s.csv", "");
      },
      ThrowsMessage<Error>(
          ::testing::AllOf(HasSubstr("process 8"), HasSubstr("process 7"), HasSubstr("a file of its own"))));
}

}  // namespace
}  // namespace assay
