// Outputs that could not be written, found before anything is measured.
#include "app/output.hpp"

#include "app/verbs.hpp"

#include "assay/error.hpp"
#include "assay/files.hpp"
#include "core/files/scratch.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class Outputs : public ::testing::Test {
 protected:
  fs::path in_folder(const std::string& name) const { return scratch.path() / name; }
  template <class T>
  static void accepts(T options) {
    require_writable_outputs(listed(&options));
  }
  template <class T>
  static void refuses(T options, const std::string& option, const std::string& what) {
    EXPECT_THAT([&] { accepts(options); }, ThrowsMessage<Error>(AllOf(HasSubstr(option), HasSubstr(what))));
  }
  ScratchFolder scratch;
};

TEST_F(Outputs, AreNotTouchedWhenTheyAreLookedAt) {
  write_file(in_folder("old.json"), "old");
  accepts(GateOptions{.outcome = {.output = in_folder("old.json"), .junit = in_folder("new.xml")}});
  EXPECT_EQ(read_file(in_folder("old.json")), "old");
  EXPECT_FALSE(fs::exists(in_folder("new.xml")));
}

TEST_F(Outputs, NeedAFolderAndAreNone) {
  refuses(GateOptions{.outcome = {.output = in_folder("none/r.json")}}, "-o ", "there is no folder");
  refuses(GateOptions{.outcome = {.json = in_folder("none/r.json").string()}}, "--json ",
          "there is no folder");
  refuses(ScoreOptions{.markdown = scratch.path()}, "--md ", "is a folder");
  refuses(GateOptions{.outcome = {.junit = scratch.path()}}, "--junit ", "is a folder");
}

TEST_F(Outputs, MayBeFoldersThatAreStillToBeMade) {
  accepts(GateOptions{.reports = in_folder("a/b/c")});
  write_file(in_folder("file"), "");
  refuses(GateOptions{.reports = in_folder("file/b")}, "--reports ", "is no folder");
  refuses(RecordOptions{.baselines = {in_folder("file")}}, "--baselines ", "is no folder");
}

TEST_F(Outputs, NeedPermission) {
  if (::geteuid() == 0) GTEST_SKIP() << "everything is permitted to root";
  fs::permissions(scratch.path(), fs::perms::owner_read | fs::perms::owner_exec);
  refuses(GateOptions{.outcome = {.output = in_folder("r.json")}}, "-o ", "cannot be written");
  fs::permissions(scratch.path(), fs::perms::owner_all);
}

TEST_F(Outputs, AreNotTwiceTheSameFile) {
  refuses(SelftestOptions{.markdown = in_folder("./r"), .output = in_folder("r")}, "-o ",
          "is the file of --md as well");
  write_file(in_folder("r"), "");
  fs::create_symlink(in_folder("r"), in_folder("link"));
  refuses(GateOptions{.outcome = {.junit = in_folder("r"), .json = in_folder("link").string()}}, "--junit ",
          "of --json as well");
}

TEST_F(Outputs, MayBeDevices) {
  accepts(GateOptions{.outcome = {.output = "/dev/null", .junit = "/dev/null", .json = "-"}});
}

}  // namespace
}  // namespace assay
