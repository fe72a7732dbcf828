/// A lock that a process holds on a file. The system takes it back from a process that dies.
#pragma once

#include "assay/hooks.hpp"

#include <filesystem>
#include <string_view>

namespace assay {

class FileLock {
 public:
  /// Makes `file` when there is none. The file stays, since removing it would let two processes lock two
  /// files of one name. While another process holds the lock, waits and says so once, naming `work`. Throws
  /// Stopped when the user stops it.
  FileLock(const std::filesystem::path& file, std::string_view work, const Hooks& hooks);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int file_;
};

}  // namespace assay
