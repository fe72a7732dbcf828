#include "core/files/process_stat.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

namespace assay {
namespace {

TEST(FieldsOfStat, StandAtTheirNumbersWhateverTheNameHolds) {
  const std::string file = ::testing::TempDir() + "fields_of_stat";
  std::ofstream(file) << "17 (a) b) S 1 17 3\n";
  EXPECT_THAT(fields_of_stat(file), ::testing::ElementsAre("", "17", "", "S", "1", "17", "3"));
}

TEST(FieldsOfStat, AreThoseOfThisProcess) {
  const auto fields = fields_of_stat("/proc/self/stat");
  ASSERT_GT(fields.size(), 22U);
  EXPECT_EQ(fields[1], std::to_string(getpid()));
  EXPECT_EQ(fields[4], std::to_string(getppid()));
}

TEST(FieldsOfStat, AreNoneWhereThereIsNoProcess) {
  EXPECT_THAT(fields_of_stat("/proc/0/stat"), ::testing::IsEmpty());
}

}  // namespace
}  // namespace assay
