/// A folder that lasts as long as its object.
#pragma once

#include <filesystem>

namespace assay {

/// Made in the folder for temporary files, removed with what is in it. Throws Error when it cannot be made.
/// All folders of a user lie in one, `assay-USER`, and are named after the process that made them and its
/// start. The first one that a process makes removes those that killed processes left there.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_;  ///< held as long as the folder is in use, by whichever process
};

/// Removes from `parent` the folders whose process is gone, and returns how many.
int remove_abandoned(const std::filesystem::path& parent);

}  // namespace assay
