#include "training/job/read_job.hpp"

#include "assay/error.hpp"
#include "training/job/scratch_file_test.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const char* const phases =
    R"({"schema": "assay.job/1", "job": "j", "windows": [{"steps": 1, "wall_seconds": 1}]})";
const char* const results = R"({"schema": "assay.results/1", "trials": []})";
const char* const foreign = R"({"context": {}, "benchmarks": []})";

TEST(JobFile, IsToldByWhatIsInIt) {
  EXPECT_EQ(kind_of_file(ScratchFile(phases).path()), JobFile::phases);
  EXPECT_EQ(kind_of_file(ScratchFile(gzipped(phases)).path()), JobFile::phases);
  EXPECT_EQ(kind_of_file(ScratchFile(results).path()), JobFile::results);
  EXPECT_EQ(kind_of_file(ScratchFile(foreign).path()), JobFile::results);
  EXPECT_EQ(kind_of_file(ScratchFile(R"({"traceEvents": []})").path()), JobFile::trace);
  EXPECT_EQ(kind_of_file(ScratchFile("  [\n]").path()), JobFile::trace);
  EXPECT_EQ(kind_of_file(ScratchFile("step,ms\n1,2\n").path()), JobFile::table);
}

TEST(JobFile, WithoutItsSchemaIsReadAsWhatItLooksLike) {
  const ScratchFile file(R"({"job": "j", "windows": []})");
  EXPECT_THAT([&] { read_job(file.path()); }, ThrowsMessage<Error>(HasSubstr("has no \"schema\"")));
}

TEST(JobFile, IsRefusedWhenItIsNoneOfThem) {
  const ScratchFile other(R"({"a": 1})"), empty(" \n");
  EXPECT_THAT([&] { kind_of_file(other.path()); },
              ThrowsMessage<Error>(HasSubstr("neither results, nor a job")));
  EXPECT_THAT([&] { kind_of_file(empty.path()); }, ThrowsMessage<Error>(HasSubstr("is empty")));
  const ScratchFile kernels(results);
  EXPECT_THAT([&] { read_job(kernels.path()); }, ThrowsMessage<Error>(HasSubstr("times of kernels")));
}

TEST(JobFile, TakesAUnitOnlyWhereItIsATable) {
  EXPECT_EQ(read_job(ScratchFile("100\n").path(), "ms").windows[0].wall_seconds, 0.1);
  const ScratchFile file(phases);
  EXPECT_THAT([&] { read_job(file.path(), "ms"); }, ThrowsMessage<Error>(HasSubstr("is no table")));
}

}  // namespace
}  // namespace assay
