/// A folder, and a lock on a file, that last as long as their objects.
#pragma once

#include "assay/hooks.hpp"
#include "core/files/descriptor.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace assay {

/// A folder below the folder for temporary files; its destructor removes it with its contents. The
/// constructor throws Error. All folders of a user lie in `assay-USER` and are named for their process and
/// its start time. The first folder of a process removes the folders of processes that were killed.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  const std::filesystem::path& path() const { return path_; }
  /// A file of one of several sides. Names are of equal length, since a program's own path lies on its stack.
  std::filesystem::path file(char kind, std::size_t side) const {
    return path_ / (kind + std::to_string(side));
  }

 private:
  std::filesystem::path path_;
  Descriptor lock_;  ///< held as long as any process uses the folder
};

/// Removes from `parent` the folders whose process is gone, and returns how many.
int remove_abandoned(const std::filesystem::path& parent);

/// A lock that a process holds on a file. The system takes it back from a process that dies.
class FileLock {
 public:
  /// Makes `file` when there is none. The file stays, since removing it would let two processes lock two
  /// files of one name. While another process holds the lock, waits and says so once, naming `work`. Throws
  /// Stopped when the user stops it.
  FileLock(const std::filesystem::path& file, std::string_view work, const Hooks& hooks);

 private:
  Descriptor file_;
};

}  // namespace assay
