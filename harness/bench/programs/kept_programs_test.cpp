#include "bench/programs/layouts.hpp"

#include "assay/files.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class KeptPrograms : public ::testing::Test {
 protected:
  KeptPrograms() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    home = fs::temp_directory_path() / ("assay_" + std::to_string(::getpid()) + "_" + test->name());
    fs::create_directories(home / "made");
    kept = home / "kept";
  }
  ~KeptPrograms() override { fs::remove_all(home); }
  fs::path made(const std::string& name) const {
    write_file(home / "made" / name, name);
    return home / "made" / name;
  }
  fs::path home, kept;
};

TEST_F(KeptPrograms, AreFoundAgainAndNoMoreThanWereAskedFor) {
  keep_links({{made("p-0"), made("p-1"), made("p-2")}, ""}, kept);
  EXPECT_THAT(kept_links(kept, 3).value().files, ElementsAre(kept / "p-0", kept / "p-1", kept / "p-2"));
  EXPECT_THAT(kept_links(kept, 2).value().files, ElementsAre(kept / "p-0", kept / "p-1"));
  EXPECT_EQ(bytes_in(home / "made"), 0);
}

TEST_F(KeptPrograms, AreNotEnoughWhenMoreAreAskedFor) {
  keep_links({{made("p-0"), made("p-1")}, ""}, kept);
  EXPECT_FALSE(kept_links(kept, 3));
}

TEST_F(KeptPrograms, AreEnoughWhenARemarkSaysWhyThereIsOne) {
  keep_links({{made("p-0")}, "built by Unix Makefiles"}, kept);
  EXPECT_EQ(kept_links(kept, 8).value().remark, "built by Unix Makefiles");
  EXPECT_EQ(kept_links(kept, 1).value().remark, "");
}

TEST_F(KeptPrograms, AreMadeAgainWhereOnlyChanceKeptThemFew) {
  keep_links({.files = {made("p-0"), made("p-1")}, .remark = "linking ended with status 1", .lasting = false},
             kept);
  EXPECT_FALSE(kept_links(kept, 3));
  EXPECT_EQ(kept_links(kept, 2).value().files.size(), 2U) << "what was linked is there all the same";
  EXPECT_EQ(kept_links(kept, 2).value().remark, "");
}

TEST_F(KeptPrograms, AreNoneInAFolderThatIsNotFinished) {
  EXPECT_FALSE(kept_links(kept, 1));
  keep_links({{made("p-0"), made("p-1")}, ""}, kept);
  fs::remove(kept / "p-1");
  EXPECT_FALSE(kept_links(kept, 1));
  keep_links({{made("p-0")}, ""}, kept);
  write_file(kept / "links.json", "{\"files\": [\"p-0\"");
  EXPECT_FALSE(kept_links(kept, 1));
  write_file(kept / "links.json", "{\"files\": [\"" + std::string(1000, 'p') + "\"], \"remark\": \"\"}");
  EXPECT_FALSE(kept_links(kept, 1)) << "no file has so long a name";
}

TEST_F(KeptPrograms, ReplaceTheOlderOnes) {
  keep_links({{made("p-0")}, ""}, kept);
  write_file(home / "made" / "p-0", "newer");
  keep_links({{home / "made" / "p-0"}, ""}, kept);
  EXPECT_EQ(read_file(kept / "p-0"), "newer");
}

TEST_F(KeptPrograms, AreMadeInAFolderThatLosesWhatWasLeftThere) {
  made("left behind");
  {
    const UnfinishedFolder folder(home / "made");
    EXPECT_TRUE(fs::is_empty(folder.path()));
    made("half done");
  }
  EXPECT_FALSE(fs::exists(home / "made"));
}

}  // namespace
}  // namespace assay
