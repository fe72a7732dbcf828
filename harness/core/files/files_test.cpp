#include "assay/files.hpp"
#include "assay/error.hpp"

#include <gmock/gmock.h>

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

/// A folder of its own for each test, removed afterwards.
class Files : public ::testing::Test {
 protected:
  Files() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder = fs::temp_directory_path() / ("assay_" + std::to_string(::getpid()) + "_" + test->name());
    fs::create_directories(folder);
  }
  ~Files() override { fs::remove_all(folder); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
  }
  fs::path folder;
};

auto error_saying(const std::string& text) { return Throws<Error>(Property(&Error::what, HasSubstr(text))); }

/// While it lives no file of this process grows beyond `bytes`, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit small{bytes, limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit limit_{};
};

TEST_F(Files, AreReadBackAsWritten) {
  const std::string content("a\0b\r\nc", 6);
  write_file(folder / "r.json", content);
  EXPECT_EQ(read_file(folder / "r.json"), content);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, KeepTheOldContentAndNoRemainsWhenTheDiskIsFull) {
  write_file(folder / "r.json", "old");
  {
    const FullDisk full(1000);
    EXPECT_THAT([&] { write_file(folder / "r.json", std::string(5000, 'x')); }, error_saying("cannot write"));
  }
  EXPECT_EQ(read_file(folder / "r.json"), "old");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, AreNotMadeInAFolderThatIsMissing) {
  EXPECT_THAT([&] { write_file(folder / "typo" / "r.json", "x"); }, error_saying("there is no folder"));
  EXPECT_FALSE(fs::exists(folder / "typo"));
}

TEST_F(Files, OfDeviceKindAreWrittenDirectlyAndReportAFullDevice) {
  EXPECT_NO_THROW(write_file("/dev/null", "x"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THAT([] { write_file("/dev/full", "x"); }, error_saying("/dev/full: cannot write"));
}

TEST_F(Files, BehindALinkAreReplacedAndTheLinkStays) {
  write_file(folder / "r.json", "old");
  fs::create_symlink("r.json", folder / "link.json");
  write_file(folder / "link.json", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link.json"));
  EXPECT_EQ(read_file(folder / "r.json"), "new");
}

TEST_F(Files, ThatAreMissingOrFoldersAreNamedWhenRead) {
  EXPECT_THAT([&] { read_file(folder / "none.json"); }, error_saying("none.json: there is no such file"));
  EXPECT_THAT([&] { read_file(folder); }, error_saying("is a folder"));
  EXPECT_THAT([&] { write_file(folder, "x"); }, error_saying("is a folder"));
}

}  // namespace
}  // namespace assay
