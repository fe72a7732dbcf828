// A file that lives as long as a test, with a name that no other test uses.
#pragma once

#include <zlib.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace assay {

class ScratchFile {
 public:
  explicit ScratchFile(const std::string& content = "")
      : path_(std::filesystem::temp_directory_path() /
              ("assay_" + std::to_string(::getpid()) + "_" + std::to_string(next()++))) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  static int& next() {
    static int count = 0;
    return count;
  }
  std::filesystem::path path_;
};

/// Returns the same bytes as gzip would write them.
inline std::string gzipped(const std::string& content) {
  const ScratchFile file;
  gzFile out = gzopen(file.path().c_str(), "wb");
  gzwrite(out, content.data(), static_cast<unsigned>(content.size()));
  gzclose(out);
  std::ifstream in(file.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace assay
