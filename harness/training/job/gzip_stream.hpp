/// A file read front to back in pieces, unpacked on the way when it is gzip.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <streambuf>
#include <string>

namespace assay {

/// Holds one piece of the file at a time, however long it is. Throws Error when the file cannot be opened or
/// read, and when it is gzip that ends in the middle or is damaged.
class GzipStream : public std::streambuf {
 public:
  explicit GzipStream(const std::filesystem::path& file);
  ~GzipStream() override;
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

 protected:
  int_type underflow() override;

 private:
  struct File;
  std::unique_ptr<File> file_;
  std::string name_;
  std::array<char, 1 << 16> piece_;
};

/// The first `most` bytes, unpacked; fewer when the file is shorter.
std::string beginning_of(const std::filesystem::path& file, std::size_t most);
/// All of it, unpacked.
std::string unpacked(const std::filesystem::path& file);

}  // namespace assay
