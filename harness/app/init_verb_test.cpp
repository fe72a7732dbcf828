// A new project, and one that is there: nothing of anybody is written over.
#include "app/verbs.hpp"

#include "assay/files.hpp"
#include "assay/pipeline.hpp"
#include "bench/programs/project.hpp"
#include "core/files/scratch.hpp"

#include <gmock/gmock.h>

namespace assay::init_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string said(const InitOptions& options) {
  ::testing::internal::CaptureStdout();
  const int code = init_verb(options).exit_code();
  std::string out = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, exit_code::passed);
  return out;
}

TEST(Init, MakesAProjectInANewFolder) {
  const ScratchFolder scratch;
  const fs::path folder = scratch.path() / "new" / "kernels";
  EXPECT_THAT(said({.folder = folder}), HasSubstr("gate --base HEAD"));
  for (const char* file : {"CMakeLists.txt", "kernel.cpp", "kernels.json", ".gitignore",
                           ".github/workflows/kernels.yml", ".github/workflows/kernels_comment.yml"})
    EXPECT_TRUE(fs::exists(folder / file)) << file;
  const Project project = project_in(folder);
  EXPECT_EQ(project.source, ".");
  EXPECT_EQ(project.target, "kernels");
  EXPECT_EQ(project.suite, "kernels.json");
  EXPECT_THAT(read_file(folder / ".github/workflows/kernels.yml"), Not(HasSubstr("@source@")));
  EXPECT_THAT(said({.folder = folder}),
              AllOf(HasSubstr("kernel.cpp is there already"), Not(HasSubstr("assay/"))));
}

TEST(Init, OnlyShowsWhatAnExistingProjectLacks) {
  const ScratchFolder scratch;
  write_file(scratch.path() / "CMakeLists.txt", "theirs");
  EXPECT_THAT(said({.folder = scratch.path()}),
              AllOf(HasSubstr("assay/kernel.cpp:"), HasSubstr("nothing was changed"), HasSubstr("--write")));
  EXPECT_FALSE(fs::exists(scratch.path() / "assay"));
  EXPECT_FALSE(fs::exists(scratch.path() / "assay.json"));
}

TEST(Init, AddsWhatIsMissingWhenAskedTo) {
  const ScratchFolder scratch;
  write_file(scratch.path() / "CMakeLists.txt", "theirs");
  write_file(scratch.path() / ".gitignore", "theirs, too");
  EXPECT_THAT(said({.folder = scratch.path(), .write = true}),
              AllOf(HasSubstr(".gitignore is there already"), HasSubstr("cmake -S assay")));
  EXPECT_EQ(read_file(scratch.path() / "CMakeLists.txt"), "theirs");
  EXPECT_EQ(read_file(scratch.path() / ".gitignore"), "theirs, too");
  EXPECT_TRUE(fs::exists(scratch.path() / "assay/kernel.cpp"));
  const Project project = project_in(scratch.path());
  EXPECT_EQ(project.source, "assay");
  EXPECT_EQ(project.suite, "assay/kernels.json");
}

}  // namespace
}  // namespace assay::init_test
