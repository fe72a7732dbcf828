#include "assay/compare.hpp"
#include "assay/error.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

namespace assay {
namespace {

namespace fs = std::filesystem;

Results recorded(const std::string& commit) {
  Launch launch;
  for (int i = 1; i <= 100; ++i)
    launch.push_back({.seconds = 1e-5 / 3 * i, .cpu_seconds = 1e-5, .calls = 20});
  return {.suite = "smoke",
          .machine = {.key = "cpu_2"},
          .commit = commit,
          .trials = {{.key = "gemm/naive/m=1#1",
                      .operation = "gemm",
                      .variant = "naive",
                      .problem = "m=1",
                      .launches = {launch, launch}}}};
}

Baseline sample_baseline() {
  return {"smoke", "cpu_2", {{"first", recorded("aaa")}, {"faster \"gemm\"", recorded("bbb")}}};
}

class BaselineFile : public ::testing::Test {
 protected:
  BaselineFile() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder = fs::temp_directory_path() / ("assay_" + std::to_string(::getpid()) + "_" + test->name());
    file = baseline_path(folder, "cpu_2", "smoke");
  }
  ~BaselineFile() override { fs::remove_all(folder); }
  fs::path folder, file;
};

TEST_F(BaselineFile, GivesBackEveryRecordingWithItsReason) {
  save_baseline(file, sample_baseline());
  const auto read = load_baseline(file);
  ASSERT_TRUE(read);
  EXPECT_EQ(to_json(*read), to_json(sample_baseline()));
  ASSERT_EQ(read->recordings.size(), 2U);
  EXPECT_EQ(read->recordings[1].reason, "faster \"gemm\"");
  EXPECT_EQ(read->recordings[1].results.commit, "bbb");
  EXPECT_NEAR(read->recordings[0].results.trials[0].launches[1][99].seconds, 1e-3 / 3, 1e-10);
}

TEST_F(BaselineFile, IsNothingWhenThereIsNone) { EXPECT_FALSE(load_baseline(file)); }

TEST_F(BaselineFile, GrowsByWholeLinesWhenARecordingIsAdded) {
  Baseline baseline = sample_baseline();
  baseline.recordings.pop_back();
  const std::string before = to_json(baseline), after = to_json(sample_baseline());
  const auto end_of_first = before.rfind("\n ]");
  EXPECT_TRUE(after.starts_with(before.substr(0, end_of_first) + ",\n"));
}

TEST_F(BaselineFile, StaysInItsFolder) {
  EXPECT_THROW(baseline_path("b", "cpu_2", "../../etc/x"), Error);
  EXPECT_THROW(baseline_path("b", "..", "x"), Error);
}

}  // namespace
}  // namespace assay
