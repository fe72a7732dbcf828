#include "train_step/checkpoint.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace assay::train_step {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr training::Network network{.channels = 1, .side = 8, .width = 2};

/// Parameters from 0 up, first moments from 1,000 up, second ones from 2,000 up.
training::Parameters numbered() {
  Rng rng(1);
  training::Parameters out(network, rng);
  for (Index i = 0; i < out.p.size(); ++i) {
    out.p[i] = static_cast<float>(i);
    out.m[i] = static_cast<float>(1000 + i);
    out.v[i] = static_cast<float>(2000 + i);
  }
  return out;
}

std::vector<char> content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

template <class T>
T number_at(const std::vector<char>& bytes, std::size_t at) {
  T out{};
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

// conv1 2 (9 + 1), conv2 4 (2 * 9 + 1), dense 10 (4 * 4 * 4 + 1).
constexpr std::size_t parameters = 20 + 76 + 650;

TEST(Checkpoints, HoldTheStepParametersAndBothMoments) {
  Checkpoints checkpoints;
  EXPECT_TRUE(checkpoints.file().empty());
  checkpoints.write(numbered(), 17);
  const std::vector<char> bytes = content(checkpoints.file());
  ASSERT_EQ(bytes.size(), 16 + 3 * 4 * parameters);
  EXPECT_EQ(number_at<std::uint64_t>(bytes, 0), 17U);
  EXPECT_EQ(number_at<std::uint64_t>(bytes, 8), parameters);
  for (std::size_t i = 0; i < parameters; ++i) {
    const auto value = static_cast<float>(i);
    EXPECT_EQ(number_at<float>(bytes, 16 + 4 * i), value);
    EXPECT_EQ(number_at<float>(bytes, 16 + 4 * (parameters + i)), 1000 + value);
    EXPECT_EQ(number_at<float>(bytes, 16 + 4 * (2 * parameters + i)), 2000 + value);
  }
}

TEST(Checkpoints, TakeThePlaceOfTheOneBefore) {
  Checkpoints checkpoints;
  checkpoints.write(numbered(), 1);
  checkpoints.write(numbered(), 2);
  EXPECT_EQ(number_at<std::uint64_t>(content(checkpoints.file()), 0), 2U);
  const fs::path folder = checkpoints.file().parent_path();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
}

TEST(Checkpoints, GoWithWhatWroteThem) {
  fs::path folder;
  {
    Checkpoints checkpoints;
    checkpoints.write(numbered(), 1);
    folder = checkpoints.file().parent_path();
    EXPECT_TRUE(fs::exists(folder));
  }
  EXPECT_FALSE(fs::exists(folder));
}

/// While it lives, files of this process cannot grow beyond a limit, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST(Checkpoints, LeaveTheOneBeforeWhereTheNextCannotBeWritten) {
  Checkpoints checkpoints;
  checkpoints.write(numbered(), 1);
  {
    const FullDisk disk(1000);
    EXPECT_THAT([&] { checkpoints.write(numbered(), 2); },
                ThrowsMessage<Error>(AllOf(HasSubstr("cannot write"), HasSubstr("free space"))));
  }
  EXPECT_EQ(number_at<std::uint64_t>(content(checkpoints.file()), 0), 1U);
  const fs::path folder = checkpoints.file().parent_path();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
  checkpoints.write(numbered(), 3);
  EXPECT_EQ(number_at<std::uint64_t>(content(checkpoints.file()), 0), 3U);
}

}  // namespace
}  // namespace assay::train_step
