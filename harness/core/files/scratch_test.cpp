#include "core/files/scratch.hpp"

#include "core/files/child_process.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

namespace assay {
namespace {

namespace fs = std::filesystem;

TEST(Scratch, LastsAsLongAsItsObject) {
  fs::path folder;
  {
    const ScratchFolder scratch;
    folder = scratch.path();
    std::ofstream(folder / "file") << "content";
    EXPECT_EQ(remove_abandoned(folder.parent_path()), 0) << "its process runs";
    EXPECT_TRUE(fs::exists(folder / "file"));
  }
  EXPECT_FALSE(fs::exists(folder));
}

TEST(Scratch, OfAProcessThatWasKilledIsRemovedByTheNext) {
  const ScratchFolder told;
  const pid_t child = fork_child([&] {
    const ScratchFolder scratch;
    std::ofstream(scratch.path() / "file") << "content";
    std::ofstream(told.path() / "tmp") << scratch.path().string() << '\n';
    fs::rename(told.path() / "tmp", told.path() / "folder");
    for (;;) ::pause();
    return 0;
  });
  while (!fs::exists(told.path() / "folder")) std::this_thread::yield();
  std::string folder;
  std::getline(std::ifstream(told.path() / "folder") >> std::ws, folder);
  ASSERT_TRUE(fs::exists(fs::path(folder) / "file"));
  remove_abandoned(told.path().parent_path());
  EXPECT_TRUE(fs::exists(folder)) << "its process runs";
  ::kill(child, SIGKILL);
  wait_for_children({child});
  remove_abandoned(told.path().parent_path());
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_TRUE(fs::exists(told.path()));
}

TEST(Scratch, OfAProcessOfAnotherContainerStaysWhileItIsLocked) {
  const ScratchFolder parent;
  const fs::path gone = parent.path() / "1-1-abcdef", foreign = parent.path() / "keep me";
  fs::create_directories(gone);
  fs::create_directories(foreign);
  const int lock = ::open(gone.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  EXPECT_EQ(remove_abandoned(parent.path()), 0);
  ::close(lock);
  EXPECT_EQ(remove_abandoned(parent.path()), 1);
  EXPECT_TRUE(fs::exists(foreign));
}

}  // namespace
}  // namespace assay
