#include "assay/compare.hpp"
#include "assay/error.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <algorithm>

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

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
  void expect_refused(std::string text, const std::string& from, const std::string& to,
                      const std::string& message) {
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    fs::create_directories(file.parent_path());
    write_file(file, text.replace(at, from.size(), to));
    EXPECT_THAT([&] { load_baseline(file); }, Throws<Error>(Property(&Error::what, HasSubstr(message))));
  }
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

TEST_F(BaselineFile, IsRefusedWithTheReasonWhenItCannotBeUsed) {
  const std::string text = to_json(sample_baseline());
  expect_refused(text, "assay.baseline/1", "assay.baseline/9", "smoke.json: is of schema assay.baseline/9");
  expect_refused(text, "\"suite\": \"smoke\"", "\"suite\": \"full\"",
                 "is of suite full, but lies where that of smoke belongs");
  expect_refused(text, "cpu_2", "cpu_4", "is of machine cpu_4, but lies where that of cpu_2 belongs");
  expect_refused(text, text.substr(text.size() / 2), "", "ends in the middle");
  expect_refused(text, "\"launches\": [", "\"launches\": 3, \"x\": [",
                 "recordings[0].results.trials[0].launches: is a number, must be an array");
  expect_refused(to_json(Baseline{"smoke", "cpu_2", {}}), "]", "]", "recordings: is empty");
  expect_refused(to_json(recorded("a")), "{", "{",
                 "is of schema assay.result/1; this program reads assay.baseline/1");
}

TEST_F(BaselineFile, StaysInItsFolder) {
  EXPECT_THROW(baseline_path("b", "cpu_2", "../../etc/x"), Error);
  EXPECT_THROW(baseline_path("b", "..", "x"), Error);
}

}  // namespace
}  // namespace assay
