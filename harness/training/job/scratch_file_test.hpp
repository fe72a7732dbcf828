// A file that lives as long as a test, with a name that no other test uses.
#pragma once

#include "assay/files.hpp"
#include "core/files/scratch.hpp"

#include <zlib.h>

#include <filesystem>
#include <string>

namespace assay {

class ScratchFile {
 public:
  explicit ScratchFile(const std::string& content = "") { write_file(path_, content); }
  const std::filesystem::path& path() const { return path_; }

 private:
  ScratchFolder folder_;
  std::filesystem::path path_ = folder_.path() / "file";
};

/// Returns the same bytes as gzip would write them.
inline std::string gzipped(const std::string& content) {
  const ScratchFile file;
  gzFile out = gzopen(file.path().c_str(), "wb");
  gzwrite(out, content.data(), static_cast<unsigned>(content.size()));
  gzclose(out);
  return read_file(file.path());
}

}  // namespace assay
