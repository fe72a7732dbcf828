/// A folder that lasts as long as its object.
#pragma once

#include <filesystem>

namespace assay {

/// A folder below the folder for temporary files; its destructor removes it with its contents. The
/// constructor throws Error. All folders of a user lie in `assay-USER` and are named for their process and
/// its start time. The first folder of a process removes the folders of processes that were killed.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_;  ///< held as long as any process uses the folder
};

/// Removes from `parent` the folders whose process is gone, and returns how many.
int remove_abandoned(const std::filesystem::path& parent);

}  // namespace assay
