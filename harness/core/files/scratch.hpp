/// A folder that lasts as long as its object.
#pragma once

#include <filesystem>

namespace assay {

/// Made in the folder for temporary files, removed with what is in it. Throws Error when it cannot be made.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace assay
