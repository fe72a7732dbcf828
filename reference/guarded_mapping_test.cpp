#include "assay/ops/record_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace assay::guarded_mapping_test {
namespace {

constexpr Index page = 4096;

/// A file in memory of `pages` pages, each filled with its number counted from 1.
class MappedFile : public ::testing::Test {
 protected:
  MappedFile() : descriptor_(::memfd_create("guarded-mapping-test", MFD_CLOEXEC)) {
    for (unsigned char p = 1; p <= pages; ++p) {
      std::array<unsigned char, page> block;
      block.fill(p);
      EXPECT_EQ(::pwrite(descriptor_, block.data(), block.size(), (p - 1) * page), page);
    }
  }
  ~MappedFile() override { ::close(descriptor_); }

  static int byte(const GuardedMapping& mapping, Index at) {
    return std::to_integer<int>(mapping.data()[at]);
  }
  void truncate(Index size) const { ASSERT_EQ(::ftruncate(descriptor_, size), 0); }

  static constexpr unsigned char pages = 8;
  int descriptor_;
};

TEST_F(MappedFile, IsReadThroughTheMapping) {
  const GuardedMapping mapping(descriptor_, pages * page, GuardedMapping::Pages::on_demand);
  ASSERT_NE(mapping.data(), nullptr);
  EXPECT_EQ(byte(mapping, 0), 1);
  EXPECT_EQ(byte(mapping, 8 * page - 1), 8);
  EXPECT_FALSE(mapping.lost());
}

TEST_F(MappedFile, ReadsAsZerosWhereItWasTruncatedAndSaysSo) {
  const GuardedMapping mapping(descriptor_, pages * page, GuardedMapping::Pages::on_demand);
  truncate(3 * page);
  EXPECT_EQ(byte(mapping, 5 * page), 0);
  EXPECT_TRUE(mapping.lost());
  EXPECT_EQ(byte(mapping, 8 * page - 1), 0);
  EXPECT_EQ(byte(mapping, 3 * page), 0);
  EXPECT_EQ(byte(mapping, 2 * page), 3) << "what is left of the file is still there";
}

TEST_F(MappedFile, ReadsAsZerosWhenItsPagesHadBeenMappedBeforeItWasTruncated) {
  const GuardedMapping mapping(descriptor_, pages * page, GuardedMapping::Pages::populated);
  EXPECT_EQ(byte(mapping, 7 * page), 8);
  truncate(0);
  std::vector<std::byte> copy(pages * page, std::byte{1});
  std::memcpy(copy.data(), mapping.data(), copy.size());
  EXPECT_THAT(copy, ::testing::Each(std::byte{0}));
  EXPECT_TRUE(mapping.lost());
}

TEST_F(MappedFile, LosesOnlyTheMappingThatWasRead) {
  const GuardedMapping read(descriptor_, pages * page, GuardedMapping::Pages::on_demand);
  const GuardedMapping unread(descriptor_, pages * page, GuardedMapping::Pages::at_random);
  truncate(page);
  EXPECT_EQ(byte(read, 4 * page), 0);
  EXPECT_TRUE(read.lost());
  EXPECT_FALSE(unread.lost());
}

TEST_F(MappedFile, SurvivesATruncationWhileThreadsReadIt) {
  const GuardedMapping mapping(descriptor_, pages * page, GuardedMapping::Pages::populated);
  std::atomic<int> reading = 0;
  const auto read = [&] {
    ++reading;
    const volatile std::byte* const last = mapping.data() + 7 * page;
    while (std::to_integer<int>(*last) != 0) {
    }
  };
  std::thread first(read), second(read);
  while (reading < 2) std::this_thread::yield();
  truncate(0);
  first.join();
  second.join();
  EXPECT_TRUE(mapping.lost());
}

TEST_F(MappedFile, MayBeMappedAgainAfterItWasLost) {
  {
    const GuardedMapping mapping(descriptor_, pages * page, GuardedMapping::Pages::on_demand);
    truncate(page);
    EXPECT_EQ(byte(mapping, 4 * page), 0);
  }
  const GuardedMapping again(descriptor_, page, GuardedMapping::Pages::on_demand);
  EXPECT_EQ(byte(again, 0), 1);
  EXPECT_FALSE(again.lost());
}

TEST_F(MappedFile, IsResidentOnceItWasRead) {
  const GuardedMapping mapping(descriptor_, pages * page, GuardedMapping::Pages::populated);
  EXPECT_EQ(mapping.resident(), 1.0);
}

// A fault outside every mapping of ours must end the program as it would have without us.
TEST(GuardedMappingDeathTest, LeavesOtherBusErrorsAlone) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        const int file = ::memfd_create("other", MFD_CLOEXEC);
        if (::ftruncate(file, 2 * page) != 0) return;
        const GuardedMapping ours(file, page, GuardedMapping::Pages::on_demand);
        void* const other = ::mmap(nullptr, 2 * page, PROT_READ, MAP_SHARED, file, 0);
        if (::ftruncate(file, page) != 0) return;
        const volatile char* const at = static_cast<const char*>(other) + page;
        static_cast<void>(*at);
      },
      "");
}

}  // namespace
}  // namespace assay::guarded_mapping_test
