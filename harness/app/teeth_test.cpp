// The program with kernels that are wrong or cheat: where it is looked for, and how one gets it.
#include "app/known_verbs.hpp"

#include "assay/files.hpp"
#include "core/files/scratch.hpp"

#include <gmock/gmock.h>

#include <string>

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Teeth : public ::testing::Test {
 protected:
  fs::path program(const std::string& name, fs::perms permissions = fs::perms::owner_all) const {
    const fs::path file = scratch.path() / name;
    fs::create_directories(file.parent_path());
    write_file(file, "#!/bin/sh\n");
    fs::permissions(file, permissions);
    return file;
  }
  ScratchFolder scratch;
};

TEST_F(Teeth, AreFoundBesideTheProgramFirst) {
  const fs::path beside = program("build/assay-teeth"), installed = program("bin/assay-teeth");
  EXPECT_EQ(find_teeth(program("build/assay"), installed.parent_path().string()), beside);
}

TEST_F(Teeth, AreFoundInTheFoldersOfPath) {
  const fs::path installed = program("bin/assay-teeth");
  const std::string path = (scratch.path() / "none").string() + "::" + installed.parent_path().string();
  EXPECT_EQ(find_teeth(program("own/kernels"), path), installed);
}

TEST_F(Teeth, AreNoFileThatCannotBeRun) {
  const fs::path lame = program("bin/assay-teeth", fs::perms::owner_read);
  EXPECT_EQ(find_teeth(program("bin/assay"), lame.parent_path().string()), fs::path());
}

TEST_F(Teeth, AreBuiltInABuildFolderAndInstalledElsewhere) {
  const fs::path assay = program("b/assay");
  EXPECT_THAT(way_to_teeth(assay), AllOf(HasSubstr("package assay-teeth"), HasSubstr("--component teeth")));
  write_file(assay.parent_path() / "CMakeCache.txt", "");
  EXPECT_THAT(way_to_teeth(assay), AllOf(HasSubstr("cmake --build " + assay.parent_path().string()),
                                         HasSubstr("--target assay_teeth"), Not(HasSubstr("package"))));
}

}  // namespace
}  // namespace assay
