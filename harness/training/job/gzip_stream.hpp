/// A file read front to back in pieces, unpacked on the way when it is gzip.
#pragma once

#include "core/json/json.hpp"

#include <array>
#include <filesystem>
#include <limits>
#include <memory>
#include <streambuf>
#include <string>

struct gzFile_s;

namespace assay {

/// Holds one piece of the file at a time, however long it is. Throws Error when the file cannot be opened or
/// read, and when it is gzip that ends in the middle or is damaged. `mender` makes JSON of what it holds.
class GzipStream : public std::streambuf {
 public:
  explicit GzipStream(const std::filesystem::path& file, JsonMender* mender = nullptr);

 protected:
  int_type underflow() override;

 private:
  std::unique_ptr<gzFile_s, int (*)(gzFile_s*)> file_;
  std::string name_;
  JsonMender* mender_;
  std::array<char, 1 << 16> piece_;
  std::string mended_;
};

/// The first `most` bytes, unpacked; fewer when the file is shorter.
std::string unpacked(const std::filesystem::path& file,
                     std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace assay
