#include "assay/ops/record_file.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <set>
#include <vector>

namespace assay::record_file_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Record i is `bytes` times the byte i.
FillRecords numbered(Index bytes) {
  return [bytes](Index first, std::span<std::byte> block) {
    for (std::size_t at = 0; at < block.size(); ++at) {
      block[at] = static_cast<std::byte>(first + static_cast<Index>(at) / bytes);
    }
  };
}

class Records : public ::testing::Test {
 protected:
  Records() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / ("record_file_" + std::string(test->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    file_ = folder_ / "numbers.rec";
  }
  ~Records() override { fs::remove_all(folder_); }

  /// Written, and given a time in the past, so that a later write shows whatever the clock's grain.
  void write(RecordShape shape) const {
    write_record_file(file_, shape, numbered(shape.bytes));
    fs::last_write_time(file_, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  void overwrite(Index at, std::string_view bytes) const {
    std::fstream out(file_, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(at);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  auto opening() const {
    return [file = file_] { RecordFile opened(file); };
  }
  static auto error(const std::string& text) { return ThrowsMessage<Error>(HasSubstr(text)); }

  fs::path folder_, file_;
};

TEST_F(Records, ComeBackAsTheyWereWritten) {
  write({.records = 5, .bytes = 3});
  const RecordFile file(file_);
  EXPECT_EQ(file.shape().records, 5);
  EXPECT_EQ(file.shape().bytes, 3);
  for (Index i = 0; i < 5; ++i) {
    for (Index at = 0; at < 3; ++at) EXPECT_EQ(std::to_integer<Index>(file.record(i)[at]), i);
  }
  EXPECT_NO_THROW(file.verify());
  EXPECT_NO_THROW(file.require_unchanged());
}

TEST_F(Records, AreTheSameInBlocksOfAnySize) {
  // 3 MiB, which is written in several blocks.
  write({.records = 3072, .bytes = 1024});
  const RecordFile file(file_);
  EXPECT_EQ(std::to_integer<Index>(file.record(3071)[1023]), 3071 % 256);
  EXPECT_NO_THROW(file.verify());
}

TEST_F(Records, LeaveNoTemporaryFileBehind) {
  write({.records = 5, .bytes = 3});
  const std::set<fs::path> left{fs::directory_iterator(folder_), fs::directory_iterator()};
  EXPECT_EQ(left, std::set<fs::path>{file_});
}

TEST_F(Records, LeaveTheOldFileAloneWhenWritingFails) {
  write({.records = 5, .bytes = 3});
  const auto failing = [](Index, std::span<std::byte>) { throw std::runtime_error("the source failed"); };
  EXPECT_THROW(write_record_file(file_, {.records = 2, .bytes = 2}, failing), std::runtime_error);
  EXPECT_EQ(RecordFile(file_).shape().records, 5);
  const std::set<fs::path> left{fs::directory_iterator(folder_), fs::directory_iterator()};
  EXPECT_EQ(left, std::set<fs::path>{file_});
}

TEST_F(Records, CannotBeWrittenIntoAFolderThatIsNotThere) {
  const fs::path nowhere = folder_ / "nowhere" / "numbers.rec";
  EXPECT_THAT([&] { write_record_file(nowhere, {}, numbered(1)); },
              ThrowsMessage<Error>(AllOf(HasSubstr(nowhere.string()), HasSubstr("cannot write"))));
}

TEST_F(Records, AreRefusedWhenThereIsNoFile) { EXPECT_THAT(opening(), error("cannot open")); }

TEST_F(Records, AreRefusedWhenTheFileIsAFolder) {
  fs::create_directory(file_);
  EXPECT_THAT(opening(), error("no regular file"));
}

TEST_F(Records, AreRefusedWhenTheFileIsEmpty) {
  std::ofstream{file_};
  EXPECT_THAT(opening(), ThrowsMessage<Error>(AllOf(HasSubstr(file_.string()), HasSubstr("is empty"))));
}

TEST_F(Records, AreRefusedWithoutTheMagic) {
  write({.records = 5, .bytes = 3});
  overwrite(0, "ARROW1");
  EXPECT_THAT(opening(), error("does not start with ASSAYREC"));
}

TEST_F(Records, AreRefusedWhenTheFileEndsInsideTheMagic) {
  write({.records = 5, .bytes = 3});
  fs::resize_file(file_, 7);
  EXPECT_THAT(opening(), error("does not start with ASSAYREC"));
}

TEST_F(Records, AreRefusedWhenTheFileEndsInsideTheHeader) {
  write({.records = 5, .bytes = 3});
  for (const std::uintmax_t size : {8U, 47U, 48U, 4095U}) {
    fs::resize_file(file_, size);
    EXPECT_THAT(opening(), error("ends inside the header, at byte " + std::to_string(size)));
  }
}

TEST_F(Records, AreRefusedInAnotherVersion) {
  write({.records = 5, .bytes = 3});
  overwrite(8, "\x02");
  EXPECT_THAT(opening(), error("is of version 2, and this program reads version 1"));
}

TEST_F(Records, AreRefusedWithADamagedHeader) {
  for (const Index at : {12, 16, 24, 32, 40}) {
    write({.records = 5, .bytes = 3});
    overwrite(at, "\x77");
    EXPECT_THAT(opening(), error("has a damaged header")) << "byte " << at;
  }
}

TEST_F(Records, AreRefusedWhenTheLastOneIsCutOff) {
  write({.records = 5, .bytes = 3});
  fs::resize_file(file_, 4096 + 14);
  EXPECT_THAT(opening(), error("14 bytes of records, not a multiple of the record size of 3"));
}

TEST_F(Records, AreRefusedWhenSomeAreMissing) {
  write({.records = 5, .bytes = 3});
  fs::resize_file(file_, 4096 + 12);
  EXPECT_THAT(opening(), error("holds 4 records, and its header says 5"));
}

TEST_F(Records, AreRefusedWhenThereAreTooMany) {
  write({.records = 5, .bytes = 3});
  fs::resize_file(file_, 4096 + 18);
  EXPECT_THAT(opening(), error("holds 6 records, and its header says 5"));
}

TEST_F(Records, ThatWereAlteredFailTheChecksum) {
  write({.records = 5, .bytes = 3});
  overwrite(4096 + 7, "x");
  const RecordFile file(file_);
  EXPECT_THAT([&] { file.verify(); }, error("checksum"));
}

TEST_F(Records, ThatChangedPlacesFailTheChecksum) {
  write({.records = 3, .bytes = 1});
  overwrite(4096, std::string_view("\x01\x00\x02", 3));
  const RecordFile file(file_);
  EXPECT_THAT([&] { file.verify(); }, error("checksum"));
}

TEST_F(Records, SurviveThatTheirFileIsRemoved) {
  write({.records = 5, .bytes = 3});
  const RecordFile file(file_);
  fs::remove(file_);
  EXPECT_NO_THROW(file.verify());
}

TEST_F(Records, SurviveThatAnotherFileTakesTheName) {
  write({.records = 5, .bytes = 3});
  const RecordFile file(file_);
  write({.records = 1, .bytes = 1});
  EXPECT_EQ(file.shape().records, 5);
  EXPECT_NO_THROW(file.verify());
}

TEST_F(Records, AreAnErrorAndNoCrashWhenTheFileIsTruncatedUnderThem) {
  write({.records = 8, .bytes = 4096});
  const RecordFile file(file_);
  fs::resize_file(file_, 2 * 4096);
  std::vector<std::byte> copy(8 * 4096, std::byte{1});
  std::memcpy(copy.data(), file.record(0), copy.size());
  EXPECT_EQ(copy[0], std::byte{0});
  EXPECT_EQ(copy[5 * 4096], std::byte{0});
  EXPECT_THAT(
      [&] { file.require_unchanged(); },
      ThrowsMessage<Error>(AllOf(HasSubstr(file_.string()), HasSubstr("was truncated from 36864 to 8192"),
                                 HasSubstr("open it again"))));
  EXPECT_THAT([&] { file.verify(); }, error("was truncated"));
}

// The last page of a file may be read past its end, as zeros and without a fault: only the size tells.
TEST_F(Records, AreAnErrorWhenTheFileIsTruncatedInsideAPage) {
  write({.records = 10, .bytes = 10});
  const RecordFile file(file_);
  fs::resize_file(file_, 4096 + 50);
  EXPECT_EQ(file.record(7)[0], std::byte{0});
  EXPECT_FALSE(file.mapping().lost());
  EXPECT_THAT([&] { file.require_unchanged(); }, error("was truncated from 4196 to 4146"));
}

TEST_F(Records, AreAnErrorWhenTheFileIsTruncatedAndGrowsBack) {
  write({.records = 8, .bytes = 4096});
  const RecordFile file(file_);
  fs::resize_file(file_, 4096);
  EXPECT_EQ(file.record(7)[0], std::byte{0});
  fs::resize_file(file_, 9 * 4096);
  EXPECT_THAT([&] { file.require_unchanged(); }, error("lost a page while it was read"));
}

TEST_F(Records, AreAnErrorWhenTheFileIsOverwrittenUnderThem) {
  write({.records = 5, .bytes = 3});
  const RecordFile file(file_);
  overwrite(4096, "x");
  EXPECT_THAT([&] { file.require_unchanged(); }, error("was written to while it was read"));
}

TEST_F(Records, AreAnErrorWhenTheFileGrowsUnderThem) {
  write({.records = 5, .bytes = 3});
  const RecordFile file(file_);
  fs::resize_file(file_, 10000);
  EXPECT_THAT([&] { file.require_unchanged(); }, error("was written to while it was read"));
}

TEST_F(Records, AreReadAroundTheMappingToo) {
  write({.records = 5, .bytes = 3});
  const RecordFile file(file_);
  std::vector<std::byte> record(3);
  file.read(4, record);
  EXPECT_THAT(record, ::testing::Each(std::byte{4}));
  fs::resize_file(file_, 4096 + 13);
  EXPECT_THAT([&] { file.read(4, record); }, error("ends inside record 4"));
}

TEST(ScratchRecords, HaveNoNameAndHoldWhatWasWritten) {
  for (const auto where : {RecordFile::Scratch::memory, RecordFile::Scratch::disk}) {
    const RecordFile file = RecordFile::scratch(where, {.records = 5, .bytes = 3}, numbered(3));
    EXPECT_EQ(std::to_integer<Index>(file.record(4)[2]), 4);
    EXPECT_NO_THROW(file.verify());
    EXPECT_NO_THROW(file.again(RecordFile::Pages::at_random).verify());
    EXPECT_EQ(
        fs::read_symlink("/proc/self/fd/" + std::to_string(file.descriptor())).string().find("(deleted)") ==
            std::string::npos,
        false);
  }
}

/// Page faults of this process so far that needed no disk.
long faults() {
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt;
}

// Unmapped, 4,096 pages take 256 faults at least: the kernel maps up to 16 pages around each.
TEST(ScratchRecords, FaultNoMoreOnceTheirPagesAreMapped) {
  const RecordFile file =
      RecordFile::scratch(RecordFile::Scratch::memory, {.records = 4096, .bytes = 4096}, numbered(4096));
  const auto pass = [&] {
    const long before = faults();
    std::vector<std::byte> copy(4096);
    for (Index i = 0; i < 4096; ++i) std::memcpy(copy.data(), file.record(i), copy.size());
    return faults() - before;
  };
  file.drop_pages();
  EXPECT_GE(pass(), 256);
  file.drop_pages();
  file.map_pages();
  EXPECT_LT(pass(), 64);
}

TEST(ScratchRecords, LeaveMemoryWhenTheirPagesAreDropped) {
  if (!scratch_disk_is_a_disk()) GTEST_SKIP() << "TMPDIR lies in memory";
  // The file is as long as 40 pages, which no kernel keeps mapped by chance.
  const RecordFile file =
      RecordFile::scratch(RecordFile::Scratch::disk, {.records = 40, .bytes = 4096}, numbered(4096));
  file.verify();
  EXPECT_GT(file.mapping().resident(), 0.9);
  file.drop_pages();
  EXPECT_LT(file.mapping().resident(), 0.1);
  EXPECT_NO_THROW(file.verify());
}

TEST(Digest, DependsOnEveryByteAndOnTheLength) {
  for (const std::size_t size : {1U, 7U, 8U, 9U, 31U, 32U, 33U, 63U, 64U, 65U, 100U}) {
    std::vector<std::byte> bytes(size);
    std::set<std::uint64_t> seen{digest(bytes)};
    for (std::byte& byte : bytes) {
      for (int bit = 0; bit < 8; ++bit) {
        byte ^= static_cast<std::byte>(1 << bit);
        EXPECT_TRUE(seen.insert(digest(bytes)).second) << size;
        byte ^= static_cast<std::byte>(1 << bit);
      }
    }
    bytes.push_back(std::byte{0});
    EXPECT_TRUE(seen.insert(digest(bytes)).second) << size;
  }
}

// In an exclusive-or of words, or in a product alone, two changes of top bits cancel.
TEST(Digest, SeesTwoChangesOfTheTopBit) {
  std::vector<std::byte> bytes(128);
  const std::uint64_t before = digest(bytes);
  bytes[7] = std::byte{0x80};
  bytes[39] = std::byte{0x80};
  EXPECT_NE(digest(bytes), before);
}

TEST(Digest, DependsOnTheOrder) {
  std::vector<std::byte> bytes(64);
  bytes[0] = std::byte{1};
  const std::uint64_t first = digest(bytes);
  std::swap(bytes[0], bytes[8]);
  const std::uint64_t second = digest(bytes);
  std::swap(bytes[8], bytes[32]);
  EXPECT_NE(first, second);
  EXPECT_NE(digest(bytes), second);
  EXPECT_NE(digest(bytes), first);
}

}  // namespace
}  // namespace assay::record_file_test
