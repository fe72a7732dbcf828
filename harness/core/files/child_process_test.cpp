#include "core/files/child_process.hpp"

#include "assay/error.hpp"
#include "assay/files.hpp"
#include "core/files/file_lock.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace assay {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Property;
using testing::Throws;

class ChildProcess : public testing::Test {
 protected:
  ChildProcess() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder = fs::temp_directory_path() / ("assay_" + std::to_string(::getpid()) + "_" + test->name());
    fs::create_directories(folder);
  }
  ~ChildProcess() override { fs::remove_all(folder); }
  Command sh(const std::string& script) const { return {.words = {"sh", "-c", script}, .folder = folder}; }
  fs::path folder;
};

TEST_F(ChildProcess, RunsInItsFolderAndSaysWithWhatItEnded) {
  const Answer answer = ask_child(sh("pwd; echo no >&2; exit 3"), Hooks{});
  EXPECT_EQ(answer.exit_code, 3);
  EXPECT_EQ(answer.output, folder.string() + "\n");
  EXPECT_EQ(answer.errors, "no\n");
  EXPECT_EQ(ask_child(sh("kill -9 $$"), Hooks{}).exit_code, 128 + SIGKILL);
}

TEST_F(ChildProcess, GetsItsWordsAsTheyAre) {
  const Answer answer =
      ask_child({.words = {"printf", "%s|", "a b", "$HOME", "*", ""}, .folder = folder}, Hooks{});
  EXPECT_EQ(answer.output, "a b|$HOME|*||");
}

TEST_F(ChildProcess, AddsWhatItSaysToTheLog) {
  EXPECT_EQ(run_child(sh("echo one"), folder / "log", Hooks{}), 0);
  EXPECT_EQ(run_child(sh("echo two >&2; echo three >&2"), folder / "log", Hooks{}), 0);
  EXPECT_EQ(read_file(folder / "log"), "one\ntwo\nthree\n");
  EXPECT_EQ(last_lines(folder / "log", 2), "    two\n    three");
}

TEST_F(ChildProcess, ThatCannotBeStartedIsNamed) {
  const Command none{.words = {"no-such-program"}, .folder = folder};
  EXPECT_THAT([&] { ask_child(none, Hooks{}); },
              Throws<Error>(Property(&Error::what, HasSubstr("no-such-program"))));
}

TEST_F(ChildProcess, IsNotToldOfTheRepositoryWhoseHookThisRunsIn) {
  ::setenv("GIT_DIR", "/nowhere", 1);
  const Answer answer = ask_child(sh("echo \"${GIT_DIR-unset}\""), Hooks{});
  ::unsetenv("GIT_DIR");
  EXPECT_EQ(answer.output, "unset\n");
}

TEST_F(ChildProcess, IsEndedWithAllThatItStartedWhenTheUserAsksForAStop) {
  // The grandchild says who it is, and would stay for longer than any test.
  const Hooks hooks{.stop = [&] { return fs::exists(folder / "grandchild"); }};
  const Command command = sh("sh -c 'echo $$ >tmp; mv tmp grandchild; exec sleep 1000' & wait");
  EXPECT_THROW(run_child(command, folder / "log", hooks), Stopped);
  const int grandchild = std::stoi(read_file(folder / "grandchild"));
  EXPECT_TRUE(::kill(grandchild, 0) != 0 && errno == ESRCH);
}

TEST_F(ChildProcess, IsNotStartedAfterAStop) {
  const Hooks hooks{.stop = [] { return true; }};
  EXPECT_THROW(run_child(sh("touch started"), folder / "log", hooks), Stopped);
  EXPECT_FALSE(fs::exists(folder / "started"));
}

TEST_F(ChildProcess, WaitsForALockAndSaysForWhat) {
  std::string said;
  const Hooks hooks{.progress = [&](std::string_view what) { said = what; },
                    .stop = [&] { return !said.empty(); }};
  {
    const FileLock held(folder / "lock", "first", hooks);
    EXPECT_EQ(said, "");
    EXPECT_THROW(FileLock(folder / "lock", "build of 1f3c9d2", hooks), Stopped);
    EXPECT_THAT(said, HasSubstr("build of 1f3c9d2"));
  }
  EXPECT_NO_THROW(FileLock(folder / "lock", "third", Hooks{}));
}

}  // namespace
}  // namespace assay
